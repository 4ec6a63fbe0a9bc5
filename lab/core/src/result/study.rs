//! The results of a study, and of `study verify`.
//!
//! The values that follow from the proven ratios of a study's table: ranks, and how threads scale.

use super::{ClaimResult, Ecdf, EffectResult, Histogram, MetricSummary, RunResult};
use crate::language::Language;
use crate::metric::Metric;
use crate::plan::{Budget, Scope};
use crate::study::{Call, Contract, FigureStatistic, FigureUnit, Pilot, Untimed, Workload};
use crate::verdict::Fault;
use serde::{Deserialize, Serialize};

/// The results of a study's run on one workload: a block of the study's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadResult {
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// The source of its contestants and figures.
    pub source: String,
    /// The name of an item.
    pub item: String,
    /// The way in which contestants call their kernel.
    pub call: Call,
    /// The workload.
    pub workload: Workload,
    /// The number of items in its input, or in the first input drawn.
    pub items: u64,
    /// The number of bytes in the same input.
    pub input_bytes: u64,
    /// What is drawn afresh for each observation.
    pub scope: Scope,
    /// Whether each unit had only two contestants. If not, it had all that an open claim needed
    /// then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub races_pairs: bool,
    /// The name of the contestant that the others are compared with.
    pub reference: String,
    /// The number of rounds of a unit.
    pub rounds_a_unit: u32,
    /// The number of calls in a timed batch of that contestant; the rows give those of the others.
    pub calls_a_batch: u64,
    /// The results of the pilot.
    pub pilot: Pilot,
    /// One entry per contestant, in the order of the study, including those that did not run.
    pub rows: Vec<StudyRow>,
    /// The ratios that were not as exact as asked when the run was over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_ratios: Vec<OpenRatio>,
    /// The sources of published figures, one entry per table.
    pub published: Vec<PublishedResult>,
    /// The contracts that the study describes; empty in old results.
    #[serde(default)]
    pub contracts: Vec<Contract>,
}

/// A ratio of a study's table that is not as exact as asked, with an estimate of what it needs to
/// become so: limits approach each other with the square root of the rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenRatio {
    /// The name of the contestant.
    pub left: String,
    /// The name of the contestant that it is compared with.
    pub right: String,
    /// The number of further rounds (units, except at scope `layout`).
    #[serde(with = "crate::float::or_null")]
    pub rounds_left: f64,
    /// The seconds that these take.
    #[serde(with = "crate::float::or_null")]
    pub seconds_left: f64,
}

/// A contestant in a study's table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: Option<Language>,
    /// The name of its contract.
    pub contract: String,
    /// Whether that contract is exact; others are shown with a mark.
    pub is_exact: bool,
    /// The version line of its compiler; empty if it did not run.
    pub receipt: String,
    /// A hash of what it was built from, which no machine and no version of a compiler changes.
    /// `None` if it did not run, and in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The language standard that its compiler accepted.
    pub standard: Option<String>,
    /// The reason why it is not in the race, if it is not.
    pub not_run: Option<String>,
    /// Set if it is void.
    #[serde(serialize_with = "crate::worded::option")]
    pub fault: Option<Fault>,
    /// The number of timed batches behind the times. Where pairs are raced and the two are compared
    /// at all, these are the batches raced with the reference; otherwise, all of them.
    pub batches: u64,
    /// The number of calls per batch. `None` if it is not in the race, and in old results, where
    /// all contestants have [`WorkloadResult::calls_a_batch`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_a_batch: Option<u64>,
    /// Each metric per call, which does the whole workload once. Wall time is over these batches,
    /// the others are over their units. They only describe this run, without a guaranteed error.
    #[serde(with = "crate::metric::key::map")]
    pub per_call: Vec<(Metric, MetricSummary)>,
    /// How many times as much as this contestant the reference needs: above 1, this one needs less.
    /// `None` for the reference itself.
    pub ratio: Option<EffectResult>,
    /// Whether the ratio is as exact as the study asks.
    pub is_settled: bool,
    /// The first and the last place that the intervals of the ratios leave open, among the
    /// contestants with a ratio and the reference: 1 is the fastest. `None` without a ratio, and in
    /// old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<[u32; 2]>,
    /// Its published figures, at most one per table, in the order of the tables.
    #[serde(flatten, with = "super::written::published")]
    pub published: Vec<PublishedFigure>,
    /// The distribution of wall time per call over the same batches, on a scale that all
    /// contestants of the workload share.
    pub distribution: Option<Histogram>,
    /// The full distribution, including the tail; `None` in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecdf: Option<Ecdf>,
    /// Its results on several threads, if the study gives its number of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// The pilot's measurements of its work outside the timed calls; `None` in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untimed: Option<Untimed>,
}

