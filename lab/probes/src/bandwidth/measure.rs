//! The probe of bandwidth: threads that go through memory at the same time, by their number.
//!
//! First it is measured how much of what is gone through the caches still hold. Each thread has a
//! buffer of its own, several times as large, to which it gave memory itself. In rounds, every
//! number of threads goes through its buffers with every kernel for some hundredths of a second,
//! after the caches were filled; the work is stamped chunk by chunk, and what counts is the work in
//! those windows of half a millisecond in which no thread lost its CPU (`windows`). Then one thread
//! follows pointers while the others read, with a brake that is released step by step; and where
//! there are several memory nodes, each is read from its own CPUs and from those of the first.

mod buffer;
mod kernels;
mod loaded;
mod nodes;
mod plan;
mod room;
mod team;
mod windows;

use crate::tools::*;
use crate::tools::{caches, held};
use crate::{Bandwidth as Found, LoadedLatency, NodeBandwidth, Traffic};
use buffer::{Buffer, LARGE_PAGE_BYTES};
use kernels::{BLOCK_BYTES, Vectors};
use plan::{Cell, Plan};
use team::{Common, Job, PIECE_BYTES, Team};
use tiebreak_machine::cpus::apart;
use windows::{Log, Windows, common};

/// The windows of time, of which those count in which all threads ran.
const WINDOW_NS: u64 = 500_000;
/// A round with fewer windows says nothing; the next one gets them.
const LEAST_WINDOWS: usize = 4;
/// A point with fewer windows in all rounds says nothing: a high quantile of so few is too low.
const LEAST_IN_ALL: usize = 16;
/// A round is the median of its windows.
const HALF: f64 = 0.5;
/// What memory gives undisturbed is the rate that so large a share of all windows stays below:
/// other guests of a machine, and refreshes, only take away. It agrees with the best repetition of
/// a program like STREAM, where the best of all windows depends on how many there are.
const UNDISTURBED: f64 = 0.97;

/// The probe.
#[derive(Clone, Debug)]
pub struct Bandwidth {
    /// In the order in which threads get them.
    cpus: Vec<usize>,
    vectors: Vectors,
    last_level_bytes: Option<u64>,
    /// What the caches hold, once that is measured.
    held_bytes: Option<u64>,
    can_pin: bool,
}

/// What it saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What is said of it, without the curves.
    pub found: Found,
    /// What so many threads did, in the order of the plan.
    pub cells: Vec<CellReading>,
    /// In how many bytes the pointers of the latency lie; 0 if it was not measured.
    pub chased_bytes: u64,
}

/// What so many threads did with a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct CellReading {
    /// The kernel.
    pub traffic: Traffic,
    /// Whether each thread had a CPU of its own.
    pub is_pinned: bool,
    /// How many threads.
    pub threads: usize,
    /// The bandwidth undisturbed: the 97th percentile of all windows; `None` if too few were kept.
    pub bytes_per_s: Option<f64>,
    /// Of each round the bandwidth, the median over its windows; `None` if too few were kept, which
    /// then count in the next one.
    pub rounds: Vec<Option<f64>>,
    /// The bandwidth undisturbed of rounds, the earlier first: of each with the windows that were
    /// too few in those before.
    pub parts: Vec<f64>,
    /// Windows in all rounds.
    pub windows: u64,
    /// Those of them in which all threads ran.
    pub windows_kept: u64,
}

impl Bandwidth {
    /// Looks whether threads on these CPUs can have memory, and be pinned.
    ///
    /// # Errors
    /// There is no CPU, or no memory can be mapped.
    pub fn new(cpus: &[usize]) -> Result<Bandwidth, Unavailable> {
        // A CPU of each core before the second ones: two threads on a core share what it can do.
        let mut given = cpus.to_vec();
        given.sort_unstable();
        given.dedup();
        let others = given.first().map(|first| apart(*first, &given)).unwrap_or_default();
        let cpus: Vec<usize> = given.into_iter().take(1).chain(others).collect();
        let first = cpus.first().copied();
        let first = first.ok_or_else(|| lacks("bandwidth", "sched_getaffinity", "no CPU"))?;
        Buffer::new(LARGE_PAGE_BYTES, None).map_err(|error| lacks("bandwidth", "mmap", error))?;
        let pin = move || pin_this_thread(&[first]).is_ok();
        let thread = std::thread::Builder::new().spawn(pin);
        let thread = thread.map_err(|error| lacks("bandwidth", "a thread", error))?;
        let pinned = thread.join();
        Ok(Bandwidth {
            last_level_bytes: caches::advertised(first).iter().map(|cache| cache.size_bytes).max(),
            held_bytes: None,
            can_pin: pinned.unwrap_or(false),
            vectors: Vectors::widest(),
            cpus,
        })
    }

