//! The probe of bandwidth: threads that go through memory at the same time, by their number.
//!
//! First it measures how much of the data that a program goes through the caches still hold. Each
//! thread has a buffer of its own, several times as large, which it touched first itself. In
//! rounds, every number of threads goes through its buffers with every kernel for some hundredths
//! of a second, after the caches were filled. The work is stamped chunk by chunk, and only the work
//! in those windows of half a millisecond counts in which no thread lost its CPU (`windows`). Then
//! one thread follows pointers while the others read, with a brake that is released step by step;
//! and where there are several memory nodes, each is read from its own CPUs and from those of the
//! first.

mod kernels;
mod loaded;
mod nodes;
mod team;
#[cfg(test)]
mod tests;
mod windows;

use crate::tools::{caches, held, *};
use crate::{Bandwidth as Found, LoadedLatency, NodeBandwidth, Traffic};
use kernels::{BLOCK_BYTES, Vectors};
use std::collections::BTreeSet;
use team::{Common, Job, LARGE_PAGE_BYTES, PIECE_BYTES, Team, buffer};
use tiebreak_machine::cpus::apart;
use windows::{Log, Windows, common};

/// Length of a window of time.
const WINDOW_NS: u64 = 500_000;
/// A round with fewer windows has no reading; its windows count in the next round.
const LEAST_WINDOWS: usize = 4;
/// A point with fewer windows in all rounds has no reading: a high quantile of so few is too low.
const LEAST_IN_ALL: usize = 16;
/// A round is the median of its windows.
const HALF: f64 = 0.5;
/// Undisturbed bandwidth is the rate that this share of all windows stays below: other guests of a
/// machine, and refreshes, only take away. It agrees with the best repetition of a program like
/// STREAM, whereas the best of all windows depends on their number.
const UNDISTURBED: f64 = 0.97;
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
/// Without pinning only reads are measured, among them the published ones, which are not pinned.
const UNPINNED: [Traffic; 2] = [Traffic::Touch, Traffic::Read];
/// Number of curves.
const CURVES: usize = Traffic::ALL.len() + UNPINNED.len();
/// Wanted number of rounds, and the least number that there must be time for.
const ROUNDS: (u32, u32) = (12, 2);
/// The shortest and the longest stretch. Where other programs run, threads that have slept get
/// their CPUs at the same time more often than threads that went on, so many short stretches are
/// better.
const LENGTH: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));

/// The probe.
#[derive(Debug)]
pub struct Bandwidth {
    /// In the order in which threads get them.
    cpus: Vec<usize>,
    vectors: Vectors,
    last_level_bytes: Option<u64>,
    /// What the caches hold, once that is measured.
    held_bytes: Option<u64>,
    can_pin: bool,
}

/// What the probe measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The finding, without the curves.
    pub found: Found,
    /// The points of the curves, in the order of the plan.
    pub cells: Vec<CellReading>,
    /// Bytes over which the pointers of the latency are spread; 0 if it was not measured.
    pub chased_bytes: u64,
}

/// Bandwidth of a number of threads with a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct CellReading {
    /// The kernel.
    pub traffic: Traffic,
    /// Whether each thread had a CPU of its own.
    pub is_pinned: bool,
    /// Number of threads.
    pub threads: usize,
    /// The undisturbed bandwidth: the 97th percentile of all windows; `None` if too few were kept.
    pub bytes_per_s: Option<f64>,
    /// The bandwidth of each round, the median over its windows; `None` if too few were kept, which
    /// then count in the next round.
    pub rounds: Vec<Option<f64>>,
    /// The undisturbed bandwidth of rounds, in order of time; each includes the windows of earlier
    /// rounds that were too few.
    pub parts: Vec<f64>,
    /// Number of windows in all rounds.
    pub windows: u64,
    /// Number of windows in which all threads ran.
    pub windows_kept: u64,
}

