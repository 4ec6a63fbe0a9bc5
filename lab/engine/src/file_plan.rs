//! Converts a contest of a file of claims to the plan of its run.

use crate::error::LabError;
use crate::planning::{capped, check_adjust, index_of};
use crate::request::RESOLUTION;
use crate::revisions::{self, NAMES, RevisionRequest};
use std::path::Path;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, ENGINE_VERSION, Kind, Plan, PlannedClaim, Scope,
};
use tiebreak_core::result::Family;
use tiebreak_input::{Contest, Entrants, FileClaim};
use tiebreak_stats::family;

/// The settings of all contests of a file.
#[derive(Clone, Debug)]
pub struct Shared {
    /// How the error is controlled over all claims.
    pub family: Family,
    /// The error of the whole file.
    pub error: f64,
    /// The number of claims in the file: fixed before the first sample.
    pub claims: usize,
    /// The budget of the whole file. If only the claims of one contest are open, it may use all of
    /// it.
    pub budget: Budget,
    /// The seed of the file.
    pub seed: String,
    /// The step of the wall clock in nanoseconds.
    pub clock_step_ns: f64,
}

impl Shared {
    /// Returns the error at which each claim is settled while it is raced. With e-BH this is that
    /// of a claim that is proven alone; at the end it may be larger.
    fn error_of_a_claim(&self) -> f64 {
        match self.family {
            Family::EBonferroni => family::bonferroni_error(self.error, self.claims),
            Family::EBh => family::e_bh_error(self.error, self.claims, 1),
        }
    }
}

/// Makes the plan of a contest. The folders of revisions are filled in later
/// ([`crate::revisions::Revisions::place`]).
///
/// # Errors
/// Fails for a mean without a cap.
pub fn plan(contest: &Contest, shared: &Shared) -> Result<Plan, LabError> {
    let options = &contest.options;
    let adjust = options.adjust.unwrap_or(Adjust::NONE);
    let centre = options.centre.unwrap_or_else(|| Centre::unless_said(adjust));
    check_adjust(centre, adjust)?;
    let resolution = match contest.entrants {
        Entrants::Programs(_) => RESOLUTION,
        Entrants::Revisions(_) => revisions::RESOLUTION,
    };
    let contestants = contestants(contest);
    let error = shared.error_of_a_claim();
    let names: Vec<&str> = contestants.iter().map(|one| one.name.as_str()).collect();
    let mut claims = Vec::with_capacity(contest.claims.len());
    for FileClaim { claim, gate, .. } in &contest.claims {
        let claim = capped(claim.clone(), centre, options.program.timeout_ns)?;
        let (left, right) = index_of(&claim, &names)?;
        claims.push(PlannedClaim { claim, left, right, error, gate: *gate, waits_ns: 0 });
    }
    Ok(Plan {
        engine_version: ENGINE_VERSION,
        kind: Kind::Compare,
        error: error * claims.len() as f64,
        claims,
        contestants,
        resolution: options.resolution.unwrap_or(resolution),
        budget: shared.budget,
        scope: Scope::Binary,
        centre,
        // Each contest has its own coins.
        seed: format!("{} {}", shared.seed, contest.name),
        clock_step_ns: shared.clock_step_ns,
        program: options.program.clone(),
        block_runs: options.block_runs.unwrap_or(1),
        adjust,
        functions: None,
    })
}

fn contestants(contest: &Contest) -> Vec<Contestant> {
    let revisions = match &contest.entrants {
        Entrants::Programs(programs) => return programs.clone(),
        Entrants::Revisions(revisions) => revisions,
    };
    let contestants = NAMES.map(|name| Contestant {
        name: name.to_owned(),
        command: revisions.command.clone(),
        workload: contest.options.workload.clone(),
        parameters: Vec::new(),
        hooks: revisions.hooks.clone(),
        directory: None,
    });
    contestants.to_vec()
}

/// Returns the revisions of a contest, relative to the folder of the file.
pub fn asked(contest: &Contest, directory: &Path) -> Option<RevisionRequest> {
    let Entrants::Revisions(revisions) = &contest.entrants else { return None };
    Some(RevisionRequest {
        base: revisions.base.clone(),
        head: revisions.head.clone(),
        build: revisions.build.clone(),
        directory: directory.to_owned(),
        builds_at_once: revisions.builds_at_once,
        keeps: false,
    })
}
