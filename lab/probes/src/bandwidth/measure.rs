//! The probe of bandwidth: threads that go through memory at the same time, by their number.
//!
//! First it measures how much of the data that a program goes through the caches still hold. Each
//! thread has a buffer of its own, several times as large, which it touched first itself. In
//! rounds, every number of threads goes through its buffers with every kernel for some hundredths
//! of a second, after the caches were filled. The work is stamped chunk by chunk, and only the work
//! in those windows of half a millisecond counts in which no thread lost its CPU (`windows`). Then
//! one thread follows pointers while more and more of the others read; and where there are several
//! memory nodes, each is read from its own CPUs and from those of the first.

mod hands;
mod kernels;
mod loaded;
mod nodes;
#[cfg(test)]
mod tests;
mod windows;

use crate::tools::{caches, held, *};
use crate::{
    Bandwidth, BandwidthCurve, BandwidthKnee, BandwidthPoint, LoadedLatency, NodeBandwidth, PARTS,
    Traffic,
};
use hands::{Hands, LARGE_PAGE_BYTES, Setup};
use kernels::{BLOCK_BYTES, Vectors};
use std::collections::BTreeSet;
use tiebreak_machine::{cpus::apart, fingerprint};
use tiebreak_stats::knee::knee;
use windows::{Log, Windows, common};

/// Length of a window of time.
const WINDOW_NS: u64 = 500_000;
/// A level of load, or a pair of nodes, with fewer windows has no reading.
const LEAST_WINDOWS: usize = 4;
/// A point, or a part of its windows, with fewer of them has no reading: a high quantile of so few
/// is too low.
const LEAST_OF_A_PART: usize = 16;
/// Undisturbed bandwidth is the rate that this share of all windows stays below: other guests of a
/// machine, and refreshes, only take away. It agrees with the best repetition of a program like
/// STREAM, whereas the best of all windows depends on their number.
const UNDISTURBED: f64 = 0.97;
/// The knee is the number of threads that gives this share of the best bandwidth.
const KNEE_SHARE: f64 = 0.95;
/// Shares of the budget: to measure what the caches hold, until buffers must be ready, for latency
/// beside bandwidth, and for nodes.
const HELD: f64 = 0.1;
const SETUP: f64 = 0.25;
const LATENCY: f64 = 0.22;
const NODES: f64 = 0.2;
/// A CPU moves at most a line per cycle, at no more than 8 GHz.
const MOST_BYTES_PER_S: f64 = 64.0 * 8e9;
/// Least size of a buffer, where memory allows it.
const LEAST_BYTES: u64 = 256 << 20;
/// Ratio of a buffer to what the caches hold, so that little of it is in there.
const TIMES_CACHE: u64 = 4;
/// The probe takes at most this part of the free memory.
const PART_OF_MEMORY: u64 = 4;
/// Wanted number of rounds, and the least number that there must be time for.
const ROUNDS: (u32, u32) = (12, 2);
/// The shortest and the longest stretch. Where other programs run, threads that have slept get
/// their CPUs at the same time more often than threads that went on, so many short stretches are
/// better.
const LENGTH: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Bandwidth> {
    let given: Vec<usize> = BTreeSet::from_iter(options.cpus.iter().copied()).into_iter().collect();
    let Some(&first) = given.first() else {
        return lacks("bandwidth", "sched_getaffinity", "no CPU").into();
    };
    // A CPU of each core before the second ones: two threads on a core share its bandwidth.
    let cpus: Vec<usize> = [first].into_iter().chain(apart(first, &given)).collect();
    let tree = Tree::at(Path::new("/"));
    let pinned = Pinned::to(first);
    let end_ns = monotonic_ns() + budget.length().mul_f64(HELD).as_nanos() as u64;
    let held_bytes = held::bytes(caches::memory_share_bytes(&tree), end_ns, budget);
    drop(pinned);
    let nodes = nodes(&tree, &cpus);
    let found = Bandwidth {
        vectors: Vectors::widest().name.to_owned(),
        last_level_bytes: caches::advertised(first).iter().map(|cache| cache.size_bytes).max(),
        held_bytes,
        window_ns: WINDOW_NS,
        cpus: cpus.iter().map(|cpu| *cpu as u32).collect(),
        nodes: nodes.as_ref().map(|nodes| nodes.len() as u32),
        ..Bandwidth::default()
    };
    let nodes = nodes.filter(|nodes| nodes.len() > 1).unwrap_or_default();
    let for_nodes = budget.length().mul_f64(if nodes.is_empty() { 0.0 } else { NODES });
    let mut seen = Measured { found, ..Measured::default() };
    if let Err(error) = seen.measure(&tree, &cpus, budget, for_nodes) {
        return Probed::inconclusive(format!("memory for the threads: {error}"));
    }
    if !nodes.is_empty() {
        let (pairs, reasons) = nodes::measure(&tree, &nodes, seen.cache_bytes(), budget);
        seen.found.between_nodes = pairs;
        seen.reasons.extend(reasons);
    }
    seen.reasons.extend(placed(fingerprint::read().is_guest(), cpus.len(), budget.length()));
    seen.judged()
}

