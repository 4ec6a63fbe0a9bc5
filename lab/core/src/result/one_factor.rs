//! Whether the ratio of a claim is one factor, as people and programs read it.

use super::{ClaimResult, EffectResult};
use serde::{Deserialize, Serialize};
use std::fmt;

impl ClaimResult {
    /// What denies that the ratio is one factor for all rounds, if something does.
    pub fn no_factor(&self) -> Option<&OneFactorResult> {
        self.one_factor.as_deref().filter(|found| found.is_denied)
    }
}

/// Whether two contestants differ by one factor, whatever the round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneFactorResult {
    /// Whether one factor is denied: the evidence is at least what is needed.
    pub is_denied: bool,
    /// What the bets against every factor have won.
    #[serde(with = "crate::float::or_null")]
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
    #[serde(with = "crate::float::or_null")]
    pub times: f64,
    /// Whether a run that was cut off stands there, which took at least that long.
    #[serde(default, rename = "times_is_least", skip_serializing_if = "std::ops::Not::not")]
    pub is_least: bool,
    /// Where one factor is denied: the median, the high percentiles and the mean of each
    /// contestant, and their ratios.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<RatioRow>,
}

/// One number of two contestants, and the ratio of the two, `right / left`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioRow {
    /// Which number.
    pub statistic: Statistic,
    /// Of the left contestant, in the metric's unit.
    pub left: Option<f64>,
    /// Of the right contestant.
    pub right: Option<f64>,
    /// The ratio, with limits that hold whenever the run stops. `None` where no limit can be given.
    pub ratio: EffectResult,
    /// Of a mean: values above this count as this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
}

/// What is compared where the ratio is no single factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The value that half of the runs do not exceed.
    Median,
    /// The value that nine tenths do not exceed.
    P90,
    /// The value that 99 of 100 do not exceed.
    P99,
    /// The mean of all.
    Mean,
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Statistic::Median => "median",
            Statistic::P90 => "p90",
            Statistic::P99 => "p99",
            Statistic::Mean => "mean",
        })
    }
}
