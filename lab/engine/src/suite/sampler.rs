//! The benchmarks that are raced, and the processes that time them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tiebreak_core::sample::{Outcome, Sample};
use tiebreak_core::sampler::{
    Contestants, ProgramSampler, Quiet, Ran, RunFailure, RunRequest, Sampler,
};
use tiebreak_core::verdict::Fault;
use tiebreak_machine::clock;
use tiebreak_measure::harnesses::{self, Failure, Harness, Program, SliceRequest};

/// The most bytes of names that are asked for, each escaped.
const MOST_NAME_BYTES: usize = 100_000;

/// A benchmark that both revisions have.
pub(super) struct Benchmark {
    /// Which pair of programs has it.
    pub pair: usize,
    /// Its name in the program.
    pub name: String,
    /// Its name in the suite.
    pub full_name: String,
    /// Whether its claim is open.
    pub is_open: bool,
    /// A sample is the time of so many iterations.
    pub iterations: u64,
    /// The step of the times that the harness says, in nanoseconds; 0 if they are exact.
    pub step_ns: f64,
}

/// Returns the name of a benchmark in its suite, where its program has a name.
pub(super) fn full_name(program: &str, name: &str) -> String {
    if program.is_empty() { name.to_owned() } else { format!("{program} {name}") }
}

/// A program of both revisions.
pub(super) struct Pair {
    /// Base's and head's.
    pub programs: [Program; 2],
    /// How long a process of it may take.
    pub limit: Duration,
    /// Whether each benchmark has processes of its own, since one of all has failed.
    pub is_alone: bool,
    /// What was measured in the latest round.
    pub shared: Shared,
}

/// What the processes of a round have said, one of each revision.
#[derive(Default)]
pub(super) struct Shared {
    round: u64,
    /// The benchmarks that are timed together, decided before the first process.
    company: Vec<usize>,
    /// The nanoseconds an iteration took, of each side that has run.
    sides: [Option<HashMap<String, f64>>; 2],
}

/// All benchmarks of a suite.
pub(super) struct Benchmarks {
    pub harness: &'static dyn Harness,
    pub pairs: Vec<Pair>,
    pub benchmarks: Vec<Benchmark>,
    /// A folder for results.
    pub results: PathBuf,
    pub slice: Duration,
    pub stop: &'static AtomicBool,
}

impl Benchmarks {
    /// Returns how long an iteration of a benchmark took in a process of one side in a round.
    ///
    /// The contests draw the same coins and are raced in step, so the first that comes to a round
    /// starts the processes for all of its program, in the order that all have. `None` if the
    /// process of all failed: nobody knows why, so it counts as the worst for who asked first, and
    /// from then on each is timed alone, by both revisions.
    fn time(
        &mut self,
        index: usize,
        (round, side): (u64, usize),
        padding_bytes: u32,
    ) -> Result<Option<f64>, Failure> {
        let pair = self.benchmarks[index].pair;
        let name = self.benchmarks[index].name.clone();
        let ns = if self.pairs[pair].is_alone {
            self.run(&[index], side, padding_bytes)?.remove(&name)
        } else {
            match self.time_together(pair, (round, side), padding_bytes)? {
                Some(timed) => timed.get(&name).copied(),
                None => return Ok(None),
            }
        };
        ns.map(Some).ok_or_else(|| not_timed(&name))
    }

    /// Returns what a process of one side has said in a round of all open benchmarks of a program,
    /// which runs now if it has not yet.
    fn time_together(
        &mut self,
        pair: usize,
        (round, side): (u64, usize),
        padding_bytes: u32,
    ) -> Result<Option<&HashMap<String, f64>>, Failure> {
        let shared = &self.pairs[pair].shared;
        if shared.round != round || shared.company.is_empty() {
            let all = self.benchmarks.iter().enumerate();
            let company = all.filter(|(_, other)| other.is_open && other.pair == pair);
            let company = company.map(|(other, _)| other).collect();
            self.pairs[pair].shared = Shared { round, company, sides: [None, None] };
        }
        let shared = &self.pairs[pair].shared;
        if shared.sides[side].is_none() {
            match self.run(&shared.company, side, padding_bytes) {
                Ok(timed) => self.pairs[pair].shared.sides[side] = Some(timed),
                Err(failure) if shared.company.len() == 1 || failure == Failure::Interrupted => {
                    return Err(failure);
                }
                Err(_) => self.pairs[pair].is_alone = true,
            }
        }
        Ok(self.pairs[pair].shared.sides[side].as_ref())
    }

    fn run(
        &self,
        company: &[usize],
        side: usize,
        padding_bytes: u32,
    ) -> Result<HashMap<String, f64>, Failure> {
        let names: Vec<&str> =
            company.iter().map(|index| self.benchmarks[*index].name.as_str()).collect();
        // One argument, or variable, has room for 128 KiB. What else is timed then is not used.
        let bytes: usize = names.iter().map(|name| 2 * name.len()).sum();
        let names = (bytes < MOST_NAME_BYTES).then_some(&names[..]);
        let pair = &self.pairs[self.benchmarks[company[0]].pair];
        let asked = SliceRequest {
            names,
            slice: self.slice,
            results: &self.results,
            padding_bytes,
            limit: pair.limit,
            stop: self.stop,
        };
        let timed = harnesses::time(self.harness, &pair.programs[side], &asked)?;
        Ok(timed.into_iter().map(|one| (one.name, one.ns)).collect())
    }
}

fn not_timed(name: &str) -> Failure {
    Failure::Other(format!("did not time '{name}', which was asked for"))
}

/// The contest of a benchmark, as a source of samples.
pub struct BenchmarkSampler {
    all: Rc<RefCell<Benchmarks>>,
    index: usize,
    /// How many times it was asked: twice a round.
    asked: u64,
}

