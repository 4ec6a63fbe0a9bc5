//! The probe of latency: times loads that each wait for the one before, by the size of the data, by
//! the size of pages, and by the number of pages.

#[cfg(test)]
mod tests;

use crate::tools::chase::{self, Cycle, SLOT, place_apart};
pub use crate::tools::flushed::MEMORY_SHARE;
use crate::tools::*;
use crate::{LatencyPoint, TlbPoint};

/// No load of any machine is faster: such a load was optimised out.
const LEAST_LOAD_NS: f64 = 0.5;
/// The least and the greatest ratio of the times of twice the work and of the work.
const DOUBLE_WORK: std::ops::RangeInclusive<f64> = 1.8..=2.2;
/// Least number of points of a curve.
const LEAST_POINTS: usize = 4;
/// Time for a point of the page sweep, as a share of that for a point of a curve.
const PAGE_WEIGHT: f64 = 0.5;
/// A curve ends where this many sizes in a row take as long as memory: the last data is then eight
/// times as large as what the caches hold.
const BEYOND: usize = 7;
/// With data of this size and above, flushed lines are loaded too, this often.
const FLUSHED_FROM: usize = 4 << 20;
const FLUSHES: usize = 8;
/// Size of the last cache where none is advertised.
const USUAL_LAST_LEVEL: u64 = 32 << 20;

/// The probe.
#[derive(Debug)]
pub struct Latency {
    cpu: usize,
    advertised: Vec<AdvertisedCache>,
    memory_bytes: u64,
}

/// What the probe measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The CPU.
    pub cpu: usize,
    /// Its data caches as the kernel lists them.
    pub advertised: Vec<AdvertisedCache>,
    /// A curve for each kind of pages.
    pub curves: Vec<Curve>,
    /// The median time of a load of a line that was flushed just before; `None` where no program
    /// may flush.
    pub flushed_ns: Option<f64>,
    /// The page sweep.
    pub pages: Vec<TlbPoint>,
    /// Ratio of the times of twice as many loads and of the loads.
    pub double_work_ratio: f64,
}

/// Latency by the size of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The share of the data on pages of that size, where the kernel reports it.
    pub page_share: Option<f64>,
    /// Whether it ends beyond all caches.
    pub is_whole: bool,
    /// Small sizes first.
    pub points: Vec<Point>,
}

/// Latency of a load from data of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Quartiles of batches.
    pub found: LatencyPoint,
    /// Medians of parts of the batches, in order of time.
    pub parts_ns: Vec<f64>,
}

impl Latency {
    /// Makes a probe that runs on the first of these CPUs, or on CPU 0 if there are none.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(cpus: &[usize]) -> Result<Latency, Unavailable> {
        let cpu = cpus.first().copied().unwrap_or(0);
        Mapped::new(8 << 20, Pages::Small)
            .map_err(|error| lacks("load latency", "two mappings of 4 MiB", error))?;
        let memory_bytes = caches::memory_share_bytes();
        Ok(Latency { cpu, advertised: caches::advertised(cpu), memory_bytes })
    }

    /// Measures within the budget.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let mut reasons = Vec::new();
        let _pinned = pinned(self.cpu, &mut reasons);
        let mut work = match self.work(budget.length().as_secs_f64()) {
            Ok(work) => work,
            Err(error) => return Probed::inconclusive(format!("no memory to measure: {error}")),
        };
        let ratio = work.double_work_ratio(budget);
        if !DOUBLE_WORK.contains(&ratio) {
            return Probed::inconclusive(format!(
                "twice as many loads took {ratio:.2} times as long, not about twice"
            ));
        }
        work.run(budget);
        let reading = Reading {
            cpu: self.cpu,
            advertised: self.advertised.clone(),
            flushed_ns: quantile_ns(&mut work.flushed_ps, 0.5),
            curves: work.sweeps.iter_mut().map(|sweep| sweep.curve(&work.plan)).collect(),
            pages: work.pages(),
            double_work_ratio: ratio,
        };
        judged(reading, &work.plan, reasons)
    }

    /// Maps the memory of a plan. A limit on address space may allow less than the free memory;
    /// what it allows is found by trying.
    fn work(&self, seconds: f64) -> io::Result<Work> {
        let mut memory_bytes = self.memory_bytes;
        loop {
            let plan = Plan::new(&self.advertised, memory_bytes, seconds);
            let largest = plan.largest_bytes() as u64;
            match Work::new(plan) {
                Err(_) if largest > 4 << 20 => memory_bytes = memory_bytes.min(2 * largest) / 2,
                work => return work,
            }
        }
    }
}

