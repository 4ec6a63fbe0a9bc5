//! Where a ratio is not one factor: what it is instead.

use crate::contestants::{ranges, short_name};
use crate::look::{Look, Span, words};
use crate::number::{Rounding, Scale, count, lone_ratio, or_none, percent, ratio, ratio_decimals};
use crate::page::Page;
use crate::table::Column;
use crate::text::plain;
use tiebreak_core::metric::{Metric, Unit};
use tiebreak_core::result::{ClaimResult, OneFactorResult, RatioRow, RunResult};

/// The end of a verdict's sentence: what the rounds show instead of one factor.
pub(crate) fn of_no_factor(claim: &ClaimResult) -> Option<Span> {
    let found = claim.no_factor()?;
    let mut text = "; the ratio is not one factor".to_owned();
    if found.far > 0 {
        text += &format!(": {}", what_is_seen(claim, found));
    }
    Some(words(text))
}

/// `in 12 of 120 rounds A took 3.0x as long as usual beside B`.
fn what_is_seen(claim: &ClaimResult, found: &OneFactorResult) -> String {
    let right = claim.right.as_deref().unwrap_or_default();
    let other = if found.slow == claim.left { right } else { &claim.left };
    let [slow, other] = [plain(&found.slow), plain(other)];
    let times = lone_ratio(found.times);
    let times = if found.is_least { format!("at least {times}") } else { times };
    let what = match claim.metric.unit() {
        Unit::Nanoseconds => format!("took {times} as long as usual"),
        _ => format!("needed {times} as much as usual"),
    };
    format!("in {} of {} {slow} {what} beside {other}", found.far, count(found.rounds, "round"))
}

/// A table for each claim whose ratio is not one factor: the median, the high percentiles and the
/// mean, and the ratio of each with its interval.
pub(crate) fn ratios(page: &mut Page, run: &RunResult, look: Look) {
    for claim in &run.verdicts {
        let Some(found) = claim.no_factor().filter(|found| !found.ratios.is_empty()) else {
            continue;
        };
        page.gap();
        page.table(columns(claim, &found.ratios, look));
        if let Some(cap) = found.ratios.iter().find_map(|row| row.cap) {
            let cap = Scale::of(claim.metric.unit(), cap).write(cap);
            let text = format!(
                "In the mean, what takes longer than {cap} counts as {cap}; a run with --mean and \
                 a --timeout gives a verdict on it."
            );
            page.note(text);
        }
    }
}

fn columns(claim: &ClaimResult, table: &[RatioRow], look: Look) -> Vec<Column> {
    let name = |name: &str| short_name(name, look);
    let [left, right] = [name(&claim.left), name(claim.right.as_deref().unwrap_or_default())];
    let title = match claim.metric {
        Metric::WallTime => "".to_owned(),
        metric => metric.name().to_owned(),
    };
    let values = |value: fn(&RatioRow) -> Option<f64>| {
        let write = |value: f64| Scale::of(claim.metric.unit(), value).write(value);
        table.iter().map(move |row| or_none(value(row).map(write)))
    };
    let ratios = |value: fn(&RatioRow) -> Option<f64>, rounding: Rounding| -> Vec<String> {
        let write = |row: &RatioRow| {
            let decimals = ratio_decimals(row.ratio.estimate, [row.ratio.low, row.ratio.high]);
            or_none(value(row).map(|value| ratio(value, decimals, rounding)))
        };
        table.iter().map(write).collect()
    };
    let lows = ratios(|row| row.ratio.low, Rounding::Down);
    let highs = ratios(|row| row.ratio.high, Rounding::Up);
    let confidence = table.first().map_or(0.0, |row| row.ratio.confidence);
    let interval = format!("{} interval", percent(confidence, Rounding::Down));
    let estimates = ratios(|row| row.ratio.estimate, Rounding::Nearest);
    let statistics = table.iter().map(|row| row.statistic.to_string());
    vec![
        Column::left(&title, statistics),
        Column::decimal(&left, values(|row| row.left)),
        Column::decimal(&right, values(|row| row.right)),
        Column::decimal(&format!("{right} / {left}"), estimates),
        Column::left(&interval, bounded(ranges(&lows, &highs))),
    ]
}

/// Where there is neither limit, that is said.
fn bounded(ranges: Vec<String>) -> Vec<String> {
    let said = |range: String| if range.trim() == "-" { "no bounds".to_owned() } else { range };
    ranges.into_iter().map(said).collect()
}
