//! One claim on its way to a verdict, whatever its subject.

use crate::round_ratio::Part;
use std::ops::{Deref, DerefMut};
use tiebreak_core::claim::{Property, Relation, Statement};
use tiebreak_core::journal::Tally;
use tiebreak_core::plan::{Centre, Kind, Plan, PlannedClaim};
use tiebreak_core::sample::{Outcome, Reading, Sample};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_stats::blocks::Block;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::{SequentialTest, Settled};
use tiebreak_stats::mean_ratio_test::MeanRatioTest;
use tiebreak_stats::mean_test::MeanTest;
use tiebreak_stats::observation::{self, LogRatio};
use tiebreak_stats::ratio_test::RatioTest;
use tiebreak_stats::share_test::{ShareTest, Trial};

/// The evidence about a claim, by the claim's subject.
#[derive(Clone, Debug)]
pub enum ClaimTest {
    /// A ratio of two contestants.
    Ratio(Box<RatioTest>),
    /// A ratio of their means.
    MeanRatio(Box<MeanRatioTest>),
    /// A share of runs, lines or rounds.
    Share(Box<ShareTest>),
    /// A mean.
    Mean(Box<MeanTest>),
}

impl Deref for ClaimTest {
    type Target = dyn SequentialTest;

    fn deref(&self) -> &Self::Target {
        match self {
            ClaimTest::Ratio(test) => &**test,
            ClaimTest::MeanRatio(test) => &**test,
            ClaimTest::Share(test) => &**test,
            ClaimTest::Mean(test) => &**test,
        }
    }
}

impl DerefMut for ClaimTest {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            ClaimTest::Ratio(test) => &mut **test,
            ClaimTest::MeanRatio(test) => &mut **test,
            ClaimTest::Share(test) => &mut **test,
            ClaimTest::Mean(test) => &mut **test,
        }
    }
}

impl ClaimTest {
    /// Creates the test of a claim of a plan.
    pub fn new(plan: &Plan, planned: &PlannedClaim) -> ClaimTest {
        let (version, error, block) = (plan.engine_version, planned.error, plan.block_runs);
        match planned.claim.statement {
            Statement::Ratio(relation) if plan.centre == Centre::Mean => {
                // Plans without a cap are refused when they are read; without one it would never
                // prove a limit.
                let cap = plan.cap_of_means(planned.claim.metric).unwrap_or(f64::MAX);
                let test = MeanRatioTest::new(relation, cap, error, plan.resolution);
                ClaimTest::MeanRatio(Box::new(test))
            }
            Statement::Ratio(relation) => {
                ClaimTest::Ratio(Box::new(ratio_test(plan, relation, error)))
            }
            Statement::Property(property) => ClaimTest::Share(Box::new(match property {
                Property::Mean { is_below, bar, cap } => {
                    let test = MeanTest::new(bar, is_below, cap, block, error);
                    return ClaimTest::Mean(Box::new(test));
                }
                Property::Succeeds { good, bad } if is_chain(plan) => {
                    ShareTest::chain(good, bad, error)
                }
                Property::InShareOfRounds { share: good, .. } => {
                    share_test(version, (good, good), block, error)
                }
                Property::Succeeds { good, bad } | Property::Quantile { good, bad, .. } => {
                    share_test(version, (good, bad), block, error)
                }
            })),
        }
    }

    /// Adds a run of the only contestant of the claim.
    pub fn observe_one(&mut self, planned: &PlannedClaim, sample: &Sample) -> Option<Settled> {
        let reading = sample.reading(planned.claim.metric).unwrap_or(Reading::UNKNOWN);
        match (self, planned.claim.statement) {
            (ClaimTest::Share(test), Statement::Property(Property::Succeeds { .. })) => {
                let succeeded = matches!(sample.outcome, Outcome::Finished | Outcome::Unusable);
                test.observe(if succeeded { Trial::Success } else { Trial::Failure })
            }
            (ClaimTest::Share(test), Statement::Property(Property::Quantile { bar, .. })) => {
                test.observe(at_most(reading, bar))
            }
            (ClaimTest::Mean(test), _) => test.observe(reading),
            _ => None,
        }
    }

    /// Adds a line of a stream: whether it is a success, and the number on it.
    pub fn observe_line(&mut self, is_success: bool, value: Option<f64>) -> Option<Settled> {
        let trial = if is_success { Trial::Success } else { Trial::Failure };
        match (self, value) {
            (ClaimTest::Share(test), _) => test.observe(trial),
            (ClaimTest::Mean(test), Some(value)) => test.observe(Reading::exact(value)),
            _ => None,
        }
    }

