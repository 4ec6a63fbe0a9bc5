//! A user's request.

use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Budget, Centre, Gate, ProgramPlan};

/// A user's request, as typed.
#[derive(Clone, Debug)]
pub struct Request {
    /// One command a contestant, with `{parameter}` where values go.
    pub commands: Vec<String>,
    /// Their names, in the same order; missing ones become A, B, C, ...
    pub names: Vec<String>,
    /// The folders in which they run: none, or one for each command.
    pub directories: Vec<String>,
    /// Parameters and their values.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Claim sentences; without any, the question is which contestant is faster.
    pub claims: Vec<String>,
    /// Without a claim: whether to compare every pair, and not only each with the first.
    pub all_pairs: bool,
    /// The metric that questions are about.
    pub metric: Metric,
    /// The error of the whole run.
    pub error: f64,
    /// The resolution, as a fraction.
    pub resolution: f64,
    /// The budget, if there is one.
    pub budget: Option<Budget>,
    /// How the ratio is defined.
    pub centre: Centre,
    /// What is removed from the noise of ratios.
    pub adjust: Adjust,
    /// The number of runs in one observation of a share or a mean.
    pub block_runs: u64,
    /// Whether the claims are gates.
    pub gate: Gate,
    /// The seed.
    pub seed: String,
    /// The workload of the contestants, in a few words.
    pub workload: String,
    /// Hooks: one value for all commands, or one for each command.
    pub hooks: HookRequest,
    /// How programs are run.
    pub program: ProgramPlan,
    /// The step of the wall clock in nanoseconds.
    pub clock_step_ns: f64,
}

/// Hook commands as typed: none, one for all contestants, or one for each command.
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
