//! The probe of latency: a load that waits for the one before, by the size of the data, by the
//! size of pages, and by the number of pages.

pub(crate) mod chase;
mod plan;

pub use crate::tools::flushed::MEMORY_SHARE;
use crate::tools::*;
use crate::{LatencyPoint, TlbPoint};
use chase::{Cycle, SLOT};
use plan::{Plan, Shares};

/// No load of any machine is faster: what is was optimised out, or is no load.
const LEAST_LOAD_NS: f64 = 0.5;
/// Twice the work takes so many times as long, at least and at most.
const DOUBLE_WORK: [f64; 2] = [1.8, 2.2];
/// Points of which a curve has at least so many.
const LEAST_POINTS: usize = 4;
/// What a point of the page sweep may take, as a share of what a point of a curve may.
const PAGE_WEIGHT: f64 = 0.5;
/// A curve ends where so many sizes in a row take as long as memory: the last data is then eight
/// times as large as what the caches hold.
const BEYOND: usize = 7;
/// Of data of this size and above, flushed lines are loaded too, so often.
const FLUSHED_FROM: usize = 4 << 20;
const FLUSHES: usize = 8;

/// The probe.
#[derive(Debug)]
pub struct Latency {
    cpu: usize,
    advertised: Vec<AdvertisedCache>,
    memory_bytes: u64,
}

/// What it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The CPU.
    pub cpu: usize,
    /// Its data caches as the kernel lists them.
    pub advertised: Vec<AdvertisedCache>,
    /// A curve a kind of pages.
    pub curves: Vec<Curve>,
    /// What a load takes of a line that was flushed just before, the median; `None` where no
    /// program may flush.
    pub flushed_ns: Option<f64>,
    /// The page sweep.
    pub pages: Vec<TlbPoint>,
    /// How many times as long twice as many loads took.
    pub double_work_ratio: f64,
}

/// Latency by the size of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The share of the data on pages of that size, where the kernel says so.
    pub page_share: Option<f64>,
    /// Whether it ends beyond all caches.
    pub is_whole: bool,
    /// Small sizes first.
    pub points: Vec<Point>,
}

/// Latency of a load from data of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What is said of it: quartiles of batches.
    pub found: LatencyPoint,
    /// Medians of parts of the batches, the earlier first.
    pub parts_ns: Vec<f64>,
}

impl Latency {
    /// A probe that runs on the first of these CPUs, or wherever it is put if there are none.
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

    /// Measures, for as long as the budget lasts.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let mut reasons = Vec::new();
        let _pinned = pinned(self.cpu, &mut reasons);
        let no_memory = |error| Probed::inconclusive(format!("no memory to measure: {error}"));
        let plan = match self.plan(budget.length().as_secs_f64()) {
            Ok(plan) => plan,
            Err(error) => return no_memory(error),
        };
        let mut work = match Work::new(&plan) {
            Ok(work) => work,
            Err(error) => return no_memory(error),
        };
        let ratio = work.double_work_ratio(budget);
        if !(DOUBLE_WORK[0]..=DOUBLE_WORK[1]).contains(&ratio) {
            return Probed::inconclusive(format!(
                "twice as many loads took {ratio:.2} times as long, not about twice"
            ));
        }
        work.run(budget);
        let reading = Reading {
            cpu: self.cpu,
            advertised: self.advertised.clone(),
            flushed_ns: work.flushed_ns(),
            curves: work.curves(),
            pages: work.pages(),
            double_work_ratio: ratio,
        };
        judged(reading, &plan, reasons)
    }

    /// The plan for as much memory as there really is: what a limit on address space allows is
    /// found by trying.
    fn plan(&self, seconds: f64) -> std::io::Result<Plan> {
        let mut memory_bytes = self.memory_bytes;
        loop {
            let plan = Plan::new(&self.advertised, memory_bytes, seconds);
            let Err(error) = Work::new(&plan) else { return Ok(plan) };
            let largest = plan.largest_bytes() as u64;
            if largest <= 4 << 20 {
                return Err(error);
            }
            memory_bytes = memory_bytes.min(2 * largest) / 2;
        }
    }
}

