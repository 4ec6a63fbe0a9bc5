//! The probe of latency: times loads that each wait for the one before, by the size of the data, by
//! the size of pages, and by the number of pages.

#[cfg(test)]
mod tests;

use super::analyse::analyse;
use crate::tools::chase::{Cycle, MEMORY_SHARE, SLOT, place_apart, place_packed};
use crate::tools::*;
use crate::topology::data_caches::{self, AdvertisedCache};
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
    let (mut reasons, tree) = (Vec::new(), Tree::at(Path::new("/")));
    let advertised = data_caches::advertised(&tree, cpu);
    let _pinned = pinned(cpu, &mut reasons);
    let mut sweeps = match sweeps(memory_share_bytes(&tree), budget.length()) {
        Ok(sweeps) => sweeps,
        Err(error) => return lacks("load latency", "two mappings of 4 MiB", error).into(),
    };
    let Some(double_work_ratio) = double_work_ratio(&sweeps[3].mapped, budget) else {
        return Probed::inconclusive("twice as many loads did not take about twice as long");
    };
    let mut flushed_ps = run(&mut sweeps, enough_bytes(&advertised), budget);
    let [small, huge, apart, packed] = &sweeps;
    let found = Latency {
        cpu,
        flushed_ns: quantile(&mut flushed_ps, 0.5).map(in_ns),
        curves: vec![small.curve(), huge.curve()],
        tlb: tlb(apart, packed),
        double_work_ratio,
        ..Latency::default()
    };
    judged(found, small.lines.len(), apart.lines.len(), reasons).map(|mut found, reasons| {
        analyse(&mut found, &advertised, reasons);
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

/// Adds the reasons against what was measured of so many sizes and numbers of pages. A curve with
/// too few points is removed.
fn judged(
    mut found: Latency,
    sizes: usize,
    pages: usize,
    mut reasons: Vec<String>,
) -> Probed<Latency> {
    let mut points = found.curves.iter().flat_map(|curve| &curve.points);
    if let Some(point) = points.find(|point| point.latency_ns < LEAST_LOAD_NS) {
        let ns = point.latency_ns;
        let why = format!("a load of {ns:.2} ns is none: the chain was not run");
        return Probed::inconclusive(why);
    }
    for LatencyCurve { page_bytes, points, .. } in found.curves.iter().filter(|c| !c.is_whole) {
        let what = if points.len() < sizes { "time" } else { "memory" };
        let reached = points.last().map_or(0, |last| last.size_bytes >> 10);
        let kib = page_bytes >> 10;
        reasons.push(format!("the {what} ended at data of {reached} KiB on pages of {kib} KiB"));
    }
    found.curves.retain(|curve| curve.points.len() >= LEAST_POINTS);
    if found.curves.is_empty() {
        return Probed::inconclusive("the time was too short for four sizes");
    }
    if found.tlb.len() < pages {
        reasons.push("the time ended before the sweep of pages did".to_owned());
    }
    Probed::of(found, reasons)
}

/// Batches on one mapping.
struct Sweep {
    is_huge: bool,
    mapped: Mapped,
    place: fn(usize) -> usize,
    /// Numbers of lines, small first.
    lines: Vec<usize>,
    /// Batches of each, in order of time.
    batches_ps: Vec<Vec<u64>>,
    /// Whether the lines ended beyond all caches.
    is_whole: bool,
}

/// Maps memory for data on small and on huge pages, for a line on each of so many small pages, and
/// for as many adjacent lines. A limit on address space may allow less than the free memory; what
/// it allows is found by trying.
fn sweeps(memory_bytes: u64, length: Duration) -> io::Result<[Sweep; 4]> {
    let [sizes, pages] = numbers_of_lines(memory_bytes, length);
    let all = [
        Sweep::new(Pages::Small, place_packed, &sizes),
        Sweep::new(Pages::Huge, place_packed, &sizes),
        Sweep::new(Pages::Small, place_apart, &pages),
        Sweep::new(Pages::Small, place_packed, &pages),
    ];
    if memory_bytes > 8 << 20 && all.iter().any(Result::is_err) {
        drop(all);
        return sweeps(memory_bytes / 2, length);
    }
    let [small, huge, apart, packed] = all;
    Ok([small?, huge?, apart?, packed?])
}

/// Returns how many lines data has, and how many pages with a line on each are used: powers of two
/// and halfway between, small first. Data takes up to half of `memory_bytes`, as there are two
/// kinds of pages, and up to 1 GiB. Most of it is never reached, as a curve ends where memory is
/// seen.
fn numbers_of_lines(memory_bytes: u64, length: Duration) -> [Vec<usize>; 2] {
    let largest = (memory_bytes / 2).clamp(4 << 20, 1 << 30) as usize;
    let pages = if length < Duration::from_secs(8) { 8192 } else { 16_384 };
    [(64_usize, largest / SLOT), (8, pages.min(largest / SMALL_PAGE))].map(|(first, last)| {
        let powers = std::iter::successors(Some(first), |step| Some(step * 2));
        let powers = powers.take_while(|step| *step <= last);
        powers.flat_map(|step| [step, step / 2 * 3]).filter(|step| *step <= last).collect()
    })
}

/// Returns how large data must become to see memory where no line can be flushed: four times what
/// is said of the last cache, 64 MiB to 1 GiB.
fn enough_bytes(caches: &[AdvertisedCache]) -> usize {
    let last_level = caches.last().map_or(USUAL_LAST_LEVEL, |cache| cache.size_bytes);
    last_level.saturating_mul(4).clamp(64 << 20, 1 << 30) as usize
}

/// Measures every point, in one or more passes at different times, and divides the time among those
/// that are left. Where no line can be flushed, a curve ends at `enough_bytes`. Returns the times
/// of loads of flushed lines.
fn run(sweeps: &mut [Sweep; 4], enough_bytes: usize, budget: &mut Budget<'_>) -> Vec<u64> {
    let mut flushed_ps = Vec::new();
    let passes = (budget.length().as_secs() / 6).max(1);
    for pass in 0..passes {
        let left = budget.left().as_nanos() as u64;
        let end_ns = monotonic_ns() + left / (passes - pass);
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
                if is_of_sizes && lines * SLOT >= FLUSHED_FROM {
                    flushed_ps.extend((0..FLUSHES).filter_map(|_| cycle.flushed_ps()));
                }
                let is_beyond = match quantile(&mut flushed_ps, 0.5) {
                    Some(ps) => is_beyond(&sweep.batches_ps[..=index], ps),
                    None => lines * SLOT >= enough_bytes,
                };
                if is_of_sizes && is_beyond {
                    sweep.is_whole = true;
                    // The larger sizes will not come.
                    points_left -= all - index - 1;
                    break;
                }
            }
        }
    }
    flushed_ps
}