/// Adds the reasons against a reading. A curve with too few points is removed.
fn judged(mut reading: Reading, plan: &Plan, mut reasons: Vec<String>) -> Probed<Reading> {
    let mut points = reading.curves.iter().flat_map(|curve| &curve.points);
    if let Some(point) = points.find(|point| point.found.latency_ns < LEAST_LOAD_NS) {
        let ns = point.found.latency_ns;
        let why = format!("a load of {ns:.2} ns is none: the chain was not run");
        return Probed::inconclusive(why);
    }
    for curve in reading.curves.iter().filter(|curve| curve.points.len() < LEAST_POINTS) {
        let kib = curve.page_bytes >> 10;
        reasons.push(format!("the time ended before there was a curve of pages of {kib} KiB"));
    }
    reading.curves.retain(|curve| curve.points.len() >= LEAST_POINTS);
    if reading.curves.is_empty() {
        return Probed::inconclusive("the time was too short for four sizes");
    }
    for curve in reading.curves.iter().filter(|curve| !curve.is_whole) {
        let reached = curve.points.last().map_or(0, |point| point.found.size_bytes);
        let (kib, reached_kib) = (curve.page_bytes >> 10, reached >> 10);
        let what = if reached < plan.largest_bytes() as u64 { "time" } else { "memory" };
        reasons
            .push(format!("the {what} ended at data of {reached_kib} KiB on pages of {kib} KiB"));
    }
    if reading.pages.len() < plan.pages.len() {
        reasons.push("the time ended before the sweep of pages did".to_owned());
    }
    Probed::of(reading, reasons)
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
    /// Batches of each size.
    sizes_ps: Vec<Vec<u64>>,
    /// Medians of parts of these, in order of time.
    parts_ps: Vec<Vec<u64>>,
    /// Whether the sizes ended beyond all caches.
    is_whole: bool,
}

impl Work {
    fn new(plan: Plan) -> io::Result<Work> {
        let lines = plan.pages.last().map_or(1, |pages| pages * SLOT);
        Ok(Work {
            sweeps: [Sweep::new(Pages::Small, &plan)?, Sweep::new(Pages::Huge, &plan)?],
            packed: Mapped::new(lines, Pages::Small)?,
            flushed_ps: Vec::new(),
            pages_ps: vec![[Vec::new(), Vec::new()]; plan.pages.len()],
            plan,
        })
    }

