//! A user's request.

use crate::error::{LabError, usage};
use std::fs::File;
use std::io::Read;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Budget, Centre, Check, Gate, OutputPlan, ProgramPlan};
use tiebreak_machine::clock;

/// The default of the smallest ratio that matters.
pub const RESOLUTION: f64 = 0.01;
/// The default error.
pub const ERROR: f64 = 0.01;

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

impl Request {
    /// Returns a request to compare these commands by their wall time, at the default error and
    /// resolution, with these coins; everything else is a field to change.
    pub fn new(commands: Vec<String>, seed: String) -> Request {
        Request {
            commands,
            names: Vec::new(),
            directories: Vec::new(),
            parameters: Vec::new(),
            claims: Vec::new(),
            all_pairs: false,
            metric: Metric::WallTime,
            error: ERROR,
            resolution: RESOLUTION,
            budget: None,
            centre: Centre::unless_said(Adjust::NONE),
            adjust: Adjust::NONE,
            block_runs: 1,
            gate: Gate::None,
            seed,
            workload: String::new(),
            hooks: HookRequest::default(),
            program: ProgramPlan::default(),
            clock_step_ns: clock::step_ns() as f64,
        }
    }
}

/// Returns the seed that the user gave, or else a random one.
///
/// # Errors
/// Fails if the system has no source of randomness.
pub fn seed_or_random(given: Option<&str>) -> Result<String, LabError> {
    given.map_or_else(drawn_seed, |seed| Ok(seed.to_owned())).map_err(LabError::Data)
}

/// Returns sixteen hexadecimal digits from the system's generator: short enough to type again.
///
/// # Errors
/// Fails if the system has no `/dev/urandom`; the text says what to do.
pub(crate) fn drawn_seed() -> Result<String, String> {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| format!("cannot draw a seed from /dev/urandom ({error}): give --seed"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Reads how outputs are judged: `same-output`, `exit`, or a program; by default outputs that agree
/// in the first round must go on agreeing.
///
/// # Errors
/// Fails if the rule is empty or misspelt, or needs outputs that are not kept.
pub fn check_rule(rule: Option<&str>, output: OutputPlan) -> Result<Check, LabError> {
    let check = match rule {
        None => Check::Default,
        Some(judge) if judge.trim().is_empty() => {
            return usage(
                "--check is empty: say same-output, exit, or a program that judges an output",
            );
        }
        Some(rule) => match Check::asked(rule) {
            Ok(check) => check,
            Err(meant) => return usage(format!("--check '{rule}': did you mean '{meant}'?")),
        },
    };
    if check.needs_output() && output == OutputPlan::Null {
        return usage("--check looks at outputs, which --output null throws away: leave one out");
    }
    Ok(check)
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
