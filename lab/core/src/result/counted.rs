//! What was counted for claims about shares and means.

use serde::{Deserialize, Serialize};

/// What was counted for a claim about a share: of the runs or lines of a contestant (those that
/// succeed, or whose value is at most the bar), or of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareResult {
    /// Runs, lines or rounds.
    pub trials: u64,
    /// Those that are what the claim is about.
    pub successes: u64,
    /// How many trials make one observation; 1 if each does.
    pub block: u64,
    /// Trials at the end that make no whole block, and are no evidence.
    pub left_over: u64,
    /// No run of fewer trials can end with `holds`, whatever they are.
    pub least_trials_to_hold: u64,
    /// No run of fewer trials can end with `refuted`, whatever they are.
    pub least_trials_to_refute: u64,
    /// Failures over runs of failures: 1 and a little more if trials are independent. `None`
    /// without failures.
    pub mean_burst: Option<f64>,
    /// The runs test of Wald and Wolfowitz (1940) on successes and failures, in standard
    /// deviations: far above 0 where failures come in bursts. `None` where it says nothing.
    pub runs_z: Option<f64>,
    /// Of blocks: how long runs of failures would be that make blocks differ as much as they do: 1
    /// if trials are independent, and far above the mean burst where these fail more often in
    /// spells. `None` of single trials, and of too few blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spell_lines: Option<f64>,
    /// Of observations that are values or blocks: by how many standard deviations neighbours are
    /// more alike than chance makes them. `None` of all others, and where most blocks are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_z: Option<f64>,
    /// Whether failures come in bursts, or blocks differ as if they did, and an observation is not
    /// at least 30 times as long as one, or observations follow each other, or lines that are taken
    /// for a chain depend on more than the one before: the error then is not what was asked for.
    pub is_bursty: bool,
    /// Whether lines are a chain, of which each depends on the one before alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_chain: bool,
    /// The mass of plausible rates: the density of the Beta distribution with one more than the
    /// successes and one more than the failures (a uniform prior), at these rates, its peak at 1.
    /// For the eye; verdict and limits do not come from it.
    #[serde(skip)]
    pub density: Vec<(f64, f64)>,
}

/// Of a claim about the mean of the lines of a stream: what one observation is, and whether values
/// on one side of the bar, or like the one before, come together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpellsResult {
    /// How many lines make one observation; 1 if each does.
    pub block: u64,
    /// Lines at the end that make no whole block, and are no evidence.
    pub left_over: u64,
    /// Lines on that side of the bar (above it, or not) on which fewer are.
    pub rarer: u64,
    /// How many of these come in a row on average: 1 and a little more if lines are independent and
    /// they are few. `None` without any.
    pub mean_spell: Option<f64>,
    /// The runs test of Wald and Wolfowitz (1940) on the two sides of the bar, in standard
    /// deviations: far above 0 where values come in spells. `None` where it says nothing.
    pub runs_z: Option<f64>,
    /// By how many standard deviations observations that stand next to each other are more alike
    /// than chance makes them. `None` where most are equal.
    pub values_z: Option<f64>,
    /// Whether either shows that observations depend on each other: the error then is not what was
    /// asked for.
    pub is_dependent: bool,
}
