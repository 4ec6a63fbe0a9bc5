//! The test of whether the ratio of a claim is one factor, for people and programs.

use super::{ClaimResult, EffectResult};
use serde::{Deserialize, Serialize};
use std::fmt;

impl ClaimResult {
    /// Returns the test that denies that the ratio is one factor for all rounds, if it does.
    pub fn no_factor(&self) -> Option<&OneFactorResult> {
        self.one_factor.as_deref().filter(|found| found.is_denied)
    }
}

/// The test of whether two contestants differ by one factor in every round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneFactorResult {
    /// Whether one factor is denied: the evidence is at least the wealth needed.
    pub is_denied: bool,
    /// The wealth of the bets against every factor.
    #[serde(with = "crate::float::or_null")]
    pub evidence: f64,
    /// The wealth that denies one factor: one over [`OneFactorResult::error`].
    pub needed: f64,
    /// The probability that one factor is denied where there is one.
    pub error: f64,
    /// The number of rounds tested.
    pub rounds: u64,
    /// The number of them far from the median ratio, on the side that has more of them.
    pub far: u64,
    /// The number of them far from it on the other side.
    pub far_opposite: u64,
    /// The contestant that took long in those rounds, unless the other one took little.
    pub slow: String,
    /// In the middle one of those rounds, its time relative to the other contestant, over the usual
    /// relative time.
    #[serde(with = "crate::float::or_null")]
    pub times: f64,
    /// Whether `times` is a lower bound, because a run that was cut off stands there.
    #[serde(default, rename = "times_is_least", skip_serializing_if = "std::ops::Not::not")]
    pub is_least: bool,
    /// The median, the high percentiles and the mean of each contestant, and their ratios, where
    /// one factor is denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<RatioRow>,
}

/// One statistic of two contestants, and the ratio of the two, `right / left`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioRow {
    /// The statistic.
    pub statistic: Statistic,
    /// The value of the left contestant, in the metric's unit.
    pub left: Option<f64>,
    /// The value of the right contestant.
    pub right: Option<f64>,
    /// The ratio, with limits that hold whenever the run stops. `None` where no limit exists.
    pub ratio: EffectResult,
    /// For a mean: the cap. Values above it count as the cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
}

/// The statistic to compare where the ratio is not a single factor.
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
