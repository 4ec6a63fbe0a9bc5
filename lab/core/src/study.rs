//! Studies: contestants, workloads, an oracle, claims, and the published table they reproduce.

use crate::language::Language;
use crate::plan::{Budget, Centre, Scope};
use serde::{Deserialize, Serialize};

/// A study as its folder says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The folder, as an absolute path.
    pub folder: String,
    /// Its name: that of the folder.
    pub name: String,
    /// What it is about, in a few words.
    pub title: String,
    /// Where its contestants and its table come from.
    pub source: String,
    /// What an item of a workload is called: `number`, `path`.
    pub item: String,
    /// Whether contestants call their kernel for each item, or may inline it.
    pub call: Call,
    /// Whether contestants read their input in `run` alone, so that another one may be put in its
    /// place between two calls.
    pub reads_in_run: bool,
    /// Whether each run has to read all of it, so that rates which no core can load are refused.
    pub reads_whole: bool,
    /// What the study draws afresh for each observation.
    pub scope: Scope,
    /// What a ratio is, if the study says; by the scope otherwise.
    pub centre: Option<Centre>,
    /// The contestant that the table compares the others with.
    pub reference: String,
    /// The study's own budget, if it says one.
    pub budget: Option<Budget>,
    /// How exact a ratio of the table must be: 0.05 for limits within 5% of their middle.
    pub precision: f64,
    /// What makes the inputs and knows the answers.
    pub oracle: Option<Recipe>,
    /// At least one.
    pub workloads: Vec<Workload>,
    /// Inputs of `verify` alone.
    pub verifications: Vec<Verification>,
    /// Contracts beside `published`, `relaxed` and `batch`, with what each says.
    pub contracts: Vec<Contract>,
    /// At least two.
    pub contestants: Vec<Entrant>,
    /// Tables as they were published.
    pub published: Vec<Published>,
    /// Claims, each with the line of the file at which it stands, counted from 1.
    pub claims: Vec<StudyClaim>,
    /// Every file that the study is made of: what its builds depend on.
    pub files: Vec<String>,
}

/// How contestants call their kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// By a real call for each item.
    Separate,
    /// The compiler may inline it.
    Inlined,
}

/// An input that all contestants of a study get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in claims and tables.
    pub name: String,
    /// What the oracle draws it from.
    pub distribution: String,
    /// How large it is, in what the oracle takes as a size.
    pub size: u64,
    /// The seed that its input is drawn from where one input serves for all; a seed of its own is
    /// drawn for each unit otherwise.
    pub seed: u64,
    /// Whether each unit draws an input of its own.
    pub is_drawn: bool,
    /// What it is, in a few words; may be empty.
    pub about: String,
    /// A file of the study that is the input, instead of what an oracle makes.
    pub file: Option<String>,
    /// Of runners without an oracle: the answer that each must dump, if the study says it.
    pub answer: Option<String>,
}

/// An input of `study verify`, never timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// What it covers, in a few words.
    pub name: String,
    /// What the oracle draws it from.
    pub distribution: String,
    /// Its size.
    pub size: u64,
    /// It comes in so many parts.
    pub parts: u64,
    /// Whether only `verify --full` does it.
    pub is_full: bool,
}

/// What a class of contestants promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// Its name.
    pub name: String,
    /// What it says, in a few words.
    pub text: String,
    /// Whether its contestants answer as those of `published` do on every workload. Others are
    /// shown with a mark and stand in no claim with them.
    pub is_exact: bool,
}

/// The contract of contestants that do exactly what the source does.
pub const PUBLISHED: &str = "published";

/// A contestant of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    /// Its name.
    pub name: String,
    /// How it is made, and what becomes of it.
    pub recipe: Recipe,
    /// The name of its contract.
    pub contract: String,
    /// What it is, in a few words; may be empty.
    pub about: String,
    /// On how many threads it runs at once, if the study says.
    pub threads: Option<Threads>,
}

/// On how many threads at once a contestant runs, as a study says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    /// What the same contestant is called on any number of threads.
    pub family: String,
    /// How many they are.
    pub count: ThreadCount,
}

/// A number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadCount {
    /// So many, at least 1.
    Number(u32),
    /// One on each CPU that may be used.
    All,
}

/// The threads of a contestant in a run. One of them is timed; the others do the same beside it,
/// each with a state of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// What the same contestant is called on any number of threads.
    pub family: String,
    /// How many there are, the timed one included.
    pub threads: u32,
}

