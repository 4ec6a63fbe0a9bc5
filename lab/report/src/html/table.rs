//! Tables, with a distribution below each row.

use super::ink::{self, LOOK};
use super::sheet::{Sheet, escaped};
use crate::contestants::{claimed_metrics, metric_columns, other_columns};
use crate::study::Spread;
use crate::table::{Align, Column};
use crate::text::{plain, short};
use tiebreak_core::result::{ContestantResult, RunResult};

/// Columns of this rank and above are not shown on a narrow screen.
const WIDE: u8 = 2;

/// What the contestants of programs gave.
pub(super) fn contestants(sheet: &mut Sheet, run: &RunResult) {
    if run.contestants.is_empty() {
        return;
    }
    let metric = claimed_metrics(run)[0];
    let mut columns = metric_columns(run, metric, LOOK);
    columns.extend(other_columns(run, metric));
    // There are few of them, so that more fit a narrow screen.
    columns.iter_mut().for_each(|column| column.rank = column.rank.saturating_sub(2));
    let names: Vec<String> = run
        .contestants
        .iter()
        .map(|one| format!("{}{}", one.name, if one.fault.is_some() { " (void)" } else { "" }))
        .collect();
    sheet.section("Contestants");
    table(sheet, &columns, &names, &strips(sheet, run));
    for contestant in &run.contestants {
        said(sheet, contestant);
    }
}

/// What a contestant runs, and what went wrong with it.
fn said(sheet: &mut Sheet, contestant: &ContestantResult) {
    let mut text = format!("{}: {}", plain(&contestant.name), plain(&contestant.command));
    if let Some(fault) = &contestant.fault {
        text += &format!(" {}", short(&fault.to_string()));
    } else if let Some(fault) =
        contestant.first_failure.as_ref().filter(|_| contestant.failures > 0)
    {
        let failures = contestant.failures;
        text += &format!(" failed {failures} times; first it {}", short(&fault.to_string()));
    }
    if contestant.command != contestant.name || contestant.fault.is_some() {
        sheet.paragraph("d", &text);
    }
}

/// The distributions of programs, which share their scale.
fn strips(sheet: &Sheet, run: &RunResult) -> Vec<String> {
    let metric = claimed_metrics(run)[0];
    let strip = |contestant: &ContestantResult| {
        let Some(histogram) = &contestant.distribution else { return String::new() };
        let spread = Spread { low: histogram.low, high: histogram.high, is_log: false };
        let summary = contestant.metrics.iter().find(|(key, _)| *key == metric);
        let values = summary.map_or([None; 3], |(_, s)| [s.p10, s.median, s.p90]);
        let is_drawn = histogram.low < histogram.high && !histogram.counts.is_empty();
        if is_drawn && sheet.limits.places > 0 {
            let heights = spread.shares(histogram, sheet.limits.places);
            ink::strip(&heights, values.map(|value| value.map(|value| spread.place(value))))
        } else {
            String::new()
        }
    };
    run.contestants.iter().map(strip).collect()
}

/// A table, as far as there is room; `names` replaces the first column, and each of `strips` that
/// is not empty stands below its row.
pub(super) fn table(sheet: &mut Sheet, columns: &[Column], names: &[String], strips: &[String]) {
    let shown: Vec<&Column> = columns
        .iter()
        .enumerate()
        .filter(|(index, column)| *index == 0 || column.has_values())
        .map(|(_, column)| column)
        .collect();
    let id = sheet.table_id();
    shown.iter().enumerate().for_each(|(index, column)| style(sheet, &id, index + 1, column));
    let mut out = format!("<div class=x><table id={id}><tr>");
    for column in &shown {
        out += &format!("<th>{}", escaped(&column.title));
    }
    out.push('\n');
    let rows = names.len().min(sheet.limits.rows);
    for (row, name) in names.iter().enumerate().take(rows) {
        out += &format!("<tr><td>{}", sheet.name(name));
        for column in &shown[1..] {
            out += &format!("<td>{}", sheet.name(column.cells.get(row).map_or("", String::as_str)));
        }
        out.push('\n');
        if let Some(strip) = strips.get(row).filter(|strip| !strip.is_empty()) {
            out += &format!("<tr class=s><td colspan={}>{strip}\n", shown.len());
        }
    }
    out += "</table></div>\n";
    sheet.raw(&out);
    sheet.left_out(names.len() - rows, "contestants");
}

/// The rules for a column, counted from 1: they stand once in the head of the page, where a class
/// would stand in every cell.
fn style(sheet: &mut Sheet, id: &str, number: usize, column: &Column) {
    let cells = format!("#{id} tr>:nth-child({number})");
    if column.align == Align::Left && number > 1 {
        sheet.style(&format!("{cells}{{text-align:left}}"));
    }
    if column.title == "interval" {
        sheet.style(&format!(
            "@media(max-width:560px){{{cells}{{white-space:normal;\
                              min-width:3.7rem}}}}"
        ));
    }
    if column.rank >= WIDE {
        sheet.style(&format!("@media(max-width:560px){{{cells}{{display:none}}}}"));
    }
}
