//! The terms of a run that plans, studies and results share.

use serde::{Deserialize, Serialize};

/// The limits on what a run may use; the run ends at the first one that it reaches. At least one is
/// set, except for a stream, which ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The maximum number of rounds.
    pub rounds: Option<u64>,
    /// The maximum of the run's own time in seconds, without set-up.
    #[serde(with = "crate::float::option", default)]
    pub seconds: Option<f64>,
}

/// What is drawn afresh for each observation, and so what a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// These binaries as they happen to lie in memory.
    Layout,
    /// These binaries: a fresh process per observation.
    Binary,
    /// This code: a fresh placement per observation.
    Code,
    /// This stream of lines.
    Stream,
    /// This server under this load: a block of messages per observation.
    Load,
}

names! {
    Scope: Layout = "layout", Binary = "binary", Code = "code", Stream = "stream", Load = "load"
}

/// The meaning of the ratio in a ratio claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Centre {
    /// A constant factor between the two: engine M4, before version 3 M3r.
    Factor,
    /// The median of the paired ratios: engine S2, before version 3 S.
    Median,
    /// The ratio of the mean times, by bounded bets on differences. Values above
    /// [`Plan::cap_of_means`](crate::plan::Plan::cap_of_means) count as the cap.
    Mean,
}

impl Centre {
    /// Returns the default centre: the median, which every pair of contestants has. Adjustments
    /// need one constant factor.
    pub fn unless_said(adjust: Adjust) -> Centre {
        if adjust.is_none() { Centre::Median } else { Centre::Factor }
    }
}

/// The facts about a round, other than its ratio, that the bets may use (rule A8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjust {
    /// Whether to learn the cost of running second and remove it: exact for a constant factor.
    pub slot: bool,
    /// Whether to bet less on rounds in which a contestant waited for a CPU: exact for equal
    /// contestants.
    pub strata: bool,
}

impl Adjust {
    /// No adjustment.
    pub const NONE: Adjust = Adjust { slot: false, strata: false };

    /// Returns whether there is no adjustment.
    pub fn is_none(&self) -> bool {
        *self == Adjust::NONE
    }

    /// Returns these adjustments with the one that a word names: `slot` or `strata`.
    pub fn with(self, word: &str) -> Option<Adjust> {
        match word {
            "slot" => Some(Adjust { slot: true, ..self }),
            "strata" => Some(Adjust { strata: true, ..self }),
            _ => None,
        }
    }
}

/// Returns whether a number is left out of what is written.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}