    /// Adds a block of the messages of a load, which were to arrive so often.
    pub fn observe_block(&mut self, arrivals: u64, tally: &Tally) -> Option<Settled> {
        let Tally { good, bad, good_runs, other_runs, mean_low: low, mean_high: high } = *tally;
        match self {
            ClaimTest::Share(test) => test.observe_block(arrivals, (good, bad), other_runs),
            ClaimTest::Mean(test) => {
                let mean = Reading { low, high };
                test.observe_block(arrivals, mean, (good, good_runs), other_runs)
            }
            ClaimTest::Ratio(_) | ClaimTest::MeanRatio(_) => None,
        }
    }

    /// Adds a round of the claim's two contestants: the value of each, and their log ratio.
    pub fn observe_pair(
        &mut self,
        planned: &PlannedClaim,
        (left, right): (Reading, Reading),
        d: LogRatio,
        conditions: &Conditions,
    ) -> Option<Settled> {
        match (self, planned.claim.statement) {
            (ClaimTest::Ratio(test), _) => test.observe(d, conditions),
            (ClaimTest::MeanRatio(test), _) => test.observe(left, right, conditions),
            (ClaimTest::Share(test), statement) => match statement.property()? {
                Property::InShareOfRounds { factor, .. } => test.observe(is_by_factor(d, factor)),
                Property::Succeeds { .. } | Property::Quantile { .. } | Property::Mean { .. } => {
                    None
                }
            },
            (ClaimTest::Mean(_), _) => None,
        }
    }
}

/// Creates the test of a ratio, by the rules of the engine version in the plan.
pub fn ratio_test(plan: &Plan, relation: Relation, error: f64) -> RatioTest {
    let (version, centre) = (plan.engine_version, plan.centre);
    let test =
        RatioTest::by_version(version, relation, centre, error, plan.resolution, plan.adjust);
    if version == 1 { test } else { test.asking_one_factor() }
}

/// Creates the test of a share, by the rules of an engine version.
pub fn share_test(version: u32, (good, bad): (f64, f64), block: u64, error: f64) -> ShareTest {
    match version {
        1 | 2 => ShareTest::without_certainty(good, bad, block, error),
        _ => ShareTest::new(good, bad, block, error),
    }
}

fn is_chain(plan: &Plan) -> bool {
    matches!(plan.kind, Kind::Stream { is_chain: true, .. })
}

/// Returns whether a value is at most the bar. A time-out below the bar leaves that unknown.
fn at_most(reading: Reading, bar: f64) -> Trial {
    if reading.high <= bar {
        Trial::Success
    } else if reading.low > bar {
        Trial::Failure
    } else {
        Trial::Unknown
    }
}

/// Returns whether a round's ratio reaches the factor or, for the factor 1, exceeds it.
fn is_by_factor(d: LogRatio, factor: f64) -> Trial {
    let bar = observation::log(factor);
    let reached =
        [d.low, d.high].map(|bound| if factor == 1.0 { bound > bar } else { bound >= bar });
    match reached {
        [true, _] => Trial::Success,
        [false, true] => Trial::Unknown,
        [false, false] => Trial::Failure,
    }
}

/// Returns what is known about a round of two contestants in addition to their ratio: its position
/// in its block of primers, which contestant ran first, and the larger share of its time for which
/// either was ready and waited for a CPU. A test whose plan adjusts nothing uses only the first.
pub fn conditions(coins: &RoundCoins, block: &Block, left: Part, right: Part) -> Conditions {
    let goes_on = block.goes_on();
    let rests = block.tells_apart(left.contestant, right.contestant);
    let [left_at, right_at] =
        [left, right].map(|part| coins.order.iter().position(|other| *other == part.contestant));
    let slot = if left_at < right_at { 1.0 } else { -1.0 };
    let delays = left.sample.delay_share().zip(right.sample.delay_share());
    let delay = delays.map(|(left, right)| left.max(right));
    Conditions { slot, delay, goes_on, rests }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To be faster is more than to be as fast; a factor is reached by equality.
    #[test]
    fn a_tie_is_no_round_in_which_one_is_faster() {
        fn check(low: f64, high: f64, factor: f64, expected: Trial) {
            assert_eq!(is_by_factor(LogRatio { low, high }, factor), expected, "{low} {factor}");
        }
        let ten = observation::log(10.0);
        check(0.0, 0.0, 1.0, Trial::Failure);
        check(1e-9, 1e-9, 1.0, Trial::Success);
        check(-1e-9, -1e-9, 1.0, Trial::Failure);
        check(0.0, 1.0, 1.0, Trial::Unknown);
        check(ten, ten, 10.0, Trial::Success);
        check(ten - 1e-9, ten - 1e-9, 10.0, Trial::Failure);
    }
}
