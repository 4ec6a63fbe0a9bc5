//! How results are worded: what the formats are given by their caller.

use tiebreak_core::result::{CheckResult, ClaimResult, RunResult};

/// The words for a result, each without a line feed.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The verdict on a claim in a sentence or two.
    pub sentence: fn(&CheckResult, &RunResult, &ClaimResult) -> String,
    /// What a claim is about, with its limits: `1.42x (1.31x to 1.56x)`.
    pub effect: fn(&ClaimResult) -> String,
    /// What became of all claims of the file, without a full stop.
    pub summary: fn(&CheckResult) -> String,
    /// What the error of the file means.
    pub promise: fn(&CheckResult) -> String,
    /// The command that makes the same run again, for a shell.
    pub repeat: fn(&RunResult) -> String,
}
