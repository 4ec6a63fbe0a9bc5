//! A benchmark of a suite: what a run of two revisions is about, where a harness times it.

use serde::{Deserialize, Serialize};

/// The benchmark that a run is about. Its contestants are the benchmark of two revisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuitePlan {
    /// The harness that times it, by its name.
    pub harness: String,
    /// The program of the harness that has it; empty where there is only one.
    pub program: String,
    /// Its name, as the harness has it.
    pub benchmark: String,
    /// A sample's wall time is that of so many iterations, however many the harness timed: enough
    /// for a whole number of nanoseconds to say it exactly.
    pub iterations: u64,
}
