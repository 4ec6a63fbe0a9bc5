//! The probe of latency: times loads that each wait for the one before, by the size of the data, by
//! the size of pages, and by the number of pages.

#[cfg(test)]
mod tests;

use super::analyse::analyse;
use crate::tools::chase::{Cycle, MEMORY_SHARE, SLOT, place_apart, place_packed};
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

/// Probes the machine, on the first of its CPUs.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Latency> {
    let cpu = options.cpus.first().copied().unwrap_or(0);
    let (mut reasons, tree) = (Vec::new(), Tree::at(Path::new("/")));
    let _pinned = pinned(cpu, &mut reasons);
    let memory_bytes = caches::memory_share_bytes(&tree);
    let mut work = match Work::new(memory_bytes, budget.length().as_secs_f64()) {
        Ok(work) => work,
        Err(error) => return lacks("load latency", "two mappings of 4 MiB", error).into(),
    };
    let Some(double_work_ratio) = double_work_ratio(&work.sweeps[3].mapped, budget) else {
        return Probed::inconclusive("twice as many loads did not take about twice as long");
    };
    work.run(budget);
    let found = Latency {
        cpu,
        flushed_ns: quantile(&mut work.flushed_ps, 0.5).map(in_ns),
        curves: work.sweeps[..2].iter().map(Sweep::curve).collect(),
        tlb: work.tlb(),
        double_work_ratio,
        ..Latency::default()
    };
    judged(found, &work.plan, reasons).map(|mut found, reasons| {
        analyse(&mut found, &caches::advertised(&tree, cpu), reasons);
        found
    })
}

/// Returns the ratio of the times of 8192 and of 4096 loads from a small cycle, by the first
/// quartiles of batches that alternate. About 2, unless loads are missing or something else is
/// timed. Of five tries one must say so, as any of them may have waited for the CPU.
fn double_work_ratio(mapped: &Mapped, budget: &Budget<'_>) -> Option<f64> {
    let mut cycle = Cycle::new(mapped, place_packed, 1);
    cycle.grow(64, budget);
    let mut tries = (0..5).filter(|_| !budget.is_interrupted()).map(|_| {
        let batches = (0..200).map(|_| (cycle.batch_ns(4096), cycle.batch_ns(8192)));
        let (mut once, mut twice): (Vec<u64>, Vec<u64>) = batches.unzip();
        let [once, twice] = [&mut once, &mut twice].map(|all| quantile(all, 0.25).unwrap_or(0));
        twice as f64 / once.max(1) as f64
    });
    tries.find(|ratio| DOUBLE_WORK.contains(ratio))
}

