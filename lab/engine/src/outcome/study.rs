//! Makes a study's block of its table from a run's samples; for a function, everything for one
//! call.

mod scaling;

use crate::observation::Observation;
use crate::referee::Referee;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Plan;
use tiebreak_core::result::{
    ClaimResult, Histogram, MetricSummary, PublishedFigure, PublishedResult, StudyRow,
    WorkloadResult,
};
use tiebreak_core::study::{FigureUnit, FunctionPlan, NotRun, Published};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::summary;

/// The bins of the pictures of distributions: two a character of a wide terminal.
const BINS: usize = 60;
/// The most values that a distribution function keeps: steps of a quarter of a percent.
const ECDF_VALUES: usize = 400;
/// The largest ratio of the slowest contestant's usual call to the fastest one's on one linear
/// scale: above it, all of the fast ones would lie in its first bin.
const SPREAD_MAX: f64 = 20.0;

/// Returns the block of the table that a run gives; `None` if it is not a study's. Without `full`,
/// for a screen that is redrawn, it contains the ratios but no summaries of times.
pub fn workload(referee: &Referee, claims: &[ClaimResult], full: bool) -> Option<WorkloadResult> {
    let plan = referee.plan();
    let functions = plan.functions.as_deref()?;
    let mut columns = Vec::with_capacity(plan.contestants.len());
    let mut rows: Vec<StudyRow> = Vec::with_capacity(plan.contestants.len());
    for (index, seen) in referee.seen().iter().enumerate() {
        let (per_call, walls) = if full { per_call(seen, plan, index) } else { Default::default() };
        columns.push(walls);
        rows.push(row(index, seen, per_call, plan, functions, claims));
    }
    for ((row, picture), walls) in rows.iter_mut().zip(pictures(&columns)).zip(&columns) {
        row.distribution = picture;
        row.ecdf = summary::ecdf(walls, ECDF_VALUES);
    }
    rows.extend(functions.not_run.iter().map(absent));
    scaling::fill(&mut rows, functions);
    let reference = plan.contestants.get(functions.reference);
    let reference = reference.map_or("", |contestant| &contestant.name);
    for row in &mut rows {
        row.published = published(&row.name, reference, functions);
    }
    let mut result = WorkloadResult {
        study: functions.study.clone(),
        title: functions.title.clone(),
        source: functions.source.clone(),
        item: functions.item.clone(),
        call: functions.call,
        workload: functions.workload.clone(),
        items: functions.items,
        input_bytes: functions.input_bytes,
        scope: plan.scope,
        races_pairs: plan.races_pairs(),
        reference: reference.to_owned(),
        rounds_a_unit: functions.rounds_a_unit,
        calls_a_batch: functions.calls_a_batch.of(functions.reference),
        pilot: functions.pilot,
        rows,
        published: functions.published.iter().map(without_figures).collect(),
        contracts: functions.contracts.clone(),
    };
    result.compare(claims);
    Some(result)
}

fn row(
    index: usize,
    seen: &Observation,
    per_call: Vec<(Metric, MetricSummary)>,
    plan: &Plan,
    functions: &FunctionPlan,
    claims: &[ClaimResult],
) -> StudyRow {
    let built = functions.built.get(index);
    let reference = plan.contestants.get(functions.reference).map(|one| &one.name);
    let is_cell = |claim: &&ClaimResult| {
        claim.statement.is_measure()
            && claim.left == plan.contestants[index].name
            && claim.right.as_ref() == reference
    };
    let cell = claims.iter().find(is_cell);
    StudyRow {
        name: plan.contestants[index].name.clone(),
        language: built.map(|built| built.language),
        contract: built.map_or(String::new(), |built| built.contract.clone()),
        is_exact: built.is_none_or(|built| built.is_exact),
        receipt: built.map_or(String::new(), |built| built.receipt.clone()),
        standard: built.and_then(|built| built.standard.clone()),
        not_run: None,
        fault: seen.fault.clone(),
        batches: seen.values.get(&Metric::WallTime).map_or(0, |walls| walls.len() as u64),
        calls_a_batch: Some(functions.calls_a_batch.of(index)),
        per_call,
        ratio: cell.map(|cell| cell.effect()),
        is_settled: cell.is_some_and(|cell| cell.verdict == Verdict::Holds),
        rank: None,
        published: Vec::new(),
        distribution: None,
        ecdf: None,
        scaling: built.and_then(|built| built.team.as_ref()).map(|team| scaling::begun(team, seen)),
        untimed: functions.untimed.get(index).copied().flatten(),
    }
}

