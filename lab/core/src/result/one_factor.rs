//! Whether the ratio of a claim is one factor, as people and programs read it.

use super::{ClaimResult, EffectResult};
use serde::Serialize;

impl ClaimResult {
    /// What denies that the ratio is one factor for all rounds, if something does.
    pub fn no_factor(&self) -> Option<&OneFactorResult> {
        self.one_factor.as_deref().filter(|found| found.evidence >= found.needed)
    }
}

/// Whether two contestants differ by one factor, whatever the round.
#[derive(Clone, Debug, PartialEq)]
pub struct OneFactorResult {
    /// What the bets against every factor have won.
    pub evidence: f64,
    /// What they must have won for one factor to be denied: one over [`OneFactorResult::error`].
    pub needed: f64,
    /// The probability with which one factor is denied where there is one.
    pub error: f64,
    /// Rounds that were looked at.
    pub rounds: u64,
    /// Of these, rounds far from the median ratio on the side where there are more of them.
    pub far: u64,
    /// The same on the other side.
    pub far_opposite: u64,
    /// The contestant that took long in those rounds, or the other one took little.
    pub slow: String,
    /// How many times as long as usual it took against the other, in the middle one of them.
    pub times: f64,
    /// Whether a run that was cut off stands there, which took at least that long.
    pub is_least: bool,
    /// Where one factor is denied: the median, the high percentiles and the mean of each
    /// contestant, and their ratios.
    pub ratios: Vec<RatioRow>,
}

/// One number of two contestants, and the ratio of the two, `right / left`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioRow {
    /// `median`, `p90`, `p99` or `mean`.
    pub statistic: &'static str,
    /// Of the left contestant, in the metric's unit.
    pub left: Option<f64>,
    /// Of the right contestant.
    pub right: Option<f64>,
    /// The ratio, with limits that hold whenever the run stops. `None` where no limit can be given.
    pub ratio: EffectResult,
    /// Of a mean: values above this count as this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
}
