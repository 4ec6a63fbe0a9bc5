//! Studies: contestants, workloads, an oracle, claims, and the published table they reproduce.

mod functions;

pub use self::functions::{
    BatchCalls, Built, BuiltForm, FunctionPlan, NotRun, Pilot, Placements, Reference, Untimed,
};

use crate::language::Language;
use crate::terms::{Budget, Centre, Scope};
use serde::{Deserialize, Serialize};

/// A study as its folder describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The absolute path of the folder.
    pub folder: String,
    /// The name of the study: that of the folder.
    pub name: String,
    /// The subject in a few words.
    pub title: String,
    /// The source of its contestants and its table.
    pub source: String,
    /// The name of an item of a workload: `number`, `path`.
    pub item: String,
    /// Whether contestants call their kernel for each item, or may inline it.
    pub call: Call,
    /// Whether contestants read their input only in `run`, so that another input may replace it
    /// between two calls.
    pub reads_in_run: bool,
    /// Whether each run must read the whole input, so that rates which no core can load are
    /// refused.
    pub reads_whole: bool,
    /// Whether `prepare` may start processes that stay.
    pub starts_processes: bool,
    /// The calls of a timed batch, if the study gives them; otherwise the pilot chooses.
    pub calls: Option<u64>,
    /// What the study draws afresh for each observation.
    pub scope: Scope,
    /// The meaning of a ratio, if the study gives it; by default, it depends on the scope.
    pub centre: Option<Centre>,
    /// The contestant that the table compares the others with.
    pub reference: String,
    /// The study's own budget, if it gives one.
    pub budget: Option<Budget>,
    /// The precision of the table's ratios: 0.05 for limits within 5% of their middle.
    pub precision: f64,
    /// The oracle, which makes the inputs and knows the answers.
    pub oracle: Option<Recipe>,
    /// The workloads: at least one.
    pub workloads: Vec<Workload>,
    /// The inputs for `verify` only.
    pub verifications: Vec<Verification>,
    /// The contracts other than `published`, `relaxed` and `batch`, with their texts.
    pub contracts: Vec<Contract>,
    /// The contestants: at least two.
    pub contestants: Vec<Entrant>,
    /// The tables as they were published.
    pub published: Vec<Published>,
    /// The claims, each with its line in the file, counted from 1.
    pub claims: Vec<StudyClaim>,
    /// All files of the study, which its builds depend on.
    pub files: Vec<String>,
}

/// The way in which contestants call their kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A real call for each item.
    Separate,
    /// A call that the compiler may inline.
    Inlined,
}

/// An input that all contestants of a study get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in claims and tables.
    pub name: String,
    /// The distribution from which the oracle draws it.
    pub distribution: String,
    /// The size, in the oracle's unit.
    pub size: u64,
    /// The seed of its input, if all units share one input; otherwise each unit draws its own seed.
    pub seed: u64,
    /// Whether each unit draws its own input.
    pub is_drawn: bool,
    /// A description in a few words; may be empty.
    pub about: String,
    /// A file of the study that is the input, in place of the oracle's.
    pub file: Option<String>,
    /// For runners without an oracle: the answer that each must dump, if the study gives it.
    pub answer: Option<String>,
    /// Contestants that are raced on it; all if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contestants: Vec<String>,
    /// Whether it is raced only if it is asked for by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_on_request: bool,
}

impl Workload {
    /// Returns whether a contestant is raced on it.
    #[must_use]
    pub fn races(&self, contestant: &str) -> bool {
        is_among(&self.contestants, contestant)
    }
}

/// Returns whether a list that may be empty for all has a contestant.
fn is_among(contestants: &[String], contestant: &str) -> bool {
    contestants.is_empty() || contestants.iter().any(|one| one == contestant)
}

/// An input of `study verify`, never timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The name: what it covers, in a few words.
    pub name: String,
    /// The distribution from which the oracle draws it.
    pub distribution: String,
    /// Its size.
    pub size: u64,
    /// The number of parts that it comes in.
    pub parts: u64,
    /// Whether it belongs to `verify --full` only.
    pub is_full: bool,
    /// Contestants that are judged on it; all if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contestants: Vec<String>,
}