/// Returns the row of a contestant that takes no part.
fn absent(not_run: &NotRun) -> StudyRow {
    StudyRow {
        name: not_run.name.clone(),
        language: None,
        contract: String::new(),
        is_exact: true,
        receipt: String::new(),
        standard: None,
        not_run: Some(not_run.why.clone()),
        fault: None,
        batches: 0,
        calls_a_batch: None,
        per_call: Vec::new(),
        ratio: None,
        is_settled: false,
        rank: None,
        published: Vec::new(),
        distribution: None,
        ecdf: None,
        scaling: None,
        untimed: None,
    }
}

/// Returns summaries for one call, and the sorted wall times of all timed batches, also for one
/// call.
fn per_call(
    seen: &Observation,
    plan: &Plan,
    contestant: usize,
) -> (Vec<(Metric, MetricSummary)>, Vec<f64>) {
    let mut walls = Vec::new();
    let mut metrics = Vec::with_capacity(seen.values.len());
    for column in seen.columns(plan, contestant) {
        if column.metric == Metric::WallTime {
            walls = column.sorted;
        }
        metrics.push((column.metric, column.summary));
    }
    (metrics, walls)
}

/// Returns distributions on one scale, or each on its own if the fast ones could not be
/// distinguished.
fn pictures(columns: &[Vec<f64>]) -> Vec<Option<Histogram>> {
    let usual = |sorted: &Vec<f64>| sorted.get(sorted.len() / 2).copied();
    let usual: Vec<f64> = columns.iter().filter_map(usual).filter(|v| v.is_finite()).collect();
    let least = usual.iter().copied().fold(f64::INFINITY, f64::min);
    let most = usual.iter().copied().fold(0.0, f64::max);
    let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let drawn: Vec<Option<Histogram>> = if most <= SPREAD_MAX * least {
        summary::histograms(&slices, BINS).into_iter().map(Some).collect()
    } else {
        slices.iter().map(|one| summary::histograms(&[one], BINS).pop()).collect()
    };
    let filled = |(histogram, values): (Option<Histogram>, &Vec<f64>)| {
        histogram.filter(|_| !values.is_empty())
    };
    drawn.into_iter().zip(columns).map(filled).collect()
}

fn without_figures(table: &Published) -> PublishedResult {
    PublishedResult {
        source: table.source.clone(),
        machine: table.machine.clone(),
        unit: table.unit,
        text: table.text.clone(),
    }
}

/// Returns the figures of the published tables for a contestant on this workload.
fn published(name: &str, reference: &str, functions: &FunctionPlan) -> Vec<PublishedFigure> {
    let of_table = |(index, table): (usize, &Published)| {
        let value = figure(table, name, functions)?;
        let other = figure(table, reference, functions).filter(|_| name != reference);
        let ratio = other.map(|other| match table.unit {
            FigureUnit::MillionsASecond | FigureUnit::GigabytesASecond => value / other,
            FigureUnit::NanosecondsAnItem
            | FigureUnit::Microseconds
            | FigureUnit::Seconds
            | FigureUnit::Megabytes => other / value,
        });
        Some(PublishedFigure { table: index, value, ratio })
    };
    functions.published.iter().enumerate().filter_map(of_table).collect()
}

fn figure(table: &Published, name: &str, functions: &FunctionPlan) -> Option<f64> {
    let is_it = |workload: &str, contestant: &str| {
        workload == functions.workload.name && contestant == name
    };
    let mut figures = table.figures.iter();
    figures.find(|one| is_it(&one.workload, &one.contestant)).map(|one| one.value)
}
