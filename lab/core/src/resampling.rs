//! The result of an exact test: whether two sets of numbers differ, by resampling.

use crate::journal::StopReason;
use crate::result::Histogram;
use crate::verdict::Verdict;
use serde::Serialize;

/// The version of the JSON form.
pub const RESAMPLING_SCHEMA: &str = "tiebreak/exact/1";

/// The differences that count as at least as extreme as the observed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// Those that are at least as far from the null hypothesis, in either direction.
    Two,
    /// Those that are at least as large.
    Greater,
    /// Those that are at most as large.
    Less,
}

/// The null hypothesis: the relation between X and Y.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Null {
    /// They come from the same distribution.
    Same,
    /// Y is distributed as X plus a constant.
    Shift {
        /// The constant, in the unit of the numbers.
        by: f64,
    },
    /// Y is distributed as X times a constant.
    Ratio {
        /// The constant, above 0.
        factor: f64,
    },
}

/// The rule by which the resampling stops.
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
    /// The count of the numbers.
    pub count: u64,
    /// The statistic of the set alone; `None` if a program computes one statistic of both sets.
    pub statistic: Option<f64>,
}

/// The result of an exact test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResamplingResult {
    /// The seed of the permutations.
    pub seed: String,
    /// The first set.
    pub x: NumberSet,
    /// The second set.
    pub y: NumberSet,
    /// The statistic: `mean`, `median`, `quantile:0.9` or the command of a program.
    pub statistic: String,
    /// Whether a program computes the statistic.
    pub by_program: bool,
    /// Whether differences are divided by their own spread. Only then is the test, as the sets
    /// grow, one of equal means (or medians, or quantiles). What it says about equal distributions
    /// is exact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_studentised: bool,
    /// Whether the numbers at the same index of X and Y are a pair, and the test is about their
    /// differences.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_paired: bool,
    /// The differences that count as extreme.
    pub sides: Sides,
    /// The null hypothesis.
    pub null: Null,
    /// The statistic of Y minus that of X, or the program's answer, for the sets as they are.
    pub difference: f64,
    /// The rule by which it stops.
    pub method: ResamplingMethod,
    /// The level of the test: the probability of `holds` for sets that do not differ is at most
    /// this. For the classic method, it is at most this plus `error`.
    pub alpha: f64,
    /// The probability that the interval of p is wrong, and that the test stops as settled without
    /// a proof although p is at most alpha.
    pub error: f64,
    /// `holds`: the sets differ. `undecided` otherwise: a large p proves nothing.
    pub verdict: Verdict,
    /// The reason why it stopped; `settled` without a proof if p is above alpha.
    pub stopped: StopReason,
    /// The number of permutations drawn.
    pub permutations: u64,
    /// The maximum number of permutations.
    pub permutations_max: u64,
    /// The number of drawn permutations with a difference at least as extreme.
    pub extreme: u64,
    /// The probability of such a difference under the null hypothesis.
    pub p: PValue,
    /// The wealth of the bets; `None` for the classic method.
    pub evidence: Option<ResamplingEvidence>,
    /// The smallest possible p: there are only so many ways to split the numbers.
    pub p_least: f64,
    /// The shifts of Y against X at which the test would find no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shifts>,
    /// The order within each set, or within the differences of pairs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<SetOrder>,
    /// The differences of the resampled sets.
    pub resampled: Option<Resampled>,
}

/// The shifts that a test does not reject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shifts {
    /// The lower limit: all smaller shifts are rejected. `None` if no shift is.
    pub low: Option<f64>,
    /// The upper limit: all larger shifts are rejected. `None` if no shift is.
    pub high: Option<f64>,
    /// The probability that the true shift is among them: 1 - alpha.
    pub confidence: f64,
}

/// A test of how the numbers of a set follow each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetOrder {
    /// The numbers: `x`, `y`, or `pairs` for the differences of pairs.
    pub of: &'static str,
    /// By how many standard deviations neighbours are more alike than by chance.
    pub z: f64,
    /// Whether `z` is so large that the numbers are not independent, or were sorted.
    pub is_serial: bool,
}

/// A probability and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PValue {
    /// The number of extreme permutations plus one, over the number of all plus one, since the sets
    /// as they are count too. `None` before the first.
    pub estimate: Option<f64>,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
    /// The probability that both limits are right.
    pub confidence: f64,
}

/// The wealth of the bets about an exact test, and the wealth that they need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResamplingEvidence {
    /// The wealth against "the sets do not differ".
    #[serde(rename = "for")]
    pub for_difference: f64,
    /// The wealth needed: 1 / alpha.
    pub needed_for: f64,
    /// The wealth against "p is at most alpha".
    pub against: f64,
    /// The wealth needed: 1 / error.
    pub needed_against: f64,
}

/// The differences of the resampled sets, for a picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resampled {
    /// The position of the observed difference on the histogram's scale.
    pub observed: f64,
    /// The position that the null hypothesis expects, on the same scale.
    pub expected: Option<f64>,
    /// The number of permutations in the histogram: the first ones.
    pub permutations: u64,
    /// The histogram of their differences.
    pub histogram: Histogram,
}
