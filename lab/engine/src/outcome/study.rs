//! Makes a study's block of its table from a run's samples; for a function, everything for one
//! call.

use super::{BINS, sorted};
use crate::observation::{Column, Observation};
use crate::referee::Referee;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Plan;
use tiebreak_core::result::{
    ClaimResult, Histogram, PublishedFigure, PublishedResult, Scaling, StudyRow, WorkloadResult,
};
use tiebreak_core::sample::Mark;
use tiebreak_core::study::{FigureUnit, FunctionPlan, Published, Team};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::summary;

/// The most values that a distribution function keeps: steps of a quarter of a percent.
const ECDF_VALUES: usize = 400;
/// The largest ratio of the slowest contestant's usual call to the fastest one's on one linear
/// scale: above it, all of the fast ones would lie in its first bin.
const SPREAD_MAX: f64 = 20.0;

/// Returns the block of the table that a run gives; `None` if it is not a study's. Without columns,
/// for a screen that is redrawn, it contains the ratios but no summaries of times.
pub(super) fn workload(
    referee: &Referee,
    claims: &[ClaimResult],
    columns: &[Vec<Column>],
) -> Option<WorkloadResult> {
    let plan = &referee.plan;
    let functions = plan.functions.as_deref()?;
    let walls: Vec<&[f64]> =
        columns.iter().map(|columns| sorted(columns, Metric::WallTime)).collect();
    let mut rows: Vec<StudyRow> = Vec::with_capacity(plan.contestants.len());
    for (index, (seen, columns)) in referee.seen.iter().zip(columns).enumerate() {
        rows.push(row(index, seen, columns, plan, functions, claims));
    }
    for ((row, picture), walls) in rows.iter_mut().zip(pictures(&walls)).zip(&walls) {
        row.distribution = picture;
        row.ecdf = summary::ecdf(walls, ECDF_VALUES);
    }
    rows.extend(functions.not_run.iter().map(|not_run| StudyRow {
        name: not_run.name.clone(),
        is_exact: true,
        not_run: Some(not_run.why.clone()),
        ..StudyRow::default()
    }));
    rows.iter_mut().for_each(|row| fill_throughput(row, functions));
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
    columns: &[Column],
    plan: &Plan,
    functions: &FunctionPlan,
    claims: &[ClaimResult],
) -> StudyRow {
    let name = &plan.contestants[index].name;
    let reference = plan.contestants.get(functions.reference).map(|one| &one.name);
    let cell = claims.iter().find(|claim| {
        claim.statement.is_measure() && claim.left == *name && claim.right.as_ref() == reference
    });
    let mut row = StudyRow {
        name: name.clone(),
        is_exact: true,
        fault: seen.fault.clone(),
        batches: seen.values.get(&Metric::WallTime).map_or(0, |walls| walls.len() as u64),
        calls_a_batch: Some(functions.calls_a_batch.of(index)),
        per_call: columns.iter().map(|column| (column.metric, column.summary)).collect(),
        ratio: cell.map(|cell| cell.effect()),
        is_settled: cell.is_some_and(|cell| cell.verdict == Verdict::Holds),
        untimed: functions.untimed.get(index).copied().flatten(),
        ..StudyRow::default()
    };
    if let Some(built) = functions.built.get(index) {
        row.language = Some(built.language);
        row.contract.clone_from(&built.contract);
        row.is_exact = built.is_exact;
        row.receipt.clone_from(&built.receipt);
        row.standard.clone_from(&built.standard);
        row.scaling = built.team.as_ref().map(|team| scaling(team, seen));
    }
    row
}

/// Returns distributions on one scale, or each on its own if the fast ones could not be
/// distinguished.
fn pictures(walls: &[&[f64]]) -> Vec<Option<Histogram>> {
    let usual = walls.iter().filter_map(|sorted| sorted.get(sorted.len() / 2).copied());
    let usual: Vec<f64> = usual.filter(|value| value.is_finite()).collect();
    let least = usual.iter().copied().fold(f64::INFINITY, f64::min);
    let most = usual.iter().copied().fold(0.0, f64::max);
    let mut drawn: Vec<Option<Histogram>> = if most <= SPREAD_MAX * least {
        summary::histograms(walls, BINS).into_iter().map(Some).collect()
    } else {
        walls.iter().map(|one| summary::histograms(&[one], BINS).pop()).collect()
    };
    for (histogram, values) in drawn.iter_mut().zip(walls) {
        histogram.take_if(|_| values.is_empty());
    }
    drawn
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
    let tables = functions.published.iter().enumerate();
    let figures = tables.filter_map(|(index, table)| {
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
    });
    figures.collect()
}

fn figure(table: &Published, name: &str, functions: &FunctionPlan) -> Option<f64> {
    let workload = &functions.workload.name;
    let mut figures = table.figures.iter();
    let figure = figures.find(|one| one.workload == *workload && one.contestant == name)?;
    Some(figure.value)
}

/// Returns a contestant on a number of threads, with the proof that these ran together.
fn scaling(team: &Team, seen: &Observation) -> Scaling {
    let marks = seen.marks.iter().zip(Mark::ALL);
    let apart: u64 = marks.filter(|(_, mark)| *mark == Mark::NotTogether).map(|(n, _)| n).sum();
    Scaling {
        family: team.family.clone(),
        threads: team.threads,
        efficiency: None,
        efficiency_low: None,
        efficiency_high: None,
        items_per_s: None,
        units: seen.samples,
        together: seen.samples.saturating_sub(apart),
    }
}

/// Fills in throughput, which describes the run: all threads together do `threads` times the work
/// of one at its median. It stays empty if threads were not together in most units.
fn fill_throughput(row: &mut StudyRow, functions: &FunctionPlan) {
    let wall = row.per_call.iter().find(|(metric, _)| *metric == Metric::WallTime);
    let median_ns = wall.and_then(|(_, wall)| wall.median);
    let Some(ns) = median_ns.filter(|ns| ns.is_finite() && *ns > 0.0) else { return };
    if let Some(scaling) = row.scaling.as_mut().filter(|scaling| scaling.were_together()) {
        let items = functions.items.max(1) as f64 * f64::from(scaling.threads);
        scaling.items_per_s = Some(items / ns * 1e9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::sample::{Marks, Sample};

    #[test]
    fn units_with_the_mark_are_not_together() {
        let mut seen = Observation::default();
        for all in
            [&[][..], &[Mark::Steal], &[Mark::NotTogether, Mark::Steal], &[Mark::NotTogether]]
        {
            let marks = all.iter().copied().fold(Marks::NONE, Marks::with);
            seen.take(&Sample { marks, ..Sample::of_wall_ns(1) }, &[], true);
        }
        let scaling = scaling(&Team { family: "a".to_owned(), threads: 4 }, &seen);
        assert_eq!((scaling.units, scaling.together), (4, 2));
        assert_eq!((scaling.family.as_str(), scaling.threads), ("a", 4));
        assert_eq!((scaling.efficiency, scaling.items_per_s), (None, None));
    }
}