/// What speaks against a reading. A curve of a few points is none, and goes.
fn judged(mut reading: Reading, plan: &Plan, mut reasons: Vec<String>) -> Probed<Reading> {
    let mut all =
        reading.curves.iter().flat_map(|curve| &curve.points).map(|one| one.found.latency_ns);
    if let Some(ns) = all.find(|ns| *ns < LEAST_LOAD_NS) {
        let why = format!("a load of {ns:.2} ns is none: the chain was not run");
        return Probed::inconclusive(why);
    }
    reading.curves.retain(|curve| {
        let is_one = curve.points.len() >= LEAST_POINTS;
        if !is_one {
            let kib = curve.page_bytes >> 10;
            reasons.push(format!("the time ended before there was a curve of pages of {kib} KiB"));
        }
        is_one
    });
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
struct Work<'a> {
    plan: &'a Plan,
    maps: [(Pages, Mapped); 2],
    /// Where lines lie side by side, beside the first mapping where they lie apart.
    packed: Mapped,
    /// A list of batches a size, of each kind of pages.
    sizes: [Vec<Vec<u64>>; 2],
    /// Medians of parts of these, in picoseconds, the earlier first.
    parts_ps: [Vec<Vec<u64>>; 2],
    /// Whether the sizes of each kind ended beyond all caches.
    is_whole: [bool; 2],
    /// Loads of flushed lines.
    flushed_ps: Vec<u64>,
    /// The same as of sizes of a number of pages, apart and packed.
    pages: [Vec<Vec<u64>>; 2],
}

