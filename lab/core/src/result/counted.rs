//! The counts behind claims about shares and means.

use serde::{Deserialize, Serialize};

/// The counts for a claim about a share: of the runs or lines of a contestant (those that succeed,
/// or whose value is at most the bar), or of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareResult {
    /// The number of runs, lines or rounds.
    pub trials: u64,
    /// The number of them that count for the claim.
    pub successes: u64,
    /// The number of trials that make one observation; 1 if each does.
    pub block: u64,
    /// The number of trials at the end that do not fill a block and are not evidence.
    pub left_over: u64,
    /// The least number of trials that can end with `holds`, whatever their outcomes.
    pub least_trials_to_hold: u64,
    /// The least number of trials that can end with `refuted`, whatever their outcomes.
    pub least_trials_to_refute: u64,
    /// The number of failures over the number of runs of failures: slightly above 1 if trials are
    /// independent. `None` without failures.
    pub mean_burst: Option<f64>,
    /// The runs test of Wald and Wolfowitz (1940) on successes and failures, in standard
    /// deviations: far above 0 where failures come in bursts. `None` where the test does not apply.
    pub runs_z: Option<f64>,
    /// For blocks: the length of runs of failures that would make blocks differ as much as they do.
    /// It is 1 if trials are independent, and far above the mean burst where trials fail more often
    /// in spells. `None` for single trials, and for too few blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spell_lines: Option<f64>,
    /// For observations that are values or blocks: by how many standard deviations neighbours are
    /// more alike than by chance. `None` for all others, and where most blocks are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_z: Option<f64>,
    /// Whether the error is not what was asked for. The reason is one of these: failures come in
    /// bursts, or blocks differ as if they did, and an observation is not at least 30 times as long
    /// as a burst; observations follow each other; or lines that are taken for a chain depend on
    /// more than the one before.
    pub is_bursty: bool,
    /// Whether lines are a chain, in which each depends only on the one before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_chain: bool,
    /// The density of plausible rates, at these rates, scaled to a peak of 1: the Beta distribution
    /// with one more than the successes and one more than the failures (a uniform prior). It is for
    /// display; verdict and limits do not come from it.
    #[serde(skip)]
    pub density: Vec<(f64, f64)>,
}

/// For a claim about the mean of the lines of a stream: what one observation is, and whether values
/// on one side of the bar, or values like the one before, come together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpellsResult {
    /// The number of lines that make one observation; 1 if each does.
    pub block: u64,
    /// The number of lines at the end that do not fill a block and are not evidence.
    pub left_over: u64,
    /// The number of lines on the side of the bar (above it, or not) that has fewer.
    pub rarer: u64,
    /// The mean number of these in a row: slightly above 1 if lines are independent and these are
    /// few. `None` if there are none.
    pub mean_spell: Option<f64>,
    /// The runs test of Wald and Wolfowitz (1940) on the two sides of the bar, in standard
    /// deviations: far above 0 where values come in spells. `None` where the test does not apply.
    pub runs_z: Option<f64>,
    /// By how many standard deviations neighbouring observations are more alike than by chance.
    /// `None` where most are equal.
    pub values_z: Option<f64>,
    /// Whether either shows that observations depend on each other: the error is then not what was
    /// asked for.
    pub is_dependent: bool,
}
