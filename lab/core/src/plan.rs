//! A plan: everything that is fixed before the first coin is drawn.

use crate::claim::{Claim, Property, Statement};
use crate::load::LoadPlan;
use crate::metric::Metric;
use crate::server::ServerPlan;
use crate::study::FunctionPlan;
use crate::terms::is_zero;
pub use crate::terms::{Adjust, Budget, Centre, Scope};
use serde::{Deserialize, Serialize};

/// The version of the evidence engine. A journal names the engine that computed its numbers. Code
/// that turns the same samples into other evidence, or draws other coins, asks the plan for its
/// version. So the journals of all versions since 1 replay to what they recorded.
pub const ENGINE_VERSION: u32 = 3;

/// Everything that is fixed before the first coin. A verdict is a function of the plan, the samples
/// and the events. When a run is resumed, only the plan's budget may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of the rules that turned samples into evidence: [`ENGINE_VERSION`] at that time.
    pub engine_version: u32,
    /// The kind of the run.
    pub kind: Kind,
    /// The contestants: at least two, with distinct names.
    pub contestants: Vec<Contestant>,
    /// The questions to settle, each with its share of the error.
    pub claims: Vec<PlannedClaim>,
    /// The upper bound of the probability of any wrong verdict in this run.
    #[serde(with = "crate::float")]
    pub error: f64,
    /// The smallest ratio that still matters, as a fraction: 0.01 for 1%, 0 for "any".
    #[serde(with = "crate::float")]
    pub resolution: f64,
    /// The limit on what the run may use.
    pub budget: Budget,
    /// What the evidence counts as one observation.
    pub scope: Scope,
    /// The meaning of the ratio, which decides the engine.
    pub centre: Centre,
    /// The seed of every coin, as it is printed and typed.
    pub seed: String,
    /// The step of the wall clock, in nanoseconds.
    #[serde(with = "crate::float")]
    pub clock_step_ns: f64,
    /// The way in which programs are run.
    pub program: ProgramPlan,
    /// The number of consecutive runs or lines that make one observation of a share or a mean. The
    /// observation is then their own share or mean, so that failures may come in bursts (rule A12).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub block_runs: u64,
    /// The adjustments that remove noise from ratios before bets are made on them.
    #[serde(default, skip_serializing_if = "Adjust::is_none")]
    pub adjust: Adjust,
    /// The plan for contestants that are functions; `None` if they are commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Box<FunctionPlan>>,
    /// The load whose messages are the stream that claims are about; `None` of other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<LoadPlan>>,
    /// The plan for contestants that are servers; `None` if they are waited for, or functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Box<ServerPlan>>,
    /// The benchmark that a harness times; `None` if the contestants are timed by the laboratory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Box<SuitePlan>>,
}

impl Plan {
    /// Returns whether a round races only the two contestants of one claim. Each ratio then comes
    /// from rounds in which the same contestants run. This holds for functions since version 2 of
    /// the engine. Otherwise a round has every contestant that an open claim needs.
    pub fn races_pairs(&self) -> bool {
        self.engine_version >= 2 && self.functions.is_some()
    }

    /// Returns whether the next round is for the question that is expected to need the least time.
    /// This holds for pairs under a budget in seconds, since version 3 of the engine. A budget in
    /// rounds applies to each pair, so pairs then take turns.
    pub fn races_nearest_first(&self) -> bool {
        self.engine_version >= 3 && self.races_pairs() && self.budget.rounds.is_none()
    }

    /// Returns the nanoseconds that a round of two functions cost in the pilot: a unit, except at
    /// scope `layout`.
    pub fn round_cost_ns(&self) -> f64 {
        self.functions.as_deref().map_or(0.0, |functions| match self.scope {
            Scope::Layout => functions.pilot.round_cost_ns,
            _ => functions.pilot.cost_ns(functions.rounds_a_unit),
        })
    }

    /// Returns the cap for values of this metric where ratios are those of means. For wall time, it
    /// is the time-out, at which a run is ended; other metrics have none.
    pub fn cap_of_means(&self, metric: Metric) -> Option<f64> {
        let is_capped = self.centre == Centre::Mean && metric == Metric::WallTime;
        self.program.timeout_ns.filter(|_| is_capped).map(|timeout_ns| timeout_ns as f64)
    }

