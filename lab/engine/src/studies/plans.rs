//! The plan of a study's run on a workload.

use super::prepare::Prepared;
use super::{Environment, StudyRequest, questions};
use crate::error::LabError;
use crate::planning::{SECONDS_A_CLAIM, index_of};
use tiebreak_core::claim::Claim;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, ENGINE_VERSION, Gate, Hooks, Kind, Plan, PlannedClaim,
    ProgramPlan, Scope,
};
use tiebreak_core::study::{BatchCalls, FunctionPlan, Pilot, Published, Workload};

/// The share of its part of a budget in seconds that a study's run gives only to claims. After it,
/// a claim that nothing decides shares the rest with the cells of the table, which would otherwise
/// stay empty.
const CLAIMS_SHARE: f64 = 0.75;

/// The settings of all workloads of a study.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What is drawn anew for each observation.
    pub scope: Scope,
    /// The CPU that functions are pinned to.
    pub cpu: Option<usize>,
    /// The budget of all workloads together.
    pub budget: Budget,
    /// How many workloads share it.
    pub workloads: usize,
    /// The step of the wall clock in nanoseconds.
    pub clock_step_ns: f64,
}

impl Frame {
    /// Returns how a ratio is defined.
    pub(super) fn centre(&self, asked: &StudyRequest) -> Centre {
        let asked = asked.centre.or(asked.study.centre);
        asked.unwrap_or_else(|| Centre::unless_said(Adjust::NONE))
    }

    /// Returns a workload's part of the budget; if only rounds are limited, the default.
    pub(super) fn seconds(&self) -> f64 {
        let all = self.budget.seconds.map(|seconds| seconds / self.workloads.max(1) as f64);
        all.unwrap_or(SECONDS_A_CLAIM)
    }
}

/// The setting of a trial.
pub(super) struct Setup<'a> {
    pub(super) asked: &'a StudyRequest,
    pub(super) prepared: &'a Prepared,
    pub(super) environment: &'a Environment,
    pub(super) frame: &'a Frame,
}

/// Returns the plan of the functions before the pilot: one call in each batch.
pub(super) fn first_plan(setup: &Setup<'_>, workload: &Workload) -> FunctionPlan {
    let Setup { asked, prepared, frame, .. } = *setup;
    let study = &asked.study;
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
        rounds_a_unit: if frame.scope == Scope::Layout { 1 } else { 2 },
        calls_a_batch: BatchCalls::Alike(1),
        times_each_call: prepared.ready.iter().any(|one| one.has_reset),
        reads_in_run: study.reads_in_run,
        reads_whole: study.reads_whole,
        cpu: frame.cpu,
        placements: asked.placements,
        pilot: Pilot::default(),
        untimed: Vec::new(),
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

/// Returns claims with the contestants that they name, each at this error, after this wait.
pub(super) fn planned(
    claims: &[Claim],
    prepared: &Prepared,
    error: f64,
    waits_ns: u64,
) -> Result<Vec<PlannedClaim>, LabError> {
    let names = prepared.names();
    let planned = claims.iter().cloned().map(|claim| {
        let (left, right) = index_of(&claim, &names)?;
        Ok(PlannedClaim { claim, left, right, error, gate: Gate::None, waits_ns })
    });
    planned.collect()
}

/// Returns the plan of a run on a workload. The caller splits claims and error over all of them.
pub(super) fn plan(setup: &Setup<'_>, functions: FunctionPlan, claims: Vec<PlannedClaim>) -> Plan {
    let Setup { asked, prepared, frame, .. } = *setup;
    let workload = &functions.workload.name;
    let contestants = prepared.ready.iter().map(|ready| {
        let recipe = &ready.entrant.recipe;
        let words = std::iter::once(&recipe.compiler).chain(&recipe.flags).chain(&recipe.sources);
        Contestant {
            name: ready.entrant.name.clone(),
            command: words.chain(&recipe.libraries).cloned().collect::<Vec<_>>().join(" "),
            workload: workload.clone(),
            parameters: Vec::new(),
            hooks: Hooks::default(),
            directory: None,
        }
    });
    Plan {
        engine_version: ENGINE_VERSION,
        kind: Kind::Compare,
        contestants: contestants.collect(),
        // If nothing is left to compare, the run only reports which contestants are void.
        error: if claims.is_empty() {
            asked.error
        } else {
            claims.iter().map(|planned| planned.error).sum()
        },
        claims,
        resolution: asked.resolution,
        budget: frame.budget,
        scope: frame.scope,
        centre: frame.centre(asked),
        // Each workload has its own coins.
        seed: format!("{} {workload}", asked.seed),
        clock_step_ns: frame.clock_step_ns,
        program: ProgramPlan {
            cpus: frame.cpu.into_iter().collect(),
            wait_for_quiet: asked.wait_for_quiet,
            ..ProgramPlan::default()
        },
        block_runs: 1,
        adjust: Adjust::NONE,
        functions: Some(Box::new(functions)),
    }
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
