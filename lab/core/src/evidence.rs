//! What the statistics make of the samples so far.

use serde::{Deserialize, Serialize};

/// The evidence about one ratio. Ratios are kept as natural logarithms of `right / left`, so that a
/// positive one says that the left contestant needs less, and swapping the two only flips signs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioEvidence {
    /// Rounds in which both ran.
    pub rounds: u64,
    /// Attempts at rounds that were cut off (a kill), each charged if there are many.
    pub lost: u64,
    /// The median of the log ratios; stopping when the evidence suffices inflates it.
    pub estimate: Option<f64>,
    /// Every smaller log ratio is rejected; `None` while there is no bound.
    pub low: Option<f64>,
    /// Every larger log ratio is rejected; `None` while there is no bound.
    pub high: Option<f64>,
    /// The probability that both bounds are right, at whatever moment the run stops.
    pub confidence: f64,
    /// How many times the stake the bets against "not more than the bar" have won.
    pub evidence_for: f64,
    /// How many times the stake the bets against "not less than the bar" have won.
    pub evidence_against: f64,
    /// What `evidence_for` or `evidence_against` must reach.
    pub evidence_needed: f64,
}
