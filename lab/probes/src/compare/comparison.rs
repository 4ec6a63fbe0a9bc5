//! Two machines side by side.

use crate::figure::{Better, Unit};
use serde::{Deserialize, Serialize};
use tiebreak_core::fingerprint::Fact;

/// Two machines side by side: the figures that either has, and the facts in which they differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `tiebreak/machine-comparison/1`.
    pub schema: String,
    /// The first machine.
    pub a: Side,
    /// The second machine.
    pub b: Side,
    /// The figures, probe by probe, in the order in which the probes run.
    pub figures: Vec<Compared>,
    /// The facts in which they differ, by key; state (`now_`) apart.
    pub facts: Vec<Difference>,
    /// The rule by which winners are named; absent from older comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<WinnerRule>,
}

/// A machine is named where an exact rank-sum test of the parts of both prints shows that they
/// differ by more than a factor, and the figures themselves do so too, and by more than parts of
/// either print. The error is shared equally by all rows that might name one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WinnerRule {
    /// The probability that any machine is named wrongly, at most, if two runs on one machine
    /// differ by no more than the factor beyond what parts of one run do.
    pub error: f64,
    /// The factor.
    pub factor: f64,
    /// The rows that share the error.
    pub rows: usize,
}

impl Comparison {
    /// What the `schema` field of this version says.
    pub const SCHEMA: &'static str = "tiebreak/machine-comparison/1";
}

/// One of two machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What it is called in the comparison.
    pub name: String,
    /// Whether its probes had only a short look.
    pub is_quick: bool,
    /// Its price, in whatever both prices are in: an hour's dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
}

/// A figure of two machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Its key.
    pub key: String,
    /// The same in words.
    pub words: String,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// The figures themselves.
    pub values: Beside,
    /// Why no machine can be named, in words; absent where one might be, and of facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Divided by the price, where both prices are known and it is a thing that is sold by the
    /// hour: CPUs, memory, bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_price: Option<Beside>,
}

/// Two numbers beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Of the first machine; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
    /// Of the second machine; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<f64>,
    /// Where the first lay while it was measured, least and greatest; absent where nobody knows,
    /// and of a fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_a: Option<[f64; 2]>,
    /// The same of the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_b: Option<[f64; 2]>,
    /// `b / a`; absent if either is, or `a` is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Which machine has the better of the two; absent if none can be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<Winner>,
}

/// Which of two machines has the better figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Winner {
    /// The first.
    A,
    /// The second.
    B,
    /// Neither is shown to be.
    TooClose,
}

/// A fact in which two machines differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Its key.
    pub key: String,
    /// What the first machine says; absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<Fact>,
    /// What the second machine says; absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<Fact>,
}
