//! What was measured of a workload beside wall time.

use super::block::{Block, median};
use crate::number::{Scale, finite, or_none};
use crate::table::Column;
use crate::text::{each_once, plain};
use tiebreak_core::metric::{Metric, Unit};
use tiebreak_core::quantity::four_digits;
use tiebreak_core::result::StudyRow;
use tiebreak_core::warning::Warning;

/// What a metric is told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Per {
    Item,
    Call,
    Process,
}

/// The metrics of the small table, with their titles; those of counters last.
const SHOWN: [(Metric, &str, Per); 9] = [
    (Metric::CpuTime, "CPU time", Per::Item),
    (Metric::Cycles, "cycles", Per::Item),
    (Metric::Instructions, "instructions", Per::Item),
    (Metric::BranchMisses, "branch misses", Per::Item),
    (Metric::CacheMisses, "cache misses", Per::Item),
    (Metric::Energy, "energy", Per::Item),
    (Metric::PageFaults, "faults", Per::Call),
    (Metric::ContextSwitches, "switches", Per::Call),
    (Metric::PeakMemory, "memory", Per::Process),
];

/// The metrics that only some machines meter.
const METERED: [Metric; 5] = [
    Metric::Cycles,
    Metric::Instructions,
    Metric::BranchMisses,
    Metric::CacheMisses,
    Metric::Energy,
];

/// What was measured beside wall time: a column a metric that any row has, and the throughput.
pub(crate) fn table(block: &Block) -> Vec<Column> {
    let mut columns = Vec::new();
    for (index, (metric, title, per)) in SHOWN.into_iter().enumerate() {
        if block.rows.iter().any(|row| median(row, metric).is_some()) {
            let cells = cells(block, metric, per);
            columns.push(Column::decimal(title, cells).rank(1 + index as u8));
        }
    }
    let reset_ns = |row: &&StudyRow| row.untimed.map(|seen| seen.reset_ns).filter(|ns| *ns > 0);
    if !columns.is_empty() && block.rows.iter().any(|row| reset_ns(row).is_some()) {
        let cell = |row: &&StudyRow| {
            let ns = reset_ns(row)? as f64;
            Some(Scale::of(Unit::Nanoseconds, ns).write(ns))
        };
        let cells = block.rows.iter().map(|row| or_none(cell(row)));
        columns.push(Column::decimal("reset", cells).rank(11));
    }
    if block.of.input_bytes > 0 && !columns.is_empty() {
        let speed = |row: &&StudyRow| {
            let ns = median(row, Metric::WallTime).filter(|ns| *ns > 0.0);
            let speed = ns.map(|ns| block.of.input_bytes as f64 / ns);
            or_none(finite(speed).map(four_digits))
        };
        let cells = block.rows.iter().map(speed);
        columns.push(Column::decimal("GB/s", cells).rank(12));
    }
    columns
}

fn cells(block: &Block, metric: Metric, per: Per) -> Vec<String> {
    let items = block.of.items.max(1) as f64;
    let shared = if per == Per::Item { block.shared_scale(metric) } else { None };
    let cell = |row: &&StudyRow| {
        let value = median(row, metric)?;
        let value = if per == Per::Item { value / items } else { value };
        Some(match metric.unit() {
            Unit::Count => count_text(value),
            unit => shared.unwrap_or_else(|| Scale::of(unit, value)).write(value),
        })
    };
    block.rows.iter().map(|row| or_none(cell(row))).collect()
}

/// A number of events, of which there may be less than one.
fn count_text(value: f64) -> String {
    match value {
        whole if whole == whole.trunc() && whole < 1e6 => format!("{whole:.0}"),
        small if small < 1e6 => four_digits(small),
        large => Scale::of(Unit::Count, large).write(large),
    }
}

/// What the numbers of the small table are told of, in a few words.
pub(crate) fn per_item(block: &Block) -> String {
    let has = |per: Per| {
        let shown = SHOWN.into_iter().filter(move |(_, _, of)| *of == per);
        shown
            .filter(|(metric, ..)| block.rows.iter().any(|row| median(row, *metric).is_some()))
            .map(|(_, title, _)| title)
            .collect::<Vec<_>>()
    };
    let mut text = format!("medians for one {}", block.item());
    let calls = has(Per::Call);
    if !calls.is_empty() && block.of.items > 1 {
        text += &format!(", {} for one call", calls.join(" and "));
    }
    if !has(Per::Process).is_empty() {
        text += ", memory of the whole process";
    }
    text
}

/// The metrics that a block lacks although some machines meter them, and why; `None` if there is no
/// such metric.
pub(crate) fn missing(blocks: &[Block]) -> Option<String> {
    let is_measured =
        |block: &&Block| block.rows.iter().any(|row| median(row, Metric::WallTime).is_some());
    let lacks = |block: &Block, metric| !block.rows.iter().any(|row| median(row, metric).is_some());
    let missing: Vec<_> = METERED
        .into_iter()
        .filter(|metric| blocks.iter().filter(is_measured).any(|block| lacks(block, *metric)))
        .map(Metric::name)
        .collect();
    if missing.is_empty() {
        return None;
    }
    let reason = |warning: &Warning| match warning {
        Warning::NoMeter { what } => Some(plain(what)),
        _ => None,
    };
    let warnings = blocks.iter().flat_map(|block| &block.run.warnings);
    let reasons = each_once(warnings.filter_map(reason));
    let why = match reasons.as_slice() {
        [] => "this run did not measure them".to_owned(),
        reasons => reasons.join("; "),
    };
    Some(format!("{}: - ({why}).", missing.join(", ")))
}
