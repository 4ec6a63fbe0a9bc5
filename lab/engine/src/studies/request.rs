//! A user's request about a study.

use crate::error::LabError;
use crate::planning::{SECONDS_A_CLAIM, usage};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::{Budget, Centre, Scope};
use tiebreak_core::study::{Entrant, NotRun, Pilot, Placements, Study, Workload};
use tiebreak_core::verdict::Fault;
use tiebreak_machine::cpus;
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
    /// A contestant is being built.
    Building {
        /// Its name.
        contestant: &'a str,
    },
    /// A contestant takes no part.
    NotRun(&'a NotRun),
    /// The answers on a workload are being judged.
    Checking {
        /// The workload.
        workload: &'a str,
    },
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
}

impl StudyRequest {
    /// Returns the workloads to race, in the order of the study.
    ///
    /// # Errors
    /// Fails for a name that the study does not have.
    pub fn workloads(&self) -> Result<Vec<Workload>, LabError> {
        let all = &self.study.workloads;
        let names: Vec<&str> = all.iter().map(|workload| workload.name.as_str()).collect();
        known(&self.only, &names, &self.study.name, "workload")?;
        let is_wanted = |workload: &&Workload| is_in(&self.only, &workload.name);
        Ok(all.iter().filter(is_wanted).cloned().collect())
    }

    /// Returns the contestants to race, in the order of the study. One that runs on several numbers
    /// of threads can be named without a number.
    ///
    /// # Errors
    /// Fails for a name that the study does not have, or if there is only one contestant.
    pub fn entrants(&self) -> Result<Vec<Entrant>, LabError> {
        let all = &self.study.contestants;
        let family = |of: &Entrant| of.threads.as_ref().map(|threads| threads.family.clone());
        let names: Vec<&str> = all.iter().map(|entrant| entrant.name.as_str()).collect();
        let families: Vec<String> = all.iter().filter_map(family).collect();
        let is_known = |name: &String| families.contains(name) || names.contains(&name.as_str());
        if !self.contestants.iter().all(is_known) {
            known(&self.contestants, &names, &self.study.name, "contestant")?;
        }
        let is_wanted = |entrant: &&Entrant| {
            let of_family = family(entrant).is_some_and(|name| self.contestants.contains(&name));
            is_in(&self.contestants, &entrant.name) || of_family
        };
        Ok(all.iter().filter(is_wanted).cloned().collect())
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
    pub fn scope(&self) -> Result<Scope, LabError> {
        match self.scope.unwrap_or(self.study.scope) {
            Scope::Code if self.has_runners() => usage(format!(
                "the contestants of {} live in a runtime that places their code itself, so none \
                 can be drawn: --scope binary",
                self.study.name
            )),
            Scope::Stream => usage("functions are not a stream: use --scope code".to_owned()),
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

/// Returns whether a list contains a name; an empty list contains all.
fn is_in(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|one| one == name)
}

fn known(asked: &[String], names: &[&str], study: &str, what: &str) -> Result<(), LabError> {
    match asked.iter().find(|one| !names.contains(&one.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let list = names.join(", ");
            usage(format!("{study} has no {what} '{unknown}'; it has {list}"))
        }
    }
}
