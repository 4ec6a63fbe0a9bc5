//! What the statistics make of the samples so far.

use serde::{Deserialize, Serialize};

/// The evidence about one claim. What `estimate`, `low` and `high` are depends on the claim: of two
/// contestants the natural logarithm of `right / left`, so that a positive one says that the left
/// contestant needs less and swapping the two only flips signs; of a share (a success rate, a share
/// of rounds) the share, from 0 to 1; of a mean the mean, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Rounds, runs or lines that it is made of.
    pub rounds: u64,
    /// Attempts that were cut off (a kill), each charged if there are many.
    pub lost: u64,
    /// The median of the log ratios, the share, or the mean; stopping when the evidence suffices
    /// inflates it.
    pub estimate: Option<f64>,
    /// Every smaller value is rejected; `None` while there is no bound.
    pub low: Option<f64>,
    /// Every larger value is rejected; `None` while there is no bound.
    pub high: Option<f64>,
    /// The probability that both bounds are right, at whatever moment the run stops.
    pub confidence: f64,
    /// How many times the stake the bets for the claim have won.
    pub evidence_for: f64,
    /// How many times the stake the bets against the claim have won.
    pub evidence_against: f64,
    /// What `evidence_for` or `evidence_against` must reach.
    pub evidence_needed: f64,
}
