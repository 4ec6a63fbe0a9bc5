//! A study that can be raced: its settings, what was built of it, and the plans of its runs.

use super::prepare::{Prepared, prepare};
use super::{Environment, Step, StudyRequest, questions};
use crate::error::LabError;
use crate::planning::{self, SECONDS_A_CLAIM};
use crate::request::Request;
use tiebreak_core::claim::Claim;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, Hooks, Plan, PlannedClaim, ProgramPlan, Scope,
};
use tiebreak_core::study::{BatchCalls, FunctionPlan, Pilot, Published, Workload};

/// The share of its part of a budget in seconds that a study's run gives only to claims. After it,
/// a claim that nothing decides shares the rest with the cells of the table, which would otherwise
/// stay empty.
const CLAIMS_SHARE: f64 = 0.75;

/// A study whose contestants were built, on all its workloads.
pub(super) struct Setup<'a> {
    pub(super) asked: &'a StudyRequest,
    pub(super) environment: &'a Environment,
    pub(super) prepared: Prepared,
    pub(super) workloads: Vec<Workload>,
    pub(super) scope: Scope,
    /// How a ratio is defined.
    pub(super) centre: Centre,
    /// The CPU that functions are pinned to.
    cpu: Option<usize>,
    /// The budget of all workloads together.
    pub(super) budget: Budget,
    /// What the plans of all workloads share.
    request: Request,
}

impl<'a> Setup<'a> {
    /// Checks a request, and builds the contestants.
    ///
    /// # Errors
    /// As [`StudyRequest::frame`] and [`prepare`].
    pub(super) fn new(
        asked: &'a StudyRequest,
        environment: &'a Environment,
        progress: &mut dyn FnMut(Step<'_>),
    ) -> Result<Setup<'a>, LabError> {
        let (scope, workloads) = asked.frame()?;
        let cpu = asked.cpu();
        let centre = asked.centre.or(asked.study.centre);
        let centre = centre.unwrap_or_else(|| Centre::unless_said(Adjust::NONE));
        let budget = asked.budget(workloads.len());
        let request = Request {
            error: asked.error,
            resolution: asked.resolution,
            centre,
            program: ProgramPlan {
                cpus: cpu.into_iter().collect(),
                wait_for_quiet: asked.wait_for_quiet,
                ..ProgramPlan::default()
            },
            ..Request::new(Vec::new(), asked.seed.clone())
        };
        let prepared = prepare(asked, environment, progress)?;
        Ok(Setup { asked, environment, prepared, workloads, scope, centre, cpu, budget, request })
    }

    /// Returns a workload's part of the budget; if only rounds are limited, the default.
    pub(super) fn seconds(&self) -> f64 {
        let all = self.budget.seconds;
        all.map_or(SECONDS_A_CLAIM, |seconds| seconds / self.workloads.len().max(1) as f64)
    }

    /// Returns the plan of the functions before the pilot: one call in each batch.
    pub(super) fn first_plan(&self, workload: &Workload) -> FunctionPlan {
        let (prepared, study) = (&self.prepared, &self.asked.study);
        let reference = prepared.names().iter().position(|name| *name == study.reference);
        FunctionPlan {
            folder: study.folder.clone(),
            study: study.name.clone(),
            title: study.title.clone(),
            source: study.source.clone(),
            item: study.item.clone(),
            call: study.call,
            workload: workload.clone(),
            // Known after all workloads were tried.
            workloads: Vec::new(),
            contracts: study.contracts.clone(),
            items: 0,
            input_bytes: 0,
            oracle: prepared.oracle.as_ref().map(|path| path.display().to_string()),
            built: prepared.ready.iter().map(|one| one.built.clone()).collect(),
            not_run: prepared.not_run.clone(),
            reference: reference.unwrap_or(0),
            published: published(&study.published, workload),
            published_claims: questions::published(study, workload),
            rounds_a_unit: if self.scope == Scope::Layout { 1 } else { 2 },
            calls_a_batch: BatchCalls::Alike(1),
            times_each_call: prepared.ready.iter().any(|one| one.has_reset),
            reads_in_run: study.reads_in_run,
            reads_whole: study.reads_whole,
            cpu: self.cpu,
            placements: self.asked.placements,
            pilot: Pilot::default(),
            untimed: Vec::new(),
        }
    }

    /// Returns claims with the contestants that they name, each at this error, after this wait.
    pub(super) fn planned(
        &self,
        claims: &[Claim],
        error: f64,
        waits_ns: u64,
    ) -> Result<Vec<PlannedClaim>, LabError> {
        let names = self.prepared.names();
        let planned = claims.iter().cloned().map(|claim| {
            let planned = planning::planned(claim, &names, &self.request, error)?;
            Ok(PlannedClaim { waits_ns, ..planned })
        });
        planned.collect()
    }

    /// Returns the plan of a run on a workload. The caller splits claims and error over all of
    /// them.
    pub(super) fn plan(&self, functions: FunctionPlan, claims: Vec<PlannedClaim>) -> Plan {
        let workload = functions.workload.name.clone();
        let contestants = self.prepared.ready.iter().map(|ready| {
            let recipe = &ready.entrant.recipe;
            let words =
                std::iter::once(&recipe.compiler).chain(&recipe.flags).chain(&recipe.sources);
            Contestant {
                name: ready.entrant.name.clone(),
                command: words.chain(&recipe.libraries).cloned().collect::<Vec<_>>().join(" "),
                workload: workload.clone(),
                parameters: Vec::new(),
                hooks: Hooks::default(),
                directory: None,
            }
        });
        // If nothing is left to compare, the run only reports which contestants are void.
        let error = match claims.is_empty() {
            true => self.asked.error,
            false => claims.iter().map(|planned| planned.error).sum(),
        };
        Plan {
            error,
            scope: self.scope,
            // Each workload has its own coins.
            seed: format!("{} {workload}", self.asked.seed),
            functions: Some(Box::new(functions)),
            ..planning::assembled(&self.request, contestants.collect(), claims, self.budget)
        }
    }
}

/// Returns the tables with figures for this workload, or with a text.
fn published(tables: &[Published], workload: &Workload) -> Vec<Published> {
    let mut tables = tables.to_vec();
    for table in &mut tables {
        table.figures.retain(|figure| figure.workload == workload.name);
    }
    tables.retain(|table| !table.figures.is_empty() || !table.text.is_empty());
    tables
}

/// Returns how long the cells of the table wait, in one of this many runs under a budget:
/// [`CLAIMS_SHARE`] of its part of the seconds. A budget in rounds applies to each pair, so none
/// waits.
pub(super) fn waits_ns(budget: Budget, runs: usize) -> u64 {
    let seconds = budget.seconds.filter(|_| budget.rounds.is_none()).unwrap_or(0.0);
    (CLAIMS_SHARE * seconds * 1e9 / runs.max(1) as f64).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_wait_for_a_share_of_the_seconds() {
        fn check(rounds: Option<u64>, seconds: Option<f64>, runs: usize, expected: u64) {
            assert_eq!(waits_ns(Budget { rounds, seconds }, runs), expected);
        }
        check(None, Some(4.0), 1, 3_000_000_000);
        check(None, Some(4.0), 3, 1_000_000_000);
        check(None, Some(1e-9), 1, 1);
        check(None, None, 1, 0);
        check(Some(10), Some(4.0), 1, 0);
    }
}