impl Work<'_> {
    fn new(plan: &Plan) -> std::io::Result<Work<'_>> {
        let map = |pages| Mapped::new(plan.largest_bytes(), pages).map(|mapped| (pages, mapped));
        let lines = plan.pages.last().map_or(1, |pages| pages * SLOT);
        let none = |points: usize| [vec![Vec::new(); points], vec![Vec::new(); points]];
        Ok(Work {
            plan,
            maps: [map(Pages::Small)?, map(Pages::Huge)?],
            packed: Mapped::new(lines, Pages::Small)?,
            sizes: none(plan.sizes.len()),
            parts_ps: none(plan.sizes.len()),
            is_whole: [false; 2],
            flushed_ps: Vec::new(),
            pages: none(plan.pages.len()),
        })
    }

    /// The best of a few tries, as any of them may have waited for the CPU.
    fn double_work_ratio(&self, budget: &Budget<'_>) -> f64 {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let ratio = chase::double_work_ratio(&self.maps[0].1, budget);
            if (ratio - 2.0).abs() < (best - 2.0).abs() {
                best = ratio;
            }
            if (DOUBLE_WORK[0]..=DOUBLE_WORK[1]).contains(&best) || budget.is_spent() {
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
            let mut shares = Shares::new(end_ns, weight);
            for kind in 0..self.maps.len() {
                self.pass_sizes(kind, pass, &mut shares, budget);
            }
            self.pass_pages(pass, &mut shares, budget);
        }
    }

    fn pass_sizes(&mut self, kind: usize, pass: u64, shares: &mut Shares, budget: &mut Budget<'_>) {
        let mut cycle = Cycle::new(&self.maps[kind].1, |slot| slot * SLOT, pass);
        for (index, size) in self.plan.sizes.iter().enumerate() {
            let end_ns = shares.next_end_ns(1.0);
            if budget.is_spent() || !cycle.grow(size / SLOT, budget) {
                return;
            }
            let batches = &mut self.sizes[kind][index];
            let before = batches.len();
            cycle.sample(end_ns, budget, batches);
            self.parts_ps[kind][index].extend(parts(&batches[before..], 0.5, 1));
            if *size >= FLUSHED_FROM {
                self.flushed_ps.extend((0..FLUSHES).filter_map(|_| cycle.flushed_ps()));
            }
            budget.tell(0.0);
            let is_beyond = match quantile(&mut self.flushed_ps, 0.5) {
                Some(flushed) => is_beyond(&mut self.sizes[kind][..=index], flushed),
                None => *size >= self.plan.enough_bytes,
            };
            if is_beyond {
                self.is_whole[kind] = true;
                shares.leave_out((self.plan.sizes.len() - index - 1) as f64);
                return;
            }
        }
    }

    fn pass_pages(&mut self, pass: u64, shares: &mut Shares, budget: &mut Budget<'_>) {
        let mut apart = Cycle::new(&self.maps[0].1, place_apart, pass);
        let mut packed = Cycle::new(&self.packed, |slot| slot * SLOT, pass);
        let [all_apart, all_packed] = &mut self.pages;
        let batches = all_apart.iter_mut().zip(all_packed);
        for (pages, (batches_apart, batches_packed)) in self.plan.pages.iter().zip(batches) {
            for (cycle, batches) in [(&mut apart, batches_apart), (&mut packed, batches_packed)] {
                let end_ns = shares.next_end_ns(PAGE_WEIGHT);
                if budget.is_spent() || !cycle.grow(*pages, budget) {
                    return;
                }
                cycle.sample(end_ns, budget, batches);
            }
            budget.tell(0.0);
        }
    }

    fn curves(&mut self) -> Vec<Curve> {
        let mut curves = Vec::new();
        let kinds = self.maps.iter().zip(&mut self.sizes).zip(&self.parts_ps).zip(self.is_whole);
        for ((((pages, mapped), batches), parts_ps), is_whole) in kinds {
            let huge = mapped.huge_share();
            let points = self.plan.sizes.iter().zip(batches).zip(parts_ps);
            curves.push(Curve {
                page_bytes: pages.bytes() as u64,
                page_share: huge.map(|huge| if *pages == Pages::Huge { huge } else { 1.0 - huge }),
                is_whole,
                points: points.map_while(|((size, all), parts)| point(*size, all, parts)).collect(),
            });
        }
        curves
    }

    fn flushed_ns(&mut self) -> Option<f64> {
        quantile(&mut self.flushed_ps, 0.5).map(|ps| ps as f64 / 1000.0)
    }

    fn pages(&mut self) -> Vec<TlbPoint> {
        let [apart, packed] = &mut self.pages;
        let median = |batches: &mut Vec<u64>| Some(quantile(batches, 0.5)? as f64 / 1000.0);
        let medians = apart.iter_mut().map(median).zip(packed.iter_mut().map(median));
        let point = |(pages, (apart, packed)): (&usize, (Option<f64>, Option<f64>))| {
            Some(TlbPoint { pages: *pages as u64, apart_ns: apart?, packed_ns: packed? })
        };
        self.plan.pages.iter().zip(medians).map_while(point).collect()
    }
}

/// Whether the last sizes all take about as long as a load of a flushed line.
fn is_beyond(sizes: &mut [Vec<u64>], flushed_ps: u64) -> bool {
    let least_ps = (flushed_ps as f64 * MEMORY_SHARE) as u64;
    let last = sizes.iter_mut().rev().take(BEYOND);
    last.filter_map(|batches| quantile(batches, 0.5)).take_while(|ps| *ps >= least_ps).count()
        == BEYOND
}

fn point(size: usize, batches: &mut [u64], parts_ps: &[u64]) -> Option<Point> {
    let mut at = |share| Some(quantile(batches, share)? as f64 / 1000.0);
    let (low_ns, latency_ns, high_ns) = (at(0.25)?, at(0.5)?, at(0.75)?);
    let found = LatencyPoint { size_bytes: size as u64, latency_ns, low_ns, high_ns };
    Some(Point { found, parts_ns: parts_ps.iter().map(|ps| *ps as f64 / 1000.0).collect() })
}

/// A line on a page of its own, at a place that differs from page to page: 64 pages in a row use
/// all 64 lines of a page once.
pub(crate) fn place_apart(page: usize) -> usize {
    page * crate::tools::mapped::SMALL_PAGE + (page * 37 + page / 64 * 11) % 64 * SLOT
}

#[cfg(test)]
mod tests;
