//! The tables of the page on noise.

use super::{small, time};
use crate::{Cause, CauseShare, CpuNoise, InterruptShare, LongGap, Noise, Rate};
use tiebreak_report::number::seconds;
use tiebreak_report::table::{Align, Column};
use tiebreak_report::text::plain;

/// Rows of a table of which only the first ones matter.
const ROWS_MOST: usize = 8;
/// CPUs of which each has a row.
const CPUS_MOST: usize = 32;

/// What each cause took, of all CPUs.
pub(super) fn causes(found: &Noise) -> Vec<Column> {
    let cells = |text: fn(&CauseShare) -> String| found.causes.iter().map(text).collect();
    vec![
        Column::new("cause", Align::Left, cells(|one| one.cause.words().to_owned())),
        Column::new("of the time", Align::Decimal, cells(|one| small(one.share))),
        Column::new("gaps", Align::Right, cells(|one| one.gaps.to_string())),
    ]
}

/// A row for each CPU.
pub(super) fn cpus(cpus: &[CpuNoise]) -> Vec<Column> {
    let cpus = &cpus[..cpus.len().min(CPUS_MOST)];
    let cells = |text: &dyn Fn(&CpuNoise) -> String| cpus.iter().map(text).collect::<Vec<_>>();
    let of = |cause: Cause| {
        cells(&|cpu| {
            let share = cpu.causes.iter().find(|share| share.cause == cause);
            share.map_or("-".to_owned(), |share| small(share.share))
        })
    };
    let length = |ns: Option<f64>| ns.map_or("-".to_owned(), |ns| time(ns as u64));
    let waited = |cpu: &CpuNoise| cpu.waited_share.map_or("-".to_owned(), small);
    vec![
        Column::new("CPU", Align::Right, cells(&|cpu| cpu.cpu.to_string())),
        Column::new("lost", Align::Decimal, cells(&|cpu| small(cpu.lost_share))),
        Column::new("task", Align::Decimal, of(Cause::Task)).rank(1),
        Column::new("limit", Align::Decimal, of(Cause::Limit)).rank(5),
        Column::new("steal", Align::Decimal, of(Cause::Steal)).rank(3),
        Column::new("interrupt", Align::Decimal, of(Cause::Interrupt)).rank(2),
        Column::new("unexplained", Align::Decimal, of(Cause::Unexplained)).rank(2),
        Column::new("waited", Align::Decimal, cells(&waited)).rank(6),
        Column::new("gaps", Align::Right, cells(&|cpu| cpu.gaps.to_string())).rank(4),
        Column::new("median", Align::Right, cells(&|cpu| length(cpu.median_ns))).rank(4),
        Column::new("99 of 100", Align::Right, cells(&|cpu| length(cpu.p99_ns))).rank(5),
        Column::new(
            "longest",
            Align::Right,
            cells(&|cpu| cpu.longest_ns.map_or("-".to_owned(), time)),
        ),
    ]
}

/// Kinds of interrupts, the most frequent first.
pub(super) fn interrupts(interrupts: &[InterruptShare]) -> Vec<Column> {
    let interrupts = &interrupts[..interrupts.len().min(ROWS_MOST)];
    let cells = |text: fn(&InterruptShare) -> String| interrupts.iter().map(text).collect();
    vec![
        Column::new("interrupt", Align::Left, cells(|one| plain(&one.name))),
        Column::new("a second", Align::Right, cells(|one| rate(one.per_second))),
        Column::new("of the time", Align::Decimal, cells(|one| small(one.share))),
        Column::new("", Align::Left, cells(|one| plain(&one.words))).rank(1),
    ]
}

/// Work that the kernel put off, the most frequent first.
pub(super) fn softirqs(rates: &[Rate]) -> Vec<Column> {
    let rates = &rates[..rates.len().min(ROWS_MOST)];
    let cells = |text: fn(&Rate) -> String| rates.iter().map(text).collect();
    vec![
        Column::new("put off work", Align::Left, cells(|one| plain(&one.name))),
        Column::new("a second", Align::Right, cells(|one| rate(one.per_second))),
    ]
}

/// The longest gaps of all.
pub(super) fn longest(gaps: &[LongGap]) -> Vec<Column> {
    let gaps = &gaps[..gaps.len().min(ROWS_MOST)];
    let cells = |text: fn(&LongGap) -> String| gaps.iter().map(text).collect();
    vec![
        Column::new("longest gaps", Align::Right, cells(|gap| time(gap.length_ns))),
        Column::new("CPU", Align::Right, cells(|gap| gap.cpu.to_string())),
        Column::new("after", Align::Right, cells(|gap| seconds(gap.begin_ns as f64 / 1e9))),
        Column::new("cause", Align::Left, cells(|gap| gap.cause.words().to_owned())),
    ]
}

fn rate(value: f64) -> String {
    match value {
        v if v < 9.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}
