//! The meters that a plan asks for, and those that are not read.

use tiebreak_core::counts::Counts;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Plan;

/// Returns the metrics that need hardware counters.
pub(crate) fn counted() -> Vec<Metric> {
    Counts::METRICS.to_vec()
}

/// Returns whether a claim is about one of these metrics.
pub(crate) fn asks(plan: &Plan, metrics: &[Metric]) -> bool {
    plan.claims.iter().any(|planned| metrics.contains(&planned.claim.metric))
}

/// A meter that is not read in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingMeter {
    /// The metrics that are not measured without it.
    pub metrics: Vec<Metric>,
    /// Why, with each way that was tried, as a text for people.
    pub why: String,
}