/// Returns the reason against rates of several threads of a virtual machine. One of two CPUs gave
/// 44 to 55 GB/s to two threads in six of ten short looks and 82 to 85 in the others, each all the
/// time.
fn placed(is_guest: bool, cpus: usize, length: Duration) -> Option<String> {
    (is_guest && cpus > 1 && length < LONG_LOOK).then(|| {
        "of several threads this is one placement: a hypervisor moves CPUs, and two of them may \
         share a link to memory now and not then"
            .to_owned()
    })
}

/// What was measured.
#[derive(Debug, Default)]
struct Measured {
    /// The finding, without the curves.
    found: Bandwidth,
    /// The points of the curves, in the order of the plan.
    cells: Vec<Cell>,
    /// What speaks against it.
    reasons: Vec<String>,
}

impl Measured {
    /// Measures the curves and the latency beside them, with buffers where the threads run.
    fn measure(
        &mut self,
        tree: &Tree,
        cpus: &[usize],
        budget: &mut Budget<'_>,
        reserve: Duration,
    ) -> io::Result<()> {
        let hands = Hands::new(Setup {
            cpus,
            buffer_bytes: buffer_bytes(tree, self.cache_bytes(), cpus.len()),
            cache_bytes: self.cache_bytes() as usize,
            node: None,
            ready_by_ns: monotonic_ns() + budget.length().mul_f64(SETUP).as_nanos() as u64,
            interrupted: budget.interrupted(),
        })?;
        self.found.large_page_share = hands.large_page_share();
        self.found.buffer_bytes = hands.buffer_bytes as u64;
        let has_others = cpus.len() > 1;
        let for_latency = if has_others { budget.length().mul_f64(LATENCY) } else { reserve };
        self.cells = curves(&hands, cpus.len(), budget, reserve + for_latency);
        if has_others {
            match loaded::measure(&hands, cpus, self.cache_bytes() as usize, budget, reserve) {
                Ok(levels) => self.found.loaded_latency = levels,
                Err(why) => self.reasons.push(why),
            }
        }
        Ok(())
    }

    /// Returns what the caches hold; where that is not known the advertised size of the last level,
    /// or a usual size.
    fn cache_bytes(&self) -> u64 {
        self.found.held_bytes.or(self.found.last_level_bytes).unwrap_or(32 << 20)
    }

