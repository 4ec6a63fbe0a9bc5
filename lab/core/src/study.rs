//! Studies: contestants, workloads, an oracle, claims, and the published table they reproduce.

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
        self.contestants.is_empty() || self.contestants.iter().any(|one| one == contestant)
    }
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
}

impl Verification {
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

/// A contestant of a study's run: what it was made of, so that the run can be resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// The name of its contract.
    pub contract: String,
    /// Whether that contract is exact.
    pub is_exact: bool,
    /// Its language.
    pub language: Language,
    /// The first line that the version command of its compiler printed.
    pub receipt: String,
    /// A hash of what it is built from, which no machine and no version of a compiler changes;
    /// `None` in old runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The language standard that the compiler accepted, if one was asked for: `C23`.
    pub standard: Option<String>,
    /// The way in which it is loaded.
    pub form: BuiltForm,
    /// Its threads, if the study gives their number; otherwise it runs on one thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<Team>,
}

impl Built {
    /// Returns the number of threads that it runs on at once, including the timed one.
    pub fn threads(&self) -> u32 {
        self.team.as_ref().map_or(1, |team| team.threads)
    }
}

/// A library that was linked with nothing drawn, and what the linker read for it besides the
/// objects of the contestant: start files, and members of archives as `archive(member)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The absolute path of the library.
    pub library: String,
    /// The files before the objects, in order.
    pub before: Vec<String>,
    /// The files after them.
    pub after: Vec<String>,
}

/// The way in which a built contestant is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum BuiltForm {
    /// Objects that are linked for each placement.
    Objects {
        /// The absolute paths of objects, in the order in which they were built.
        objects: Vec<String>,
        /// The program that links, with the words that come first.
        linker: Vec<String>,
        /// The last words of the command.
        libraries: Vec<String>,
        /// The objects that contain only padding, as (path, bytes), for code.
        code_padding: Vec<(String, u32)>,
        /// The same objects for data.
        data_padding: Vec<(String, u32)>,
        /// What the linker made of the objects with nothing drawn; `None` if that was not kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<Reference>,
    },
    /// A process that follows the runner protocol.
    Runner {
        /// The command, word by word.
        command: Vec<String>,
        /// Its environment variables.
        environment: Vec<(String, String)>,
        /// The folder that it runs in.
        directory: String,
        /// The absolute paths of the files that the script may read or import, including itself.
        #[serde(default)]
        files: Vec<String>,
    },
}

/// A contestant of the study that takes no part in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotRun {
    /// Its name.
    pub name: String,
    /// The reason, with a remedy.
    pub why: String,
}

/// The additional plan for contestants that are functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionPlan {
    /// The study's folder.
    pub folder: String,
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// The source of contestants and figures.
    pub source: String,
    /// The name of an item.
    pub item: String,
    /// The way in which contestants call their kernel.
    pub call: Call,
    /// The workload.
    pub workload: Workload,
    /// The names of all workloads that the same command races, each in its own run, in the order in
    /// which the runs begin. Empty in old journals.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// The contracts that the study describes. Empty in old journals.
    #[serde(default)]
    pub contracts: Vec<Contract>,
    /// The number of items in its input, or in the first input drawn.
    pub items: u64,
    /// The number of bytes in the same input.
    pub input_bytes: u64,
    /// The shared library of the oracle, if the study has one.
    pub oracle: Option<String>,
    /// One entry per contestant of the plan.
    pub built: Vec<Built>,
    /// The contestants of the study that take no part.
    pub not_run: Vec<NotRun>,
    /// The index of the contestant that the table compares the others with.
    pub reference: usize,
    /// The published tables with figures of this workload, or with a text.
    pub published: Vec<Published>,
    /// The source's claims on this workload, as in the plan. Empty in old journals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published_claims: Vec<String>,
    /// The number of rounds in a unit.
    pub rounds_a_unit: u32,
    /// The number of calls in a timed batch.
    pub calls_a_batch: BatchCalls,
    /// Whether each call is timed by itself, because something must be restored before it.
    pub times_each_call: bool,
    /// Whether contestants read their input only in `run`; false in old journals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_in_run: bool,
    /// Whether each run must read its whole input; false in old journals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_whole: bool,
    /// Whether `prepare` may start processes that stay; false in old journals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starts_processes: bool,
    /// The CPU that workers are pinned to, if any.
    pub cpu: Option<usize>,
    /// The source of placements.
    pub placements: Placements,
    /// The results of the pilot.
    pub pilot: Pilot,
    /// The pilot's measurements of work outside the timed spans, by contestant. Empty in old
    /// journals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untimed: Vec<Option<Untimed>>,
}

/// A contestant's work outside its timed calls, in nanoseconds. Each is the least that was
/// measured, and part of no other time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untimed {
    /// The time on a CPU of `prepare`, once per process; for a runner, that of its main thread for
    /// `load`.
    pub prepare_ns: u64,
    /// The time on a CPU of `reset`, before a call; 0 if it has none.
    #[serde(default, skip_serializing_if = "crate::terms::is_zero")]
    pub reset_ns: u64,
    /// The wall time of `dump`; `None` where it was not called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dump_ns: Option<u64>,
}

