//! A plan: everything that is fixed before the first coin is drawn.

use crate::claim::{Claim, Property, Statement};
use crate::metric::Metric;
use crate::study::FunctionPlan;
use serde::{Deserialize, Serialize};

/// The version of the evidence engine: a journal names the one whose numbers it holds. Whatever
/// makes the same samples into other evidence, or draws other coins, asks the plan for its version,
/// so that the journals of all versions since 1 replay to what they recorded.
pub const ENGINE_VERSION: u32 = 2;

/// Everything that is fixed before the first coin. A verdict is a function of the plan, the samples
/// and the events; of the plan only the budget may change when a run is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Which rules turned samples into evidence: [`ENGINE_VERSION`] at the time.
    pub engine_version: u32,
    /// What kind of run this is.
    pub kind: Kind,
    /// At least two, with names of their own.
    pub contestants: Vec<Contestant>,
    /// The questions to settle, each with its share of the error.
    pub claims: Vec<PlannedClaim>,
    /// The most that the probability of any wrong verdict in this run may be.
    #[serde(with = "crate::float")]
    pub error: f64,
    /// How small a ratio, as a fraction, still matters: 0.01 for 1%, 0 for "any".
    #[serde(with = "crate::float")]
    pub resolution: f64,
    /// The most that the run may use.
    pub budget: Budget,
    /// What the evidence counts as one observation.
    pub scope: Scope,
    /// What the ratio is: decides the engine.
    pub centre: Centre,
    /// The seed of every coin, as it is printed and typed.
    pub seed: String,
    /// The step of the wall clock, in nanoseconds.
    #[serde(with = "crate::float")]
    pub clock_step_ns: f64,
    /// How programs are run.
    pub program: ProgramPlan,
    /// How many runs or lines, one after the other, make one observation of a share or a mean:
    /// their own share or mean then is the observation, so that failures may come in bursts (rule
    /// A12).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub block_runs: u64,
    /// What is taken out of the noise of ratios before it is bet on.
    #[serde(default, skip_serializing_if = "Adjust::is_none")]
    pub adjust: Adjust,
    /// What is planned of contestants that are functions; `None` if they are programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Box<FunctionPlan>>,
}

impl Plan {
    /// Whether a round races the two contestants of one claim and nobody else, so that each ratio
    /// comes from rounds in which the same company runs: of functions, since version 2 of the
    /// engine. Otherwise a round has every contestant that an open claim needs.
    pub fn races_pairs(&self) -> bool {
        self.engine_version >= 2 && self.functions.is_some()
    }

    /// Where ratios are those of means: what values of this metric count as at most. Of wall time
    /// that is the time-out, at which a run is ended; of other metrics nothing is.
    pub fn cap_of_means(&self, metric: Metric) -> Option<f64> {
        let is_capped = self.centre == Centre::Mean && metric == Metric::WallTime;
        self.program.timeout_ns.filter(|_| is_capped).map(|timeout_ns| timeout_ns as f64)
    }

    /// Whether a claim is about a mean of this contestant in which a run that was ended at the
    /// time-out counts as exactly that long.
    pub fn caps_at_timeout(&self, planned: &PlannedClaim, contestant: usize) -> bool {
        let Claim { statement, metric, .. } = &planned.claim;
        let is_cap = match statement {
            Statement::Ratio(_) => self.cap_of_means(*metric).is_some(),
            Statement::Property(Property::Mean { cap: Some(cap), .. }) => {
                let is_cap = |timeout_ns: u64| timeout_ns as f64 == *cap;
                *metric == Metric::WallTime && self.program.timeout_ns.is_some_and(is_cap)
            }
            Statement::Property(_) => false,
        };
        is_cap && (planned.left == contestant || planned.right == Some(contestant))
    }
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn one() -> u64 {
    1
}

fn is_one(block_runs: &u64) -> bool {
    *block_runs == 1
}

/// What is known of a round beside its ratio and may help the bets (rule A8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjust {
    /// Learn what running second costs, and take it out: exact for a constant factor.
    pub slot: bool,
    /// Bet less on rounds in which a contestant waited for a CPU: exact for equal contestants.
    pub strata: bool,
}