    /// Measures, for as long as the budget lasts.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let pinned = self.cpus.first().map(|cpu| Pinned::to(*cpu));
        let end_ns = monotonic_ns() + budget.length().mul_f64(HELD).as_nanos() as u64;
        let held_bytes = held::bytes(caches::memory_share_bytes(), end_ns, budget);
        drop(pinned);
        Bandwidth { held_bytes, ..self.clone() }.measure_memory(budget)
    }

    /// Measures with what the caches hold known, or not.
    fn measure_memory(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let tree = Tree::at(Path::new("/"));
        let nodes = room::nodes(&tree, &self.cpus);
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
            (reading.found.between_nodes, reasons) = nodes::measure(&tree, &nodes, self, budget);
        }
        self.judged(reading, reasons)
    }

    /// The curves and the latency beside them, with buffers where the threads run.
    fn measure_here(
        &self,
        tree: &Tree,
        budget: &mut Budget<'_>,
        reserve: Duration,
        reading: &mut Reading,
    ) -> io::Result<()> {
        let setup = budget.length().mul_f64(SETUP);
        let common = Common {
            cpus: &self.cpus,
            vectors: &self.vectors,
            buffer_bytes: room::buffer_bytes(tree, self.cache_bytes(), self.cpus.len()),
            cache_bytes: self.cache_bytes() as usize,
            node: None,
            ready_by_ns: monotonic_ns() + setup.as_nanos() as u64,
            interrupted: budget.interrupted(),
        };
        std::thread::scope(|scope| {
            let team = Team::start(scope, common)?;
            if team.buffer_bytes < 2 * LARGE_PAGE_BYTES {
                return Err(io::Error::other("none was ready in time"));
            }
            let all_bytes = (team.buffer_bytes * self.cpus.len()) as f64;
            let large = room::large_pages_bytes(tree);
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

    /// What the caches hold; where that is not known the last level as advertised, or as much as
    /// most have.
    fn cache_bytes(&self) -> u64 {
        self.held_bytes.or(self.last_level_bytes).unwrap_or(32 << 20)
    }

    /// What speaks against what was seen, beside these reasons.
    fn judged(&self, mut reading: Reading, mut reasons: Vec<String>) -> Probed<Reading> {
        let known = |cell: &&CellReading| cell.bytes_per_s.is_some();
        let count = reading.cells.iter().filter(known).count();
        if count == 0 {
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
        let all = reading.cells.len();
        let lost = all - count;
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

/// Shares of the budget: for what the caches hold, until buffers must be ready, for latency beside
/// bandwidth, and for nodes.
const HELD: f64 = 0.1;
const SETUP: f64 = 0.25;
const LATENCY: f64 = 0.22;
const NODES: f64 = 0.2;

/// A CPU moves at most a line a cycle, at no more than 8 GHz.
const MOST_BYTES_PER_S: f64 = 64.0 * 8e9;

/// Rounds over all cells, in turns forwards and backwards, until only the rest is left.
fn curves(team: &Team, cpus: usize, budget: &mut Budget<'_>, rest: Duration) -> Vec<CellReading> {
    let Plan { cells, length } = plan::plan(cpus, budget.left().saturating_sub(rest));
    let mut open: Vec<Open> = cells.iter().map(|cell| Open::of(*cell)).collect();
    'rounds: for round in 0.. {
        for step in 0..cells.len() {
            if budget.left() <= rest + length {
                break 'rounds;
            }
            let index = if round % 2 == 0 { step } else { cells.len() - 1 - step };
            let cell = cells[index];
            let jobs = vec![Job::Stream(cell.traffic); cell.threads];
            let logs = team.run(&jobs, cell.is_pinned, length);
            open[index].add(&common(&logs, WINDOW_NS));
            budget.tell(0.0);
        }
    }
    open.into_iter().map(Open::done).collect()
}

/// A cell that is being measured.
struct Open {
    reading: CellReading,
    /// Bytes a second of every window that was kept, the earlier first.
    rates: Vec<u64>,
    /// The first of them that is in no round yet.
    first: usize,
    /// The first of them that is in no part yet.
    first_of_part: usize,
}

impl Open {
    fn of(cell: Cell) -> Open {
        let Cell { traffic, is_pinned, threads } = cell;
        let reading = CellReading {
            traffic,
            is_pinned,
            threads,
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
        // Before a quantile reorders them, which leaves those of a round beside each other.
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

/// Bytes a second of all threads together, window by window.
fn rates(windows: &Windows) -> impl Iterator<Item = u64> + '_ {
    let a_second = 1e9 / WINDOW_NS as f64;
    windows.kept.iter().map(move |done| (done.iter().sum::<f64>() * a_second) as u64)
}

/// A quantile of windows; `None` if they are too few.
fn quantile_of_enough(rates: &mut [u64], share: f64, least: usize) -> Option<f64> {
    if rates.len() < least {
        return None;
    }
    quantile(rates, share).map(|rate| rate as f64)
}

#[cfg(test)]
mod tests;
