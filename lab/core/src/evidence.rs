//! The evidence that the statistics compute from the samples so far.

use serde::{Deserialize, Serialize};

/// The evidence about one claim. The meaning of `estimate`, `low` and `high` depends on the claim.
/// For two contestants, they are the natural logarithm of `right / left`: a positive value says
/// that the left contestant needs less, and swapping the two only flips signs. For a share (a
/// success rate, a share of rounds), they are the share, from 0 to 1. For a mean, they are the
/// mean, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The number of rounds, runs or lines in the evidence.
    pub rounds: u64,
    /// The number of attempts that were cut off (by a kill). Each is charged if there are many.
    pub lost: u64,
    /// The median of the log ratios, the share, or the mean. Stopping when the evidence suffices
    /// inflates it.
    pub estimate: Option<f64>,
    /// The lower bound: every smaller value is rejected. `None` while there is no bound.
    pub low: Option<f64>,
    /// The upper bound: every larger value is rejected. `None` while there is no bound.
    pub high: Option<f64>,
    /// The probability that both bounds are right, whenever the run stops.
    pub confidence: f64,
    /// The wealth of the bets for the claim, in multiples of the stake.
    pub evidence_for: f64,
    /// The wealth of the bets against the claim, in multiples of the stake.
    pub evidence_against: f64,
    /// The value that `evidence_for` or `evidence_against` must reach.
    pub evidence_needed: f64,
}
