//! The probe of latency: times loads that each wait for the one before, by the size of the data, by
//! the size of pages, and by the number of pages.

#[cfg(test)]
mod tests;

use super::analyse::analyse;
use crate::tools::chase::{Cycle, SLOT, place_apart};
use crate::tools::flushed::MEMORY_SHARE;
use crate::tools::*;
use crate::{Latency, LatencyCurve, LatencyPoint, TlbPoint};

/// No load of any machine is faster: such a load was optimised out.
const LEAST_LOAD_NS: f64 = 0.5;
/// The least and the greatest ratio of the times of twice the work and of the work.
const DOUBLE_WORK: std::ops::RangeInclusive<f64> = 1.8..=2.2;
/// Least number of points of a curve.
const LEAST_POINTS: usize = 4;
/// A curve ends where this many sizes in a row take as long as memory: the last data is then eight
/// times as large as what the caches hold.
const BEYOND: usize = 7;
/// With data of this size and above, flushed lines are loaded too, this often.
const FLUSHED_FROM: usize = 4 << 20;
const FLUSHES: usize = 8;
/// Size of the last cache where none is advertised.
const USUAL_LAST_LEVEL: u64 = 32 << 20;

/// Probes the machine, on the first of its CPUs.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Latency> {
    let cpu = options.cpus.first().copied().unwrap_or(0);
    let (mut reasons, advertised) = (Vec::new(), caches::advertised(cpu));
    let _pinned = pinned(cpu, &mut reasons);
    let mut work = match Work::new(&advertised, budget.length().as_secs_f64()) {
        Ok(work) => work,
        Err(error) => return lacks("load latency", "two mappings of 4 MiB", error).into(),
    };
    let double_work_ratio = double_work_ratio(&work.packed, budget);
    if !DOUBLE_WORK.contains(&double_work_ratio) {
        return Probed::inconclusive(format!(
            "twice as many loads took {double_work_ratio:.2} times as long, not about twice"
        ));
    }
    work.run(budget);
    let found = Latency {
        cpu,
        flushed_ns: quantile_ns(&mut work.flushed_ps, 0.5),
        curves: work.sweeps.iter().map(|sweep| sweep.curve(&work.plan)).collect(),
        tlb: work.tlb(),
        double_work_ratio,
        ..Latency::default()
    };
    judged(found, &work.plan, reasons).map(|mut found, reasons| {
        analyse(&mut found, &advertised, reasons);
        found
    })
}

/// Returns the ratio of the times of 8192 and of 4096 loads from a small cycle, by the first
/// quartiles of batches that alternate; the best of five tries, as any of them may have waited for
/// the CPU. About 2, unless loads are missing or something else is timed.
fn double_work_ratio(mapped: &Mapped, budget: &Budget<'_>) -> f64 {
    let mut cycle = Cycle::new(mapped, |slot| slot * SLOT, 1);
    cycle.grow(64, budget);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            once.push(cycle.batch_ns(4096));
            twice.push(cycle.batch_ns(8192));
            if budget.is_interrupted() {
                break;
            }
        }
        let [once, twice] = [&mut once, &mut twice].map(|all| quantile(all, 0.25).unwrap_or(0));
        let ratio = twice as f64 / once.max(1) as f64;
        if (ratio - 2.0).abs() < (best - 2.0).abs() {
            best = ratio;
        }
        if DOUBLE_WORK.contains(&best) || budget.is_spent() {
            break;
        }
    }
    best
}

/// Adds the reasons against what was measured. A curve with too few points is removed.
fn judged(mut found: Latency, plan: &Plan, mut reasons: Vec<String>) -> Probed<Latency> {
    let mut points = found.curves.iter().flat_map(|curve| &curve.points);
    if let Some(point) = points.find(|point| point.latency_ns < LEAST_LOAD_NS) {
        let ns = point.latency_ns;
        let why = format!("a load of {ns:.2} ns is none: the chain was not run");
        return Probed::inconclusive(why);
    }
    for LatencyCurve { page_bytes, points, is_whole, .. } in &found.curves {
        let (kib, reached) = (page_bytes >> 10, points.last().map_or(0, |last| last.size_bytes));
        if points.len() < LEAST_POINTS {
            reasons.push(format!("the time ended before there was a curve of pages of {kib} KiB"));
        } else if !is_whole {
            let what = if reached < plan.largest_bytes() as u64 { "time" } else { "memory" };
            let reached = reached >> 10;
            reasons
                .push(format!("the {what} ended at data of {reached} KiB on pages of {kib} KiB"));
        }
    }
    found.curves.retain(|curve| curve.points.len() >= LEAST_POINTS);
    if found.curves.is_empty() {
        return Probed::inconclusive("the time was too short for four sizes");
    }
    if found.tlb.len() < plan.pages.len() {
        reasons.push("the time ended before the sweep of pages did".to_owned());
    }
    Probed::of(found, reasons)
}

