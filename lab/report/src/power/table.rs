//! The lines of a forecast: one a truth, as numbers and as a curve.

use super::{difference, rate, unit};
use crate::histogram::level;
use crate::look::{Look, Tone, span, words};
use crate::number::{Rounding, or_none, percent, seconds};
use crate::page::{INDENT, Page};
use crate::table::{Column, cells};
use crate::text::plain;
use tiebreak_core::forecast::{ForecastResult, ForecastRow, Says};
use unicode_width::UnicodeWidthStr;

fn truth_title(result: &ForecastResult) -> String {
    match &result.contestants {
        Some([left, _]) => format!("{} ahead by", plain(left)),
        None => "true rate".to_owned(),
    }
}

fn truth_cell(result: &ForecastResult, row: &ForecastRow) -> String {
    match row.truth {
        truth if result.contestants.is_none() => rate(truth),
        truth if truth >= 1.0 => difference(truth, Rounding::Nearest),
        truth => format!("-{}", difference(1.0 / truth, Rounding::Nearest)),
    }
}

/// The numbers of each truth.
pub(super) fn table(result: &ForecastResult) -> Vec<Column> {
    let rows = &result.rows;
    let more = format!("> {}", result.rounds_max);
    let rounds = |rounds: Option<u64>| rounds.map_or(more.clone(), |rounds| rounds.to_string());
    let share = |share: f64| match share {
        0.0 => "-".to_owned(),
        share => percent(share, Rounding::Nearest),
    };
    let title = truth_title(result);
    let mut columns = vec![
        Column::right(&title, cells(rows, |row| truth_cell(result, row))),
        Column::right("10% by", cells(rows, |row| rounds(row.rounds_q10))).rank(3),
        Column::right("half by", cells(rows, |row| rounds(row.rounds_median))),
        Column::right("90% by", cells(rows, |row| rounds(row.rounds_q90))).rank(3),
    ];
    if let Some(a_round) = result.seconds_a_round {
        let time = |row: &ForecastRow| {
            or_none(row.rounds_median.map(|rounds| seconds(a_round * rounds as f64)))
        };
        columns.push(Column::right("time", cells(rows, time)).rank(4));
    }
    if result.budget.is_some() {
        columns.push(Column::right("in budget", cells(rows, chance_cell)));
    }
    let mut say = |title: &str, of: fn(&Says) -> f64| {
        let cells = cells(rows, |row| share(of(&row.says)));
        columns.push(Column::right(title, cells).rank(1));
    };
    say("holds", |says| says.holds);
    say("refuted", |says| says.refuted);
    say("too close", |says| says.too_close);
    say("open", |says| says.undecided);
    columns
}

/// Limits of a chance are rounded outwards to 0 and 1 from here on.
const NEAR_AN_END: f64 = 1e-4;

/// The chance to end within the budget, by its limits.
fn chance_cell(row: &ForecastRow) -> String {
    row.chance.map_or("-".to_owned(), |chance| {
        // What lies this close to an end is not told from it.
        let low = if chance.low < NEAR_AN_END { 0.0 } else { chance.low };
        let high = if chance.high > 1.0 - NEAR_AN_END { 1.0 } else { chance.high };
        let (low, high) = (percent(low, Rounding::Down), percent(high, Rounding::Up));
        format!("{low} to {high}")
    })
}

/// For each truth a line of blocks: the share of runs that had ended, over rounds.
pub(super) fn curves(page: &mut Page, result: &ForecastResult, look: Look) {
    let cells: Vec<String> = result.rows.iter().map(|row| truth_cell(result, row)).collect();
    let label = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
    page.gap();
    let title = format!("share of runs that had ended, over {}s", unit(result));
    page.line(&[words(INDENT), span(Tone::Dim, title)]);
    let mut width = 0;
    for (cell, row) in cells.iter().zip(&result.rows) {
        let line: String = row.curve.iter().map(|share| level(*share, look)).collect();
        width = line.width();
        page.line(&[
            words(INDENT),
            span(Tone::Strong, format!("{}{cell}", " ".repeat(label - cell.width()))),
            words(format!("{INDENT}{line}")),
        ]);
    }
    let ends = [result.curve_rounds.first(), result.curve_rounds.last()];
    if let [Some(first), Some(last)] = ends {
        let middle = result.curve_rounds[result.curve_rounds.len() / 2].to_string();
        let (first, last) = (first.to_string(), last.to_string());
        let half = width / 2;
        let left = half.saturating_sub(first.len()).max(1);
        let right = width.saturating_sub(first.len() + left + middle.len() + last.len()).max(1);
        let axis = format!("{first}{}{middle}{}{last}", " ".repeat(left), " ".repeat(right));
        let indent = " ".repeat(label + 2 * INDENT.len());
        page.line(&[words(indent), span(Tone::Dim, axis)]);
    }
}
