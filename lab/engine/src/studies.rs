//! Studies: built, judged, raced in turns, verified, and resumed.
//!
//! [`find()`] finds a study's folder. [`line_up()`] builds the contestants,
//! judges their answers on every workload, runs the pilots, and begins a run for each workload;
//! [`race`] races them under one error and one budget. [`take_up`] resumes a study from its
//! journals alone, and [`verify`] judges answers on all inputs of the study. [`why()`] looks where
//! two contestants spend their time.

mod fetch;
mod find;
mod functions;
mod line_up;
mod pilot;
mod questions;
mod setup;
mod short;
mod trial;
mod why;

pub(crate) use fetch::{address, fetch};
pub use find::{create, find};
pub(crate) use find::{folders_of_studies, name_of};
pub use functions::Functions;
pub use line_up::{LineUp, line_up, newest, race, take_up};
pub use trial::{Progress, verify};
pub use why::why;

pub use crate::session::Book;

use crate::error::{LabError, Result, usage};
use crate::planning::{SECONDS_A_CLAIM, check_error, check_resolution};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::{Budget, Centre, Scope};
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{Entrant, NotRun, Pilot, Placements, Study, Workload};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;
use tiebreak_machine::cpus;
use tiebreak_measure::build;
use tiebreak_measure::workers::WorkerProgram;

/// A study, and how to race it.
#[derive(Clone, Debug)]
pub struct StudyRequest {
    /// The study.
    pub study: Study,
    /// Workloads by name; empty for all.
    pub only: Vec<String>,
    /// Contestants by name; empty for all.
    pub contestants: Vec<String>,
    /// Claims that replace the study's and its table.
    pub claims: Vec<String>,
    /// Whether to ask only which is faster, each contestant or the reference, in place of the
    /// study's claims and its table.
    pub asks_order: bool,
    /// The scope, in place of the study's.
    pub scope: Option<Scope>,
    /// How a ratio is defined, in place of the study's.
    pub centre: Option<Centre>,
    /// The precision of a ratio of the table, in place of the study's.
    pub precision: Option<f64>,
    /// The error of all claims and ratios of all workloads together.
    pub error: f64,
    /// The smallest ratio that still matters.
    pub resolution: f64,
    /// The budget of all workloads together, in place of the study's.
    pub budget: Option<Budget>,
    /// The seed of all coins.
    pub seed: String,
    /// Where functions run.
    pub pinning: Pinning,
    /// Whether a unit waits for a quiet machine.
    pub wait_for_quiet: bool,
    /// How placements are chosen.
    pub placements: Placements,
}

/// Where functions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Shared libraries on the last CPU that may be used, which serves the fewest interrupts on
    /// most machines. Other runtimes, whose helper threads need CPUs too, wherever the kernel puts
    /// them.
    #[default]
    Default,
    /// Wherever the kernel puts them.
    Any,
    /// On this CPU.
    To(usize),
}

/// The environment that builds and runs functions.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The folder for builds, placements, and clients of the runner protocol.
    pub cache: PathBuf,
    /// The program that becomes a worker.
    pub program: WorkerProgram,
    /// Becomes true when the user asks to stop.
    pub stop: &'static AtomicBool,
}

