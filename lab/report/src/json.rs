//! The result of a run as JSON, as `docs/schema/result-1.schema.json` describes it, of a file of
//! claims, as `docs/schema/check-1.schema.json` does, and of a study, as
//! `docs/schema/study-result-1.schema.json` does.

mod check;
mod read;
mod study;
mod verdict;

use self::study::WorkloadEntry;
use self::verdict::VerdictEntry;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::StopReason;
use tiebreak_core::plan::Adjust;
use tiebreak_core::result::{
    ContestantResult, Histogram, MetricSummary, RESULT_SCHEMA, RunResult, SelfCheckResult,
};
use tiebreak_core::verdict::Fault;

pub use self::check::{CHECK_SCHEMA, check, check_text};
pub use self::read::{NotAStudy, read_study};
pub use self::study::{STUDY_SCHEMA, study, study_value};

/// The result as a JSON value.
///
/// Numbers that are not finite and bounds that do not exist are `null`; metrics stand under
/// [`tiebreak_core::metric::Metric::key`], marks under their names with `_` for blanks, verdicts
/// are `holds`, `refuted`, `too_close`, `undecided` and `void`.
pub fn result(run: &RunResult) -> Value {
    // Keys are texts and numbers finite or null, so that nothing here can fail.
    serde_json::to_value(Document::of(run)).unwrap_or(Value::Null)
}

/// The same as text with two blanks of indent and a line feed at the end; keys stand in the order
/// of the schema, always.
pub fn text(run: &RunResult) -> String {
    serde_json::to_string_pretty(&Document::of(run)).unwrap_or_default() + "\n"
}

/// An object whose keys stand in the order of a list.
struct Object<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(serde::Serialize)]
struct Document<'a> {
    schema: &'static str,
    command: &'a [String],
    seed: &'a str,
    journal: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain_head: Option<&'a str>,
    seconds: f64,
    seconds_waited: f64,
    rounds: u64,
    lost: u64,
    stopped: Option<StopReason>,
    eta_seconds: Option<f64>,
    error: f64,
    resolution: f64,
    budget: BudgetEntry,
    adjust: Adjust,
    false_share: Option<f64>,
    verdicts: Vec<VerdictEntry<'a>>,
    contestants: Vec<ContestantEntry<'a>>,
    machine: MachineEntry<'a>,
    warnings: Vec<WarningEntry>,
    self_check: &'a Option<SelfCheckResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    study: Option<WorkloadEntry<'a>>,
}

/// The facts about the machine, and the name of its print beside them.
#[derive(serde::Serialize)]
struct MachineEntry<'a> {
    #[serde(flatten)]
    facts: &'a Fingerprint,
    #[serde(skip_serializing_if = "Option::is_none")]
    print: Option<&'a str>,
}

#[derive(serde::Serialize)]
struct BudgetEntry {
    rounds: Option<u64>,
    seconds: Option<f64>,
}

#[derive(serde::Serialize)]
struct FaultEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    contestant: Option<&'a str>,
    #[serde(flatten)]
    fault: &'a Fault,
    text: String,
}

#[derive(serde::Serialize)]
struct ContestantEntry<'a> {
    name: &'a str,
    command: &'a str,
    workload: &'a str,
    samples: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ran: Option<u64>,
    invalid: u64,
    timed_out: u64,
    marks: Object<String, u64>,
    fault: Option<FaultEntry<'a>>,
    failures: u64,
    first_failure: Option<FaultEntry<'a>>,
    metrics: Object<&'static str, MetricSummary>,
    distribution: &'a Option<Histogram>,
}

#[derive(serde::Serialize)]
struct WarningEntry {
    code: &'static str,
    text: String,
}

impl<'a> Document<'a> {
    fn of(run: &'a RunResult) -> Document<'a> {
        let warning = |warning: &tiebreak_core::warning::Warning| WarningEntry {
            code: warning.code(),
            text: warning.to_string(),
        };
        Document {
            schema: RESULT_SCHEMA,
            command: &run.command,
            seed: &run.seed,
            journal: &run.journal,
            chain_head: run.chain_head.as_deref(),
            seconds: run.seconds,
            seconds_waited: run.seconds_waited,
            rounds: run.rounds,
            lost: run.lost,
            stopped: run.stopped,
            eta_seconds: run.eta_seconds,
            error: run.error,
            resolution: run.resolution,
            budget: BudgetEntry { rounds: run.budget.rounds, seconds: run.budget.seconds },
            adjust: run.adjust,
            false_share: run.false_share,
            verdicts: run.verdicts.iter().map(VerdictEntry::of).collect(),
            contestants: run.contestants.iter().map(ContestantEntry::of).collect(),
            machine: MachineEntry { facts: &run.machine, print: run.machine_print.as_deref() },
            warnings: run.warnings.iter().map(warning).collect(),
            self_check: &run.self_check,
            study: run.study.as_deref().map(WorkloadEntry::of),
        }
    }
}

impl<'a> FaultEntry<'a> {
    fn of(contestant: Option<&'a str>, fault: &'a Fault) -> FaultEntry<'a> {
        FaultEntry { contestant, fault, text: fault.to_string() }
    }
}

impl<'a> ContestantEntry<'a> {
    fn of(contestant: &'a ContestantResult) -> ContestantEntry<'a> {
        let marks = contestant.marks.iter().map(|(name, count)| (name.replace(' ', "_"), *count));
        let metrics = contestant.metrics.iter().map(|(metric, summary)| (metric.key(), *summary));
        let of_fault = |fault: &'a Fault| FaultEntry::of(None, fault);
        ContestantEntry {
            name: &contestant.name,
            command: &contestant.command,
            workload: &contestant.workload,
            samples: contestant.samples,
            ran: contestant.ran,
            invalid: contestant.invalid,
            timed_out: contestant.timed_out,
            marks: Object(marks.collect()),
            fault: contestant.fault.as_ref().map(of_fault),
            failures: contestant.failures,
            first_failure: contestant.first_failure.as_ref().map(of_fault),
            metrics: Object(metrics.collect()),
            distribution: &contestant.distribution,
        }
    }
}
