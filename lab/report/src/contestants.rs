//! The results of the contestants: a table for each metric.

use crate::number::Scale;
use crate::prelude::*;
use crate::table::align_decimals;
use tiebreak_core::result::MetricSummary;

/// Returns the metrics of the claims in their order; wall time without a claim.
pub(crate) fn claimed_metrics(run: &RunResult) -> Vec<Metric> {
    let metrics = each_once(run.verdicts.iter().map(|claim| claim.metric));
    if metrics.is_empty() { vec![Metric::WallTime] } else { metrics }
}

/// Returns a contestant's name, short enough for the first column of a table.
pub(crate) fn short_name(name: &str, look: Look) -> String {
    shorten_middle(&plain(name), (look.columns() / 4).min(20), look)
}

fn summary(contestant: &ContestantResult, metric: Metric) -> Option<&MetricSummary> {
    contestant.metrics.iter().find(|(key, _)| *key == metric).map(|(_, summary)| summary)
}

/// Adds the tables: the first has everything, those of further metrics only what differs. Below
/// them follows the first failure where failures are counted.
pub(crate) fn tables(page: &mut Page, run: &RunResult, look: Look) {
    let is_stream =
        run.verdicts.iter().any(|claim| matches!(claim.scope, Scope::Stream | Scope::Load));
    // Lines with only 0 or 1 have no values beyond the claims above.
    if run.contestants.iter().all(|one| is_stream && one.metrics.is_empty()) {
        return;
    }
    for (index, metric) in claimed_metrics(run).into_iter().enumerate() {
        page.gap();
        let mut columns = metric_columns(run, metric, look);
        if index == 0 {
            columns.extend(other_columns(run, metric));
        }
        page.table(columns);
    }
    for contestant in &run.contestants {
        if let Some(failed) = failed(contestant) {
            page.gap();
            page.paragraph(INDENT, &[words(format!("{} {failed}", plain(&contestant.name)))]);
        }
    }
}

/// `failed 3 times; the first time it crashed`.
pub(crate) fn failed(contestant: &ContestantResult) -> Option<String> {
    let times = count(contestant.failures, "time");
    let first = contestant.first_failure.as_ref().map(|fault| short(&fault.to_string()));
    let first = first.map_or(String::new(), |fault| format!("; the first time it {fault}"));
    (contestant.failures > 0).then(|| format!("failed {times}{first}"))
}

/// Writes a value of each contestant's metric, in one unit if their medians are of similar size.
fn cells(
    run: &RunResult,
    metric: Metric,
    value: fn(&MetricSummary) -> Option<f64>,
    write: fn(Scale, f64) -> String,
) -> Vec<String> {
    let summaries = run.contestants.iter().map(|contestant| summary(contestant, metric));
    let sizes = summaries.clone().map(|s| finite(s?.median).or(finite(s?.p10)));
    let known: Vec<f64> = sizes.clone().flatten().collect();
    let shared = Scale::shared(metric.unit(), &known);
    let texts = summaries.zip(sizes).map(|(summary, size)| {
        let scale = shared.unwrap_or_else(|| Scale::of(metric.unit(), size.unwrap_or(0.0)));
        or_none(finite(summary.and_then(value)).map(|value| write(scale, value)))
    });
    texts.collect()
}

/// Makes the columns of the names and of a metric in full.
pub(crate) fn metric_columns(run: &RunResult, metric: Metric, look: Look) -> Vec<Column> {
    let names = run.contestants.iter().map(|c| {
        let mark = if c.fault.is_some() { " (void)" } else { "" };
        short_name(&c.name, look) + mark
    });
    let low = cells(run, metric, |s| s.low, Scale::digits);
    let high = cells(run, metric, |s| s.high, Scale::digits);
    vec![
        Column::left(metric.name(), names),
        Column::decimal("median", cells(run, metric, |s| s.median, Scale::write)),
        Column::left("99% interval", ranges(&low, &high)).rank(3),
        Column::decimal("p10", cells(run, metric, |s| s.p10, Scale::digits)).rank(4),
        Column::decimal("p90", cells(run, metric, |s| s.p90, Scale::digits)).rank(4),
    ]
}

/// Makes cells `12.30 .. 12.41`; a missing limit is blank, and without either the cell is `-`.
pub(crate) fn ranges(lows: &[String], highs: &[String]) -> Vec<String> {
    let pairs = align_decimals(lows).into_iter().zip(align_decimals(highs));
    let texts = pairs.map(|(low, high)| match (low.trim(), high.trim()) {
        ("-", "-") => "-".to_owned(),
        ("-", _) => format!("{} .. {high}", low.replace('-', " ")),
        (_, "-") => format!("{low} .. {}", high.replace('-', " ")),
        _ => format!("{low} .. {high}"),
    });
    texts.collect()
}

/// Makes the column of what servers do in a second.
fn messages_a_second(run: &RunResult) -> Option<Column> {
    let noun = run.servers.as_ref()?.traffic.arrival_noun();
    let rates = run.contestants.iter().map(|contestant| {
        let rate = contestant.served.and_then(|served| served.arrived_per_second);
        or_none(finite(rate).map(|rate| value_text(Unit::Count, rate)))
    });
    Some(Column::decimal(&format!("{noun}s/s"), rates).rank(1))
}

/// Makes the columns that every run has: wall and CPU time, memory, samples.
pub(crate) fn other_columns(run: &RunResult, shown: Metric) -> Vec<Column> {
    let medians = [
        (Metric::WallTime, "wall time", 6),
        (Metric::CpuTime, "CPU time", 7),
        (Metric::UserTime, "user", 9),
        (Metric::SystemTime, "system", 9),
        (Metric::PeakMemory, "memory", 2),
        (Metric::LatencyP50, "p50", 2),
        (Metric::LatencyP99, "p99", 2),
    ];
    let mut columns: Vec<Column> = messages_a_second(run).into_iter().collect();
    let medians = medians.into_iter().filter(|(metric, ..)| {
        // Programs have no latencies.
        metric.latency().is_none() || run.servers.is_some()
    });
    for (metric, title, rank) in medians.filter(|(metric, ..)| *metric != shown) {
        let cells = cells(run, metric, |s| s.median, Scale::write);
        columns.push(Column::decimal(title, cells).rank(rank));
    }
    let samples = run.contestants.iter().map(|c| {
        let unused = [(c.timed_out, "cut off"), (c.invalid - c.timed_out, "unusable")];
        let unused = unused.into_iter().filter(|(count, _)| *count > 0);
        unused.fold(c.samples.to_string(), |text, (count, what)| format!("{text}, {count} {what}"))
    });
    let rank = if run.contestants.iter().any(|c| c.invalid > 0) { 1 } else { 5 };
    columns.push(Column::right("samples", samples).rank(rank));
    columns
}
