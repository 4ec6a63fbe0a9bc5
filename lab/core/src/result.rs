//! The result of a run for people and programs: `--json` writes it and reports draw it.
//!
//! Every number on a page is a field here; reports compute no statistic. The JSON is derived: keys
//! follow the order of the fields, and numbers that are not finite and bounds that do not exist are
//! `null`. Values that a reader could derive (the sentence of a warning, the number of claims that
//! hold) accompany their sources.

mod comparison;
mod study;
mod suite;
mod why;
mod written;

pub use self::comparison::{
    ComparedClaim, ComparedRatio, ComparedResult, ComparedWorkload, StudyComparison,
};
pub use self::study::{
    OpenRatio, PublishedFigure, PublishedResult, Scaling, StudyResult, StudyRow, VerifyRow,
    WorkloadResult,
};
pub use self::suite::{BenchmarkResult, SuiteResult, SuiteRevision, Word};
pub use self::why::{Hot, Instruction, Model, Part, Why, WhySide};
use crate::claim::Statement;
use crate::fingerprint::Fingerprint;
use crate::journal::StopReason;
use crate::load::{LoadResult, MessageCounts};
use crate::metric::Metric;
use crate::plan::{Adjust, Budget, Centre, Gate, Scope};
use crate::sample::Mark;
use crate::server::ServerPlan;
use crate::verdict::{Fault, Verdict};
use crate::warning::Warning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

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
    /// The head of the chain over its journal; `None` while it runs, or if it has no chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_head: Option<String>,
    /// The run's own time so far, over all its sessions.
    pub seconds: f64,
    /// The seconds of those that were spent waiting for a quiet machine.
    pub seconds_waited: f64,
    /// The number of rounds finished.
    pub rounds: u64,
    /// The number of attempts cut off.
    pub lost: u64,
    /// The number of rounds of several programs that did not begin with an untimed run.
    #[serde(default, skip_serializing_if = "crate::terms::is_zero")]
    pub rounds_without_primer: u64,
    /// The reason why it stopped; `None` while it runs.
    pub stopped: Option<StopReason>,
    /// The seconds that the open claims are still expected to need, by the growth of their evidence
    /// so far. `None` if there is no estimate, or the run is over.
    pub eta_seconds: Option<f64>,
    /// The error of the whole run.
    pub error: f64,
    /// The resolution of its ratio claims.
    pub resolution: f64,
    /// Its budget.
    pub budget: Budget,
    /// The adjustments that removed noise from ratios.
    pub adjust: Adjust,
    /// Set if claims were settled together with those of other runs (e-BH): the share of all the
    /// proven claims of their file that may be wrong on average. `error` then does not apply to any
    /// single claim.
    pub false_share: Option<f64>,
    /// One entry per claim.
    pub verdicts: Vec<ClaimResult>,
    /// One entry per contestant.
    pub contestants: Vec<ContestantResult>,
    /// The machine.
    pub machine: MachineResult,
    /// The warnings for the reader.
    #[serde(serialize_with = "crate::worded::list")]
    pub warnings: Vec<Warning>,
    /// The outcome of the machine's own comparisons; set for `tiebreak aa`.
    pub self_check: Option<SelfCheckResult>,
    /// The study's results on one workload, if the run belongs to a study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<Box<WorkloadResult>>,
    /// What was seen of the load, if claims are about its messages: one entry for each time that it
    /// was gone on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<LoadResult>>,
    /// How the contestants were loaded, if they are servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Box<ServerPlan>>,
}

/// The machine that a run ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineResult {
    /// The facts that were read.
    #[serde(flatten)]
    pub facts: Fingerprint,
    /// The name of the latest print of this machine when the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub print: Option<String>,
}

