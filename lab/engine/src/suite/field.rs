//! The benchmarks that are raced: who is timed by the next process, and what is there already.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tiebreak_core::sample::Sample;
use tiebreak_core::sampler::{
    Contestants, ProgramSampler, Quiet, Ran, RunFailure, RunRequest, Sampler,
};
use tiebreak_core::verdict::Fault;
use tiebreak_machine::clock;
use tiebreak_measure::harnesses::{self, Asked, Failure, Harness, Program, Timed};

/// A benchmark that both revisions have.
pub(super) struct Benchmark {
    /// Which of each revision's programs has it.
    pub programs: [usize; 2],
    /// Its name in the program.
    pub name: String,
    /// A sample is the time of so many iterations.
    pub iterations: u64,
}

impl Benchmark {
    /// Returns its name in the suite; `programs` are those of head.
    pub fn full_name(&self, programs: &[Program]) -> String {
        full_name(&programs[self.programs[1]], &self.name)
    }
}

/// Returns the name of a benchmark in its suite.
pub(super) fn full_name(program: &Program, name: &str) -> String {
    match program.name.as_str() {
        "" => name.to_owned(),
        program => format!("{program} {name}"),
    }
}

/// What a process has said of a benchmark before its contest asked.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    side: usize,
    padding_bytes: u32,
    ns: f64,
}

/// All benchmarks of a suite.
pub(super) struct Field {
    pub harness: &'static dyn Harness,
    /// The programs of base and head.
    pub programs: [Vec<Program>; 2],
    pub benchmarks: Vec<Benchmark>,
    /// Their names in the suite.
    pub names: Vec<String>,
    /// Whether the claim of each is open.
    pub open: Vec<bool>,
    /// What is there already, in the order in which it was measured.
    pub ahead: Vec<VecDeque<Ahead>>,
    /// A folder for results.
    pub results: PathBuf,
    pub slice: Duration,
    pub limit: Duration,
    pub stop: &'static AtomicBool,
}

impl Field {
    /// Returns how long an iteration of a benchmark took in a process of one side: what is there
    /// already, or that of a new process, which times all open benchmarks of the program.
    ///
    /// Contests draw the same coins, so what is there was measured in the order that they have now.
    /// Where it was not (a contest has lost an attempt), it is of no use: the order that decided
    /// what was measured is then not the one that the journal names.
    fn time(&mut self, index: usize, side: usize, padding_bytes: u32) -> Result<f64, Failure> {
        match self.ahead[index].pop_front() {
            Some(ahead) if ahead.side == side && ahead.padding_bytes == padding_bytes => {
                return Ok(ahead.ns);
            }
            _ => self.ahead[index].clear(),
        }
        let program = self.benchmarks[index].programs[side];
        let is_there = |other: &usize| self.benchmarks[*other].programs[side] == program;
        let open = (0..self.benchmarks.len()).filter(|other| self.open[*other]);
        let company: Vec<usize> = open.filter(is_there).collect();
        let timed = match self.run(&company, side, padding_bytes) {
            Err(Failure::Status { .. } | Failure::TooLong { .. } | Failure::Other(_))
                if company.len() > 1 =>
            {
                // Who failed is seen by running each alone.
                self.run(&[index], side, padding_bytes)?
            }
            timed => timed?,
        };
        let ns_of = |name: &str| timed.iter().find(|one| one.name == name).map(|one| one.ns);
        for other in company.into_iter().filter(|other| *other != index) {
            if let Some(ns) = ns_of(&self.benchmarks[other].name) {
                self.ahead[other].push_back(Ahead { side, padding_bytes, ns });
            }
        }
        let name = &self.benchmarks[index].name;
        ns_of(name).ok_or_else(|| Failure::Other("it was asked for, and not timed".to_owned()))
    }

    fn run(&self, company: &[usize], side: usize, padding: u32) -> Result<Vec<Timed>, Failure> {
        let first = &self.benchmarks[company[0]];
        let names: Vec<&str> =
            company.iter().map(|index| self.benchmarks[*index].name.as_str()).collect();
        let asked = Asked { names: Some(&names), slice: self.slice, results: &self.results };
        let program = &self.programs[side][first.programs[side]];
        harnesses::time(self.harness, program, &asked, padding, self.limit, self.stop)
    }
}

/// The contest of a benchmark, as a source of samples.
pub struct Turn {
    field: Rc<RefCell<Field>>,
    index: usize,
}

impl Turn {
    pub(super) fn new(field: Rc<RefCell<Field>>, index: usize) -> Turn {
        Turn { field, index }
    }
}

impl Sampler for Turn {
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

impl ProgramSampler for Turn {
    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        let mut field = self.field.borrow_mut();
        let ns = field.time(self.index, request.contestant, request.padding_bytes);
        let ns = ns.map_err(|failure| fault(failure, &field.names[self.index]))?;
        let iterations = field.benchmarks[self.index].iterations;
        let wall_ns = (ns * iterations as f64).round() as u64;
        // Only the time is known: a process does more than this benchmark.
        let sample = Sample { user_ns: 0, peak_memory_bytes: 0, ..Sample::of_wall_ns(wall_ns) };
        Ok(Ran { sample, output: None, histogram: Vec::new() })
    }

    fn clean_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        let mut field = self.field.borrow_mut();
        field.open[self.index] = false;
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
