//! The result of a run as people and programs read it: what `--json` writes and reports draw.
//!
//! Every number on a page is a field here; no report computes a statistic.

mod compared;
mod one_factor;

pub use self::one_factor::{OneFactorResult, RatioRow};

mod counted;

pub use counted::{ShareResult, SpellsResult};

use crate::claim::Statement;
use crate::fingerprint::Fingerprint;
use crate::journal::StopReason;
use crate::metric::Metric;
use crate::plan::{Adjust, Budget, Centre, Gate, Scope};
use crate::study::{Call, Contract, FigureUnit, Language, Pilot, Untimed, Workload};
use crate::verdict::{Fault, Verdict};
use crate::warning::Warning;
use serde::Serialize;

/// The version of the JSON form.
pub const RESULT_SCHEMA: &str = "tiebreak/result/1";

/// The whole result of a run, finished or not.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The command line that made the run.
    pub command: Vec<String>,
    /// The seed of its coins.
    pub seed: String,
    /// The run's name in the store.
    pub journal: String,
    /// The head of the chain over its journal; `None` while it runs, and if it has no chain.
    pub chain_head: Option<String>,
    /// The run's own time so far, over all its sessions.
    pub seconds: f64,
    /// Of those, seconds spent waiting for a quiet machine.
    pub seconds_waited: f64,
    /// Rounds finished.
    pub rounds: u64,
    /// Seconds that the open claims are expected to need still, by the growth of their evidence so
    /// far; `None` when nothing can be said, or the run is over.
    pub eta_seconds: Option<f64>,
    /// Attempts cut off.
    pub lost: u64,
    /// Why it stopped; `None` while it runs.
    pub stopped: Option<StopReason>,
    /// The error of the whole run.
    pub error: f64,
    /// Set if claims were settled together with those of other runs (e-BH): of all that their file
    /// says to be proven, the share that may be wrong on average. `error` then holds for none.
    pub false_share: Option<f64>,
    /// The resolution of its ratio claims.
    pub resolution: f64,
    /// Its budget.
    pub budget: Budget,
    /// What was taken out of the noise of ratios.
    pub adjust: Adjust,
    /// One entry a claim.
    pub verdicts: Vec<ClaimResult>,
    /// One entry a contestant.
    pub contestants: Vec<ContestantResult>,
    /// The machine.
    pub machine: Fingerprint,
    /// The name of the print of this machine that was the latest one when the run began.
    pub machine_print: Option<String>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
    /// Set for `tiebreak aa`: what the machine's own comparisons came to.
    pub self_check: Option<SelfCheckResult>,
    /// Set if the run is a study's, on one of its workloads.
    pub study: Option<Box<WorkloadResult>>,
}

/// What a study's run on one workload gave: a block of the study's table.
#[derive(Clone, Debug, PartialEq)]
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
    pub contracts: Vec<Contract>,
}

/// A contestant in a study's table.
#[derive(Clone, Debug, PartialEq)]
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
    pub fault: Option<Fault>,
    /// The timed batches that the times are of: where pairs are raced, those beside the reference,
    /// if the two are compared at all; else all of them.
    pub batches: u64,
    /// Calls of each; `None` if it is not in the race, and in results of old, where all contestants
    /// have as many as [`WorkloadResult::calls_a_batch`] says.
    pub calls_a_batch: Option<u64>,
    /// Each metric for one call, which does the whole workload once. Wall time is over these
    /// batches, the others are over their units. It describes this run: no error is promised.
    pub per_call: Vec<(Metric, MetricSummary)>,
    /// How many times what this contestant needs does the reference need: above 1, it needs less.
    /// `None` of the reference itself.
    pub ratio: Option<EffectResult>,
    /// Whether the ratio is as exact as the study asks.
    pub is_settled: bool,
    /// The first and the last place that the intervals of the ratios leave to it, among those that
    /// have one and the reference: 1 is the fastest. `None` without a ratio, and in results of old.
    pub rank: Option<[u32; 2]>,
    /// Its published figures, at most one a table, in the order of the tables.
    pub published: Vec<PublishedFigure>,
    /// The distribution of wall time for one call over the same batches, on a scale that all
    /// contestants of the workload share.
    pub distribution: Option<Histogram>,
    /// The same in full, tail and all; `None` in results of old.
    pub ecdf: Option<Ecdf>,
    /// How it does on several threads, if the study says on how many it runs.
    pub scaling: Option<Scaling>,
    /// What the pilot saw of its work outside of the timed calls; `None` in results of old.
    pub untimed: Option<Untimed>,
}

/// A contestant on a number of threads, beside the same on one.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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

