//! Makes the inputs of coming units, with their right answers, while nothing is timed.

use crate::oracle::{Input, Oracle, OracleError};
use crate::system::send_signal;
use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tiebreak_core::study::Workload;
use tiebreak_machine::cpus;

/// The most oracles that work at the same time.
const ORACLES_MAX: usize = 4;

/// An input that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) seed: u64,
    /// The contracts of the contestants that will get it.
    pub(super) contracts: Vec<String>,
    /// Whether answers are wanted whole, not only their checksums.
    pub(super) is_whole: bool,
}

/// Makes inputs in threads of its own, each with an oracle of its own, on CPUs on which nothing is
/// timed if there are any. Whatever fails here, whoever needs the input makes it anew: so the error
/// is the same whether an input was expected or not. Dropping it ends the threads and the oracles.
#[derive(Debug)]
pub(super) struct Maker {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    /// What nobody works at yet, the most urgent first.
    wanted: VecDeque<Wanted>,
    /// The seeds of inputs that are being made.
    at_work: Vec<u64>,
    /// Those that are made; `None` for those that could not be.
    made: HashMap<u64, Option<Input>>,
    /// The process of each oracle that runs.
    oracles: Vec<Option<OwnedFd>>,
    is_closed: bool,
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        // Each change is one step, so a panic elsewhere leaves nothing half done.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, progress: MutexGuard<'a, Progress>) -> MutexGuard<'a, Progress> {
        self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Maker {
    /// Starts threads for a workload whose inputs are drawn. Their CPUs are these; with none, all
    /// that may be used, and one thread. With no thread at all, nothing is made.
    pub(super) fn start(oracle: &Oracle, workload: &Workload, cpus: &[usize]) -> Maker {
        let shared = Arc::<Shared>::default();
        let count = cpus.len().clamp(1, ORACLES_MAX);
        shared.progress().oracles.resize_with(count, || None);
        let threads = (0..count).filter_map(|index| {
            let (oracle, workload) = (oracle.ahead(), workload.clone());
            let (shared, cpus) = (Arc::clone(&shared), cpus.to_vec());
            let work = move || {
                if !cpus.is_empty() {
                    // Where that is refused, the kernel places the oracle.
                    let _ = cpus::pin_this_thread(&cpus);
                }
                Work { index, oracle, workload, shared }.run();
            };
            std::thread::Builder::new().spawn(work).ok()
        });
        Maker { threads: threads.collect(), shared }
    }

    /// Makes these inputs from now on, in this order, and discards all others.
    pub(super) fn expect(&self, wanted: Vec<Wanted>) {
        let mut progress = self.shared.progress();
        progress.made.retain(|seed, _| wanted.iter().any(|one| one.seed == *seed));
        let is_missing = |one: &Wanted| {
            !progress.made.contains_key(&one.seed) && !progress.at_work.contains(&one.seed)
        };
        progress.wanted = wanted.into_iter().filter(is_missing).collect();
        drop(progress);
        self.shared.changed.notify_all();
    }

    /// Returns the input of this seed, once it is made; `None` if it could not be, or if nobody is
    /// at work on it: the caller is then as quick.
    pub(super) fn take(&self, seed: u64) -> Option<Input> {
        let mut progress = self.shared.progress();
        progress.wanted.retain(|one| one.seed != seed);
        while progress.at_work.contains(&seed) {
            progress = self.shared.wait(progress);
        }
        progress.made.remove(&seed).flatten()
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        let mut progress = self.shared.progress();
        progress.is_closed = true;
        // An answer may take minutes.
        for process in progress.oracles.iter().flatten() {
            // It may have ended.
            let _ = send_signal(process.as_fd(), libc::SIGKILL);
        }
        drop(progress);
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

/// The work of one thread.
struct Work {
    index: usize,
    oracle: Oracle,
    workload: Workload,
    shared: Arc<Shared>,
}

impl Work {
    fn run(mut self) {
        while let Some(wanted) = self.next() {
            let made = self.make(&wanted).ok();
            let mut progress = self.shared.progress();
            progress.at_work.retain(|seed| *seed != wanted.seed);
            progress.made.insert(wanted.seed, made);
            drop(progress);
            self.shared.changed.notify_all();
        }
    }

    fn next(&self) -> Option<Wanted> {
        let mut progress = self.shared.progress();
        while !progress.is_closed {
            if let Some(wanted) = progress.wanted.pop_front() {
                progress.at_work.push(wanted.seed);
                return Some(wanted);
            }
            progress = self.shared.wait(progress);
        }
        None
    }

    fn make(&mut self, wanted: &Wanted) -> Result<Input, OracleError> {
        self.oracle.start_process()?;
        let process = self.oracle.process().map(|process| process.try_clone_to_owned());
        let process = process.transpose()?;
        let mut progress = self.shared.progress();
        if progress.is_closed {
            return Err(OracleError::Interrupted);
        }
        progress.oracles[self.index] = process;
        drop(progress);
        let mut input = self.oracle.input(&self.workload, wanted.seed)?;
        for contract in &wanted.contracts {
            if wanted.is_whole {
                self.oracle.known_answer(&mut input, contract)?;
            } else {
                self.oracle.checksum(&mut input, contract)?;
            }
        }
        Ok(input)
    }
}
