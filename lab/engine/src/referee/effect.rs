//! The quantity of a claim, in the unit that people read.

use crate::claim_test::ClaimTest;
use crate::referee::Referee;
use tiebreak_core::claim::{Property, Statement};
use tiebreak_core::evidence::Evidence;
use tiebreak_core::plan::Kind;
use tiebreak_core::result::{EffectResult, Quantity, ShareResult, SpellsResult};
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::dependence::is_serial;
use tiebreak_stats::limits::Limits;
use tiebreak_stats::observation::factor;
use tiebreak_stats::share_test::quantile_estimate;

/// Points of the curve of plausible rates.
const DENSITY_POINTS: usize = 120;

/// Returns the quantity of a claim: a ratio, a share, a quantile or a mean.
pub(crate) fn of_claim(referee: &Referee, claim: usize, evidence: &Evidence) -> Quantity {
    let same = effect(evidence, std::convert::identity);
    match referee.plan.claims[claim].claim.statement {
        Statement::Ratio(_) => Quantity::Ratio { ratio: effect(evidence, factor) },
        // Of the messages of a load only counts are kept.
        Statement::Property(Property::Quantile { .. }) if referee.plan.load.is_some() => {
            Quantity::Rate { rate: same }
        }
        Statement::Property(Property::Quantile { good, .. }) => {
            Quantity::Quantile { quantile: quantile(referee, claim, good, evidence), rate: same }
        }
        Statement::Property(Property::InShareOfRounds { .. } | Property::Succeeds { .. }) => {
            Quantity::Rate { rate: same }
        }
        Statement::Property(Property::Mean { .. }) => Quantity::Mean { mean: same },
    }
}

/// Returns estimate and limits, each converted.
fn effect(evidence: &Evidence, convert: fn(f64) -> f64) -> EffectResult {
    EffectResult {
        estimate: evidence.estimate.map(convert),
        low: evidence.low.map(convert),
        high: evidence.high.map(convert),
        confidence: evidence.confidence,
    }
}

/// Returns the quantile at the share `good`, between two observed values.
fn quantile(referee: &Referee, claim: usize, good: f64, evidence: &Evidence) -> EffectResult {
    let readings = &referee.claims[claim].readings;
    let limits = match referee.test(claim) {
        ClaimTest::Share(test) => test.quantile_limits(readings),
        _ => Limits { low: None, high: None },
    };
    EffectResult {
        estimate: quantile_estimate(readings, good),
        low: limits.low,
        high: limits.high,
        confidence: evidence.confidence,
    }
}

/// Returns the counts, if the claim is about a share; with the curve if `full`.
pub(crate) fn share(referee: &Referee, claim: usize, full: bool) -> Option<ShareResult> {
    let ClaimTest::Share(test) = referee.test(claim) else { return None };
    let (least_trials_to_hold, least_trials_to_refute) = test.least_trials();
    let dependence = test.dependence();
    let values_z = if full { referee.values_z(claim) } else { None };
    Some(ShareResult {
        trials: test.rounds(),
        successes: test.successes,
        block: test.block,
        left_over: test.left_over(),
        least_trials_to_hold,
        least_trials_to_refute,
        mean_burst: dependence.mean_burst,
        runs_z: dependence.runs_z,
        spell_lines: test.block_spells().map(|spells| spells.spell_lines),
        values_z,
        is_bursty: test.is_bursty() || values_z.is_some_and(is_serial),
        is_chain: test.is_chain,
        density: if full { test.density(DENSITY_POINTS) } else { Vec::new() },
    })
}

/// Returns what one observation is and how values came, if the claim is about a mean of a stream;
/// with the order of observations if `full`.
pub(crate) fn spells(referee: &Referee, claim: usize, full: bool) -> Option<SpellsResult> {
    let ClaimTest::Mean(test) = referee.test(claim) else { return None };
    matches!(referee.plan.kind, Kind::Stream { .. }).then(|| test.spells(full))
}