impl Untimed {
    /// Takes the times of `prepare` and `dump` from the batches of a unit, and the time of a reset.
    /// A dump of 0 means that there was none.
    pub fn take(&mut self, batches: impl Iterator<Item = (u64, u64)>, reset_ns: u64) {
        self.reset_ns = least(self.reset_ns, reset_ns);
        for (prepare_ns, dump_ns) in batches {
            self.prepare_ns = least(self.prepare_ns, prepare_ns);
            if dump_ns > 0 {
                self.dump_ns = Some(self.dump_ns.map_or(dump_ns, |so_far| so_far.min(dump_ns)));
            }
        }
    }
}

/// Returns the smaller time; 0 stands for none so far.
fn least(so_far: u64, ns: u64) -> u64 {
    if so_far == 0 { ns } else { so_far.min(ns) }
}

impl FunctionPlan {
    /// Returns the contestants' indices in the order in which their answers are checked. The
    /// reference comes first: without an oracle, the first answer is the standard of its contract.
    pub fn judged_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.built.len()).collect();
        order.sort_by_key(|contestant| *contestant != self.reference);
        order
    }
}

/// The number of calls in a timed batch of each contestant.
///
/// Disturbances by the machine hit a batch more often the longer it lasts. So batches must last
/// equally long, not make equally many calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BatchCalls {
    /// The same number for every contestant, as in old journals.
    Alike(u64),
    /// A number for each contestant of the plan, so that all batches last about equally long.
    Each(Vec<u64>),
    /// Numbers for each pair, so that the batches of the two last about equally long.
    Pairs {
        /// For each contestant of the plan, the number in any other company.
        each: Vec<u64>,
        /// The pairs, each with the numbers of its two.
        pairs: Vec<([usize; 2], [u64; 2])>,
    },
}

impl BatchCalls {
    /// Returns the number of calls in a batch of this contestant in rounds of this company, to
    /// which it belongs; at least 1.
    pub fn of(&self, contestant: usize, company: &[usize]) -> u64 {
        let calls = match self {
            BatchCalls::Alike(calls) => Some(*calls),
            BatchCalls::Each(each) => each.get(contestant).copied(),
            BatchCalls::Pairs { each, pairs } => {
                let is_it = |pair: &[usize; 2]| {
                    company.len() == 2 && pair.iter().all(|one| company.contains(one))
                };
                let known = pairs.iter().find(|(pair, _)| is_it(pair));
                let own = known.and_then(|(pair, calls)| {
                    let position = pair.iter().position(|one| *one == contestant)?;
                    Some(calls[position])
                });
                own.or_else(|| each.get(contestant).copied())
            }
        };
        calls.unwrap_or(1).max(1)
    }
}

/// The source of the placements of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placements {
    /// Each unit gets a new placement, which is then discarded.
    #[default]
    Fresh,
    /// This many placements, drawn again and again: invalid, to show why.
    Reused(u32),
}

/// The measurements before the first unit; none of them is evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// The number of units that the pilot ran.
    pub units: u32,
    /// The number of untimed rounds with which a unit of a process of its own begins: so long a
    /// contestant may be slower than later. 0 in old journals.
    #[serde(default, skip_serializing_if = "crate::terms::is_zero")]
    pub warm_rounds: u32,
    /// The variance of log ratios within a unit.
    pub variance_within: f64,
    /// The variance of log ratios between units.
    pub variance_between: f64,
    /// The cost of a unit outside its timed rounds, including links.
    pub unit_cost_ns: f64,
    /// The cost of a round of a unit.
    pub round_cost_ns: f64,
}

impl Pilot {
    /// Returns the cost of a unit with this many rounds, in nanoseconds.
    pub fn cost_ns(&self, rounds: u32) -> f64 {
        self.unit_cost_ns + f64::from(rounds) * self.round_cost_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_numbers_of_its_own() {
        let check = |calls: &BatchCalls, contestant: usize, company: &[usize], expected: u64| {
            let found = calls.of(contestant, company);
            assert_eq!(found, expected, "{contestant} of {company:?}, {calls:?}");
        };
        let each = vec![70, 7, 0];
        let pairs = vec![([0, 1], [500, 50]), ([0, 2], [9, 0])];
        let calls = BatchCalls::Pairs { each: each.clone(), pairs };
        check(&calls, 0, &[0, 1], 500);
        check(&calls, 1, &[1, 0], 50);
        check(&calls, 0, &[2, 0], 9);
        check(&calls, 2, &[2, 0], 1);
        // A pair that is not planned, all together, one alone, and no company.
        check(&calls, 1, &[1, 2], 7);
        check(&calls, 0, &[0, 1, 2], 70);
        check(&calls, 0, &[0], 70);
        check(&calls, 1, &[], 7);
        check(&calls, 3, &[], 1);
        check(&BatchCalls::Each(each), 0, &[0, 1], 70);
        check(&BatchCalls::Alike(3), 5, &[0, 5], 3);
        let text = serde_json::to_string(&calls).unwrap();
        assert_eq!(serde_json::from_str::<BatchCalls>(&text).unwrap(), calls);
    }
}