impl Adjust {
    /// Nothing is taken out.
    pub const NONE: Adjust = Adjust { slot: false, strata: false };

    /// Whether nothing is taken out.
    pub fn is_none(&self) -> bool {
        *self == Adjust::NONE
    }

    /// Returns the same with what a word asks for as well: `slot` or `strata`.
    pub fn with(self, word: &str) -> Option<Adjust> {
        match word {
            "slot" => Some(Adjust { slot: true, ..self }),
            "strata" => Some(Adjust { strata: true, ..self }),
            _ => None,
        }
    }
}

/// What a verdict means to whoever waits for the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// No gate: each verdict has its exit code.
    #[default]
    None,
    /// Only `refuted` closes the gate; `too close` and `undecided` pass with a warning.
    OpenUnlessRefuted,
    /// Only `holds` opens it.
    ClosedUnlessHolds,
}

impl Gate {
    /// Whether there is no gate.
    pub fn is_none(&self) -> bool {
        *self == Gate::None
    }
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Kind {
    /// Claims about contestants.
    Compare,
    /// Claims about the lines of a stream: its observations are events, not rounds.
    Stream {
        /// Lines are numbers, of which one is this many of the metric's unit: 1e6 for milliseconds
        /// where the metric is in nanoseconds. `None`: lines are `1` for a success, `0` for a
        /// failure.
        #[serde(with = "crate::float::option", default)]
        scale: Option<f64>,
        /// Lines are a chain: whether one fails depends on the one before, and on nothing else.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_chain: bool,
    },
    /// A program against itself: comparisons one after the other, each with evidence of its own.
    SelfCheck {
        /// How many comparisons to make.
        comparisons: u32,
        /// The most rounds that one comparison may use.
        rounds_each: u32,
    },
}

/// One way to do the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contestant {
    /// Its name in claims and tables.
    pub name: String,
    /// The command as it was typed, parameters filled in.
    pub command: String,
    /// What it works on, in a few words; empty if nothing was said.
    pub workload: String,
    /// Parameters and their values, in the order of the options.
    pub parameters: Vec<(String, String)>,
    /// Its hooks.
    pub hooks: Hooks,
    /// The folder that it runs in, if it is another than the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// Commands that run around a contestant, untimed, through `sh -c`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Once, before the contestant's first run.
    pub setup: Option<String>,
    /// Before every run.
    pub prepare: Option<String>,
    /// After every run.
    pub conclude: Option<String>,
    /// Once, after the last run.
    pub cleanup: Option<String>,
}

/// A claim with the contestants that it names and its share of the error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedClaim {
    /// The claim as it was said.
    pub claim: Claim,
    /// Index of the left contestant.
    pub left: usize,
    /// Index of the right contestant, if the claim is about two.
    pub right: Option<usize>,
    /// This claim's share of the run's error (A10: fixed before the first sample).
    #[serde(with = "crate::float")]
    pub error: f64,
    /// What its verdict means to whoever waits for the exit code.
    #[serde(default, skip_serializing_if = "Gate::is_none")]
    pub gate: Gate,
    /// Of a cell of a study's table: until the run's own time has come to this many nanoseconds it
    /// waits for open claims that do not wait. 0 of what is claimed or asked for by itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waits_ns: u64,
}

/// The most that a run may use; what is reached first ends it. At least one is set, except for a
/// stream, which has an end of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The most rounds.
    pub rounds: Option<u64>,
    /// The most seconds of the run's own time, set-up not counted.
    #[serde(with = "crate::float::option", default)]
    pub seconds: Option<f64>,
}

