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

use crate::tools::{held, *};
use crate::topology::data_caches;
use crate::{
    Bandwidth, BandwidthCurve, BandwidthKnee, BandwidthPoint, LoadedLatency, NodeBandwidth, PARTS,
    Spread, Traffic,
};
use hands::{Hands, Setup};
use kernels::{BLOCK_BYTES, Vectors};
use nodes::Nodes;
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
/// under load, and for nodes.
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
    let nodes = nodes(&tree, &cpus);
    let mut found = Bandwidth {
        vectors: Vectors::widest().name.to_owned(),
        last_level_bytes: data_caches::advertised(&tree, first)
            .iter()
            .map(|one| one.size_bytes)
            .max(),
        held_bytes: held_bytes(&tree, first, budget),
        window_ns: WINDOW_NS,
        cpus: cpus.iter().map(|cpu| *cpu as u32).collect(),
        nodes: nodes.as_ref().map(|nodes| nodes.len() as u32),
        ..Bandwidth::default()
    };
    let cache_bytes = cache_bytes(&found);
    let hands = Hands::new(Setup {
        cpus: &cpus,
        buffer_bytes: buffer_bytes(&tree, cache_bytes, cpus.len()),
        cache_bytes: cache_bytes as usize,
        node: None,
        ready_by_ns: monotonic_ns() + budget.length().mul_f64(SETUP).as_nanos() as u64,
        interrupted: budget.interrupted(),
    });
    let hands = match hands {
        Ok(hands) => hands,
        Err(error) => return Probed::inconclusive(format!("memory for the threads: {error}")),
    };
    found.large_page_share = hands.large_page_share();
    found.buffer_bytes = hands.setup.buffer_bytes as u64;
    let nodes = nodes.filter(|nodes| nodes.len() > 1).unwrap_or_default();
    let (cells, reasons) = measured(&mut found, hands, (&tree, &nodes), budget);
    judged(found, &cells, reasons)
}

fn held_bytes(tree: &Tree, cpu: usize, budget: &Budget<'_>) -> Option<u64> {
    let _pinned = Pinned::to(cpu);
    let end_ns = monotonic_ns() + budget.length().mul_f64(HELD).as_nanos() as u64;
    held::bytes(memory_share_bytes(tree), end_ns, budget)
}

/// Measures the curves, then what else there is: the latency under load, and nodes. Returns the
/// points of the curves, and the reasons against what was found.
fn measured(
    found: &mut Bandwidth,
    hands: Hands<'_>,
    (tree, nodes): (&Tree, &Nodes),
    budget: &mut Budget<'_>,
) -> (Vec<Cell>, Vec<String>) {
    let (length, has_others) = (budget.length(), found.cpus.len() > 1);
    let for_nodes = length.mul_f64(if nodes.is_empty() { 0.0 } else { NODES });
    let for_latency = length.mul_f64(if has_others { LATENCY } else { 0.0 });
    let cells = curves(&hands, budget, for_nodes + for_latency);
    let mut reasons = Vec::new();
    if has_others {
        match loaded::measure(&hands, budget, for_nodes) {
            Ok(levels) => found.loaded_latency = levels,
            Err(why) => reasons.push(format!("no latency under load: {why}")),
        }
    }
    // Their memory is free for buffers that are bound to a node.
    drop(hands);
    let (pairs, why) = nodes::measure(tree, nodes, cache_bytes(found), budget);
    found.between_nodes = pairs;
    reasons.extend(why);
    reasons.extend(placed(fingerprint::read().is_guest(), found.cpus.len(), length));
    (cells, reasons)
}