/// A contestant on a number of threads, compared with the same one on one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The name of the contestant on any number of threads.
    pub family: String,
    /// The number of threads, including the timed one.
    pub threads: u32,
    /// The time of a call on one thread over the time next to the other threads: 1 where threads do
    /// not slow each other down. It is the ratio of the claim that compares the two, or else of the
    /// cell of the table. `None` if neither exists, or if the threads did not run together in most
    /// units.
    pub efficiency: Option<f64>,
    /// The lower limit of the efficiency, at the error of that claim. `None` while there is no
    /// bound, and on one thread, where the efficiency is 1 by definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency_low: Option<f64>,
    /// The upper limit of the efficiency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency_high: Option<f64>,
    /// The items that all threads do per second, if each runs at the median speed of the timed one.
    /// `None` where they did not run together in most units.
    pub items_per_s: Option<f64>,
    /// The number of units of evidence.
    pub units: u64,
    /// The number of units in which every thread was observed to run during most of the timed
    /// batches: it made at least half as many calls as the timed one.
    pub together: u64,
}

/// A contestant's figure in a published table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// The index of the table.
    pub table: usize,
    /// The figure, in the table's unit.
    pub value: f64,
    /// How many times as much as the contestant the reference needs, by the same table. `None` for
    /// the reference, and where the table has no figure of the reference.
    pub ratio: Option<f64>,
}

/// A published table next to the measured one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedResult {
    /// The source of the table.
    pub source: String,
    /// The machine.
    pub machine: String,
    /// The unit of its figures.
    pub unit: FigureUnit,
    /// What its figures are of the times of a contestant, if the source says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<FigureStatistic>,
    /// The published text.
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
    /// The seconds of the races, without builds, checks and pilots.
    #[serde(with = "crate::float::or_null")]
    pub seconds: f64,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// One run per workload, each with [`RunResult::study`].
    pub runs: Vec<RunResult>,
}

/// The result of `study verify` for one contestant.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyRow {
    /// The contestant.
    pub contestant: String,
    /// The name of the workload or verification.
    pub workload: String,
    /// The number of items that were judged.
    pub items: u64,
    /// The fault, if there is one.
    pub fault: Option<Fault>,
    /// The reason why it was not judged, if it was not.
    pub not_run: Option<String>,
    /// The reason why undeclared allocation was not tested, if it was not.
    pub unstarved: Option<String>,
}

impl WorkloadResult {
    /// Fills in the values that follow from ratios alone: the ranks of the rows, and the efficiency
    /// of contestants on several threads, which is the ratio in `claims`. Costs a comparison for
    /// each pair of rows, and a look at each claim for each row.
    pub fn compare(&mut self, claims: &[ClaimResult]) {
        rank(&mut self.rows, &self.reference);
        let alone: Vec<(String, String)> = self.rows.iter().filter_map(on_one_thread).collect();
        for row in &mut self.rows {
            let Some(scaling) = &mut row.scaling else { continue };
            let one = alone.iter().find(|(family, _)| *family == scaling.family);
            let one = one.filter(|_| scaling.were_together());
            let effect = one.and_then(|(_, one)| efficiency(&row.name, one, claims));
            let limits =
                effect.map(|EffectResult { estimate, low, high, .. }| [estimate, low, high]);
            [scaling.efficiency, scaling.efficiency_low, scaling.efficiency_high] =
                limits.unwrap_or_default();
        }
    }
}