    /// Returns whether a claim is about a mean of this contestant in which a run that was ended at
    /// the time-out counts as exactly that long.
    pub fn caps_at_timeout(&self, planned: &PlannedClaim, contestant: usize) -> bool {
        let Claim { statement, metric, .. } = &planned.claim;
        let is_cap = match statement {
            Statement::Ratio(_) => self.cap_of_means(*metric).is_some(),
            Statement::Property(Property::Mean { cap: Some(cap), .. }) => {
                let timeout_ns = self.program.timeout_ns.map(|timeout_ns| timeout_ns as f64);
                *metric == Metric::WallTime && timeout_ns == Some(*cap)
            }
            Statement::Property(_) => false,
        };
        is_cap && (planned.left == contestant || planned.right == Some(contestant))
    }
}

fn one() -> u64 {
    1
}

fn is_one(block_runs: &u64) -> bool {
    *block_runs == 1
}

/// The benchmark that a run is about. Its contestants are the benchmark of two revisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuitePlan {
    /// The harness that times it, by its name.
    pub harness: String,
    /// The program of the harness that has it, by its name, which may be empty.
    pub program: String,
    /// Its name, as the harness has it.
    pub benchmark: String,
    /// A sample's wall time is that of so many iterations, however many the harness timed: enough
    /// for a whole number of nanoseconds to say it exactly.
    pub iterations: u64,
}

/// The effect of a verdict on the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// No gate: each verdict has its exit code.
    #[default]
    None,
    /// Only `refuted` closes the gate; `too close` and `undecided` pass with a warning.
    OpenUnlessRefuted,
    /// Only `holds` opens the gate.
    ClosedUnlessHolds,
}

impl Gate {
    /// Returns the gate of a claim that is one, or not; a strict one opens only if the claim holds.
    pub fn of(is_gate: bool, is_strict: bool) -> Gate {
        match (is_gate, is_strict) {
            (false, _) => Gate::None,
            (true, false) => Gate::OpenUnlessRefuted,
            (true, true) => Gate::ClosedUnlessHolds,
        }
    }

    /// Returns whether there is no gate.
    pub fn is_none(&self) -> bool {
        *self == Gate::None
    }
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Kind {
    /// Claims about contestants.
    Compare,
    /// Claims about the lines of a stream, or the messages of a load: its observations are events,
    /// not rounds.
    Stream {
        /// The metric units per unit on a line, if lines are numbers: 1e6 for milliseconds where
        /// the metric is in nanoseconds. `None` if lines are `1` for a success and `0` for a
        /// failure.
        #[serde(with = "crate::float::option", default)]
        scale: Option<f64>,
        /// Whether lines are a chain: whether one fails depends only on the one before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_chain: bool,
    },
    /// A comparison of a program with itself, several times in sequence. Each comparison has its
    /// own evidence.
    SelfCheck {
        /// The number of comparisons.
        comparisons: u32,
        /// The maximum number of rounds of one comparison.
        rounds_each: u32,
    },
}

/// One way to do the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contestant {
    /// The name in claims and tables.
    pub name: String,
    /// The command as it was typed, with parameters filled in.
    pub command: String,
    /// The workload in a few words; empty if none was given.
    pub workload: String,
    /// The parameters and their values, in the order of the options.
    pub parameters: Vec<(String, String)>,
    /// The hooks.
    pub hooks: Hooks,
    /// The folder that it runs in, if it differs from the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// The commands that run around a contestant, untimed, through `sh -c`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// The command that runs once, before the contestant's first run.
    pub setup: Option<String>,
    /// The command that runs before every run.
    pub prepare: Option<String>,
    /// The command that runs after every run.
    pub conclude: Option<String>,
    /// The command that runs once, after the last run.
    pub cleanup: Option<String>,
}

/// A claim with the contestants that it names and its share of the error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedClaim {
    /// The claim as the user stated it.
    pub claim: Claim,
    /// The index of the left contestant.
    pub left: usize,
    /// The index of the right contestant, if the claim is about two.
    pub right: Option<usize>,
    /// This claim's share of the run's error (A10: fixed before the first sample).
    #[serde(with = "crate::float")]
    pub error: f64,
    /// The effect of its verdict on the exit code.
    #[serde(default, skip_serializing_if = "Gate::is_none")]
    pub gate: Gate,
    /// For a cell of a study's table: until the run's own time reaches this many nanoseconds, the
    /// cell waits for open claims that do not wait. 0 for claims and questions made separately.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waits_ns: u64,
}