/// Returns what the caches hold; where that is not known the advertised size of the last level, or
/// a usual size.
fn cache_bytes(found: &Bandwidth) -> u64 {
    found.held_bytes.or(found.last_level_bytes).unwrap_or(32 << 20)
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

/// Makes the curves, and adds the reasons against them.
fn judged(mut found: Bandwidth, cells: &[Cell], mut reasons: Vec<String>) -> Probed<Bandwidth> {
    found.curves = curves_of(cells);
    let points = found.curves.iter().flat_map(|curve| &curve.points);
    let best = points.clone().map(|point| point.high_bytes_per_s).fold(0.0, f64::max);
    let (all, lost) = (cells.len(), cells.len() - points.count());
    let causes = "other programs use the CPUs, or the budget is too short";
    if lost == all {
        let why = format!("no window of time in which all threads ran: {causes}");
        return Probed::inconclusive(why);
    }
    if best > MOST_BYTES_PER_S * found.cpus.len() as f64 {
        let gb = best / 1e9;
        return Probed::inconclusive(format!("{gb:.0} GB/s is more than CPUs can move"));
    }
    if lost > 0 {
        reasons.push(format!(
            "of {lost} of {all} curve points there are too few windows in which all threads ran: \
             {causes}"
        ));
    }
    let cache = cache_bytes(&found);
    found.is_from_caches = found.buffer_bytes < 2 * cache;
    if found.is_from_caches {
        let hold = if found.held_bytes.is_some() { "hold" } else { "are said to hold" };
        reasons.push(format!(
            "buffers of {} MiB are less than twice the {} MiB that caches {hold}: these rates come \
             from caches, not from memory alone",
            found.buffer_bytes >> 20,
            cache >> 20
        ));
    }
    Probed::of(found, reasons)
}

/// Returns the size of each of `threads` buffers, in whole large pages, at least two of them.
fn buffer_bytes(tree: &Tree, cache_bytes: u64, threads: usize) -> usize {
    let wanted = LEAST_BYTES.max(cache_bytes.saturating_mul(TIMES_CACHE));
    let free = cgroup::memory_free_bytes(tree);
    let most = free.map_or(wanted, |all| all / PART_OF_MEMORY / threads.max(1) as u64);
    let pages = wanted.min(most) as usize / HUGE_PAGE;
    pages.max(2) * HUGE_PAGE
}

/// Returns the memory nodes that hold memory, each with those of the CPUs that belong to
/// it; `None` if the machine does not list them.
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

    /// Returns the point of the curve; `None` if too few windows were kept.
    fn point(&self) -> Option<BandwidthPoint> {
        let length = (self.rates.len() / PARTS).max(LEAST_OF_A_PART);
        let parts = self.rates.chunks_exact(length).take(PARTS);
        let parts: Vec<f64> = parts.filter_map(|part| undisturbed(part, LEAST_OF_A_PART)).collect();
        let Spread { low, high } = Spread::of(parts.iter().copied())?;
        Some(BandwidthPoint {
            threads: self.threads as u32,
            bytes_per_s: undisturbed(&self.rates, LEAST_OF_A_PART)?,
            low_bytes_per_s: low,
            high_bytes_per_s: high,
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

/// Returns the undisturbed bandwidth of windows; `None` if they are too few.
fn undisturbed(rates: &[u64], least: usize) -> Option<f64> {
    let rate = quantile(&mut rates.to_vec(), UNDISTURBED)?;
    (rates.len() >= least).then_some(rate as f64)
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

/// Measures rounds over all cells until only the rest of the time is left.
fn curves(hands: &Hands<'_>, budget: &mut Budget<'_>, rest: Duration) -> Vec<Cell> {
    let time = budget.left().saturating_sub(rest);
    let (mut cells, length) = plan(hands.setup.cpus.len(), time);
    in_turns(&mut cells, budget, rest + length, |cell| {
        let traffic = cell.traffic;
        cell.add(&hands.run(cell.threads, |_, hand| hand.stream(traffic, length)));
    });
    cells
}

/// Visits things again and again, forwards and backwards in turns, until so much time is left.
fn in_turns<T>(
    things: &mut [T],
    budget: &mut Budget<'_>,
    rest: Duration,
    mut visit: impl FnMut(&mut T),
) {
    for turn in (0..things.len()).chain((0..things.len()).rev()).cycle() {
        if budget.left() <= rest {
            return;
        }
        visit(&mut things[turn]);
        budget.tell(0.0);
    }
}

/// Returns the curves that have points.
fn curves_of(cells: &[Cell]) -> Vec<BandwidthCurve> {
    let mut curves = Vec::new();
    for cells in cells.chunk_by(|a, b| a.traffic == b.traffic) {
        let points: Vec<BandwidthPoint> = cells.iter().filter_map(Cell::point).collect();
        let parts = points.iter().map(|point| {
            (u64::from(point.threads), point.parts_bytes_per_s.iter().copied().map(Some).collect())
        });
        let knee = knee(&parts.collect::<Vec<_>>(), KNEE_SHARE).map(|knee| BandwidthKnee {
            threads: knee.size as u32,
            low_threads: knee.low as u32,
            high_threads: knee.high as u32,
            agreeing_share: knee.agreeing_share,
        });
        curves.push(BandwidthCurve { traffic: cells[0].traffic, is_pinned: true, points, knee });
    }
    curves.retain(|curve| !curve.points.is_empty());
    curves
}