/// Batches that are being collected.
struct Work {
    plan: Plan,
    /// Small pages, then huge ones.
    sweeps: [Sweep; 2],
    /// Memory for adjacent lines, to compare with lines on pages of their own.
    packed: Mapped,
    /// Times of loads of flushed lines.
    flushed_ps: Vec<u64>,
    /// Batches for each number of pages: a line on each page, and as many adjacent lines.
    pages_ps: Vec<[Vec<u64>; 2]>,
}

/// Batches on one kind of pages.
struct Sweep {
    pages: Pages,
    mapped: Mapped,
    /// Batches of each size, in order of time.
    sizes_ps: Vec<Vec<u64>>,
    /// Whether the sizes ended beyond all caches.
    is_whole: bool,
}

impl Work {
    /// Maps the memory. A limit on address space may allow less than the free memory; what it
    /// allows is found by trying.
    fn new(advertised: &[AdvertisedCache], seconds: f64) -> io::Result<Work> {
        let mut memory_bytes = caches::memory_share_bytes();
        loop {
            let plan = Plan::new(advertised, memory_bytes, seconds);
            let largest = plan.largest_bytes() as u64;
            match Work::of(plan) {
                Err(_) if largest > 4 << 20 => memory_bytes = memory_bytes.min(2 * largest) / 2,
                work => return work,
            }
        }
    }

    fn of(plan: Plan) -> io::Result<Work> {
        let lines = plan.pages.last().map_or(1, |pages| pages * SLOT);
        Ok(Work {
            sweeps: [Sweep::new(Pages::Small, &plan)?, Sweep::new(Pages::Huge, &plan)?],
            packed: Mapped::new(lines, Pages::Small)?,
            flushed_ps: Vec::new(),
            pages_ps: vec![[Vec::new(), Vec::new()]; plan.pages.len()],
            plan,
        })
    }

    fn run(&mut self, budget: &mut Budget<'_>) {
        for pass in 0..self.plan.passes {
            let left = budget.left().as_nanos() as u64;
            let mut shares = self.plan.shares(monotonic_ns() + left / (self.plan.passes - pass));
            for sweep in &mut self.sweeps {
                sweep.pass(&self.plan, pass, &mut self.flushed_ps, &mut shares, budget);
            }
            self.pass_pages(pass, &mut shares, budget);
        }
    }

    fn pass_pages(&mut self, pass: u64, shares: &mut Shares, budget: &mut Budget<'_>) {
        let mut apart = Cycle::new(&self.sweeps[0].mapped, place_apart, pass);
        let mut packed = Cycle::new(&self.packed, |slot| slot * SLOT, pass);
        for (pages, batches) in self.plan.pages.iter().zip(&mut self.pages_ps) {
            let end_ns = shares.next_end_ns();
            let half_ns = end_ns - end_ns.saturating_sub(monotonic_ns()) / 2;
            if !apart.grow(*pages, budget) || !packed.grow(*pages, budget) || budget.is_spent() {
                return;
            }
            apart.sample(half_ns, budget, &mut batches[0]);
            packed.sample(end_ns, budget, &mut batches[1]);
            budget.tell(0.0);
        }
    }

    fn tlb(&mut self) -> Vec<TlbPoint> {
        let points = self.plan.pages.iter().zip(&mut self.pages_ps).map_while(|(pages, both)| {
            let [apart_ns, packed_ns] = both.each_mut().map(|batches| quantile_ns(batches, 0.5));
            Some(TlbPoint { pages: *pages as u64, apart_ns: apart_ns?, packed_ns: packed_ns? })
        });
        points.collect()
    }
}

impl Sweep {
    fn new(pages: Pages, plan: &Plan) -> io::Result<Sweep> {
        let mapped = Mapped::new(plan.largest_bytes(), pages)?;
        Ok(Sweep { pages, mapped, sizes_ps: vec![Vec::new(); plan.sizes.len()], is_whole: false })
    }

    fn pass(
        &mut self,
        plan: &Plan,
        pass: u64,
        flushed_ps: &mut Vec<u64>,
        shares: &mut Shares,
        budget: &mut Budget<'_>,
    ) {
        let mut cycle = Cycle::new(&self.mapped, |slot| slot * SLOT, pass);
        for (index, size) in plan.sizes.iter().enumerate() {
            let end_ns = shares.next_end_ns();
            if budget.is_spent() || !cycle.grow(size / SLOT, budget) {
                return;
            }
            cycle.sample(end_ns, budget, &mut self.sizes_ps[index]);
            if *size >= FLUSHED_FROM {
                flushed_ps.extend((0..FLUSHES).filter_map(|_| cycle.flushed_ps()));
            }
            budget.tell(0.0);
            let is_beyond = match quantile(flushed_ps, 0.5) {
                Some(flushed) => is_beyond(&self.sizes_ps[..=index], flushed),
                None => *size >= plan.enough_bytes,
            };
            if is_beyond {
                self.is_whole = true;
                // The larger sizes will not come.
                shares.points_left -= plan.sizes.len() - index - 1;
                return;
            }
        }
    }