    /// Makes the curves, and adds the reasons against them.
    fn judged(self) -> Probed<Bandwidth> {
        let cache = self.cache_bytes();
        let Measured { mut found, cells, mut reasons } = self;
        let (all, points) = (cells.len(), cells.iter().filter_map(Cell::point).count());
        if points == 0 {
            let why = "no window of time in which all threads ran: other programs use the CPUs, or \
                       the budget is too short";
            return Probed::inconclusive(why);
        }
        let best = cells.iter().flat_map(Cell::parts).fold(0.0, f64::max);
        if best > MOST_BYTES_PER_S * found.cpus.len() as f64 {
            let gb = best / 1e9;
            return Probed::inconclusive(format!("{gb:.0} GB/s is more than CPUs can move"));
        }
        if points < all {
            reasons.push(format!(
                "of {} of {all} curve points there are too few windows in which all threads ran: \
                 other programs use the CPUs, or the budget is too short",
                all - points
            ));
        }
        let hold = if found.held_bytes.is_some() { "hold" } else { "are said to hold" };
        let (cache_mib, buffer_mib) = (cache >> 20, found.buffer_bytes >> 20);
        found.is_from_caches = found.buffer_bytes < 2 * cache;
        if found.is_from_caches {
            reasons.push(format!(
                "buffers of {buffer_mib} MiB are less than twice the {cache_mib} MiB that caches \
                 {hold}: these rates come from caches, not from memory alone"
            ));
        }
        found.curves = curves_of(&cells);
        Probed::of(found, reasons)
    }
}

/// Returns the size of each of `threads` buffers, in whole large pages, at least two of them.
fn buffer_bytes(tree: &Tree, cache_bytes: u64, threads: usize) -> usize {
    let wanted = LEAST_BYTES.max(cache_bytes.saturating_mul(TIMES_CACHE));
    let free = cgroup::memory_free_bytes(tree);
    let most = free.map_or(wanted, |all| all / PART_OF_MEMORY / threads.max(1) as u64);
    let pages = wanted.min(most) as usize / LARGE_PAGE_BYTES;
    pages.max(2) * LARGE_PAGE_BYTES
}

/// Returns the memory nodes that hold memory, each with those of the CPUs that belong to it; `None`
/// if the machine does not list them.
fn nodes(tree: &Tree, cpus: &[usize]) -> Option<Vec<(usize, Vec<usize>)>> {
    let folder = "/sys/devices/system/node";
    let with_memory = parse_list(&tree.text(&format!("{folder}/has_memory"))?)?;
    let nodes = with_memory.into_iter().map(|node| {
        let text = tree.text(&format!("{folder}/node{node}/cpulist")).unwrap_or_default();
        let own = parse_list(&text).unwrap_or_default();
        (node, cpus.iter().copied().filter(|cpu| own.contains(cpu)).collect())
    });
    Some(nodes.collect())
}

/// A number of threads with a kernel, and what was seen of them.
#[derive(Clone, Debug)]
struct Cell {
    traffic: Traffic,
    threads: usize,
    /// Bytes per second of every window that was kept, in order of time.
    rates: Vec<u64>,
    /// Number of windows, kept or not.
    windows: u64,
}

impl Cell {
    fn new(traffic: Traffic, threads: usize) -> Cell {
        Cell { traffic, threads, rates: Vec::new(), windows: 0 }
    }

    fn add(&mut self, windows: &Windows) {
        self.rates.extend(rates(windows));
        self.windows += windows.seen;
    }

    /// Returns the undisturbed bandwidth of consecutive parts of the windows.
    fn parts(&self) -> Vec<f64> {
        let length = (self.rates.len() / PARTS).max(LEAST_OF_A_PART);
        let parts = self.rates.chunks_exact(length).take(PARTS);
        parts.filter_map(|part| undisturbed(part.to_vec())).collect()
    }

    /// Returns the point of the curve; `None` if too few windows were kept.
    fn point(&self) -> Option<BandwidthPoint> {
        let parts = self.parts();
        Some(BandwidthPoint {
            threads: self.threads as u32,
            bytes_per_s: undisturbed(self.rates.clone())?,
            low_bytes_per_s: parts.iter().copied().min_by(f64::total_cmp)?,
            high_bytes_per_s: parts.iter().copied().max_by(f64::total_cmp)?,
            rounds: parts.len() as u32,
            parts_bytes_per_s: parts,
            windows: self.windows,
            windows_kept: self.rates.len() as u64,
        })
    }
}