impl Scaling {
    /// Returns whether the threads ran together in most units; one thread always does. Threads that
    /// took turns would seem not to slow each other down.
    pub fn were_together(&self) -> bool {
        self.threads == 1 || self.together > self.units / 2
    }
}

/// Returns the family and the name of a contestant that runs on one thread and took part.
fn on_one_thread(row: &StudyRow) -> Option<(String, String)> {
    let scaling = row.scaling.as_ref().filter(|scaling| scaling.threads == 1)?;
    (scaling.units > 0).then(|| (scaling.family.clone(), row.name.clone()))
}

/// Returns the time on one thread over the time next to other threads, from the claim that compares
/// the two by wall time. A claim by the study or the user precedes a cell of the table.
fn efficiency(name: &str, one: &str, claims: &[ClaimResult]) -> Option<EffectResult> {
    if name == one {
        let (estimate, low, high) = (Some(1.0), None, None);
        return Some(EffectResult { estimate, low, high, confidence: 1.0 });
    }
    let mut of_both = claims.iter().filter(|claim| {
        let right = claim.right.as_deref();
        let is_pair = [(name, one), (one, name)].contains(&(&*claim.left, right.unwrap_or("")));
        is_pair && claim.metric == Metric::WallTime && claim.statement.relation().is_some()
    });
    let claim = of_both.clone().find(|claim| !claim.statement.is_measure()).or(of_both.next())?;

    let EffectResult { estimate, low, high, confidence } = claim.effect();
    let [estimate, low, high] =
        [estimate, low, high].map(|value| value.filter(|value| value.is_finite() && *value > 0.0));
    Some(if claim.left == name {
        EffectResult { estimate, low, high, confidence }
    } else {
        let [estimate, low, high] = [estimate, high, low].map(|value| value.map(f64::recip));
        EffectResult { estimate, low, high, confidence }
    })
}

/// Ranks the rows that have a ratio to the reference, and the reference itself, whose ratio is 1. A
/// rank is the range of places that the intervals leave open.
///
/// One row ranks before another only if the whole interval of its ratio lies above the other's. If
/// all intervals are right, the order of the two is right too.
fn rank(rows: &mut [StudyRow], reference: &str) {
    let all = rows.iter().map(|row| match &row.ratio {
        _ if row.fault.is_some() || row.not_run.is_some() => None,
        _ if row.name == reference => Some((1.0, 1.0)),
        Some(ratio) => Some((ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY))),
        None => None,
    });
    let all: Vec<_> = all.collect();
    let ranked: Vec<_> = all.iter().flatten().collect();
    // The reference alone is not ranked.
    let is_ranked = ranked.len() > 1;
    for (row, own) in rows.iter_mut().zip(&all) {
        row.rank = own.filter(|_| is_ranked).map(|(low, high)| {
            let before = ranked.iter().filter(|other| other.0 > high).count();
            let behind = ranked.iter().filter(|other| other.1 < low).count();
            [before as u32 + 1, (ranked.len() - behind) as u32]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_needs_no_proof_and_others_need_it_of_most_units() {
        let check = |threads, units, together, expected| {
            let of = Scaling {
                family: "a".to_owned(),
                threads,
                efficiency: None,
                efficiency_low: None,
                efficiency_high: None,
                items_per_s: None,
                units,
                together,
            };
            assert_eq!(of.were_together(), expected, "{of:?}");
        };
        check(1, 4, 0, true);
        check(4, 4, 0, false);
        check(4, 4, 2, false);
        check(4, 5, 2, false);
        check(4, 4, 3, true);
        check(4, 5, 3, true);
        check(4, 0, 0, false);
    }
}