impl Verification {
    /// Returns whether a contestant is judged on it.
    #[must_use]
    pub fn judges(&self, contestant: &str) -> bool {
        is_among(&self.contestants, contestant)
    }

    /// Returns the name of one of its parts, which the oracle counts from 0 and people from 1:
    /// `every length, part 32 of 64`; the name as it is, if it has but one.
    pub fn part_name(&self, part: u64) -> String {
        let Verification { name, parts, .. } = self;
        match parts {
            0 | 1 => name.clone(),
            _ => format!("{name}, part {} of {parts}", part + 1),
        }
    }
}

/// A contract: what a class of contestants guarantees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// Its name.
    pub name: String,
    /// The description in a few words.
    pub text: String,
    /// Whether its contestants answer as those of `published` do on every workload. Others are
    /// shown with a mark and share no claim with them.
    pub is_exact: bool,
}

/// The contract of contestants that do exactly what the source does.
pub const PUBLISHED: &str = "published";

/// A contestant of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    /// Its name.
    pub name: String,
    /// The name of its table in study.toml, which the lists there may have made longer.
    pub stem: String,
    /// The recipe, and how the product runs.
    pub recipe: Recipe,
    /// The name of its contract.
    pub contract: String,
    /// A description in a few words; may be empty.
    pub about: String,
    /// The number of threads that it runs on at once, if the study gives it.
    pub threads: Option<Threads>,
}

/// The number of threads that a contestant runs on at once, as a study gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    /// The name of the contestant on any number of threads.
    pub family: String,
    /// The number of threads.
    pub count: ThreadCount,
}

/// A number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadCount {
    /// This many, at least 1.
    Number(u32),
    /// One on each CPU that may be used.
    All,
}

/// The threads of a contestant in a run. One of them is timed. The others do the same work next to
/// it, each with its own state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// The name of the contestant on any number of threads.
    pub family: String,
    /// The number of threads, including the timed one.
    pub threads: u32,
}

/// The way in which a contestant or an oracle is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The language.
    pub language: Language,
    /// The sources, relative to the study's folder; for a Cargo package, its folder.
    pub sources: Vec<String>,
    /// The compiler or interpreter: a program on the PATH.
    pub compiler: String,
    /// Words for the compiler, or for the interpreter before its script.
    pub flags: Vec<String>,
    /// Words for the linker.
    pub libraries: Vec<String>,
    /// The command whose success shows that the compiler is installed. The first line that it
    /// prints is kept.
    pub version: Vec<String>,
    /// The package that provides it: a name in Debian, or a command.
    pub package: String,
    /// Environment variables of compiler and interpreter.
    pub environment: Vec<(String, String)>,
    /// Whether the linker makes each placement, even where that is possible without it.
    #[serde(default)]
    pub is_linked: bool,
    /// Whether its library runs in a process of its own, next to those of other runtimes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_process: bool,
}

/// A published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The source of the table.
    pub source: String,
    /// The machine on which it was measured.
    pub machine: String,
    /// The unit of its figures.
    pub unit: FigureUnit,
    /// What its figures are of the times of a contestant, if the source says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<FigureStatistic>,
    /// The published text, where there are no figures; may be empty.
    pub text: String,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// A figure of a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The name of the workload.
    pub workload: String,
    /// The name of the contestant.
    pub contestant: String,
    /// The figure, in the table's unit.
    pub value: f64,
}

/// The unit of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FigureUnit {
    /// Nanoseconds per item.
    #[serde(rename = "ns/item")]
    NanosecondsAnItem,
    /// Millions of items per second.
    #[serde(rename = "M/s")]
    MillionsASecond,
    /// Gigabytes of input per second.
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

/// What a published figure is of the times of a contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureStatistic {
    /// The shortest.
    Minimum,
    /// Their mean.
    Mean,
    /// Their median.
    Median,
}

/// A claim of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyClaim {
    /// The sentence. `on WORKLOAD` in it names a workload; without it, the claim is made on each.
    pub text: String,
    /// The line of the file, counted from 1.
    pub line: u64,
    /// Whether the source claims it.
    pub is_published: bool,
}
