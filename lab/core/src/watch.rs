//! A claim watched over a series of runs.

use serde::Serialize;

/// The runs of one claim, watched for its becoming false.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The claim as it was said.
    pub claim: String,
    /// The commands that it is about, by name.
    pub commands: String,
    /// At least this many runs pass on average between two false alarms.
    pub mean_runs: f64,
    /// The runs, the earliest first.
    pub points: Vec<Point>,
}

/// A run of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The run's name.
    pub run: String,
    /// When it was begun, in milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// What its bets against the claim had won when it stopped.
    pub evidence: f64,
    /// The detector after it: an alarm at the mean number of runs.
    pub detector: f64,
    /// Whether this run raised the alarm, after which the detector starts afresh.
    pub is_alarm: bool,
}
