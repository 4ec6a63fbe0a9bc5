//! The result of a run as people and programs read it: what `--json` writes and reports draw.
//!
//! Every number on a page is a field here; no report computes a statistic. The JSON is derived: its
//! keys stand in the order of the fields, numbers that are not finite and bounds that do not exist
//! are `null`, and what a reader could work out (the sentence of a warning, how many claims hold)
//! stands beside what it is worked out of.

mod compared;
mod counted;
mod one_factor;
mod quantity;
mod study;
mod written;

pub use self::counted::{ShareResult, SpellsResult};
pub use self::one_factor::{OneFactorResult, RatioRow, Statistic};
pub use self::quantity::Quantity;
pub use self::study::{
    PublishedFigure, PublishedResult, Scaling, StudyResult, StudyRow, VerifyRow, WorkloadResult,
};

use crate::claim::Statement;
use crate::fingerprint::Fingerprint;
use crate::journal::StopReason;
use crate::metric::Metric;
use crate::plan::{Adjust, Budget, Centre, Gate, Scope};
use crate::sample::Mark;
use crate::verdict::{Fault, Verdict};
use crate::warning::Warning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The whole result of a run, finished or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema", rename = "tiebreak/result/1")]
pub struct RunResult {
    /// The command line that made the run.
    pub command: Vec<String>,
    /// The seed of its coins.
    pub seed: String,
    /// The run's name in the store.
    pub journal: String,
    /// The head of the chain over its journal; `None` while it runs, and if it has no chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_head: Option<String>,
    /// The run's own time so far, over all its sessions.
    pub seconds: f64,
    /// Of those, seconds spent waiting for a quiet machine.
    pub seconds_waited: f64,
    /// Rounds finished.
    pub rounds: u64,
    /// Attempts cut off.
    pub lost: u64,
    /// Why it stopped; `None` while it runs.
    pub stopped: Option<StopReason>,
    /// Seconds that the open claims are expected to need still, by the growth of their evidence so
    /// far; `None` when nothing can be said, or the run is over.
    pub eta_seconds: Option<f64>,
    /// The error of the whole run.
    pub error: f64,
    /// The resolution of its ratio claims.
    pub resolution: f64,
    /// Its budget.
    pub budget: Budget,
    /// What was taken out of the noise of ratios.
    pub adjust: Adjust,
    /// Set if claims were settled together with those of other runs (e-BH): of all that their file
    /// says to be proven, the share that may be wrong on average. `error` then holds for none.
    pub false_share: Option<f64>,
    /// One entry a claim.
    pub verdicts: Vec<ClaimResult>,
    /// One entry a contestant.
    pub contestants: Vec<ContestantResult>,
    /// The machine.
    pub machine: MachineResult,
    /// What the reader should know.
    #[serde(serialize_with = "crate::worded::list")]
    pub warnings: Vec<Warning>,
    /// Set for `tiebreak aa`: what the machine's own comparisons came to.
    pub self_check: Option<SelfCheckResult>,
    /// Set if the run is a study's, on one of its workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<Box<WorkloadResult>>,
}

/// The machine that a run ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineResult {
    /// What was seen of it.
    #[serde(flatten)]
    pub facts: Fingerprint,
    /// The name of the print of this machine that was the latest one when the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub print: Option<String>,
}

/// What became of one claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// The claim as it was said, or the question.
    pub claim: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Of a question: the contestant that is proven to need less.
    pub winner: Option<String>,
    /// What was drawn afresh for each observation.
    pub scope: Scope,
    /// This claim's share of the error.
    pub error: f64,
    /// Rounds in its evidence.
    pub rounds: u64,
    /// The run's own seconds when it was settled, or now.
    pub seconds: f64,
    /// The quantity that the claim is about, with its limits.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// What was counted, if the claim is about a share of runs, lines or rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareResult>,
    /// What one observation is and whether values come in spells, if the claim is about a mean of a
    /// stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spells: Option<SpellsResult>,
    /// What else ran beside it, if the claim is about the wall time of programs and that was enough
    /// to change their ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideResult>,
    /// Whether the ratio is one factor for all rounds, if that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_factor: Option<Box<OneFactorResult>>,
    /// What the bets have won.
    pub evidence: EvidenceResult,
    /// Name of the left contestant.
    pub left: String,
    /// Name of the right contestant, if the claim is about two.
    pub right: Option<String>,
    /// The metric.
    #[serde(with = "crate::metric::key")]
    pub metric: Metric,
    /// Whether there was a claim, or only the question which is faster.
    pub is_question: bool,
    /// Whether a study's source claims it, by the study.
    #[serde(default, rename = "published", skip_serializing_if = "std::ops::Not::not")]
    pub is_published: bool,
    /// What the claim says: it tells where the bar is, and what `quantity` is.
    #[serde(rename = "relation")]
    pub statement: Statement,
    /// Whether the claim is a gate.
    pub gate: Gate,
    /// What the ratio is.
    pub centre: Centre,
    /// Of a ratio of means: values above this count as this, in the metric's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
    /// Who is at fault, if the verdict is void.
    pub fault: Option<Blame>,
}