/// Returns when a point should end, if so many are left to be measured until an end.
fn share_end_ns(end_ns: u64, points_left: usize) -> u64 {
    let now = monotonic_ns();
    now + end_ns.saturating_sub(now) / points_left.max(1) as u64
}

/// Returns whether the last sizes all take about as long as a load of a flushed line.
fn is_beyond(sizes_ps: &[Vec<u64>], flushed_ps: u64) -> bool {
    let least_ps = (flushed_ps as f64 * MEMORY_SHARE) as u64;
    let last = sizes_ps.iter().rev().take(BEYOND);
    let medians = last.filter_map(|batches| quantile(&mut batches.clone(), 0.5));
    medians.take_while(|ps| *ps >= least_ps).count() == BEYOND
}

/// Returns the cost of translation by the number of pages.
fn tlb(apart: &Sweep, packed: &Sweep) -> Vec<TlbPoint> {
    let points = apart.points().zip(packed.points()).zip(&apart.lines);
    let points = points.map(|((apart, packed), pages)| TlbPoint {
        pages: *pages as u64,
        apart_ns: apart.latency_ns,
        packed_ns: packed.latency_ns,
    });
    points.collect()
}

impl Sweep {
    /// Maps memory for as many lines as the last number says.
    fn new(pages: Pages, place: fn(usize) -> usize, lines: &[usize]) -> io::Result<Sweep> {
        let mapped = Mapped::new(place(lines.last().copied().unwrap_or(0)), pages)?;
        let (lines, batches_ps) = (lines.to_vec(), vec![Vec::new(); lines.len()]);
        Ok(Sweep {
            is_huge: pages == Pages::Huge,
            mapped,
            place,
            lines,
            batches_ps,
            is_whole: false,
        })
    }

    fn points(&self) -> impl Iterator<Item = LatencyPoint> {
        let all = self.lines.iter().zip(&self.batches_ps);
        all.map_while(|(lines, batches_ps)| point(lines * SLOT, batches_ps))
    }

    fn curve(&self) -> LatencyCurve {
        let share = self.mapped.huge_share();
        LatencyCurve {
            page_bytes: if self.is_huge { HUGE_PAGE } else { SMALL_PAGE } as u64,
            page_share: share.map(|share| if self.is_huge { share } else { 1.0 - share }),
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
