//! The results of a study, and what `study verify` found.

use super::{Ecdf, EffectResult, Histogram, MetricSummary, RunResult};
use crate::language::Language;
use crate::metric::Metric;
use crate::plan::{Budget, Scope};
use crate::study::{Call, Contract, FigureUnit, Pilot, Untimed, Workload};
use crate::verdict::Fault;
use serde::{Deserialize, Serialize};

/// What a study's run on one workload gave: a block of the study's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadResult {
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// Where its contestants and figures come from.
    pub source: String,
    /// What an item is called.
    pub item: String,
    /// How contestants call their kernel.
    pub call: Call,
    /// The workload.
    pub workload: Workload,
    /// Items of its input, or of the first one that was drawn.
    pub items: u64,
    /// Bytes of the same.
    pub input_bytes: u64,
    /// What was drawn afresh for each observation.
    pub scope: Scope,
    /// Whether each unit had two contestants alone; if not, all that an open claim needed then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub races_pairs: bool,
    /// The name of the contestant that the others are compared with.
    pub reference: String,
    /// Rounds of a unit.
    pub rounds_a_unit: u32,
    /// Calls of a timed batch of that contestant; those of the others are in their rows.
    pub calls_a_batch: u64,
    /// What the pilot found.
    pub pilot: Pilot,
    /// One entry a contestant, in the order of the study; those that did not run among them.
    pub rows: Vec<StudyRow>,
    /// Where published figures come from, one entry a table.
    pub published: Vec<PublishedResult>,
    /// The contracts that the study describes; empty in results of old.
    #[serde(default)]
    pub contracts: Vec<Contract>,
}

/// A contestant in a study's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: Option<Language>,
    /// The name of its contract.
    pub contract: String,
    /// Whether that contract is exact; others are shown with a mark.
    pub is_exact: bool,
    /// What its compiler says that it is; empty if it did not run.
    pub receipt: String,
    /// The standard that its compiler took.
    pub standard: Option<String>,
    /// Why it is not in the race, if it is not.
    pub not_run: Option<String>,
    /// Set if it is void.
    #[serde(serialize_with = "crate::worded::option")]
    pub fault: Option<Fault>,
    /// The timed batches that the times are of: where pairs are raced, those beside the reference,
    /// if the two are compared at all; else all of them.
    pub batches: u64,
    /// Calls of each; `None` if it is not in the race, and in results of old, where all contestants
    /// have as many as [`WorkloadResult::calls_a_batch`] says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_a_batch: Option<u64>,
    /// Each metric for one call, which does the whole workload once. Wall time is over these
    /// batches, the others are over their units. It describes this run: no error is promised.
    #[serde(with = "crate::metric::key::map")]
    pub per_call: Vec<(Metric, MetricSummary)>,
    /// How many times what this contestant needs does the reference need: above 1, it needs less.
    /// `None` of the reference itself.
    pub ratio: Option<EffectResult>,
    /// Whether the ratio is as exact as the study asks.
    pub is_settled: bool,
    /// The first and the last place that the intervals of the ratios leave to it, among those that
    /// have one and the reference: 1 is the fastest. `None` without a ratio, and in results of old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<[u32; 2]>,
    /// Its published figures, at most one a table, in the order of the tables.
    #[serde(flatten, with = "super::written::published")]
    pub published: Vec<PublishedFigure>,
    /// The distribution of wall time for one call over the same batches, on a scale that all
    /// contestants of the workload share.
    pub distribution: Option<Histogram>,
    /// The same in full, tail and all; `None` in results of old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecdf: Option<Ecdf>,
    /// How it does on several threads, if the study says on how many it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// What the pilot saw of its work outside of the timed calls; `None` in results of old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untimed: Option<Untimed>,
}

/// A contestant on a number of threads, beside the same on one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// What the contestant is called on any number of threads.
    pub family: String,
    /// Threads, the timed one included.
    pub threads: u32,
    /// The time of a call on one thread over that beside the others: 1 where threads do not hold
    /// each other up. It is the ratio of the claim that compares the two, or of the cell of the
    /// table where none does. `None` where neither does, or where the threads did not run together
    /// in most units.
    pub efficiency: Option<f64>,
    /// Its lower limit, at the error of that claim; `None` while there is no bound, and on one
    /// thread, where it is 1 by what it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency_low: Option<f64>,
    /// Its upper limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency_high: Option<f64>,
    /// Items that all threads do in a second, if each does what the timed one does at its median.
    /// `None` where they did not run together in most units.
    pub items_per_s: Option<f64>,
    /// Units of evidence.
    pub units: u64,
    /// Of those, units in most of whose timed batches every thread was seen to run: it made at
    /// least half as many calls as the timed one.
    pub together: u64,
}

/// What a published table says of a contestant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// Index of the table.
    pub table: usize,
    /// The figure, in the table's unit.
    pub value: f64,
    /// How many times what the contestant needs does the reference need, by the same table; `None`
    /// of the reference, and where the table has no figure of it.
    pub ratio: Option<f64>,
}

/// A published table beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedResult {
    /// Where it stands.
    pub source: String,
    /// The machine.
    pub machine: String,
    /// The unit of its figures.
    pub unit: FigureUnit,
    /// What was published in words.
    pub text: String,
}

/// A study's run on all of its workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema", rename = "tiebreak/study/1")]
pub struct StudyResult {
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// The error of the whole study.
    pub error: f64,
    /// The budget of the whole study.
    pub budget: Budget,
    /// Seconds of the races; builds, checks and pilots not counted.
    #[serde(with = "crate::float::or_null")]
    pub seconds: f64,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// One run a workload, each with [`RunResult::study`].
    pub runs: Vec<RunResult>,
}

/// What `study verify` found of one contestant.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyRow {
    /// The contestant.
    pub contestant: String,
    /// The workload or verification.
    pub workload: String,
    /// Items that were judged.
    pub items: u64,
    /// What is wrong, if something is.
    pub fault: Option<Fault>,
    /// Why it was not judged, if it was not.
    pub not_run: Option<String>,
    /// Why nobody saw whether it allocates without saying so, if nobody did.
    pub unstarved: Option<String>,
}