/// The result of one claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// The claim as the user stated it, or the question.
    pub claim: String,
    /// The verdict.
    pub verdict: Verdict,
    /// For a question: the contestant that is proven to need less.
    pub winner: Option<String>,
    /// What is drawn afresh for each observation.
    pub scope: Scope,
    /// This claim's share of the error.
    pub error: f64,
    /// The number of rounds in its evidence.
    pub rounds: u64,
    /// The run's own seconds when the claim was settled, or now.
    pub seconds: f64,
    /// The quantity that the claim is about, with its limits.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// The counts, if the claim is about a share of runs, lines or rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareResult>,
    /// What one observation is, and whether values come in spells, if the claim is about a mean of
    /// a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spells: Option<SpellsResult>,
    /// What else ran on the CPUs, if the claim is about the wall time of programs and that was
    /// enough to change their ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideResult>,
    /// Whether the ratio is one factor for all rounds, if that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_factor: Option<Box<OneFactorResult>>,
    /// The wealth of the bets.
    pub evidence: EvidenceResult,
    /// The name of the left contestant.
    pub left: String,
    /// The name of the right contestant, if the claim is about two.
    pub right: Option<String>,
    /// The metric.
    #[serde(with = "crate::metric::key")]
    pub metric: Metric,
    /// Whether it is only the question which one is faster, not a claim.
    pub is_question: bool,
    /// Whether the study states that its source claims this.
    #[serde(default, rename = "published", skip_serializing_if = "std::ops::Not::not")]
    pub is_published: bool,
    /// The statement of the claim. It gives the bar, and the meaning of `quantity`.
    #[serde(rename = "relation")]
    pub statement: Statement,
    /// The gate of the claim, if any.
    pub gate: Gate,
    /// The meaning of the ratio.
    pub centre: Centre,
    /// For a ratio of means: the cap, in the metric's unit. Values above it count as the cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
    /// The contestant at fault, if the verdict is void.
    pub fault: Option<Blame>,
}

/// A contestant at fault, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    /// Its name.
    pub contestant: String,
    /// The fault.
    #[serde(flatten, serialize_with = "crate::worded::one")]
    pub fault: Fault,
}

/// The outcome of a verdict for an exit code, a CI system or a reader. The worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimOutcome {
    /// The claim is proven; for a question, any answer is.
    Passed,
    /// Nothing is proven, and a gate lets that pass.
    PassedUnproven,
    /// Nothing is proven, and no gate lets that pass.
    Unproven,
    /// The opposite is proven; or nothing is, and the gate opens only on `holds`.
    Failed,
    /// Nothing could be measured.
    Void,
}

impl ClaimResult {
    /// Returns the quantity that it is about, with its limits.
    pub fn effect(&self) -> EffectResult {
        self.quantity.effect()
    }

    /// Returns the outcome of the verdict, by the claim's gate.
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

/// The quantity that a claim is about. For a ratio claim, it is the ratio right / left: above 1,
/// the left contestant needs less. For a success rate or a share of rounds, it is the share. For a
/// quantile or a mean, it is the value, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectResult {
    /// The observed median of the paired ratios, share, quantile or mean; inflated by stopping.
    pub estimate: Option<f64>,
    /// The lower limit; `None` while there is no bound.
    pub low: Option<f64>,
    /// The upper limit; `None` while there is no bound.
    pub high: Option<f64>,
    /// The probability that both limits are right, whenever the run stops.
    #[serde(with = "crate::float::or_null")]
    pub confidence: f64,
}

/// The activity of other processes during the rounds of a claim, and the claim's ratio without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BesideResult {
    /// The share of the CPUs' time, from 0 to 1, that other processes used during the samples.
    pub foreign_share: f64,
    /// The metric of `ratio`: run time, or CPU time where children or further threads did the work.
    #[serde(with = "crate::metric::key")]
    pub metric: Metric,
    /// The median of the rounds' ratios right / left by that metric. It only describes this run;
    /// only a claim by that metric has a guaranteed error.
    pub ratio: Option<f64>,
}

/// The wealth of the bets about a claim, and the wealth that they need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceResult {
    /// The wealth for the claim (for a question: for the left contestant).
    #[serde(rename = "for", with = "crate::float::or_null")]
    pub for_claim: f64,
    /// The wealth against the claim.
    #[serde(with = "crate::float::or_null")]
    pub against: f64,
    /// The wealth that either must reach.
    #[serde(with = "crate::float::or_null")]
    pub needed: f64,
}

/// The result of a file of claims: contests, each with its own claims, under one error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema", rename = "tiebreak/check/1")]
pub struct CheckResult {
    /// The file, as the user named it.
    pub file: String,
    /// The way in which the error is kept over all claims of the file.
    pub family: Family,
    /// The error of the whole file; for e-BH, the false share of the proven claims.
    pub error: f64,
    /// The seconds of the races, without builds and set-up.
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
    /// Returns all claims in the order of the file, with the contest and the line of each.
    pub fn claims(&self) -> impl Iterator<Item = (&ContestResult, Option<u64>, &ClaimResult)> {
        self.contests.iter().flat_map(|contest| {
            let numbered = contest.run.verdicts.iter().enumerate();
            numbered.map(move |(index, claim)| (contest, contest.lines.get(index).copied(), claim))
        })
    }
}