/// What became of one claim.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimResult {
    /// The claim as it was said, or the question.
    pub claim: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Of a question: the contestant that is proven to need less.
    pub winner: Option<String>,
    /// Name of the left contestant.
    pub left: String,
    /// Name of the right contestant, if the claim is about two.
    pub right: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// Whether there was a claim, or only the question which is faster.
    pub is_question: bool,
    /// Whether a study's source claims it, by the study.
    pub is_published: bool,
    /// What the claim says: it tells where the bar is, and what `effect` is.
    pub statement: Statement,
    /// Whether the claim is a gate.
    pub gate: Gate,
    /// What was drawn afresh for each observation.
    pub scope: Scope,
    /// What the ratio is.
    pub centre: Centre,
    /// Of a ratio of means: values above this count as this, in the metric's unit.
    pub cap: Option<f64>,
    /// This claim's share of the error.
    pub error: f64,
    /// Rounds in its evidence.
    pub rounds: u64,
    /// The run's own seconds when it was settled, or now.
    pub seconds: f64,
    /// The quantity that the claim is about, with its limits.
    pub effect: EffectResult,
    /// What was counted, if the claim is about a share of runs, lines or rounds.
    pub share: Option<ShareResult>,
    /// What one observation is and whether values come in spells, if the claim is about a mean of a
    /// stream.
    pub spells: Option<SpellsResult>,
    /// What else ran beside it, if the claim is about the wall time of programs and that was enough
    /// to change their ratio.
    pub beside: Option<BesideResult>,
    /// Whether the ratio is one factor for all rounds, if that was looked at.
    pub one_factor: Option<Box<OneFactorResult>>,
    /// What the bets have won.
    pub evidence: EvidenceResult,
    /// The contestant at fault, and why, if the verdict is void.
    pub fault: Option<(String, Fault)>,
}

/// What a verdict comes to for whoever waits for it: an exit code, a CI system, a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upshot {
    /// What was claimed is proven; of a question, any answer.
    Passed,
    /// Nothing is proven, and a gate lets that pass.
    PassedUnproven,
    /// Nothing is proven, and no gate lets that pass.
    Unproven,
    /// The opposite is proven; or nothing is, and a gate that only `holds` opens is closed.
    Failed,
    /// Nothing could be measured.
    Void,
}

impl ClaimResult {
    /// What the verdict comes to, by the claim's gate.
    pub fn upshot(&self) -> Upshot {
        match (self.verdict, self.gate) {
            (Verdict::Holds, _) => Upshot::Passed,
            (Verdict::Refuted, _) => Upshot::Failed,
            (Verdict::Void, _) => Upshot::Void,
            (Verdict::TooClose, _) if self.is_question => Upshot::Passed,
            (Verdict::TooClose | Verdict::Undecided, gate) => match gate {
                Gate::None => Upshot::Unproven,
                Gate::OpenUnlessRefuted => Upshot::PassedUnproven,
                Gate::ClosedUnlessHolds => Upshot::Failed,
            },
        }
    }
}

/// The quantity that a claim is about. Of a ratio claim it is the ratio right / left: above 1, the
/// left contestant needs less. Of a success rate or a share of rounds it is the share, of a
/// quantile or a mean the value, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EffectResult {
    /// The median of the paired ratios, the share, the quantile or the mean that was seen; inflated
    /// by stopping.
    pub estimate: Option<f64>,
    /// Lower limit; `None` while there is no bound.
    pub low: Option<f64>,
    /// Upper limit; `None` while there is no bound.
    pub high: Option<f64>,
    /// The probability that both limits are right, whenever the run stops.
    pub confidence: f64,
}

/// What other processes did while the rounds of a claim ran, and what its ratio is without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BesideResult {
    /// The share of the CPUs' time, from 0 to 1, that other processes used beside the samples.
    pub foreign_share: f64,
    /// The time on a CPU that `ratio` is of: run time, or CPU time where children or further
    /// threads did the work.
    pub metric: Metric,
    /// The median of the rounds' ratios right / left by that metric. It describes this run: a run
    /// that is asked for that metric promises an error.
    pub ratio: Option<f64>,
}

/// What the bets about a claim have won, and what they must win.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EvidenceResult {
    /// For the claim (of a question: for the left contestant).
    #[serde(rename = "for")]
    pub for_claim: f64,
    /// Against it.
    pub against: f64,
    /// What either must reach.
    pub needed: f64,
}

/// What became of a file of claims: contests, each with claims of its own, under one error.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The file, as it was named.
    pub file: String,
    /// How the error is kept over all claims of the file.
    pub family: Family,
    /// The error of the whole file; of e-BH, the false share of what is said to be proven.
    pub error: f64,
    /// Seconds of the races, builds and set-up not counted.
    pub seconds: f64,
    /// The budget of the whole file.
    pub budget: Budget,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The contests, in the order of the file.
    pub contests: Vec<ContestResult>,
}

impl CheckResult {
    /// All claims in the order of the file, with the contest and the line of each.
    pub fn claims(&self) -> impl Iterator<Item = (&ContestResult, Option<u64>, &ClaimResult)> {
        self.contests.iter().flat_map(|contest| {
            let line = |index: usize| contest.lines.get(index).copied();
            let numbered = contest.run.verdicts.iter().enumerate();
            numbered.map(move |(index, claim)| (contest, line(index), claim))
        })
    }
}