    fn curve(&self, plan: &Plan) -> LatencyCurve {
        let huge = self.mapped.huge_share();
        let points = plan.sizes.iter().zip(&self.sizes_ps);
        LatencyCurve {
            page_bytes: self.pages.bytes() as u64,
            page_share: huge.map(|huge| if self.pages == Pages::Huge { huge } else { 1.0 - huge }),
            is_whole: self.is_whole,
            points: points.map_while(|(size, batches_ps)| point(*size, batches_ps)).collect(),
            levels: Vec::new(),
        }
    }
}

/// Returns whether the last sizes all take about as long as a load of a flushed line.
fn is_beyond(sizes_ps: &[Vec<u64>], flushed_ps: u64) -> bool {
    let least_ps = (flushed_ps as f64 * MEMORY_SHARE) as u64;
    let last = sizes_ps.iter().rev().take(BEYOND);
    let medians = last.filter_map(|batches| quantile(&mut batches.clone(), 0.5));
    medians.take_while(|ps| *ps >= least_ps).count() == BEYOND
}

fn quantile_ns(batches_ps: &mut [u64], share: f64) -> Option<f64> {
    quantile(batches_ps, share).map(|ps| ps as f64 / 1000.0)
}

fn point(size: usize, batches_ps: &[u64]) -> Option<LatencyPoint> {
    let parts_ps = parts(batches_ps, 0.5, 1);
    let mut batches_ps = batches_ps.to_vec();
    Some(LatencyPoint {
        size_bytes: size as u64,
        latency_ns: quantile_ns(&mut batches_ps, 0.5)?,
        low_ns: quantile_ns(&mut batches_ps, 0.25)?,
        high_ns: quantile_ns(&mut batches_ps, 0.75)?,
        parts_ns: parts_ps.into_iter().map(|ps| ps as f64 / 1000.0).collect(),
    })
}

/// Which sizes are measured.
#[derive(Clone, Debug, PartialEq)]
struct Plan {
    /// Bytes of data, small first: powers of two and halfway between.
    sizes: Vec<usize>,
    /// Pages in use, few first: the same.
    pages: Vec<usize>,
    /// Where no line can be flushed: data that is large enough to see memory.
    enough_bytes: usize,
    /// How often all of it is measured, at different times.
    passes: u64,
}

impl Plan {
    /// Makes a plan for these caches: sizes up to half of `memory_bytes`, as there are two kinds of
    /// pages, and to 1 GiB. Most of them are never reached, as a curve ends where memory is seen.
    fn new(caches: &[AdvertisedCache], memory_bytes: u64, seconds: f64) -> Plan {
        let last_level = caches.last().map_or(USUAL_LAST_LEVEL, |cache| cache.size_bytes);
        let largest = (1 << 30).min(memory_bytes / 2).max(4 << 20);
        let enough = last_level.saturating_mul(4).clamp(64 << 20, 1 << 30).min(largest);
        let [largest, enough] = [largest, enough].map(|bytes| bytes as usize);
        let pages = if seconds < 8.0 { 8192 } else { 16_384 };
        Plan {
            sizes: steps(SMALL_PAGE, largest),
            pages: steps(8, pages.min(largest / SMALL_PAGE)),
            enough_bytes: enough,
            passes: ((seconds / 6.0) as u64).max(1),
        }
    }

    fn largest_bytes(&self) -> usize {
        self.sizes.last().copied().unwrap_or(SMALL_PAGE)
    }

    /// Returns the time of each point of a pass that ends then: time that one leaves over is shared
    /// by the others.
    fn shares(&self, end_ns: u64) -> Shares {
        Shares { end_ns, points_left: 2 * self.sizes.len() + self.pages.len() }
    }
}

/// Returns powers of two times the first value, and the values halfway between, up to the last.
fn steps(first: usize, last: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(first), |step| step.checked_mul(2));
    let steps = powers.take_while(|step| *step <= last).flat_map(|step| [step, step / 2 * 3]);
    steps.filter(|step| *step <= last).collect()
}

/// Divides the time until an end among the points that are left.
struct Shares {
    end_ns: u64,
    points_left: usize,
}

impl Shares {
    /// Returns when the next point should end.
    fn next_end_ns(&mut self) -> u64 {
        let now = monotonic_ns();
        let share = self.end_ns.saturating_sub(now) / self.points_left.max(1) as u64;
        self.points_left = self.points_left.saturating_sub(1);
        now + share
    }
}
