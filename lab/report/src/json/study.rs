//! What a study gave, as JSON.

use super::{BudgetEntry, Document, FaultEntry, Object};
use serde::Serialize;
use serde_json::Value;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::result::{
    Ecdf, EffectResult, Histogram, MetricSummary, PublishedFigure, Scaling, StudyResult, StudyRow,
    WorkloadResult,
};
use tiebreak_core::study::{Call, Contract, FigureUnit, Language, Pilot, Untimed, Workload};

/// The version of the JSON form of a study.
pub const STUDY_SCHEMA: &str = "tiebreak/study/1";

/// The result of a study as a JSON value: one object of the schema of results a workload, with the
/// block of the table in it.
pub fn study_value(study: &StudyResult) -> Value {
    // Keys are texts and numbers finite or null, so that nothing here can fail.
    serde_json::to_value(StudyDocument::of(study)).unwrap_or(Value::Null)
}

/// The same as text with two blanks of indent and a line feed at the end; keys stand in the order
/// of the schema, always.
pub fn study(study: &StudyResult) -> String {
    serde_json::to_string_pretty(&StudyDocument::of(study)).unwrap_or_default() + "\n"
}

#[derive(Serialize)]
struct StudyDocument<'a> {
    schema: &'static str,
    study: &'a str,
    title: &'a str,
    error: f64,
    budget: BudgetEntry,
    seconds: f64,
    interrupted: bool,
    runs: Vec<Document<'a>>,
}

impl<'a> StudyDocument<'a> {
    fn of(study: &'a StudyResult) -> StudyDocument<'a> {
        StudyDocument {
            schema: STUDY_SCHEMA,
            study: &study.study,
            title: &study.title,
            error: study.error,
            budget: BudgetEntry { rounds: study.budget.rounds, seconds: study.budget.seconds },
            seconds: study.seconds,
            interrupted: study.interrupted,
            runs: study.runs.iter().map(Document::of).collect(),
        }
    }
}

/// A block of the table.
#[derive(Serialize)]
pub(super) struct WorkloadEntry<'a> {
    study: &'a str,
    title: &'a str,
    source: &'a str,
    item: &'a str,
    call: Call,
    workload: &'a Workload,
    items: u64,
    input_bytes: u64,
    scope: Scope,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    races_pairs: bool,
    reference: &'a str,
    rounds_a_unit: u32,
    calls_a_batch: u64,
    pilot: Pilot,
    rows: Vec<RowEntry<'a>>,
    published: Vec<PublishedEntry<'a>>,
    contracts: &'a [Contract],
}

#[derive(Serialize)]
struct RowEntry<'a> {
    name: &'a str,
    language: Option<Language>,
    contract: &'a str,
    is_exact: bool,
    receipt: &'a str,
    standard: Option<&'a str>,
    not_run: Option<&'a str>,
    fault: Option<FaultEntry<'a>>,
    batches: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_a_batch: Option<u64>,
    per_call: Object<&'static str, MetricSummary>,
    ratio: Option<EffectResult>,
    is_settled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<[u32; 2]>,
    published: Option<FigureEntry>,
    published_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published_figures: Vec<PublishedFigureEntry>,
    distribution: &'a Option<Histogram>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecdf: Option<&'a Ecdf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scaling: Option<&'a Scaling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    untimed: Option<Untimed>,
}

#[derive(Serialize)]
struct FigureEntry {
    table: usize,
    value: f64,
}

#[derive(Serialize)]
struct PublishedFigureEntry {
    table: usize,
    value: f64,
    ratio: Option<f64>,
}

#[derive(Serialize)]
struct PublishedEntry<'a> {
    source: &'a str,
    machine: &'a str,
    unit: FigureUnit,
    text: &'a str,
}

impl<'a> WorkloadEntry<'a> {
    pub(super) fn of(of: &'a WorkloadResult) -> WorkloadEntry<'a> {
        WorkloadEntry {
            study: &of.study,
            title: &of.title,
            source: &of.source,
            item: &of.item,
            call: of.call,
            workload: &of.workload,
            items: of.items,
            input_bytes: of.input_bytes,
            scope: of.scope,
            races_pairs: of.races_pairs,
            reference: &of.reference,
            rounds_a_unit: of.rounds_a_unit,
            calls_a_batch: of.calls_a_batch,
            pilot: of.pilot,
            rows: of.rows.iter().map(RowEntry::of).collect(),
            published: of
                .published
                .iter()
                .map(|table| PublishedEntry {
                    source: &table.source,
                    machine: &table.machine,
                    unit: table.unit,
                    text: &table.text,
                })
                .collect(),
            contracts: &of.contracts,
        }
    }
}

impl FigureEntry {
    fn of(PublishedFigure { table, value, .. }: PublishedFigure) -> FigureEntry {
        FigureEntry { table, value }
    }
}

impl PublishedFigureEntry {
    fn of(of: PublishedFigure) -> PublishedFigureEntry {
        let PublishedFigure { table, value, ratio } = of;
        PublishedFigureEntry { table, value, ratio }
    }
}

impl<'a> RowEntry<'a> {
    fn of(row: &'a StudyRow) -> RowEntry<'a> {
        let entry = |(metric, summary): &(Metric, MetricSummary)| (metric.key(), *summary);
        RowEntry {
            name: &row.name,
            language: row.language,
            contract: &row.contract,
            is_exact: row.is_exact,
            receipt: &row.receipt,
            standard: row.standard.as_deref(),
            not_run: row.not_run.as_deref(),
            fault: row.fault.as_ref().map(|fault| FaultEntry::of(None, fault)),
            batches: row.batches,
            calls_a_batch: row.calls_a_batch,
            per_call: Object(row.per_call.iter().map(entry).collect()),
            ratio: row.ratio,
            is_settled: row.is_settled,
            rank: row.rank,
            published: row.published.first().map(|first| FigureEntry::of(*first)),
            published_ratio: row.published.iter().find_map(|one| one.ratio),
            published_figures: row
                .published
                .iter()
                .map(|one| PublishedFigureEntry::of(*one))
                .collect(),
            distribution: &row.distribution,
            ecdf: row.ecdf.as_ref(),
            scaling: row.scaling.as_ref(),
            untimed: row.untimed,
        }
    }
}