/// A contest of a file of claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestResult {
    /// Its name in the file.
    pub name: String,
    /// The line of the file, counted from 1, of each claim of the run.
    pub lines: Vec<u64>,
    /// The result of its run.
    #[serde(rename = "result")]
    pub run: RunResult,
}

/// The way in which the error is kept over many claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Each claim has an equal share of the error. The probability of any wrong verdict is at most
    /// the error (e-Bonferroni).
    EBonferroni,
    /// At most this share of the verdicts that prove something is wrong on average (e-BH, Wang and
    /// Ramdas 2022).
    EBh,
}

/// The results of one contestant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestantResult {
    /// Its name.
    pub name: String,
    /// Its command.
    pub command: String,
    /// Its workload.
    pub workload: String,
    /// The number of samples in the run.
    pub samples: u64,
    /// The number of times that a program ran, including untimed runs of finished rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<u64>,
    /// The number of samples with a value that is not a number: timed out, or unusable.
    pub invalid: u64,
    /// The number of runs that were ended at the time-out.
    pub timed_out: u64,
    /// The number of samples with each mark that occurred.
    pub marks: BTreeMap<Mark, u64>,
    /// Set if it is void.
    #[serde(serialize_with = "crate::worded::option")]
    pub fault: Option<Fault>,
    /// The number of runs that failed, where a claim counts them.
    pub failures: u64,
    /// The fault of the first of them.
    #[serde(serialize_with = "crate::worded::option")]
    pub first_failure: Option<Fault>,
    /// One entry per measured metric.
    #[serde(with = "crate::metric::key::map")]
    pub metrics: Vec<(Metric, MetricSummary)>,
    /// The distribution of the metric that the claims are about, on a scale that all contestants
    /// share.
    pub distribution: Option<Histogram>,
    /// What became of the messages of its loads, if it is a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedResult>,
}

/// What became of the messages of a server's loads, all together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServedResult {
    /// The arrivals a second, from the first send to the last arrival: the median over the loads.
    pub arrived_per_second: Option<f64>,
    /// The CPU time of the generator for a message, in nanoseconds.
    pub generator_cpu_a_message_ns: f64,
    /// The sends that were late.
    pub late: u64,
    /// What became of the messages.
    pub counts: MessageCounts,
}

/// A metric of one contestant over the run. It only describes this run: `--error` covers the ratios
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// The median. Infinite values (time-outs) count as the largest; `None` if the median is one of
    /// them.
    pub median: Option<f64>,
    /// The lower end of the median's 99% interval by order statistics, if there are enough samples.
    pub low: Option<f64>,
    /// The upper end of that interval.
    pub high: Option<f64>,
    /// The value that a tenth of the samples do not exceed.
    pub p10: Option<f64>,
    /// The value that nine tenths of the samples do not exceed.
    pub p90: Option<f64>,
}

/// The counts of samples in bins of equal width between `low` and `high`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The left edge of the first bin.
    pub low: f64,
    /// The right edge of the last bin.
    pub high: f64,
    /// One count per bin.
    pub counts: Vec<u64>,
    /// The number of samples above the last bin.
    pub beyond: u64,
}

/// The empirical distribution function of some values: for each value, the share of them that are
/// at most that value. It is kept as sorted values at ranks that are spread evenly over all of
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ecdf {
    /// The count of all values, including infinite ones.
    pub count: u64,
    /// Some of the values, sorted, always with the least and the greatest. Entry `i` of `k` has
    /// rank `1 + round(i (count - 1) / (k - 1))`. With `k == count`, these are all values.
    pub values: Vec<f64>,
}

impl Ecdf {
    /// Returns the rank of an entry, counted from 1.
    pub fn rank(&self, index: usize) -> u64 {
        match self.values.len() as u64 {
            0 | 1 => self.count,
            // Halves round up. The computation uses whole numbers only, so that every machine
            // rounds alike.
            kept => {
                let (gaps, ranks) = (u128::from(kept - 1), u128::from(self.count.max(1) - 1));
                1 + ((2 * index as u128 * ranks + gaps) / (2 * gaps)) as u64
            }
        }
    }