    /// Returns the best of a few tries, as any of them may have waited for the CPU.
    fn double_work_ratio(&self, budget: &Budget<'_>) -> f64 {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let ratio = chase::double_work_ratio(&self.sweeps[0].mapped, budget);
            if (ratio - 2.0).abs() < (best - 2.0).abs() {
                best = ratio;
            }
            if DOUBLE_WORK.contains(&best) || budget.is_spent() {
                break;
            }
        }
        best
    }

    fn run(&mut self, budget: &mut Budget<'_>) {
        for pass in 0..self.plan.passes {
            let left = budget.left().as_nanos() as u64;
            let end_ns = monotonic_ns() + left / (self.plan.passes - pass);
            let weight = 2.0 * self.plan.sizes.len() as f64
                + 2.0 * PAGE_WEIGHT * self.plan.pages.len() as f64;
            let mut shares = Shares { end_ns, weight_left: weight };
            for sweep in &mut self.sweeps {
                sweep.pass(&self.plan, pass, &mut self.flushed_ps, &mut shares, budget);
            }
            self.pass_pages(pass, &mut shares, budget);
        }
    }

    fn pass_pages(&mut self, pass: u64, shares: &mut Shares, budget: &mut Budget<'_>) {
        let mut cycles = [
            Cycle::new(&self.sweeps[0].mapped, place_apart, pass),
            Cycle::new(&self.packed, |slot| slot * SLOT, pass),
        ];
        for (pages, both) in self.plan.pages.iter().zip(&mut self.pages_ps) {
            for (cycle, batches) in cycles.iter_mut().zip(both) {
                let end_ns = shares.next_end_ns(PAGE_WEIGHT);
                if budget.is_spent() || !cycle.grow(*pages, budget) {
                    return;
                }
                cycle.sample(end_ns, budget, batches);
            }
            budget.tell(0.0);
        }
    }

    fn pages(&mut self) -> Vec<TlbPoint> {
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
        let none = vec![Vec::new(); plan.sizes.len()];
        Ok(Sweep { pages, mapped, sizes_ps: none.clone(), parts_ps: none, is_whole: false })
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
            let end_ns = shares.next_end_ns(1.0);
            if budget.is_spent() || !cycle.grow(size / SLOT, budget) {
                return;
            }
            let batches = &mut self.sizes_ps[index];
            let before = batches.len();
            cycle.sample(end_ns, budget, batches);
            self.parts_ps[index].extend(parts(&batches[before..], 0.5, 1));
            if *size >= FLUSHED_FROM {
                flushed_ps.extend((0..FLUSHES).filter_map(|_| cycle.flushed_ps()));
            }
            budget.tell(0.0);
            let is_beyond = match quantile(flushed_ps, 0.5) {
                Some(flushed) => is_beyond(&mut self.sizes_ps[..=index], flushed),
                None => *size >= plan.enough_bytes,
            };
            if is_beyond {
                self.is_whole = true;
                // The jobs of the larger sizes will not come.
                shares.weight_left -= (plan.sizes.len() - index - 1) as f64;
                return;
            }
        }
    }

    fn curve(&mut self, plan: &Plan) -> Curve {
        let huge = self.mapped.huge_share();
        let points = plan.sizes.iter().zip(&mut self.sizes_ps).zip(&self.parts_ps);
        Curve {
            page_bytes: self.pages.bytes() as u64,
            page_share: huge.map(|huge| if self.pages == Pages::Huge { huge } else { 1.0 - huge }),
            is_whole: self.is_whole,
            points: points.map_while(|((size, all), parts)| point(*size, all, parts)).collect(),
        }
    }
}

/// Returns whether the last sizes all take about as long as a load of a flushed line.
fn is_beyond(sizes_ps: &mut [Vec<u64>], flushed_ps: u64) -> bool {
    let least_ps = (flushed_ps as f64 * MEMORY_SHARE) as u64;
    let last = sizes_ps.iter_mut().rev().take(BEYOND);
    last.filter_map(|batches| quantile(batches, 0.5)).take_while(|ps| *ps >= least_ps).count()
        == BEYOND
}

fn quantile_ns(batches_ps: &mut [u64], share: f64) -> Option<f64> {
    quantile(batches_ps, share).map(|ps| ps as f64 / 1000.0)
}

fn point(size: usize, batches_ps: &mut [u64], parts_ps: &[u64]) -> Option<Point> {
    let found = LatencyPoint {
        size_bytes: size as u64,
        latency_ns: quantile_ns(batches_ps, 0.5)?,
        low_ns: quantile_ns(batches_ps, 0.25)?,
        high_ns: quantile_ns(batches_ps, 0.75)?,
    };
    Some(Point { found, parts_ns: parts_ps.iter().map(|ps| *ps as f64 / 1000.0).collect() })
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
}

/// Returns powers of two times the first value, and the values halfway between, up to the last.
fn steps(first: usize, last: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(first), |step| step.checked_mul(2));
    let steps = powers.take_while(|step| *step <= last).flat_map(|step| [step, step / 2 * 3]);
    steps.filter(|step| *step <= last).collect()
}

/// Divides the time until an end among jobs of different weights: time that one job leaves over is
/// shared by the others.
struct Shares {
    end_ns: u64,
    weight_left: f64,
}

impl Shares {
    /// Returns when the next job, of this weight, should end.
    fn next_end_ns(&mut self, weight: f64) -> u64 {
        let now = monotonic_ns();
        let left = self.end_ns.saturating_sub(now) as f64;
        let share = (weight / self.weight_left.max(weight)).min(1.0);
        self.weight_left -= weight;
        now + (left * share) as u64
    }
}