/// How a contestant or an oracle is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The language.
    pub language: Language,
    /// Sources, relative to the study's folder; of a cargo package, its folder.
    pub sources: Vec<String>,
    /// The compiler or interpreter: a program on the PATH.
    pub compiler: String,
    /// Words for the compiler, or for the interpreter before its script.
    pub flags: Vec<String>,
    /// Words for the linker.
    pub libraries: Vec<String>,
    /// The command whose success is the receipt that the compiler is there; the first line that it
    /// prints is kept.
    pub version: Vec<String>,
    /// The package that would bring it, in Debian's name or as a command.
    pub package: String,
    /// Variables of the environment of compiler and interpreter.
    pub environment: Vec<(String, String)>,
}

/// A published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Where it stands.
    pub source: String,
    /// On which machine it was measured.
    pub machine: String,
    /// The unit of its figures.
    pub unit: FigureUnit,
    /// What was published in words where there are no figures; may be empty.
    pub text: String,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// A figure of a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The workload.
    pub workload: String,
    /// The contestant.
    pub contestant: String,
    /// The figure, in the table's unit.
    pub value: f64,
}

/// The unit of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FigureUnit {
    /// Nanoseconds an item.
    #[serde(rename = "ns/item")]
    NanosecondsAnItem,
    /// Millions of items a second.
    #[serde(rename = "M/s")]
    MillionsASecond,
    /// Gigabytes of input a second.
    #[serde(rename = "GB/s")]
    GigabytesASecond,
    /// Microseconds for the whole workload.
    #[serde(rename = "us")]
    Microseconds,
    /// Seconds for the whole workload.
    #[serde(rename = "s")]
    Seconds,
    /// Megabytes of memory.
    #[serde(rename = "MB")]
    Megabytes,
}

/// A claim of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyClaim {
    /// The sentence; `on WORKLOAD` in it says where, and without it the claim is made on each.
    pub text: String,
    /// The line of the file, counted from 1.
    pub line: u64,
    /// Whether the source claims it.
    pub is_published: bool,
}

/// A contestant of a study's run: what it was made of, so that the run can be gone on with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// The name of its contract.
    pub contract: String,
    /// Whether that contract is exact.
    pub is_exact: bool,
    /// Its language.
    pub language: Language,
    /// What the version command of its compiler printed first.
    pub receipt: String,
    /// The standard of the language that the compiler took, if it was asked: `C23`.
    pub standard: Option<String>,
    /// How it is loaded.
    pub form: BuiltForm,
    /// Its threads, if the study says on how many it runs; one alone otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<Team>,
}

impl Built {
    /// On how many threads it runs at once, the timed one included.
    pub fn threads(&self) -> u32 {
        self.team.as_ref().map_or(1, |team| team.threads)
    }
}

/// How a contestant that was built is brought to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum BuiltForm {
    /// Objects that are linked for each placement.
    Objects {
        /// Absolute paths of objects and archives, in the order in which they were built.
        objects: Vec<String>,
        /// The program that links, with the words that come first.
        linker: Vec<String>,
        /// Words that come last.
        libraries: Vec<String>,
        /// Objects that hold nothing but padding, as (path, bytes), for code.
        code_padding: Vec<(String, u32)>,
        /// The same for data.
        data_padding: Vec<(String, u32)>,
    },
    /// A process that obeys the runner protocol.
    Runner {
        /// The command, word by word.
        command: Vec<String>,
        /// Variables of its environment.
        environment: Vec<(String, String)>,
        /// The folder that it runs in.
        directory: String,
        /// Absolute paths of the files that the script may read or import, itself included.
        #[serde(default)]
        files: Vec<String>,
    },
}

/// A contestant of the study that takes no part in a run, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotRun {
    /// Its name.
    pub name: String,
    /// Why, with what would help.
    pub why: String,
}