/// Returns bytes per second of all threads together, window by window.
fn rates(windows: &Windows) -> Vec<u64> {
    let per_s = 1e9 / WINDOW_NS as f64;
    windows.kept.iter().map(|done| (done.iter().sum::<f64>() * per_s) as u64).collect()
}

fn undisturbed(mut rates: Vec<u64>) -> Option<f64> {
    quantile_of_enough(&mut rates, UNDISTURBED, LEAST_OF_A_PART)
}

/// Returns a quantile of windows; `None` if they are too few.
fn quantile_of_enough(rates: &mut [u64], share: f64, least: usize) -> Option<f64> {
    quantile(rates, share).filter(|_| rates.len() >= least).map(|rate| rate as f64)
}

/// Plans the cells of a round, and the length of each. The cells of a curve are adjacent, so that a
/// round sees a curve in one state of the machine. There is every number of threads up to 16, and
/// above these 2^k and 3 * 2^k; fewer where there is no time for all.
fn plan(cpus: usize, time: Duration) -> (Vec<Cell>, Duration) {
    let choices: [fn(usize, usize) -> bool; 3] = [
        |threads, cpus| cpus <= 16 || threads >> threads.trailing_zeros() <= 3,
        |threads, _| threads.is_power_of_two(),
        |threads, cpus| threads == 1 || threads == cpus / 2,
    ];
    let counts: [Vec<usize>; 3] = choices.map(|is_wanted| {
        (1..=cpus).filter(|threads| *threads == cpus || is_wanted(*threads, cpus)).collect()
    });
    let most_cells = time.as_nanos() / (LENGTH.0 * ROUNDS.1).as_nanos();
    let counts = counts
        .iter()
        .find(|counts| (counts.len() * Traffic::ALL.len()) as u128 <= most_cells)
        .unwrap_or(&counts[2]);
    let cells: Vec<Cell> = Traffic::ALL
        .into_iter()
        .flat_map(|traffic| counts.iter().map(move |threads| Cell::new(traffic, *threads)))
        .collect();
    let length = time / (ROUNDS.0 * cells.len().max(1) as u32);
    (cells, length.clamp(LENGTH.0, LENGTH.1))
}

/// Measures rounds over all cells, in turns forwards and backwards, until only the rest is left.
fn curves(hands: &Hands<'_>, cpus: usize, budget: &mut Budget<'_>, rest: Duration) -> Vec<Cell> {
    let (mut cells, length) = plan(cpus, budget.left().saturating_sub(rest));
    'rounds: for round in 0.. {
        for step in 0..cells.len() {
            if budget.left() <= rest + length {
                break 'rounds;
            }
            let index = if round % 2 == 0 { step } else { cells.len() - 1 - step };
            let cell = &mut cells[index];
            let traffic = cell.traffic;
            let windows = hands.run(cell.threads, |_, hand| hand.stream(traffic, length));
            cell.add(&windows);
            budget.tell(0.0);
        }
    }
    cells
}

/// Returns the curves that have points.
fn curves_of(cells: &[Cell]) -> Vec<BandwidthCurve> {
    let curves = cells.chunk_by(|a, b| a.traffic == b.traffic);
    let curves = curves.map(|cells| {
        let parts = cells
            .iter()
            .map(|cell| (cell.threads as u64, cell.parts().into_iter().map(Some).collect()));
        let knee = knee(&parts.collect::<Vec<_>>(), KNEE_SHARE).map(|knee| BandwidthKnee {
            threads: knee.size as u32,
            low_threads: knee.low as u32,
            high_threads: knee.high as u32,
            agreeing_share: knee.agreeing_share,
        });
        let points = cells.iter().filter_map(Cell::point).collect();
        BandwidthCurve { traffic: cells[0].traffic, is_pinned: true, points, knee }
    });
    curves.filter(|curve| !curve.points.is_empty()).collect()
}