    /// Returns the steps, from the left: a value, and the share of the values that are at most it.
    /// Among equal values, only the last entry makes a step.
    pub fn steps(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let count = self.count.max(1) as f64;
        self.values.iter().enumerate().filter_map(move |(index, value)| {
            let is_last = self.values.get(index + 1).is_none_or(|next| next > value);
            is_last.then(|| (*value, self.rank(index) as f64 / count))
        })
    }
}

/// The result of `tiebreak aa`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfCheckResult {
    /// The number of comparisons finished.
    pub comparisons: u64,
    /// The number of them that said that one side is faster.
    pub false_verdicts: u64,
    /// The number of them that proved that the sides are too close to matter.
    pub too_close: u64,
    /// The number of them that ended undecided.
    pub undecided: u64,
    /// The error asked of each comparison.
    pub error: f64,
    /// The rate: false verdicts over comparisons.
    pub rate: f64,
    /// The lower limit of the rate.
    pub rate_low: f64,
    /// The upper limit of the rate.
    pub rate_high: f64,
    /// The probability that both limits are right.
    pub confidence: f64,
    /// The smallest differences that the machine's noise lets a comparison find.
    pub smallest: Vec<SmallestDifference>,
}

/// The smallest difference that nine of ten comparisons of this length would find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmallestDifference {
    /// The seconds that the comparison may take.
    pub seconds: f64,
    /// The number of rounds that fit.
    pub rounds: u64,
    /// The difference as a fraction: 0.02 for 2%. `None` if even the largest tried is not found.
    pub fraction: Option<f64>,
    /// Whether the fraction is only an upper bound: it is found, and nothing smaller was tried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
}

/// What a claim is about, with its limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A ratio claim.
    Ratio {
        /// How many times as much as the left contestant the right one needs.
        ratio: EffectResult,
    },
    /// A claim about a quantile.
    Quantile {
        /// The quantile, in the metric's unit.
        quantile: EffectResult,
        /// The share of the values that are at most the bar; the verdict is about it.
        rate: EffectResult,
    },
    /// A claim about a success rate, or a share of rounds.
    Rate {
        /// The share.
        rate: EffectResult,
    },
    /// A claim about a mean.
    Mean {
        /// The mean, in the metric's unit.
        mean: EffectResult,
    },
}

impl Quantity {
    /// Returns the quantity and its limits.
    pub fn effect(&self) -> EffectResult {
        match *self {
            Quantity::Ratio { ratio } => ratio,
            Quantity::Quantile { quantile, .. } => quantile,
            Quantity::Rate { rate } => rate,
            Quantity::Mean { mean } => mean,
        }
    }

    /// Returns the quantity and its limits for modification.
    pub fn effect_mut(&mut self) -> &mut EffectResult {
        match self {
            Quantity::Ratio { ratio } => ratio,
            Quantity::Quantile { quantile, .. } => quantile,
            Quantity::Rate { rate } => rate,
            Quantity::Mean { mean } => mean,
        }
    }

    /// Returns the share that was counted, if the claim has one.
    pub fn rate(&self) -> Option<EffectResult> {
        match *self {
            Quantity::Rate { rate } | Quantity::Quantile { rate, .. } => Some(rate),
            Quantity::Ratio { .. } | Quantity::Mean { .. } => None,
        }
    }
}

/// The counts for a claim about a share: of the runs or lines of a contestant (those that succeed,
/// or whose value is at most the bar), or of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareResult {
    /// The number of runs, lines or rounds.
    pub trials: u64,
    /// The number of them that count for the claim.
    pub successes: u64,
    /// The number of trials that make one observation; 1 if each does.
    pub block: u64,
    /// The number of trials at the end that do not fill a block and are not evidence.
    pub left_over: u64,
    /// The least number of trials that can end with `holds`, whatever their outcomes.
    pub least_trials_to_hold: u64,
    /// The least number of trials that can end with `refuted`, whatever their outcomes.
    pub least_trials_to_refute: u64,
    /// The number of failures over the number of runs of failures: slightly above 1 if trials are
    /// independent. `None` without failures.
    pub mean_burst: Option<f64>,
    /// The runs test of Wald and Wolfowitz (1940) on successes and failures, in standard
    /// deviations: far above 0 where failures come in bursts. `None` where the test does not apply.
    pub runs_z: Option<f64>,
    /// For blocks: the length of runs of failures that would make blocks differ as much as they do.
    /// It is 1 if trials are independent, and far above the mean burst where trials fail more often
    /// in spells. `None` for single trials, and for too few blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spell_lines: Option<f64>,
    /// For observations that are values or blocks: by how many standard deviations neighbours are
    /// more alike than by chance. `None` for all others, and where most blocks are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_z: Option<f64>,
    /// Whether the error is not what was asked for. The reason is one of these: failures come in
    /// bursts, or blocks differ as if they did, and an observation is not at least 30 times as long
    /// as a burst; observations follow each other; or lines that are taken for a chain depend on
    /// more than the one before.
    pub is_bursty: bool,
    /// Whether lines are a chain, in which each depends only on the one before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_chain: bool,
    /// The density of plausible rates, at these rates, scaled to a peak of 1: the Beta distribution
    /// with one more than the successes and one more than the failures (a uniform prior). It is for
    /// display; verdict and limits do not come from it.
    #[serde(skip)]
    pub density: Vec<(f64, f64)>,
}