/// What is planned of contestants that are functions, beside what is planned of any contestant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionPlan {
    /// The study's folder.
    pub folder: String,
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// Where contestants and figures come from.
    pub source: String,
    /// What an item is called.
    pub item: String,
    /// How contestants call their kernel.
    pub call: Call,
    /// The workload.
    pub workload: Workload,
    /// The names of all workloads that the same command races, each in a run of its own, in the
    /// order in which these are begun. Empty in journals of old.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// The contracts that the study describes. Empty in journals of old.
    #[serde(default)]
    pub contracts: Vec<Contract>,
    /// Items of its input, or of the first one that was drawn.
    pub items: u64,
    /// Bytes of the same.
    pub input_bytes: u64,
    /// The shared library of the oracle, if the study has one.
    pub oracle: Option<String>,
    /// One entry a contestant of the plan.
    pub built: Vec<Built>,
    /// Contestants of the study that take no part.
    pub not_run: Vec<NotRun>,
    /// Index of the contestant that the table compares the others with.
    pub reference: usize,
    /// Published tables with figures of this workload, or with a text.
    pub published: Vec<Published>,
    /// The claims on this workload that are the source's, as the plan has them. Empty in journals
    /// of old.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published_claims: Vec<String>,
    /// Rounds that one unit has.
    pub rounds_a_unit: u32,
    /// Calls that one timed batch makes.
    pub calls_a_batch: BatchCalls,
    /// Whether each call is timed by itself, because something must be put back before it.
    pub times_each_call: bool,
    /// Whether contestants read their input in `run` alone; not so in journals of old.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_in_run: bool,
    /// Whether each run has to read all of its input; not so in journals of old.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_whole: bool,
    /// The CPU that workers are pinned to, if they are.
    pub cpu: Option<usize>,
    /// Where placements come from.
    pub placements: Placements,
    /// What the pilot found.
    pub pilot: Pilot,
    /// By contestant, what the pilot saw of its work outside of the timed spans. Empty in journals
    /// of old.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untimed: Vec<Option<Untimed>>,
}

/// What a contestant does outside of its timed calls, in nanoseconds: the least that was seen, and
/// part of no other time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untimed {
    /// Time on a CPU of `prepare`, once a process; of a runner that of its main thread for `load`.
    pub prepare_ns: u64,
    /// Time on a CPU of `reset`, before a call; 0 if it has none.
    #[serde(default, skip_serializing_if = "crate::plan::is_zero")]
    pub reset_ns: u64,
    /// Wall time of `dump`; `None` where it was not on trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dump_ns: Option<u64>,
}

impl Untimed {
    /// Takes what the batches of a unit tell of `prepare` and `dump`, a dump of 0 being none, and
    /// the time of a reset.
    pub fn take(&mut self, batches: impl Iterator<Item = (u64, u64)>, reset_ns: u64) {
        let least = |so_far: u64, ns: u64| if so_far == 0 { ns } else { so_far.min(ns) };
        self.reset_ns = least(self.reset_ns, reset_ns);
        for (prepare_ns, dump_ns) in batches {
            self.prepare_ns = least(self.prepare_ns, prepare_ns);
            if dump_ns > 0 {
                self.dump_ns = Some(self.dump_ns.map_or(dump_ns, |so_far| so_far.min(dump_ns)));
            }
        }
    }
}

impl FunctionPlan {
    /// The contestants by index, in the order in which their answers are looked at: the reference
    /// first, since without an oracle the first answer is the standard of its contract.
    pub fn judged_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.built.len()).collect();
        order.sort_by_key(|contestant| *contestant != self.reference);
        order
    }
}

/// How many calls of a contestant one timed batch makes.
///
/// Whatever else the machine does hits a batch the more often the longer it lasts, so batches must
/// last equally long, not make equally many calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BatchCalls {
    /// So many of every contestant, as journals of old have it.
    Alike(u64),
    /// So many of each contestant of the plan, so that the batches of all last about equally long.
    Each(Vec<u64>),
}

impl BatchCalls {
    /// Calls of a batch of this contestant; at least 1.
    pub fn of(&self, contestant: usize) -> u64 {
        let calls = match self {
            BatchCalls::Alike(calls) => *calls,
            BatchCalls::Each(each) => each.get(contestant).copied().unwrap_or(1),
        };
        calls.max(1)
    }
}

/// Where the placements of units come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placements {
    /// Each unit gets one of its own, and it is thrown away.
    #[default]
    Fresh,
    /// So many, drawn again and again: invalid, to show why.
    Reused(u32),
}

/// What was seen before the first unit; none of it is evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// Units that the pilot ran.
    pub units: u32,
    /// Variance of log ratios within a unit.
    pub variance_within: f64,
    /// Variance of log ratios between units.
    pub variance_between: f64,
    /// What a unit costs beside its rounds, links included.
    pub unit_cost_ns: f64,
    /// What a round of a unit costs.
    pub round_cost_ns: f64,
}