impl Bandwidth {
    /// Checks whether threads on these CPUs can have memory, and be pinned.
    ///
    /// # Errors
    /// There is no CPU, or no memory can be mapped.
    pub fn new(cpus: &[usize]) -> Result<Bandwidth, Unavailable> {
        let given: Vec<usize> = BTreeSet::from_iter(cpus.iter().copied()).into_iter().collect();
        let Some(&first) = given.first() else {
            return Err(lacks("bandwidth", "sched_getaffinity", "no CPU"));
        };
        buffer(LARGE_PAGE_BYTES, None).map_err(|error| lacks("bandwidth", "mmap", error))?;
        let thread = std::thread::Builder::new()
            .spawn(move || pin_this_thread(&[first]).is_ok())
            .map_err(|error| lacks("bandwidth", "a thread", error))?;
        Ok(Bandwidth {
            // A CPU of each core before the second ones: two threads on a core share its bandwidth.
            cpus: [first].into_iter().chain(apart(first, &given)).collect(),
            vectors: Vectors::widest(),
            last_level_bytes: caches::advertised(first).iter().map(|cache| cache.size_bytes).max(),
            held_bytes: None,
            can_pin: thread.join().unwrap_or(false),
        })
    }

    /// Measures within the budget.
    pub fn measure(mut self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let pinned = self.cpus.first().map(|cpu| Pinned::to(*cpu));
        let end_ns = monotonic_ns() + budget.length().mul_f64(HELD).as_nanos() as u64;
        self.held_bytes = held::bytes(caches::memory_share_bytes(), end_ns, budget);
        drop(pinned);
        let tree = Tree::at(Path::new("/"));
        let nodes = nodes(&tree, &self.cpus);
        let found = Found {
            vectors: self.vectors.name.to_owned(),
            last_level_bytes: self.last_level_bytes,
            held_bytes: self.held_bytes,
            window_ns: WINDOW_NS,
            cpus: self.cpus.iter().map(|cpu| *cpu as u32).collect(),
            nodes: nodes.as_ref().map(|nodes| nodes.len() as u32),
            ..Found::default()
        };
        let mut reading = Reading { found, ..Reading::default() };
        let nodes = nodes.unwrap_or_default();
        let for_nodes = budget.length().mul_f64(if nodes.len() > 1 { NODES } else { 0.0 });
        if let Err(error) = self.measure_here(&tree, budget, for_nodes, &mut reading) {
            return Probed::inconclusive(format!("memory for the threads: {error}"));
        }
        let mut reasons = Vec::new();
        if nodes.len() > 1 {
            (reading.found.between_nodes, reasons) = nodes::measure(&tree, &nodes, &self, budget);
        }
        self.judged(reading, reasons)
    }

    /// Measures the curves and the latency beside them, with buffers where the threads run.
    fn measure_here(
        &self,
        tree: &Tree,
        budget: &mut Budget<'_>,
        reserve: Duration,
        reading: &mut Reading,
    ) -> io::Result<()> {
        let common = Common {
            cpus: &self.cpus,
            vectors: &self.vectors,
            buffer_bytes: buffer_bytes(tree, self.cache_bytes(), self.cpus.len()),
            cache_bytes: self.cache_bytes() as usize,
            node: None,
            ready_by_ns: monotonic_ns() + budget.length().mul_f64(SETUP).as_nanos() as u64,
            interrupted: budget.interrupted(),
        };
        std::thread::scope(|scope| {
            let team = Team::start(scope, common)?;
            if team.buffer_bytes < 2 * LARGE_PAGE_BYTES {
                return Err(io::Error::other("none was ready in time"));
            }
            let all_bytes = (team.buffer_bytes * self.cpus.len()) as f64;
            let large = large_pages_bytes(tree);
            reading.found.large_page_share = large.map(|large| (large as f64 / all_bytes).min(1.0));
            reading.found.buffer_bytes = team.buffer_bytes as u64;
            let others = self.cpus.len() - 1;
            let for_latency = if others > 0 { budget.length().mul_f64(LATENCY) } else { reserve };
            reading.cells = curves(&team, self.cpus.len(), budget, reserve + for_latency);
            if others > 0 {
                let bytes = 4 * self.cache_bytes() as usize;
                (reading.found.loaded_latency, reading.chased_bytes) =
                    loaded::measure(&team, bytes, others, budget, reserve);
            }
            Ok(())
        })
    }

