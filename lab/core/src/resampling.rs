//! The result of an exact test: whether two sets of numbers differ, by resampling.

use crate::journal::StopReason;
use crate::result::Histogram;
use crate::verdict::Verdict;
use serde::Serialize;

/// The version of the JSON form.
pub const RESAMPLING_SCHEMA: &str = "tiebreak/exact/1";

/// Which differences count as at least as extreme as the observed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// Those that are as far from what the null hypothesis says, either way.
    Two,
    /// Those that are at least as large.
    Greater,
    /// Those that are at most as large.
    Less,
}

/// The null hypothesis: what X and Y would have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Null {
    /// They come from the same distribution.
    Same,
    /// Y is distributed as X plus this.
    Shift {
        /// In the unit of the numbers.
        by: f64,
    },
    /// Y is distributed as X times this.
    Ratio {
        /// Above 0.
        factor: f64,
    },
}

/// When the resampling stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResamplingMethod {
    /// A bet on each permutation (Fischer and Ramdas 2024), or evidence that p is above alpha.
    Mixture,
    /// The Confidence Sequence Method as published (Ding, Gandy and Hahn 2016): p differs from
    /// alpha or from half of it.
    Classic,
}

/// One set of numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberSet {
    /// The file, with its column.
    pub name: String,
    /// How many numbers.
    pub count: u64,
    /// The statistic of the set alone; `None` if a program computes it of both.
    pub statistic: Option<f64>,
}

/// What an exact test found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResamplingResult {
    /// The seed of the permutations.
    pub seed: String,
    /// The first set.
    pub x: NumberSet,
    /// The second set.
    pub y: NumberSet,
    /// `mean`, `median`, `quantile:0.9` or the command of a program.
    pub statistic: String,
    /// Whether a program computes it.
    pub by_program: bool,
    /// Whether differences count by their own spread: only then is the test one of equal means (or
    /// medians, or quantiles), as the sets grow; what it says of equal distributions is exact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_studentised: bool,
    /// Whether the numbers at one place of X and Y are a pair, and their differences are tested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_paired: bool,
    /// What counts as extreme.
    pub sides: Sides,
    /// The null hypothesis.
    pub null: Null,
    /// The statistic of Y minus that of X, or what the program answered, for the sets as they are.
    pub difference: f64,
    /// When it stops.
    pub method: ResamplingMethod,
    /// The level of the test: `holds` is said of sets that do not differ with at most this
    /// probability (of the classic method: this and `error`).
    pub alpha: f64,
    /// The probability that the interval of p is wrong, and that the test stops as settled without
    /// a proof though p is at most alpha.
    pub error: f64,
    /// `holds`: the sets differ. `undecided` otherwise: a large p proves nothing.
    pub verdict: Verdict,
    /// Why it stopped; `settled` without a proof if p is above alpha.
    pub stopped: StopReason,
    /// Permutations drawn.
    pub permutations: u64,
    /// The most that were allowed.
    pub permutations_max: u64,
    /// Of those drawn, how many gave a difference at least as extreme.
    pub extreme: u64,
    /// The probability of such a difference under the null hypothesis.
    pub p: PValue,
    /// What the bets have won; `None` for the classic method.
    pub evidence: Option<ResamplingEvidence>,
    /// No p is smaller: there are only so many ways to split the numbers.
    pub p_least: f64,
    /// The shifts of Y against X at which the test would find no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shifts>,
    /// How the numbers of each set follow each other; of pairs, their differences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<SetOrder>,
    /// The differences of the resampled sets.
    pub resampled: Option<Resampled>,
}

/// The shifts that a test does not reject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shifts {
    /// All smaller ones are rejected; `None` if none is.
    pub low: Option<f64>,
    /// All larger ones are rejected; `None` if none is.
    pub high: Option<f64>,
    /// The probability that the true one is among them: 1 - alpha.
    pub confidence: f64,
}

/// How the numbers of a set follow each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetOrder {
    /// `x`, `y`, or `pairs` of their differences.
    pub of: &'static str,
    /// By how many standard deviations neighbours are more alike than chance makes them.
    pub z: f64,
    /// Whether that is so much that they are no independent numbers, or were sorted.
    pub is_serial: bool,
}

/// A probability and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PValue {
    /// One more than the extreme permutations over one more than all, since the sets as they are
    /// count too; `None` before the first.
    pub estimate: Option<f64>,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
    /// The probability that both limits are right.
    pub confidence: f64,
}

/// What the bets about an exact test have won, and what they must win.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResamplingEvidence {
    /// Against "the sets do not differ".
    #[serde(rename = "for")]
    pub for_difference: f64,
    /// What it must reach: 1 / alpha.
    pub needed_for: f64,
    /// Against "p is at most alpha".
    pub against: f64,
    /// What it must reach: 1 / error.
    pub needed_against: f64,
}

/// The differences of the resampled sets, as a picture shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resampled {
    /// Where the observed difference lies on the histogram's scale.
    pub observed: f64,
    /// What the null hypothesis expects, on the same scale.
    pub expected: Option<f64>,
    /// How many permutations are counted in it: the first ones.
    pub permutations: u64,
    /// Their differences.
    pub histogram: Histogram,
}
