//! The result of a suite: each benchmark that two revisions have, under one error.

use super::{CheckResult, EffectResult};
use serde::Serialize;

/// The result of a suite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "schema", rename = "tiebreak/suite/1")]
pub struct SuiteResult {
    /// The harness that timed it.
    pub harness: String,
    /// Base and head.
    pub revisions: [SuiteRevision; 2],
    /// About how long a benchmark was timed in a process, in seconds.
    pub slice_seconds: f64,
    /// How much slower head may be, as a fraction.
    pub max_slowdown: f64,
    /// The number of benchmarks that both have, raced or not.
    pub shared: u64,
    /// The names of those that only base has, and only head.
    pub alone: [Vec<String>; 2],
    /// One entry for each that was raced, in the order of head.
    pub benchmarks: Vec<BenchmarkResult>,
    /// The same as a file of claims, whose contests are the benchmarks. Its times are those of
    /// [`BenchmarkResult::iterations`] iterations.
    #[serde(rename = "result")]
    pub check: CheckResult,
}

/// A revision of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuiteRevision {
    /// The revision as the user named it.
    pub asked: String,
    /// Its commit.
    pub commit: String,
}

/// The result of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchmarkResult {
    /// Its name in the suite.
    pub name: String,
    /// What is known of it.
    pub word: Word,
    /// Why it is void, if it is: which revision did what.
    pub why: Option<String>,
    /// The time of head over that of base, with its limits: above 1, head is slower.
    pub ratio: EffectResult,
    /// The median time of an iteration of base and of head, in nanoseconds.
    pub times_ns: [Option<f64>; 2],
    /// The number of iterations whose time is a sample in the journal.
    pub iterations: u64,
    /// The number of rounds: processes of each revision.
    pub rounds: u64,
}

/// What is known of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It could not be timed.
    Void,
    /// Head is proven to be slower than it may be, as it was built: its code, or where the linker
    /// put it.
    SlowerAsBuilt,
    /// Nothing is proven.
    Open,
    /// Head is proven to be faster than base.
    Faster,
    /// Head is proven not to be slower than it may be.
    NotSlower,
}

names! {
    Word:
    Void = "void",
    SlowerAsBuilt = "slower as built",
    Open = "open",
    Faster = "faster",
    NotSlower = "not slower",
}

impl SuiteResult {
    /// Returns the benchmarks of a word.
    pub fn with(&self, word: Word) -> impl Iterator<Item = &BenchmarkResult> {
        self.benchmarks.iter().filter(move |benchmark| benchmark.word == word)
    }
}
