//! The block of a study's table, read back.

use super::{EffectDocument, FaultDocument, NotAStudy, metric, number};
use serde::Deserialize;
use std::collections::BTreeMap;
use tiebreak_core::plan::Scope;
use tiebreak_core::result::{
    Ecdf, Histogram, MetricSummary, PublishedFigure, PublishedResult, Scaling, StudyRow,
    WorkloadResult,
};
use tiebreak_core::study::{Call, Contract, FigureUnit, Language, Pilot, Untimed, Workload};

/// The block of a table.
#[derive(Deserialize)]
pub(super) struct WorkloadDocument {
    study: String,
    title: String,
    source: String,
    item: String,
    call: Call,
    workload: Workload,
    items: u64,
    input_bytes: u64,
    scope: Scope,
    #[serde(default)]
    races_pairs: bool,
    reference: String,
    rounds_a_unit: u32,
    calls_a_batch: u64,
    pilot: PilotDocument,
    rows: Vec<RowDocument>,
    published: Vec<PublishedDocument>,
    #[serde(default)]
    contracts: Vec<Contract>,
}

#[derive(Deserialize)]
struct PilotDocument {
    units: u32,
    variance_within: Option<f64>,
    variance_between: Option<f64>,
    unit_cost_ns: Option<f64>,
    round_cost_ns: Option<f64>,
}

#[derive(Deserialize)]
struct PublishedDocument {
    source: String,
    machine: String,
    unit: FigureUnit,
    text: String,
}

impl WorkloadDocument {
    /// The block.
    pub(super) fn result(self) -> Result<WorkloadResult, NotAStudy> {
        let rows: Result<Vec<StudyRow>, NotAStudy> =
            self.rows.into_iter().map(RowDocument::result).collect();
        let published = self.published.into_iter().map(|table| PublishedResult {
            source: table.source,
            machine: table.machine,
            unit: table.unit,
            text: table.text,
        });
        Ok(WorkloadResult {
            study: self.study,
            title: self.title,
            source: self.source,
            item: self.item,
            call: self.call,
            workload: self.workload,
            items: self.items,
            input_bytes: self.input_bytes,
            scope: self.scope,
            races_pairs: self.races_pairs,
            reference: self.reference,
            rounds_a_unit: self.rounds_a_unit,
            calls_a_batch: self.calls_a_batch,
            pilot: Pilot {
                units: self.pilot.units,
                variance_within: number(self.pilot.variance_within),
                variance_between: number(self.pilot.variance_between),
                unit_cost_ns: number(self.pilot.unit_cost_ns),
                round_cost_ns: number(self.pilot.round_cost_ns),
            },
            rows: rows?,
            published: published.collect(),
            contracts: self.contracts,
        })
    }
}

#[derive(Deserialize)]
struct RowDocument {
    name: String,
    language: Option<Language>,
    contract: String,
    is_exact: bool,
    receipt: String,
    standard: Option<String>,
    not_run: Option<String>,
    fault: Option<FaultDocument>,
    batches: u64,
    #[serde(default)]
    calls_a_batch: Option<u64>,
    per_call: BTreeMap<String, SummaryDocument>,
    ratio: Option<EffectDocument>,
    is_settled: bool,
    #[serde(default)]
    rank: Option<[u32; 2]>,
    published: Option<FigureDocument>,
    published_ratio: Option<f64>,
    #[serde(default)]
    published_figures: Vec<PublishedFigureDocument>,
    distribution: Option<HistogramDocument>,
    #[serde(default)]
    ecdf: Option<Ecdf>,
    #[serde(default)]
    scaling: Option<Scaling>,
    #[serde(default)]
    untimed: Option<Untimed>,
}

#[derive(Deserialize)]
struct SummaryDocument {
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    p10: Option<f64>,
    p90: Option<f64>,
}

#[derive(Deserialize)]
struct FigureDocument {
    table: usize,
    value: Option<f64>,
}

#[derive(Deserialize)]
struct PublishedFigureDocument {
    table: usize,
    value: Option<f64>,
    ratio: Option<f64>,
}

#[derive(Deserialize)]
struct HistogramDocument {
    low: Option<f64>,
    high: Option<f64>,
    counts: Vec<u64>,
    beyond: u64,
}

impl PublishedFigureDocument {
    fn result(&self) -> PublishedFigure {
        PublishedFigure { table: self.table, value: number(self.value), ratio: self.ratio }
    }
}

impl RowDocument {
    fn result(self) -> Result<StudyRow, NotAStudy> {
        let mut per_call = Vec::new();
        for (key, of) in self.per_call {
            let SummaryDocument { median, low, high, p10, p90 } = of;
            per_call.push((metric(&key)?, MetricSummary { median, low, high, p10, p90 }));
        }
        per_call.sort_by_key(|(metric, _)| *metric);
        let fault = self.fault.map(FaultDocument::result).transpose()?;
        // Results of old have the first figure alone.
        let first = self.published.iter().map(|first| {
            let (table, value) = (first.table, number(first.value));
            PublishedFigure { table, value, ratio: self.published_ratio }
        });
        let published = match self.published_figures.as_slice() {
            [] => first.collect(),
            all => all.iter().map(PublishedFigureDocument::result).collect(),
        };
        Ok(StudyRow {
            name: self.name,
            language: self.language,
            contract: self.contract,
            is_exact: self.is_exact,
            receipt: self.receipt,
            standard: self.standard,
            not_run: self.not_run,
            fault: fault.map(|(_, fault)| fault),
            batches: self.batches,
            calls_a_batch: self.calls_a_batch,
            per_call,
            ratio: self.ratio.map(EffectDocument::result),
            is_settled: self.is_settled,
            rank: self.rank,
            published,
            distribution: self.distribution.map(|of| Histogram {
                low: number(of.low),
                high: number(of.high),
                counts: of.counts,
                beyond: of.beyond,
            }),
            ecdf: self.ecdf,
            scaling: self.scaling,
            untimed: self.untimed,
        })
    }
}
