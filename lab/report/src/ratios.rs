//! Ratios that are not one factor.

use crate::contestants::{ranges, short_name};
use crate::number::{Kind, Scale, lone_ratio};
use crate::prelude::*;
use tiebreak_core::result::RatioRow;

/// Returns the end of a verdict's sentence: what the rounds show instead of one factor, such as `in
/// 12 of 120 rounds A took 3.0x as long as usual next to B`.
pub(crate) fn of_no_factor(claim: &ClaimResult) -> Option<Span> {
    let found = claim.no_factor()?;
    let none = "; the ratio is not one factor";
    if found.far == 0 {
        return Some(words(none));
    }
    let right = claim.right.as_deref().unwrap_or_default();
    let other = if found.slow == claim.left { right } else { &claim.left };
    let [slow, other] = [&found.slow, other].map(plain);
    let least = if found.is_least { "at least " } else { "" };
    let times = format!("{least}{}", lone_ratio(found.times));
    let what = match claim.metric.unit() {
        Unit::Nanoseconds => format!("took {times} as long as usual"),
        _ => format!("needed {times} as much as usual"),
    };
    let (far, rounds) = (found.far, count(found.rounds, "round"));
    Some(words(format!("{none}: in {far} of {rounds} {slow} {what} next to {other}")))
}

/// Adds a table for each claim whose ratio is not one factor: the median, the high percentiles and
/// the mean, and the ratio of each with its interval.
pub(crate) fn ratios(page: &mut Page, run: &RunResult, look: Look) {
    for claim in &run.verdicts {
        let Some(found) = claim.no_factor().filter(|found| !found.ratios.is_empty()) else {
            continue;
        };
        page.gap();
        page.table(columns(claim, &found.ratios, look));
        if let Some(cap) = found.ratios.iter().find_map(|row| row.cap) {
            let cap = Scale::of(claim.metric.unit(), cap).write(cap);
            page.note(format!(
                "In the mean, what takes longer than {cap} counts as {cap}; a run with --mean and \
                 a --timeout gives a verdict on it."
            ));
        }
    }
}

fn columns(claim: &ClaimResult, table: &[RatioRow], look: Look) -> Vec<Column> {
    let right = claim.right.as_deref().unwrap_or_default();
    let [left, right] = [&claim.left, right].map(|name| short_name(name, look));
    let title = if claim.metric == Metric::WallTime { "" } else { claim.metric.name() };
    let [lefts, rights] = [|row: &RatioRow| row.left, |row: &RatioRow| row.right].map(|side| {
        let unit = claim.metric.unit();
        cells(table, |row| or_none(side(row).map(|value| Scale::of(unit, value).write(value))))
    });
    let ratios = table.iter().map(|row| {
        let EffectResult { estimate, low, high, .. } = row.ratio;
        Kind::Ratio.numbers([estimate, low, high], &[]).map(or_none)
    });
    let [estimates, lows, highs] = transposed(ratios);
    let confidence = table.first().map_or(0.0, |row| row.ratio.confidence);
    let interval = format!("{} interval", percent(confidence, Rounding::Down));
    let limits = ranges(&lows, &highs).into_iter();
    // A missing interval is said in words.
    let limits = limits.map(|text| if text.trim() == "-" { "no bounds".into() } else { text });
    vec![
        Column::left(title, cells(table, |row| row.statistic.to_string())),
        Column::decimal(&left, lefts),
        Column::decimal(&right, rights),
        Column::decimal(&format!("{right} / {left}"), estimates),
        Column::left(&interval, limits),
    ]
}