/// What was drawn afresh for each observation, and so what a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// These binaries as they happen to lie in memory.
    Layout,
    /// These binaries: a fresh process an observation.
    Binary,
    /// This code: a fresh placement an observation.
    Code,
    /// This stream of lines.
    Stream,
}

impl Scope {
    /// The word in claims, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Layout => "layout",
            Scope::Binary => "binary",
            Scope::Code => "code",
            Scope::Stream => "stream",
        }
    }
}

/// What a ratio claim speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Centre {
    /// A constant factor between the two: engine M3r.
    Factor,
    /// The median of the paired ratios: engine S.
    Median,
    /// The ratio of the mean times, values above [`Plan::cap_of_means`] counting as it: bounded
    /// bets on differences.
    Mean,
}

impl Centre {
    /// The centre where nobody said one: the median, which every pair of contestants has. What is
    /// taken out of the noise asks for one factor.
    pub fn unless_said(adjust: Adjust) -> Centre {
        if adjust.is_none() { Centre::Median } else { Centre::Factor }
    }
}

/// How programs are run, for every contestant alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramPlan {
    /// The shell that runs the commands; none splits them as POSIX does and starts them directly.
    pub shell: Option<String>,
    /// A file given as standard input; none is `/dev/null`.
    pub input: Option<String>,
    /// What becomes of standard output.
    pub output: OutputPlan,
    /// The folder that the commands run in; none is the current one.
    pub directory: Option<String>,
    /// When a run is ended; none is the rule of the design (10 times the slowest of the first
    /// round, at least 10 s; in the first round the budget, at least 10 s).
    pub timeout_ns: Option<u64>,
    /// How an output is judged.
    pub check: Check,
    /// Which exit statuses are success.
    pub success: Success,
    /// The CPUs that contestants may run on; empty is any.
    pub cpus: Vec<usize>,
    /// Untimed runs of every contestant before the first round.
    pub warmup_runs: u32,
    /// Whether a round waits, within limits, until the machine is quiet.
    pub wait_for_quiet: bool,
    /// The most bytes that a contestant may write to standard output in one run.
    pub output_limit_bytes: u64,
}

/// What becomes of a contestant's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputPlan {
    /// It goes to a memory file and is looked at after the clock has stopped.
    Capture,
    /// It goes to `/dev/null` and is not judged.
    Null,
}

/// How a contestant's output is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Where all outputs agree in the first round they must go on agreeing.
    Default,
    /// All outputs must agree, always.
    SameOutput,
    /// The exit status alone.
    Exit,
    /// This program, through `sh -c`, gets the output on standard input and accepts it with 0.
    Judge(String),
}

impl Check {
    /// Returns what a user asks for by these words: `same-output`, `exit`, or else a program. The
    /// error is the word that was meant.
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

    /// Returns whether outputs have to be kept for it.
    pub fn needs_output(&self) -> bool {
        matches!(self, Check::SameOutput | Check::Judge(_))
    }
}

/// Which exit statuses are success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Success {
    /// 0 and these.
    Statuses(Vec<i32>),
    /// Any exit status; being killed by a signal is still a failure.
    Any,
}

impl Success {
    /// Whether a run that ended with this status succeeded.
    pub fn accepts(&self, status: i32) -> bool {
        match self {
            Success::Statuses(more) => status == 0 || more.contains(&status),
            Success::Any => true,
        }
    }
}

impl ProgramPlan {
    /// Returns the shell that a user asks for by this word: `none` is no shell, `default` is `sh`.
    pub fn shell_asked(word: &str) -> Option<String> {
        match word {
            "none" => None,
            "default" => Some("sh".to_owned()),
            shell => Some(shell.to_owned()),
        }
    }

    /// Returns the file that a user asks for as standard input; `null` is none.
    pub fn input_asked(path: &str) -> Option<String> {
        (!matches!(path, "null" | "/dev/null")).then(|| path.to_owned())
    }
}

/// Returns the name of a workload that was not named: that of the file which is the input.
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
        }
    }
}