/// A contest of a file of claims.
#[derive(Clone, Debug, PartialEq)]
pub struct ContestResult {
    /// Its name in the file.
    pub name: String,
    /// The run that raced it.
    pub run: RunResult,
    /// The line of the file, counted from 1, at which each claim of the run stands.
    pub lines: Vec<u64>,
}

/// How the error is kept over many claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Each claim has an equal share of the error: the probability of any wrong verdict is at most
    /// the error (e-Bonferroni).
    EBonferroni,
    /// Of the verdicts that prove something, at most this share is wrong on average (e-BH, Wang and
    /// Ramdas 2022).
    EBh,
}

/// What one contestant gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ContestantResult {
    /// Its name.
    pub name: String,
    /// Its command.
    pub command: String,
    /// What it works on.
    pub workload: String,
    /// Samples in the run.
    pub samples: u64,
    /// How often a program ran, untimed runs of finished rounds included.
    pub ran: Option<u64>,
    /// Of those, samples with a value that is not a number: timed out, or unusable.
    pub invalid: u64,
    /// Of those, runs that were ended at the time-out.
    pub timed_out: u64,
    /// How many samples carry each mark that occurred.
    pub marks: Vec<(&'static str, u64)>,
    /// Set if it is void.
    pub fault: Option<Fault>,
    /// Runs that failed, where a claim counts them.
    pub failures: u64,
    /// What the first of them said.
    pub first_failure: Option<Fault>,
    /// One entry a metric that was measured.
    pub metrics: Vec<(Metric, MetricSummary)>,
    /// The distribution of the metric that the claims are about, on a scale that all contestants
    /// share.
    pub distribution: Option<Histogram>,
}

/// A metric of one contestant over the run. It describes this run: `--error` covers the ratios
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MetricSummary {
    /// The median; infinite values (time-outs) count as the largest, `None` if it is one of them.
    pub median: Option<f64>,
    /// Lower end of the median's 99% interval by order statistics, if there are samples enough.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// A tenth of the samples is at most this.
    pub p10: Option<f64>,
    /// Nine tenths of the samples are at most this.
    pub p90: Option<f64>,
}

/// Counts of samples in bins of equal width between `low` and `high`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Left edge of the first bin.
    pub low: f64,
    /// Right edge of the last bin.
    pub high: f64,
    /// One count a bin.
    pub counts: Vec<u64>,
    /// Samples above the last bin.
    pub beyond: u64,
}

/// The empirical distribution function of some values: for each value the share of them that are
/// at most it. It is kept as sorted values at ranks that are spread evenly over all of them.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct Ecdf {
    /// How many values there were, those without an end included.
    pub count: u64,
    /// Some of them, sorted, the least and the greatest always: entry `i` of `k` has rank
    /// `1 + round(i (count - 1) / (k - 1))`. With `k == count` these are all of them.
    pub values: Vec<f64>,
}

impl Ecdf {
    /// The rank of an entry, counted from 1.
    pub fn rank(&self, index: usize) -> u64 {
        match self.values.len() as u64 {
            0 | 1 => self.count,
            // Halves round up; all in whole numbers, so that every machine rounds alike.
            kept => {
                let (gaps, ranks) = (u128::from(kept - 1), u128::from(self.count.max(1) - 1));
                1 + ((2 * index as u128 * ranks + gaps) / (2 * gaps)) as u64
            }
        }
    }

    /// The steps, from the left: a value, and the share of the values that are at most it. Of equal
    /// values only the last entry makes one.
    pub fn steps(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let is_last = |index: &usize| {
            self.values.get(index + 1).is_none_or(|next| *next > self.values[*index])
        };
        let share = |index: usize| self.rank(index) as f64 / self.count.max(1) as f64;
        (0..self.values.len()).filter(is_last).map(move |index| (self.values[index], share(index)))
    }
}

/// What `tiebreak aa` found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelfCheckResult {
    /// Comparisons finished.
    pub comparisons: u64,
    /// Of those, how many said that one side is faster.
    pub false_verdicts: u64,
    /// Of those, how many proved that the sides are too close to matter.
    pub too_close: u64,
    /// Of those, how many ended undecided.
    pub undecided: u64,
    /// The error asked of each comparison.
    pub error: f64,
    /// False verdicts over comparisons.
    pub rate: f64,
    /// Lower limit of the rate.
    pub rate_low: f64,
    /// Upper limit of the rate.
    pub rate_high: f64,
    /// The probability that both limits are right.
    pub confidence: f64,
    /// The smallest differences that the machine's noise lets a comparison find.
    pub smallest: Vec<SmallestDifference>,
}

/// The smallest difference that nine of ten comparisons of this length would find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SmallestDifference {
    /// Seconds that the comparison may take.
    pub seconds: f64,
    /// Rounds that fit.
    pub rounds: u64,
    /// As a fraction: 0.02 for 2%; `None` if even the largest that was tried is not found.
    pub fraction: Option<f64>,
    /// Whether the fraction is only a bound: nothing smaller was tried, and it is found.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
}
