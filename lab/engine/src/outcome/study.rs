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
/// `is_over` adds what open ratios would still need.
pub(super) fn workload(
    referee: &Referee,
    claims: &[ClaimResult],
    columns: &[Vec<Column>],
    is_over: bool,
) -> Option<WorkloadResult> {
    let plan = &referee.plan;
    let functions = plan.functions.as_deref()?;
    let reference = plan.contestants.get(functions.reference);
    let reference = reference.map_or("", |contestant| &contestant.name);
    let block = Block { plan, functions, claims, reference };
    let walls: Vec<&[f64]> =
        columns.iter().map(|columns| sorted(columns, Metric::WallTime)).collect();
    // None at all if nothing was measured.
    let mut pictures = pictures(&walls).into_iter();
    let mut rows = Vec::with_capacity(plan.contestants.len());
    for (index, walls) in walls.iter().enumerate() {
        let distribution = pictures.next().flatten();
        let name = &plan.contestants[index].name;
        if !functions.workload.races(name) && referee.seen[index].fault.is_none() {
            let not_run = Some("takes part in other workloads".to_owned());
            rows.push(StudyRow { not_run, ..block.empty_row(name) });
            continue;
        }
        rows.push(StudyRow {
            distribution,
            ecdf: summary::ecdf(walls, ECDF_VALUES),
            ..block.row(index, &referee.seen[index], &columns[index])
        });
    }
    rows.extend(functions.not_run.iter().map(|not_run| StudyRow {
        not_run: Some(not_run.why.clone()),
        ..block.empty_row(&not_run.name)
    }));
    let published = functions.published.iter().map(|table| PublishedResult {
        source: table.source.clone(),
        machine: table.machine.clone(),
        unit: table.unit,
        statistic: table.statistic,
        text: table.text.clone(),
    });
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
        calls_a_batch: functions.calls_a_batch.of(functions.reference, &[]),
        pilot: functions.pilot,
        rows,
        open_ratios: if is_over { referee.open_ratios() } else { Vec::new() },
        published: published.collect(),
        contracts: functions.contracts.clone(),
    };
    result.compare(claims);
    Some(result)
}

/// What the rows of a block are made of.
struct Block<'a> {
    plan: &'a Plan,
    functions: &'a FunctionPlan,
    claims: &'a [ClaimResult],
    reference: &'a str,
}

impl Block<'_> {
    fn row(&self, index: usize, seen: &Observation, columns: &[Column]) -> StudyRow {
        let Block { plan, functions, claims, reference } = self;
        let name = &plan.contestants[index].name;
        let cell = claims.iter().find(|claim| {
            let is_of_table = claim.statement.is_measure() && claim.left == *name;
            is_of_table && claim.right.as_deref() == Some(*reference)
        });
        let mut row = StudyRow {
            fault: seen.fault.clone(),
            batches: seen.values.get(&Metric::WallTime).map_or(0, |walls| walls.len() as u64),
            calls_a_batch: Some(functions.calls_a_batch.of(index, &[index, functions.reference])),
            per_call: columns.iter().map(|column| (column.metric, column.summary)).collect(),
            ratio: cell.map(|cell| cell.effect()),
            is_settled: cell.is_some_and(|cell| cell.verdict == Verdict::Holds),
            untimed: functions.untimed.get(index).copied().flatten(),
            ..self.empty_row(name)
        };
        if let Some(built) = functions.built.get(index) {
            row.language = Some(built.language);
            row.contract.clone_from(&built.contract);
            row.is_exact = built.is_exact;
            row.receipt.clone_from(&built.receipt);
            row.code.clone_from(&built.code);
            row.standard.clone_from(&built.standard);
            row.scaling =
                built.team.as_ref().map(|team| scaling(functions.items, team, seen, columns));
        }
        row
    }

    /// Returns the row of a contestant that has not run.
    fn empty_row(&self, name: &str) -> StudyRow {
        let published = self.published(name);
        StudyRow { name: name.to_owned(), is_exact: true, published, ..StudyRow::default() }
    }

    /// Returns the figures of the published tables for a contestant on this workload.
    fn published(&self, name: &str) -> Vec<PublishedFigure> {
        let tables = self.functions.published.iter().enumerate();
        let figures = tables.filter_map(|(index, table)| {
            let value = self.figure(table, name)?;
            let other = self.figure(table, self.reference).filter(|_| name != self.reference);
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

    fn figure(&self, table: &Published, name: &str) -> Option<f64> {
        let workload = &self.functions.workload.name;
        let mut figures = table.figures.iter();
        let figure = figures.find(|one| one.workload == *workload && one.contestant == name)?;
        Some(figure.value)
    }
}

/// Returns a contestant on a number of threads, with the proof that these ran together, and with
/// its throughput, which describes the run: all threads together do `threads` times the work of one
/// at its median. It stays empty if threads were not together in most units.
fn scaling(items: u64, team: &Team, seen: &Observation, columns: &[Column]) -> Scaling {
    let marks = seen.marks.iter().zip(Mark::ALL);
    let apart: u64 = marks.filter(|(_, mark)| *mark == Mark::NotTogether).map(|(n, _)| n).sum();
    let mut scaling = Scaling {
        family: team.family.clone(),
        threads: team.threads,
        efficiency: None,
        efficiency_low: None,
        efficiency_high: None,
        items_per_s: None,
        units: seen.samples,
        together: seen.samples.saturating_sub(apart),
    };
    let wall = columns.iter().find(|column| column.metric == Metric::WallTime);
    let median_ns = wall.and_then(|wall| wall.summary.median);
    if let Some(ns) = median_ns.filter(|ns| ns.is_finite() && *ns > 0.0)
        && scaling.were_together()
    {
        let items = items.max(1) as f64 * f64::from(team.threads);
        scaling.items_per_s = Some(items / ns * 1e9);
    }
    scaling
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
            seen.take(&Sample { marks, ..Sample::of_wall_ns(1) }, &[], true, |_| 1.0);
        }
        let scaling = scaling(1, &Team { family: "a".to_owned(), threads: 4 }, &seen, &[]);
        assert_eq!((scaling.units, scaling.together), (4, 2));
        assert_eq!((scaling.family.as_str(), scaling.threads), ("a", 4));
        assert_eq!((scaling.efficiency, scaling.items_per_s), (None, None));
    }
}