    /// Returns what the caches hold; where that is not known the advertised size of the last level,
    /// or a usual size.
    fn cache_bytes(&self) -> u64 {
        self.held_bytes.or(self.last_level_bytes).unwrap_or(32 << 20)
    }

    /// Adds the reasons against a reading.
    fn judged(&self, mut reading: Reading, mut reasons: Vec<String>) -> Probed<Reading> {
        let all = reading.cells.len();
        let lost = reading.cells.iter().filter(|cell| cell.bytes_per_s.is_none()).count();
        if lost == all {
            let why = "no window of time in which all threads ran: other programs use the CPUs, or \
                       the budget is too short";
            return Probed::inconclusive(why);
        }
        let rates = reading.cells.iter().flat_map(|cell| cell.rounds.iter().flatten());
        let best = rates.copied().fold(0.0, f64::max);
        if best > MOST_BYTES_PER_S * self.cpus.len() as f64 {
            let gb = best / 1e9;
            return Probed::inconclusive(format!("{gb:.0} GB/s is more than CPUs can move"));
        }
        if !self.can_pin {
            reasons.push("threads cannot be pinned to CPUs here".to_owned());
        }
        if lost > 0 {
            reasons.push(format!(
                "of {lost} of {all} curve points there are too few windows in which all threads \
                 ran: other programs use the CPUs, or the budget is too short"
            ));
        }
        let (cache, found) = (self.cache_bytes(), &mut reading.found);
        let hold = if self.held_bytes.is_some() { "hold" } else { "are said to hold" };
        let (cache_mib, buffer_mib) = (cache >> 20, found.buffer_bytes >> 20);
        found.is_from_caches = found.buffer_bytes < 2 * cache;
        if found.is_from_caches {
            reasons.push(format!(
                "buffers of {buffer_mib} MiB are less than twice the {cache_mib} MiB that caches \
                 {hold}: these rates come from caches, not from memory alone"
            ));
        }
        if !found.loaded_latency.is_empty() && reading.chased_bytes < 2 * cache {
            let mib = reading.chased_bytes >> 20;
            found.loaded_latency.clear();
            reasons.push(format!(
                "no latency beside bandwidth: there was time for pointers over {mib} MiB, less \
                 than twice the {cache_mib} MiB that caches {hold}"
            ));
        }
        Probed::of(reading, reasons)
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

/// Returns the bytes of this process' memory that lie in large pages; `None` if the kernel does not
/// report it.
fn large_pages_bytes(tree: &Tree) -> Option<u64> {
    tree.kib_bytes("/proc/self/smaps_rollup", "AnonHugePages")
}

/// A stretch of a round: a number of threads with a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    traffic: Traffic,
    is_pinned: bool,
    threads: usize,
}

/// Plans the cells of a round, and the length of each. The cells of a curve are adjacent, so that a
/// round sees a curve in one state of the machine. There are fewer numbers of threads where there
/// is no time for all.
fn plan(cpus: usize, time: Duration) -> (Vec<Cell>, Duration) {
    let most_cells = time.as_nanos() / (LENGTH.0 * ROUNDS.1).as_nanos();
    let choices = [all_counts(cpus), powers_of_two(cpus), vec![1, cpus / 2, cpus]];
    let fitting = choices
        .iter()
        .find(|counts| (counts.len() * CURVES) as u128 <= most_cells)
        .unwrap_or(&choices[2]);
    let counts: BTreeSet<usize> = fitting.iter().copied().filter(|count| *count > 0).collect();
    let pinned = Traffic::ALL.into_iter().map(|traffic| (traffic, true));
    let cells: Vec<Cell> = pinned
        .chain(UNPINNED.map(|traffic| (traffic, false)))
        .flat_map(|(traffic, is_pinned)| {
            counts.iter().map(move |threads| Cell { traffic, is_pinned, threads: *threads })
        })
        .collect();
    let length = time / (ROUNDS.0 * cells.len().max(1) as u32);
    (cells, length.clamp(LENGTH.0, LENGTH.1))
}

/// Returns every number up to 16 CPUs; above, 1, 2, 3, 4, 6, 8, 12, 16, 24, ... and all of them.
fn all_counts(cpus: usize) -> Vec<usize> {
    if cpus <= 16 {
        return (1..=cpus).collect();
    }
    let sizes = (0..usize::BITS - 2).flat_map(|power| [2 << power, 3 << power]);
    [1].into_iter().chain(sizes.take_while(|count| *count < cpus)).chain([cpus]).collect()
}

fn powers_of_two(cpus: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |power| Some(power * 2));
    powers.take_while(|power| *power < cpus).chain([cpus]).collect()
}