/// A step before a race.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// This contestant is being built.
    Building(&'a str),
    /// A contestant takes no part.
    NotRun(&'a NotRun),
    /// The answers on this workload are being judged.
    Checking(&'a str),
    /// A contestant is void on a workload.
    Void {
        /// The workload.
        workload: &'a str,
        /// The contestant.
        contestant: &'a str,
        /// Why.
        fault: &'a Fault,
    },
    /// The pilot of a workload has ended.
    Piloted {
        /// The workload.
        workload: &'a str,
        /// Its results.
        pilot: &'a Pilot,
        /// The number of rounds in a unit.
        rounds_a_unit: u32,
        /// The length of a batch, in nanoseconds.
        batch_ns: f64,
    },
    /// The budget cannot suffice for all ratios of the tables.
    ShortBudget(&'a Warning),
}

impl Environment {
    /// Returns the user's cache, with this program as the worker: it must run
    /// [`worker::main`](crate::worker::main) if its first argument is `__worker`.
    ///
    /// # Errors
    /// Fails if the user has no cache folder.
    pub fn here(stop: &'static AtomicBool) -> Result<Environment> {
        Ok(Environment { cache: cache()?, program: WorkerProgram::this(), stop })
    }
}

/// Returns the user's cache.
pub(crate) fn cache() -> Result<PathBuf> {
    build::default_cache().map_err(|error| LabError::Data(error.to_string()))
}

impl StudyRequest {
    /// Checks the request, and returns its scope and its workloads. Builds nothing.
    ///
    /// # Errors
    /// Fails for numbers, names or scopes that make no plan.
    pub fn frame(&self) -> Result<(Scope, Vec<Workload>)> {
        check_error(self.error)?;
        check_resolution(self.resolution)?;
        if self.centre == Some(Centre::Mean) {
            return usage(
                "a ratio of means needs a cap, and the time of a call has none: --centre median, \
                 or race programs by 'tiebreak compare --mean'",
            );
        }
        if let Some(precision) = self.precision.filter(|one| !(*one > 0.0 && *one <= 1.0)) {
            return usage(format!(
                "a precision of {precision} is none: it must be above 0 and at most 100%, such as \
                 --precision 5%"
            ));
        }
        self.entrants()?;
        let workloads = self.workloads()?;
        Ok((self.scope()?, workloads))
    }

    /// Returns how exact the ratios of the table shall be; `None` if only claims, or who is faster,
    /// were asked for.
    pub fn table_precision(&self) -> Option<f64> {
        let has_table = self.claims.is_empty() && !self.asks_order;
        has_table.then(|| self.precision.unwrap_or(self.study.precision))
    }

    /// Returns the error of a study that cannot be raced.
    fn cannot(&self, why: &str) -> LabError {
        LabError::Data(self.cannot_because(why))
    }

    /// Returns that of one which cannot be raced only because this machine lacks something.
    fn cannot_here(&self, why: &str) -> LabError {
        LabError::NotMeasured(self.cannot_because(why))
    }

    fn cannot_because(&self, why: &str) -> String {
        format!("the study {} cannot be raced: {why}", self.study.name)
    }

    /// Returns the workloads to race, in the order of the study: without those that are raced only
    /// on request, unless they are named or there are no others.
    ///
    /// # Errors
    /// Fails for a name that the study does not have.
    pub fn workloads(&self) -> Result<Vec<Workload>> {
        let mut workloads = self.all_workloads()?;
        if self.only.is_empty() && workloads.iter().any(|one| !one.is_on_request) {
            workloads.retain(|one| !one.is_on_request);
        }
        Ok(workloads)
    }

    /// Returns the same with those that are raced only on request.
    ///
    /// # Errors
    /// As [`StudyRequest::workloads`].
    pub fn all_workloads(&self) -> Result<Vec<Workload>> {
        self.chosen(&self.only, "workload", &self.study.workloads, |one| vec![&one.name])
    }

    /// Returns the contestants to race, in the order of the study. One that runs on several numbers
    /// of threads can be named without a number.
    ///
    /// # Errors
    /// Fails for a name that the study does not have.
    pub fn entrants(&self) -> Result<Vec<Entrant>> {
        self.chosen(&self.contestants, "contestant", &self.study.contestants, |one| {
            let family = one.threads.as_ref().map(|threads| threads.family.as_str());
            [one.name.as_str(), one.stem.as_str()].into_iter().chain(family).collect()
        })
    }

    /// Returns those of `all` that a list of names contains; all for an empty list. `names` returns
    /// the name of one, and others that it may be called by.
    fn chosen<T: Clone>(
        &self,
        asked: &[String],
        what: &str,
        all: &[T],
        names: fn(&T) -> Vec<&str>,
    ) -> Result<Vec<T>> {
        let known = all.iter().flat_map(names);
        if let Some(unknown) = asked.iter().find(|one| !known.clone().any(|name| name == **one)) {
            let list: Vec<&str> = all.iter().map(|each| names(each)[0]).collect();
            let (study, list) = (&self.study.name, list.join(", "));
            return usage(format!("{study} has no {what} '{unknown}'; it has {list}"));
        }
        let mut chosen = all.to_vec();
        chosen.retain(|each| {
            asked.is_empty() || names(each).iter().any(|name| asked.iter().any(|one| one == name))
        });
        Ok(chosen)
    }

    /// Returns whether contestants run in another runtime.
    pub fn has_runners(&self) -> bool {
        self.study.contestants.iter().any(|entrant| entrant.recipe.language.is_runner())
    }

    /// Returns what is drawn anew for each observation.
    ///
    /// # Errors
    /// Fails for scope `code` in another runtime, where the code has no placement to draw, and for
    /// scope `stream`.
    pub fn scope(&self) -> Result<Scope> {
        match self.scope.unwrap_or(self.study.scope) {
            Scope::Code if self.has_runners() => usage(format!(
                "the contestants of {} live in a runtime that places their code itself, so none \
                 can be drawn: --scope binary",
                self.study.name
            )),
            Scope::Stream | Scope::Load => usage("functions are not a stream: use --scope code"),
            scope => Ok(scope),
        }
    }

    /// Returns the budget of all workloads together.
    pub fn budget(&self, workloads: usize) -> Budget {
        let seconds = Some(SECONDS_A_CLAIM * workloads as f64);
        self.budget.or(self.study.budget).unwrap_or(Budget { rounds: None, seconds })
    }

    /// Returns the CPU that functions are pinned to.
    pub fn cpu(&self) -> Option<usize> {
        match self.pinning {
            Pinning::Any => None,
            Pinning::To(cpu) => Some(cpu),
            Pinning::Default if self.has_runners() => None,
            Pinning::Default => cpus::allowed().last().copied(),
        }
    }
}

/// Separates a contestant's fault, which is a finding, from a failure that ends everything.
fn fault<T>(ran: Result<T, UnitFailure>) -> Result<Result<T, (usize, Fault)>> {
    match ran {
        Ok(ran) => Ok(Ok(ran)),
        Err(UnitFailure::Fault(contestant, fault)) => Ok(Err((contestant, fault))),
        Err(UnitFailure::Interrupted) => Err(LabError::Interrupted),
        Err(UnitFailure::Broken(why)) => Err(LabError::Broken(why)),
    }
}