impl BenchmarkSampler {
    pub(super) fn new(all: Rc<RefCell<Benchmarks>>, index: usize) -> BenchmarkSampler {
        BenchmarkSampler { all, index, asked: 0 }
    }
}

impl Sampler for BenchmarkSampler {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Programs(self)
    }

    fn wait_for_quiet(&mut self, _at_most_ns: u64) -> Quiet {
        Quiet { waited_ns: 0, quiet: true }
    }

    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }
}

impl ProgramSampler for BenchmarkSampler {
    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        let place = (self.asked / 2, request.contestant);
        self.asked += 1;
        let mut all = self.all.borrow_mut();
        let ns = all.time(self.index, place, request.padding_bytes);
        let ns = ns.map_err(|failure| fault(failure, &all.benchmarks[self.index].full_name))?;
        let iterations = all.benchmarks[self.index].iterations as f64;
        let wall_ns = ns.map_or(0, |ns| (ns * iterations).round() as u64);
        // Only the time is known: a process does more than this benchmark.
        let known = Sample { user_ns: 0, peak_memory_bytes: 0, ..Sample::of_wall_ns(wall_ns) };
        let outcome = if ns.is_some() { Outcome::Finished } else { Outcome::Unusable };
        let sample = Sample { outcome, ..known };
        Ok(Ran { sample, output: None, histogram: Vec::new() })
    }

    fn clean_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        self.all.borrow_mut().benchmarks[self.index].is_open = false;
        Ok(())
    }
}

fn fault(failure: Failure, benchmark: &str) -> RunFailure {
    let workload = benchmark.to_owned();
    RunFailure::Fault(match failure {
        Failure::Interrupted => return RunFailure::Interrupted,
        Failure::TooLong { seconds, .. } => Fault::Hung { workload, seconds },
        Failure::Status { status, tail, .. } => Fault::ExitStatus { status, stderr: tail },
        Failure::Other(what) => Fault::Runner { workload, what },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    static STOP: AtomicBool = AtomicBool::new(false);

    /// A suite of two benchmarks, whose process of a side runs this and is counted.
    fn all(folder: &tempfile::TempDir, sides: [&str; 2]) -> Benchmarks {
        let count = folder.path().join("count");
        let program = |script: &str| Program {
            name: String::new(),
            words: ["sh", "-c", &format!("echo >> {}; {script}", count.display())]
                .map(str::to_owned)
                .to_vec(),
            folder: folder.path().to_owned(),
        };
        let harness = harnesses::ALL.into_iter().find(|one| one.name() == "custom").unwrap();
        let benchmark = |name: &str| Benchmark {
            pair: 0,
            name: name.to_owned(),
            full_name: name.to_owned(),
            is_open: true,
            iterations: 1_000_000,
            step_ns: 1.0,
        };
        let limit = Duration::from_secs(60);
        let pair = Pair {
            programs: sides.map(program),
            limit,
            is_alone: false,
            shared: Shared::default(),
        };
        Benchmarks {
            harness,
            pairs: vec![pair],
            benchmarks: vec![benchmark("a"), benchmark("b")],
            results: folder.path().join("results"),
            slice: Duration::from_millis(1),
            stop: &STOP,
        }
    }

    fn started(folder: &tempfile::TempDir) -> usize {
        fs::read_to_string(folder.path().join("count")).unwrap_or_default().lines().count()
    }

    #[test]
    fn a_round_has_a_process_of_each_side() {
        let folder = tempfile::tempdir().unwrap();
        let mut all = all(&folder, ["echo a 10; echo b 20", "echo a 11; echo b 22"]);
        for round in 0..3 {
            // The coins say head first; who is asked second finds what the first has brought.
            assert_eq!(all.time(0, (round, 1), 7), Ok(Some(11.0)));
            assert_eq!(all.time(0, (round, 0), 7), Ok(Some(10.0)));
            assert_eq!(all.time(1, (round, 1), 7), Ok(Some(22.0)));
            assert_eq!(all.time(1, (round, 0), 7), Ok(Some(20.0)));
        }
        assert_eq!(started(&folder), 6);
        all.benchmarks[0].is_open = false;
        assert_eq!(all.time(1, (3, 0), 7), Ok(Some(20.0)));
        assert_eq!(all.pairs[0].shared.company, [1]);
    }

    #[test]
    fn once_all_have_failed_each_is_alone_on_both_sides() {
        let folder = tempfile::tempdir().unwrap();
        let fails = "case $TIEBREAK_BENCHMARKS in *b*) exit 3;; esac; echo a 11";
        let mut all = all(&folder, ["echo a 10; echo b 20", fails]);
        assert_eq!(all.time(0, (0, 0), 7), Ok(Some(10.0)));
        assert_eq!(all.time(0, (0, 1), 7), Ok(None), "nobody knows who it was");
        assert_eq!(started(&folder), 2);
        // What was measured together is of no use to the other.
        assert_eq!(all.time(1, (0, 0), 7), Ok(Some(20.0)));
        assert!(matches!(all.time(1, (0, 1), 7), Err(Failure::Status { status: 3, .. })));
        assert_eq!(started(&folder), 4);
        assert_eq!(all.time(0, (1, 1), 7), Ok(Some(11.0)));
        assert_eq!(started(&folder), 5);
    }

    #[test]
    fn what_is_not_timed_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut all = all(&folder, ["echo a 10", "echo a 10"]);
        assert_eq!(all.time(0, (0, 0), 0), Ok(Some(10.0)));
        assert_eq!(all.time(1, (0, 0), 0), Err(not_timed("b")));
    }
}