/// For a claim about the mean of the lines of a stream: what one observation is, and whether values
/// on one side of the bar, or values like the one before, come together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpellsResult {
    /// The number of lines that make one observation; 1 if each does.
    pub block: u64,
    /// The number of lines at the end that do not fill a block and are not evidence.
    pub left_over: u64,
    /// The number of lines on the side of the bar (above it, or not) that has fewer.
    pub rarer: u64,
    /// The mean number of these in a row: slightly above 1 if lines are independent and these are
    /// few. `None` if there are none.
    pub mean_spell: Option<f64>,
    /// The runs test of Wald and Wolfowitz (1940) on the two sides of the bar, in standard
    /// deviations: far above 0 where values come in spells. `None` where the test does not apply.
    pub runs_z: Option<f64>,
    /// By how many standard deviations neighbouring observations are more alike than by chance.
    /// `None` where most are equal.
    pub values_z: Option<f64>,
    /// Whether either shows that observations depend on each other: the error is then not what was
    /// asked for.
    pub is_dependent: bool,
}

impl ClaimResult {
    /// Returns the test that denies that the ratio is one factor for all rounds, if it does.
    pub fn no_factor(&self) -> Option<&OneFactorResult> {
        self.one_factor.as_deref().filter(|found| found.is_denied)
    }
}

/// The test of whether two contestants differ by one factor in every round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneFactorResult {
    /// Whether one factor is denied: the evidence is at least the wealth needed.
    pub is_denied: bool,
    /// The wealth of the bets against every factor.
    #[serde(with = "crate::float::or_null")]
    pub evidence: f64,
    /// The wealth that denies one factor: one over [`OneFactorResult::error`].
    pub needed: f64,
    /// The probability that one factor is denied where there is one.
    pub error: f64,
    /// The number of rounds tested.
    pub rounds: u64,
    /// The number of them far from the median ratio, on the side that has more of them.
    pub far: u64,
    /// The number of them far from it on the other side.
    pub far_opposite: u64,
    /// The contestant that took long in those rounds, unless the other one took little.
    pub slow: String,
    /// In the middle one of those rounds, its time relative to the other contestant, over the usual
    /// relative time.
    #[serde(with = "crate::float::or_null")]
    pub times: f64,
    /// Whether `times` is a lower bound, because a run that was cut off stands there.
    #[serde(default, rename = "times_is_least", skip_serializing_if = "std::ops::Not::not")]
    pub is_least: bool,
    /// The median, the high percentiles and the mean of each contestant, and their ratios, where
    /// one factor is denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<RatioRow>,
}

/// One statistic of two contestants, and the ratio of the two, `right / left`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioRow {
    /// The statistic.
    pub statistic: Statistic,
    /// The value of the left contestant, in the metric's unit.
    pub left: Option<f64>,
    /// The value of the right contestant.
    pub right: Option<f64>,
    /// The ratio, with limits that hold whenever the run stops. `None` where no limit exists.
    pub ratio: EffectResult,
    /// For a mean: the cap. Values above it count as the cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f64>,
}

/// The statistic to compare where the ratio is not a single factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The value that half of the runs do not exceed.
    Median,
    /// The value that nine tenths do not exceed.
    P90,
    /// The value that 99 of 100 do not exceed.
    P99,
    /// The mean of all.
    Mean,
}

names! { Statistic: Median = "median", P90 = "p90", P99 = "p99", Mean = "mean" }

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
