//! The rounds of an earlier run, as noise.

use crate::{claim_test, round_ratio};
use tiebreak_core::claim::Claim;
use tiebreak_core::journal::Journal;
use tiebreak_core::plan::{Kind, PlannedClaim};
use tiebreak_stats::blocks::Block;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::power::Pilot;

/// The rounds of a run in which both contestants of a claim ran.
#[derive(Clone, Debug)]
pub struct PilotRounds {
    /// The run's name.
    pub run: String,
    /// Log ratios, with the conditions of their rounds.
    pub rounds: Vec<(LogRatio, Conditions)>,
    /// The run's own time over all its rounds; `None` if it has no rounds.
    pub seconds_a_round: Option<f64>,
    /// Whether the run is about this claim, so that its rounds are evidence.
    pub is_evidence: bool,
}

impl PilotRounds {
    /// Returns their noise; `None` if there are too few.
    pub(super) fn noise(&self) -> Option<Pilot> {
        Pilot::new(&self.rounds)
    }
}

/// Returns the rounds of a run that show the noise of a claim. In a run of a program against
/// itself, any two names stand for its two contestants.
pub fn pilot(journal: &Journal, claim: &Claim) -> PilotRounds {
    let plan = &journal.header.plan;
    let index_of = |name: &str, place: usize| match plan.kind {
        Kind::SelfCheck { .. } => Some(place),
        _ => plan.contestants.iter().position(|contestant| contestant.name == name),
    };
    let left = index_of(&claim.left, 0);
    let right = claim.right.as_ref().and_then(|right| index_of(right, 1));
    let rounds = journal.rounds.iter().filter_map(|round| {
        let left = round_ratio::part_of(round, left?)?;
        let right = round_ratio::part_of(round, right?)?;
        let (d, _) = round_ratio::log_ratio(plan, claim.metric, left, right);
        // Rounds are drawn from here one by one, outside of any block of primers.
        let block = Block::default();
        Some((d, claim_test::conditions(plan, &round.coins, &block, left, right)))
    });
    let is_same = |planned: &PlannedClaim| {
        let Claim { left, right, statement, metric, .. } = &planned.claim;
        (left, right, statement, metric)
            == (&claim.left, &claim.right, &claim.statement, &claim.metric)
    };
    let seconds = journal.rounds.last().map(|last| last.elapsed_ns as f64 / 1e9);
    let seconds_a_round = seconds.map(|seconds| seconds / journal.rounds.len() as f64);
    PilotRounds {
        run: journal.id.clone(),
        rounds: rounds.collect(),
        seconds_a_round: seconds_a_round.filter(|seconds| *seconds > 0.0),
        is_evidence: plan.kind == Kind::Compare && plan.claims.iter().any(is_same),
    }
}
