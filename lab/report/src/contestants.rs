//! What the contestants gave: a table a metric.

use crate::look::{Look, words};
use crate::number::{Scale, count, finite, or_none};
use crate::page::{INDENT, Page};
use crate::table::{Column, align_decimals};
use crate::text::{each_once, plain, short, shorten_middle};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::result::{ContestantResult, MetricSummary, RunResult};

/// The metrics that the claims are about, in the order of the claims; wall time without a claim.
pub(crate) fn claimed_metrics(run: &RunResult) -> Vec<Metric> {
    let metrics = each_once(run.verdicts.iter().map(|claim| claim.metric));
    if metrics.is_empty() { vec![Metric::WallTime] } else { metrics }
}

/// A contestant's name, short enough for the first column of a table.
pub(crate) fn short_name(name: &str, look: Look) -> String {
    shorten_middle(&plain(name), (look.columns() / 4).min(20), look)
}

fn summary(contestant: &ContestantResult, metric: Metric) -> Option<&MetricSummary> {
    contestant.metrics.iter().find(|(key, _)| *key == metric).map(|(_, summary)| summary)
}

/// The unit of each contestant's row: one for all if their medians are of a size.
fn scales(run: &RunResult, metric: Metric) -> Vec<Scale> {
    let size = |c: &ContestantResult| {
        let summary = summary(c, metric);
        finite(summary.and_then(|s| s.median)).or(finite(summary.and_then(|s| s.p10)))
    };
    let sizes: Vec<_> = run.contestants.iter().map(size).collect();
    let shared = Scale::shared(metric.unit(), &sizes.iter().copied().flatten().collect::<Vec<_>>());
    let own = |size: &Option<f64>| Scale::of(metric.unit(), size.unwrap_or(0.0));
    sizes.iter().map(|size| shared.unwrap_or_else(|| own(size))).collect()
}

/// The tables: the first has everything, those of further metrics only what differs. Below them,
/// what the first failure was where failures are counted.
pub(crate) fn tables(page: &mut Page, run: &RunResult, look: Look) {
    let is_stream = run.verdicts.iter().any(|claim| claim.scope == Scope::Stream);
    if is_stream && run.contestants.iter().all(|contestant| contestant.metrics.is_empty()) {
        // Lines that only say 0 or 1 have no values: all of it stands above already.
        return;
    }
    for_metrics(page, run, look);
    for contestant in run.contestants.iter().filter(|contestant| contestant.failures > 0) {
        let failed = count(contestant.failures, "time");
        let mut text = format!("{} failed {failed}", plain(&contestant.name));
        if let Some(fault) = &contestant.first_failure {
            text += &format!("; the first time it {}", short(&fault.to_string()));
        }
        page.gap();
        page.paragraph(INDENT, &[words(text)]);
    }
}

fn for_metrics(page: &mut Page, run: &RunResult, look: Look) {
    for (index, metric) in claimed_metrics(run).into_iter().enumerate() {
        page.gap();
        let mut columns = metric_columns(run, metric, look);
        if index == 0 {
            columns.extend(other_columns(run, metric));
        }
        page.table(columns);
    }
}

/// Writes a value of each contestant's metric.
fn cells(
    run: &RunResult,
    metric: Metric,
    value: fn(&MetricSummary) -> Option<f64>,
    write: fn(Scale, f64) -> String,
) -> Vec<String> {
    let cell = |(c, scale): (&ContestantResult, Scale)| {
        let value = finite(summary(c, metric).and_then(value));
        or_none(value.map(|value| write(scale, value)))
    };
    run.contestants.iter().zip(scales(run, metric)).map(cell).collect()
}

/// Makes the columns of the names and of a metric in full.
pub(crate) fn metric_columns(run: &RunResult, metric: Metric, look: Look) -> Vec<Column> {
    let cells = |value: fn(&MetricSummary) -> Option<f64>, write| cells(run, metric, value, write);
    let names = run.contestants.iter().map(|c| {
        let mark = if c.fault.is_some() { " (void)" } else { "" };
        short_name(&c.name, look) + mark
    });
    vec![
        Column::left(metric.name(), names),
        Column::decimal("median", cells(|s| s.median, Scale::write)),
        Column::left(
            "99% interval",
            ranges(&cells(|s| s.low, Scale::digits), &cells(|s| s.high, Scale::digits)),
        )
        .rank(3),
        Column::decimal("p10", cells(|s| s.p10, Scale::digits)).rank(4),
        Column::decimal("p90", cells(|s| s.p90, Scale::digits)).rank(4),
    ]
}

/// Cells `12.30 .. 12.41`; a missing end is left blank, and without either it is `-`.
pub(crate) fn ranges(lows: &[String], highs: &[String]) -> Vec<String> {
    let pairs = align_decimals(lows).into_iter().zip(align_decimals(highs));
    let range = |(low, high): (String, String)| match (low.trim(), high.trim()) {
        ("-", "-") => "-".to_owned(),
        ("-", _) => format!("{} .. {high}", low.replace('-', " ")),
        (_, "-") => format!("{low} .. {}", high.replace('-', " ")),
        _ => format!("{low} .. {high}"),
    };
    pairs.map(range).collect()
}

/// What is shown of every run, whatever it claims about: wall and CPU time, memory, samples.
pub(crate) fn other_columns(run: &RunResult, shown: Metric) -> Vec<Column> {
    let medians = [
        (Metric::WallTime, "wall time", 6),
        (Metric::CpuTime, "CPU time", 7),
        (Metric::UserTime, "user", 9),
        (Metric::SystemTime, "system", 9),
        (Metric::PeakMemory, "memory", 2),
    ];
    let mut columns = Vec::new();
    for (metric, title, rank) in medians.into_iter().filter(|(metric, ..)| *metric != shown) {
        let cells = cells(run, metric, |s| s.median, Scale::write);
        columns.push(Column::decimal(title, cells).rank(rank));
    }
    let samples = |c: &ContestantResult| {
        let bounds = [(c.timed_out, "cut off"), (c.invalid - c.timed_out, "unusable")];
        let bounds = bounds.into_iter().filter(|(count, _)| *count > 0);
        let all = c.samples.to_string();
        bounds.fold(all, |text, (count, what)| format!("{text}, {count} {what}"))
    };
    let cells: Vec<_> = run.contestants.iter().map(samples).collect();
    let rank = if run.contestants.iter().any(|c| c.invalid > 0) { 1 } else { 5 };
    columns.push(Column::right("samples", cells).rank(rank));
    columns
}
