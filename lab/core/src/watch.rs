//! A claim watched over a series of runs.

use serde::Serialize;

/// The runs of one claim, watched for the claim becoming false.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The claim as the user stated it.
    pub claim: String,
    /// The commands of its contestants, by name.
    pub commands: String,
    /// The mean number of runs between two false alarms is at least this.
    pub mean_runs: f64,
    /// The runs, the earliest first.
    pub points: Vec<Point>,
}

/// A run of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The run's name.
    pub run: String,
    /// The time at which it began, in milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// The wealth of its bets against the claim when it stopped.
    pub evidence: f64,
    /// The value of the detector after the run; it raises an alarm at the mean number of runs.
    pub detector: f64,
    /// Whether this run raised the alarm. The detector then restarts.
    pub is_alarm: bool,
}
