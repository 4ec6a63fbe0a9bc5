//! A claim watched over a series of runs.

use serde::Serialize;

/// Which way a change is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The claim has become false.
    Against,
    /// The claim has become true; of a question, the left contestant needs less.
    For,
}

/// The runs of one claim, watched in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The claim as it was said.
    pub claim: String,
    /// The commands that it is about, by name.
    pub commands: String,
    /// What is watched for.
    pub direction: Direction,
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
    /// What its bets in this direction had won when it stopped.
    pub evidence: f64,
    /// The detector after it: an alarm at the mean number of runs.
    pub detector: f64,
    /// Whether this run raised the alarm, after which the detector starts afresh.
    pub is_alarm: bool,
}