/// Adds the reasons against what was measured. A curve with too few points is removed.
fn judged(mut found: Latency, plan: &Plan, mut reasons: Vec<String>) -> Probed<Latency> {
    let mut points = found.curves.iter().flat_map(|curve| &curve.points);
    if let Some(point) = points.find(|point| point.latency_ns < LEAST_LOAD_NS) {
        let ns = point.latency_ns;
        let why = format!("a load of {ns:.2} ns is none: the chain was not run");
        return Probed::inconclusive(why);
    }
    for LatencyCurve { page_bytes, points, .. } in found.curves.iter().filter(|c| !c.is_whole) {
        let reached = points.last().map_or(0, |last| last.size_bytes);
        let what = if reached < plan.largest_bytes() as u64 { "time" } else { "memory" };
        let (reached, kib) = (reached >> 10, page_bytes >> 10);
        reasons.push(format!("the {what} ended at data of {reached} KiB on pages of {kib} KiB"));
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

/// Batches that are being collected: of data on small and on huge pages, of a line on each of so
/// many small pages, and of as many adjacent lines.
struct Work {
    plan: Plan,
    sweeps: [Sweep; 4],
    /// Times of loads of flushed lines.
    flushed_ps: Vec<u64>,
}

/// Batches on one mapping.
struct Sweep {
    pages: Pages,
    mapped: Mapped,
    place: fn(usize) -> usize,
    /// Numbers of lines, small first.
    lines: Vec<usize>,
    /// Batches of each, in order of time.
    batches_ps: Vec<Vec<u64>>,
    /// Whether the lines ended beyond all caches.
    is_whole: bool,
}

impl Work {
    /// Maps the memory. A limit on address space may allow less than the free memory; what it
    /// allows is found by trying.
    fn new(memory_bytes: u64, seconds: f64) -> io::Result<Work> {
        match Work::of(Plan::new(memory_bytes, seconds)) {
            Err(_) if memory_bytes > 8 << 20 => Work::new(memory_bytes / 2, seconds),
            work => work,
        }
    }

    fn of(plan: Plan) -> io::Result<Work> {
        let sizes: Vec<usize> = plan.sizes.iter().map(|size| size / SLOT).collect();
        let sweeps = [
            Sweep::new(Pages::Small, place_packed, &sizes)?,
            Sweep::new(Pages::Huge, place_packed, &sizes)?,
            Sweep::new(Pages::Small, place_apart, &plan.pages)?,
            Sweep::new(Pages::Small, place_packed, &plan.pages)?,
        ];
        Ok(Work { plan, sweeps, flushed_ps: Vec::new() })
    }

    /// Measures every point in each pass, and divides the time among those that are left.
    fn run(&mut self, budget: &mut Budget<'_>) {
        let Work { plan, sweeps, flushed_ps } = self;
        for pass in 0..plan.passes {
            let left = budget.left().as_nanos() as u64;
            let end_ns = monotonic_ns() + left / (plan.passes - pass);
            let mut points_left = sweeps.iter().map(|sweep| sweep.lines.len()).sum();
            for (sweep, is_of_sizes) in sweeps.iter_mut().zip([true, true, false, false]) {
                let mut cycle = Cycle::new(&sweep.mapped, sweep.place, pass);
                let all = sweep.lines.len();
                for (index, lines) in sweep.lines.iter().enumerate() {
                    let point_end_ns = share_end_ns(end_ns, points_left);
                    points_left -= 1;
                    if budget.is_spent() || !cycle.grow(*lines, budget) {
                        break;
                    }
                    cycle.sample(point_end_ns, budget, &mut sweep.batches_ps[index]);
                    budget.tell(0.0);
                    let seen_ps = &sweep.batches_ps[..=index];
                    if is_of_sizes && plan.is_beyond(&mut cycle, seen_ps, flushed_ps) {
                        sweep.is_whole = true;
                        // The larger sizes will not come.
                        points_left -= all - index - 1;
                        break;
                    }
                }
            }
        }
    }

    /// Returns the cost of translation by the number of pages.
    fn tlb(&self) -> Vec<TlbPoint> {
        let [.., apart, packed] = &self.sweeps;
        let points = apart.points().zip(packed.points()).zip(&self.plan.pages);
        let points = points.map(|((apart, packed), pages)| TlbPoint {
            pages: *pages as u64,
            apart_ns: apart.latency_ns,
            packed_ns: packed.latency_ns,
        });
        points.collect()
    }
}

/// Returns when a point should end, if so many are left to be measured until an end.
fn share_end_ns(end_ns: u64, points_left: usize) -> u64 {
    let now = monotonic_ns();
    now + end_ns.saturating_sub(now) / points_left.max(1) as u64
}

impl Sweep {
    /// Maps memory for as many lines as the last number says.
    fn new(pages: Pages, place: fn(usize) -> usize, lines: &[usize]) -> io::Result<Sweep> {
        let mapped = Mapped::new(place(lines.last().copied().unwrap_or(0)), pages)?;
        let (lines, batches_ps) = (lines.to_vec(), vec![Vec::new(); lines.len()]);
        Ok(Sweep { pages, mapped, place, lines, batches_ps, is_whole: false })
    }

    fn points(&self) -> impl Iterator<Item = LatencyPoint> {
        let all = self.lines.iter().zip(&self.batches_ps);
        all.map_while(|(lines, batches_ps)| point(lines * SLOT, batches_ps))
    }

    fn curve(&self) -> LatencyCurve {
        let (is_huge, huge) = (self.pages == Pages::Huge, self.mapped.huge_share());
        LatencyCurve {
            page_bytes: if is_huge { HUGE_PAGE } else { SMALL_PAGE } as u64,
            page_share: huge.map(|huge| if is_huge { huge } else { 1.0 - huge }),
            is_whole: self.is_whole,
            points: self.points().collect(),
            levels: Vec::new(),
        }
    }
}

fn in_ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}

fn point(size: usize, batches_ps: &[u64]) -> Option<LatencyPoint> {
    let parts_ps = parts(batches_ps, 0.5, 1);
    let [low_ns, latency_ns, high_ns] = quartiles(&mut batches_ps.to_vec())?.map(in_ns);
    let parts_ns = parts_ps.into_iter().map(in_ns).collect();
    Some(LatencyPoint { size_bytes: size as u64, latency_ns, low_ns, high_ns, parts_ns })
}

/// Which sizes are measured.
#[derive(Clone, Debug, PartialEq)]
struct Plan {
    /// Bytes of data, small first: powers of two and halfway between.
    sizes: Vec<usize>,
    /// Pages in use, few first: the same.
    pages: Vec<usize>,
    /// How often all of it is measured, at different times.
    passes: u64,
}

impl Plan {
    /// Makes a plan: sizes up to half of `memory_bytes`, as there are two kinds of pages, and to 1
    /// GiB. Most of them are never reached, as a curve ends where memory is seen.
    fn new(memory_bytes: u64, seconds: f64) -> Plan {
        let largest = (memory_bytes / 2).clamp(4 << 20, 1 << 30) as usize;
        let pages = if seconds < 8.0 { 8192 } else { 16_384 };
        Plan {
            sizes: steps(SMALL_PAGE, largest),
            pages: steps(8, pages.min(largest / SMALL_PAGE)),
            passes: ((seconds / 6.0) as u64).max(1),
        }
    }

    fn largest_bytes(&self) -> usize {
        self.sizes.last().copied().unwrap_or(SMALL_PAGE)
    }

    /// Returns whether the sizes that were seen reach beyond all caches; loads flushed lines of the
    /// last one to know that.
    fn is_beyond(
        &self,
        cycle: &mut Cycle<'_>,
        seen_ps: &[Vec<u64>],
        flushed_ps: &mut Vec<u64>,
    ) -> bool {
        let bytes = cycle.slots() * SLOT;
        if bytes >= FLUSHED_FROM {
            flushed_ps.extend((0..FLUSHES).filter_map(|_| cycle.flushed_ps()));
        }
        match quantile(flushed_ps, 0.5) {
            Some(flushed) => is_beyond(seen_ps, flushed),
            // No line can be flushed, so that all sizes are needed.
            None => bytes >= self.largest_bytes(),
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

/// Returns powers of two times the first value, and the values halfway between, up to the last.
fn steps(first: usize, last: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(first), |step| step.checked_mul(2));
    let steps = powers.take_while(|step| *step <= last).flat_map(|step| [step, step / 2 * 3]);
    steps.filter(|step| *step <= last).collect()
}