/// Measures rounds over all cells, in turns forwards and backwards, until only the rest is left.
fn curves(team: &Team, cpus: usize, budget: &mut Budget<'_>, rest: Duration) -> Vec<CellReading> {
    let (cells, length) = plan(cpus, budget.left().saturating_sub(rest));
    let mut open: Vec<Open> = cells.iter().map(|cell| Open::of(*cell)).collect();
    'rounds: for round in 0.. {
        for step in 0..cells.len() {
            if budget.left() <= rest + length {
                break 'rounds;
            }
            let index = if round % 2 == 0 { step } else { cells.len() - 1 - step };
            let Cell { traffic, is_pinned, threads } = cells[index];
            let logs = team.run(&vec![Job::Stream(traffic); threads], is_pinned, length);
            open[index].add(&common(&logs, WINDOW_NS));
            budget.tell(0.0);
        }
    }
    open.into_iter().map(Open::done).collect()
}

/// A cell that is being measured.
struct Open {
    reading: CellReading,
    /// Bytes per second of every window that was kept, in order of time.
    rates: Vec<u64>,
    /// Index of the first of them that is in no round yet.
    first: usize,
    /// Index of the first of them that is in no part yet.
    first_of_part: usize,
}

impl Open {
    fn of(cell: Cell) -> Open {
        let reading = CellReading {
            traffic: cell.traffic,
            is_pinned: cell.is_pinned,
            threads: cell.threads,
            bytes_per_s: None,
            rounds: Vec::new(),
            parts: Vec::new(),
            windows: 0,
            windows_kept: 0,
        };
        Open { reading, rates: Vec::new(), first: 0, first_of_part: 0 }
    }

    fn add(&mut self, windows: &Windows) {
        self.rates.extend(rates(windows));
        // A copy, as a quantile reorders its values. Those of a round stay adjacent.
        let mut part = self.rates[self.first_of_part..].to_vec();
        if let Some(rate) = quantile_of_enough(&mut part, UNDISTURBED, LEAST_IN_ALL) {
            self.reading.parts.push(rate);
            self.first_of_part = self.rates.len();
        }
        let round = quantile_of_enough(&mut self.rates[self.first..], HALF, LEAST_WINDOWS);
        if round.is_some() {
            self.first = self.rates.len();
        }
        self.reading.rounds.push(round);
        self.reading.windows += windows.seen;
        self.reading.windows_kept = self.rates.len() as u64;
    }

    fn done(mut self) -> CellReading {
        self.reading.bytes_per_s = quantile_of_enough(&mut self.rates, UNDISTURBED, LEAST_IN_ALL);
        self.reading
    }
}

/// Returns bytes per second of all threads together, window by window.
fn rates(windows: &Windows) -> impl Iterator<Item = u64> + '_ {
    let windows_per_s = 1e9 / WINDOW_NS as f64;
    windows.kept.iter().map(move |done| (done.iter().sum::<f64>() * windows_per_s) as u64)
}

/// Returns a quantile of windows; `None` if they are too few.
fn quantile_of_enough(rates: &mut [u64], share: f64, least: usize) -> Option<f64> {
    quantile(rates, share).filter(|_| rates.len() >= least).map(|rate| rate as f64)
}
