//! The metrics of a workload other than wall time.

use super::block::{Block, median};
use crate::number::Scale;
use crate::prelude::*;
use tiebreak_core::metric::Per;
use tiebreak_core::quantity::four_digits;
use tiebreak_core::warning::Warning;

/// Returns the metrics of the small table, each with its title and what it is divided by: those of
/// an item first, those of the process last.
fn shown() -> Vec<(Metric, &'static str, Per)> {
    let metrics = Metric::ALL.into_iter();
    let shown =
        metrics.filter_map(|metric| metric.column().map(|(title, per)| (metric, title, per)));
    let mut shown: Vec<_> = shown.collect();
    shown.sort_by_key(|(.., per)| *per);
    shown
}

/// What else was measured: a column a metric that any row has, and the throughput.
pub(crate) fn table(block: &Block) -> Vec<Column> {
    let mut columns = Vec::new();
    let shown = shown();
    let behind = shown.len() as u8 + 2;
    for (index, (metric, title, per)) in shown.into_iter().enumerate() {
        if has(block, metric) {
            let cells = cells_of(block, metric, per);
            columns.push(Column::decimal(title, cells).rank(1 + index as u8));
        }
    }
    if columns.is_empty() {
        return columns;
    }
    let resets = cells(&block.rows, |row| {
        let ns = row.untimed.map(|untimed| untimed.reset_ns as f64).filter(|ns| *ns > 0.0);
        or_none(ns.map(|ns| Scale::of(Unit::Nanoseconds, ns).write(ns)))
    });
    let resets = Column::decimal("reset", resets).rank(behind);
    columns.extend(Some(resets).filter(Column::has_values));
    if block.of.input_bytes > 0 {
        let speeds = cells(&block.rows, |row| {
            let ns = median(row, Metric::WallTime).filter(|ns| *ns > 0.0);
            let speed = ns.map(|ns| block.of.input_bytes as f64 / ns);
            or_none(finite(speed).map(four_digits))
        });
        columns.push(Column::decimal("GB/s", speeds).rank(behind + 1));
    }
    columns
}

/// Whether any row has a median of the metric.
fn has(block: &Block, metric: Metric) -> bool {
    block.rows.iter().any(|row| median(row, metric).is_some())
}

/// Writes a metric of each row, for an item, a call or the process.
fn cells_of(block: &Block, metric: Metric, per: Per) -> Vec<String> {
    let items = if per == Per::Item { block.of.items.max(1) as f64 } else { 1.0 };
    let shared = block.shared_scale(metric).filter(|_| per == Per::Item);
    cells(&block.rows, |row| {
        let value = median(row, metric).map(|value| value / items);
        or_none(value.map(|value| match metric.unit() {
            Unit::Count => count_text(value),
            unit => shared.unwrap_or_else(|| Scale::of(unit, value)).write(value),
        }))
    })
}

/// A number of events, of which there may be less than one.
fn count_text(value: f64) -> String {
    match value {
        whole if whole == whole.trunc() && whole < 1e6 => format!("{whole:.0}"),
        small if small < 1e6 => four_digits(small),
        large => Scale::of(Unit::Count, large).write(large),
    }
}

/// Describes what the numbers of the small table are for.
pub(crate) fn per_item(block: &Block) -> String {
    let [calls, processes] = [Per::Call, Per::Process].map(|per| {
        let shown = shown().into_iter().filter(|(metric, _, of)| *of == per && has(block, *metric));
        shown.map(|(_, title, _)| title).collect::<Vec<_>>()
    });
    let mut text = format!("medians for one {}", block.item());
    if !calls.is_empty() && block.of.items > 1 {
        text += &format!(", {} for one call", calls.join(" and "));
    }
    if !processes.is_empty() {
        text += ", memory of the whole process";
    }
    text
}

/// The metrics that a block lacks although some machines meter them, and why; `None` if there is no
/// such metric.
pub(crate) fn missing(blocks: &[Block]) -> Option<String> {
    let measured: Vec<_> = blocks.iter().filter(|block| has(block, Metric::WallTime)).collect();
    let missing = Metric::ALL
        .into_iter()
        .filter(|metric| metric.is_metered() && measured.iter().any(|block| !has(block, *metric)));
    let missing: Vec<_> = missing.map(Metric::name).collect();
    if missing.is_empty() {
        return None;
    }
    let warnings = blocks.iter().flat_map(|block| &block.run.warnings);
    let reasons = each_once(warnings.filter_map(|warning| match warning {
        Warning::NoMeter { what } => Some(plain(what)),
        _ => None,
    }));
    let why = match reasons.as_slice() {
        [] => "this run did not measure them".to_owned(),
        reasons => reasons.join("; "),
    };
    Some(format!("{}: - ({why}).", missing.join(", ")))
}
