//! The plan of a run whose contestants are functions: what each was built from, how it is called.

use super::{Call, Contract, Published, Team, Workload};
use crate::language::Language;
use serde::{Deserialize, Serialize};

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