/// A contestant at fault, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    /// Its name.
    pub contestant: String,
    /// Why.
    #[serde(flatten, serialize_with = "crate::worded::one")]
    pub fault: Fault,
}

/// What a verdict comes to for whoever waits for it: an exit code, a CI system, a reader. The worst
/// is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimOutcome {
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
    /// The quantity that it is about, with its limits.
    pub fn effect(&self) -> EffectResult {
        self.quantity.effect()
    }

    /// What the verdict comes to, by the claim's gate.
    pub fn outcome(&self) -> ClaimOutcome {
        match (self.verdict, self.gate) {
            (Verdict::Holds, _) => ClaimOutcome::Passed,
            (Verdict::Refuted, _) => ClaimOutcome::Failed,
            (Verdict::Void, _) => ClaimOutcome::Void,
            (Verdict::TooClose, _) if self.is_question => ClaimOutcome::Passed,
            (Verdict::TooClose | Verdict::Undecided, gate) => match gate {
                Gate::None => ClaimOutcome::Unproven,
                Gate::OpenUnlessRefuted => ClaimOutcome::PassedUnproven,
                Gate::ClosedUnlessHolds => ClaimOutcome::Failed,
            },
        }
    }
}

/// The quantity that a claim is about. Of a ratio claim it is the ratio right / left: above 1, the
/// left contestant needs less. Of a success rate or a share of rounds it is the share, of a
/// quantile or a mean the value, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectResult {
    /// The median of the paired ratios, the share, the quantile or the mean that was seen; inflated
    /// by stopping.
    pub estimate: Option<f64>,
    /// Lower limit; `None` while there is no bound.
    pub low: Option<f64>,
    /// Upper limit; `None` while there is no bound.
    pub high: Option<f64>,
    /// The probability that both limits are right, whenever the run stops.
    #[serde(with = "crate::float::or_null")]
    pub confidence: f64,
}

/// What other processes did while the rounds of a claim ran, and what its ratio is without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BesideResult {
    /// The share of the CPUs' time, from 0 to 1, that other processes used beside the samples.
    pub foreign_share: f64,
    /// The time on a CPU that `ratio` is of: run time, or CPU time where children or further
    /// threads did the work.
    #[serde(with = "crate::metric::key")]
    pub metric: Metric,
    /// The median of the rounds' ratios right / left by that metric. It describes this run: a run
    /// that is asked for that metric promises an error.
    pub ratio: Option<f64>,
}

/// What the bets about a claim have won, and what they must win.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceResult {
    /// For the claim (of a question: for the left contestant).
    #[serde(rename = "for", with = "crate::float::or_null")]
    pub for_claim: f64,
    /// Against it.
    #[serde(with = "crate::float::or_null")]
    pub against: f64,
    /// What either must reach.
    #[serde(with = "crate::float::or_null")]
    pub needed: f64,
}

/// What became of a file of claims: contests, each with claims of its own, under one error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema", rename = "tiebreak/check/1")]
pub struct CheckResult {
    /// The file, as it was named.
    pub file: String,
    /// How the error is kept over all claims of the file.
    pub family: Family,
    /// The error of the whole file; of e-BH, the false share of what is said to be proven.
    pub error: f64,
    /// Seconds of the races, builds and set-up not counted.
    #[serde(with = "crate::float::or_null")]
    pub seconds: f64,
    /// The budget of the whole file.
    pub budget: Budget,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The contests, in the order of the file.
    #[serde(flatten, with = "written::contests")]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestResult {
    /// Its name in the file.
    pub name: String,
    /// The line of the file, counted from 1, at which each claim of the run stands.
    pub lines: Vec<u64>,
    /// The run that raced it.
    #[serde(rename = "result")]
    pub run: RunResult,
}

/// How the error is kept over many claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<u64>,
    /// Of those, samples with a value that is not a number: timed out, or unusable.
    pub invalid: u64,
    /// Of those, runs that were ended at the time-out.
    pub timed_out: u64,
    /// How many samples carry each mark that occurred.
    pub marks: BTreeMap<Mark, u64>,
    /// Set if it is void.
    #[serde(serialize_with = "crate::worded::option")]
    pub fault: Option<Fault>,
    /// Runs that failed, where a claim counts them.
    pub failures: u64,
    /// What the first of them said.
    #[serde(serialize_with = "crate::worded::option")]
    pub first_failure: Option<Fault>,
    /// One entry a metric that was measured.
    #[serde(with = "crate::metric::key::map")]
    pub metrics: Vec<(Metric, MetricSummary)>,
    /// The distribution of the metric that the claims are about, on a scale that all contestants
    /// share.
    pub distribution: Option<Histogram>,
}

/// A metric of one contestant over the run. It describes this run: `--error` covers the ratios
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmallestDifference {
    /// Seconds that the comparison may take.
    pub seconds: f64,
    /// Rounds that fit.
    pub rounds: u64,
    /// As a fraction: 0.02 for 2%; `None` if even the largest that was tried is not found.
    pub fraction: Option<f64>,
    /// Whether the fraction is only a bound: nothing smaller was tried, and it is found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
}
