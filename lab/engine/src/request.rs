//! What a user asked for.

use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Budget, Centre, Gate, ProgramPlan};

/// What a user asked for, as it was typed.
#[derive(Clone, Debug)]
pub struct Request {
    /// One command a contestant, with `{parameter}` where values go.
    pub commands: Vec<String>,
    /// Their names, in the same order; fewer are filled up with A, B, C, ...
    pub names: Vec<String>,
    /// The folders in which they run: none, or one a command.
    pub directories: Vec<String>,
    /// Parameters and the values they take.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Claim sentences; none asks which contestant is faster.
    pub claims: Vec<String>,
    /// Without a claim: every pair, not each against the first only.
    pub all_pairs: bool,
    /// The metric that questions are about.
    pub metric: Metric,
    /// The error of the whole run.
    pub error: f64,
    /// The resolution, as a fraction.
    pub resolution: f64,
    /// The budget, if one was given.
    pub budget: Option<Budget>,
    /// What the ratio is.
    pub centre: Centre,
    /// What is taken out of the noise of ratios.
    pub adjust: Adjust,
    /// How many runs make one observation of a share or a mean.
    pub block_runs: u64,
    /// Whether the claims are gates.
    pub gate: Gate,
    /// The seed.
    pub seed: String,
    /// What the contestants work on, in a few words.
    pub workload: String,
    /// Hooks: one value for all commands, or one a command.
    pub hooks: HookRequest,
    /// How programs are run.
    pub program: ProgramPlan,
    /// The step of the wall clock in nanoseconds.
    pub clock_step_ns: f64,
}

/// Hook commands as they were typed: none, one for all contestants, or one a command.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    /// `--setup`.
    pub setup: Vec<String>,
    /// `--prepare`.
    pub prepare: Vec<String>,
    /// `--conclude`.
    pub conclude: Vec<String>,
    /// `--cleanup`.
    pub cleanup: Vec<String>,
}