/// The way in which programs are run, the same for every contestant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramPlan {
    /// The shell that runs the commands. With `None`, commands are split as POSIX does and started
    /// directly.
    pub shell: Option<String>,
    /// The file given as standard input; `None` is `/dev/null`.
    pub input: Option<String>,
    /// What happens to standard output.
    pub output: OutputPlan,
    /// The folder that the commands run in; `None` is the current one.
    pub directory: Option<String>,
    /// The time at which a run is ended. `None` is the design's rule: 10 times the slowest of the
    /// first round, at least 10 s; in the first round the budget, at least 10 s.
    pub timeout_ns: Option<u64>,
    /// The way in which an output is judged.
    pub check: Check,
    /// The exit statuses that are success.
    pub success: Success,
    /// The CPUs that contestants may run on; empty for any.
    pub cpus: Vec<usize>,
    /// The number of untimed runs of every contestant before the first round.
    pub warmup_runs: u32,
    /// Whether a round waits, within limits, until the machine is quiet.
    pub wait_for_quiet: bool,
    /// The maximum number of bytes that a contestant may write to standard output in one run.
    pub output_limit_bytes: u64,
    /// Which rounds begin with an untimed run. Journals from before version 3 of the engine do not
    /// say it, and have one in every round.
    #[serde(default, skip_serializing_if = "Primer::is_always")]
    pub primer: Primer,
}

/// Which rounds of programs begin with an untimed run of a contestant, the primer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Primer {
    /// All of them.
    #[default]
    Always,
    /// All of them, unless a run of the first round takes longer than a second. Then only those of
    /// the first block have one.
    Short,
    /// None.
    Never,
}

names! { Primer: Always = "always", Short = "short", Never = "never" }

impl Primer {
    fn is_always(&self) -> bool {
        *self == Primer::Always
    }
}

/// What happens to a contestant's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputPlan {
    /// It goes to a memory file, and is examined after the clock has stopped.
    Capture,
    /// It goes to `/dev/null` and is not judged.
    Null,
}

/// The way in which a contestant's output is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// If all outputs agree in the first round, they must continue to agree.
    Default,
    /// All outputs must agree, always.
    SameOutput,
    /// Only the exit status counts.
    Exit,
    /// This program, through `sh -c`, reads the output on standard input and accepts it with status
    /// 0.
    Judge(String),
}

impl Check {
    /// Parses the words of a user: `same-output`, `exit`, or else a program. The error is the word
    /// that the user probably meant.
    pub fn asked(words: &str) -> Result<Check, &'static str> {
        match words {
            "same-output" => Ok(Check::SameOutput),
            "exit" => Ok(Check::Exit),
            slip if slip.replace(['-', '_', ' '], "").eq_ignore_ascii_case("sameoutput") => {
                Err("same-output")
            }
            judge => Ok(Check::Judge(judge.to_owned())),
        }
    }

    /// Returns whether it needs outputs to be kept.
    pub fn needs_output(&self) -> bool {
        matches!(self, Check::SameOutput | Check::Judge(_))
    }
}

/// The exit statuses that are success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Success {
    /// 0 and these.
    Statuses(Vec<i32>),
    /// Any exit status; death by a signal is still a failure.
    Any,
}

impl Success {
    /// Returns whether a run that ended with this status succeeded.
    pub fn accepts(&self, status: i32) -> bool {
        match self {
            Success::Statuses(more) => status == 0 || more.contains(&status),
            Success::Any => true,
        }
    }
}

impl ProgramPlan {
    /// Returns the shell that this word asks for: `none` is no shell, `default` is `sh`.
    pub fn shell_asked(word: &str) -> Option<String> {
        match word {
            "none" => None,
            "default" => Some("sh".to_owned()),
            shell => Some(shell.to_owned()),
        }
    }

    /// Returns the file that this word asks for as standard input; `null` is none.
    pub fn input_asked(path: &str) -> Option<String> {
        (!matches!(path, "null" | "/dev/null")).then(|| path.to_owned())
    }
}

/// Returns the name of a workload without a name: that of the input file.
pub fn workload_of(input: Option<&str>) -> String {
    input.and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned()
}

impl Default for ProgramPlan {
    fn default() -> Self {
        ProgramPlan {
            shell: None,
            input: None,
            output: OutputPlan::Capture,
            directory: None,
            timeout_ns: None,
            check: Check::Default,
            success: Success::Statuses(Vec::new()),
            cpus: Vec::new(),
            warmup_runs: 0,
            wait_for_quiet: true,
            output_limit_bytes: 256 << 20,
            primer: Primer::Short,
        }
    }
}
