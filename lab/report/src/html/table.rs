//! Tables, with a distribution below each row.

use super::sheet::{Sheet, list, name, section, small};
use super::{ODD_BYTES, ink};
use crate::chart::Span;
use crate::contestants::{claimed_metrics, failed, metric_columns, other_columns};
use crate::prelude::*;
use crate::study::{
    Block, Reason, built_with, columns, columns_mean, facts, metrics_table, notes, per_item,
    quantiles, scaling_table, spread_of,
};
use maud::{Markup, html};
use std::ops::Range;
use std::slice::from_ref;

/// Columns of this rank and above are not shown on a narrow screen.
const WIDE: u8 = 2;

/// Adds the results of programs, unfolded up to `bytes` of the page.
pub(super) fn contestants(sheet: &mut Sheet, run: &RunResult, bytes: usize) {
    if run.contestants.is_empty() {
        return;
    }
    let metric = claimed_metrics(run)[0];
    let mut columns = metric_columns(run, metric, Look::PAPER);
    columns.extend(other_columns(run, metric));
    // There are few of them, so that more fit a narrow screen.
    columns.iter_mut().for_each(|column| column.rank = column.rank.saturating_sub(2));
    for (cell, one) in columns[0].cells.iter_mut().zip(&run.contestants) {
        *cell = format!("{}{}", one.name, if one.fault.is_some() { " (void)" } else { "" });
    }
    let strips = run.contestants.iter().map(|one| {
        let histogram = one.distribution.as_ref()?;
        let spread = Span { low: histogram.low, high: histogram.high, is_log: false };
        let summary = one.metrics.iter().find(|(key, _)| *key == metric);
        ink::strip(spread, histogram, summary.map_or([None; 3], |(_, s)| [s.p10, s.median, s.p90]))
    });
    sheet.add(section("Contestants"));
    Table::of(sheet, columns, strips.collect()).split(sheet, bytes);
    let commands: Vec<Markup> = run.contestants.iter().filter_map(command).collect();
    let shown = sheet.fill(&commands, bytes);
    if shown < commands.len() {
        sheet.fold("What the others run", html! { @for one in &commands[shown..] { (one) } });
    }
}

/// Returns the command of a contestant, and its fault.
fn command(contestant: &ContestantResult) -> Option<Markup> {
    let mut text = format!("{}: {}", plain(&contestant.name), plain(&contestant.command));
    if let Some(fault) = &contestant.fault {
        text += &format!(" {}", short(&fault.to_string()));
    } else if let Some(failed) = failed(contestant) {
        text += &format!(" {failed}");
    }
    let says_more = contestant.command != contestant.name || contestant.fault.is_some();
    says_more.then(|| small(&text))
}

/// A table, row by row: the first column has the names, and each of `strips` that there is stands
/// below its row.
struct Table {
    class: String,
    columns: Vec<Column>,
    strips: Vec<Option<Markup>>,
}

impl Table {
    /// Columns without any value are left out. The rules for a column stand once in the head of the
    /// page, where a class would stand in every cell.
    fn of(sheet: &mut Sheet, mut columns: Vec<Column>, strips: Vec<Option<Markup>>) -> Table {
        let mut is_first = true;
        columns.retain(|column| std::mem::take(&mut is_first) || column.has_values());
        sheet.tables += 1;
        let class = format!("t{}", sheet.tables);
        for (index, column) in columns.iter().enumerate() {
            let cells = format!(".{class} tr>:nth-child({})", index + 1);
            let narrow = format!("@media(max-width:560px){{{cells}");
            if column.align == Align::Left && index > 0 {
                sheet.styles += &format!("{cells}{{text-align:left}}");
            }
            if column.title == "interval" {
                sheet.styles += &format!("{narrow}{{white-space:normal;min-width:3.7rem}}}}");
            }
            if column.rank >= WIDE {
                sheet.styles += &format!("{narrow}{{display:none}}}}");
            }
        }
        Table { class, columns, strips }
    }

    fn rows(&self) -> Range<usize> {
        0..self.columns[0].cells.len()
    }

    fn row(&self, row: usize) -> Markup {
        html! {
            tr { @for column in &self.columns { td { (name(&column.cells[row])) } } }
            @if let Some(Some(strip)) = self.strips.get(row) {
                tr.s { td colspan=(self.columns.len()) { (strip) } }
            }
        }
    }

    fn markup(&self, rows: Range<usize>) -> Markup {
        html! {
            div.x {
                table class=(self.class) {
                    tr { @for column in &self.columns { th { (name(&column.title)) } } }
                    @for row in rows { (self.row(row)) "\n" }
                }
            }
        }
    }

    /// Adds the rows that leave the unfolded part within so many bytes; the others are folded, and
    /// the page says how many they are.
    fn split(&self, sheet: &mut Sheet, bytes: usize) {
        let rows = self.rows().map(|row| self.row(row));
        let items: Vec<Markup> = std::iter::once(self.markup(0..0)).chain(rows).collect();
        let shown = sheet.fitting(&items, bytes).saturating_sub(1);
        if shown > 0 {
            sheet.add(self.markup(0..shown));
        }
        let rest = shown..self.rows().end;
        match (shown, rest.len()) {
            (_, 0) => {}
            (0, _) => sheet.fold("All contestants", self.markup(rest)),
            (_, more) => sheet.fold(&format!("{more} more contestants"), self.markup(rest)),
        }
    }
}

/// Adds a folded table.
fn folded(sheet: &mut Sheet, title: &str, about: Option<String>, columns: Vec<Column>) {
    let table = Table::of(sheet, columns, Vec::new());
    let about = about.map(|text| small(&text));
    sheet.fold(
        title,
        html! { @if let Some(about) = about { (about) } (table.markup(table.rows())) },
    );
}

/// Returns everything about a workload: its contestants with their ratios, published figures and
/// distributions, and in which other metrics they differ.
pub(super) fn workload(sheet: &mut Sheet, block: &Block) -> Markup {
    let mut tables = Vec::new();
    if !block.rows.is_empty() {
        tables.push(ratios(sheet, block));
    }
    let names = Column::left("", block.rows.iter().map(|row| block.marked(row)));
    let metrics = metrics_table(block);
    if !metrics.is_empty() {
        let columns = std::iter::once(names).chain(metrics).collect();
        tables.push(Table::of(sheet, columns, Vec::new()));
    }
    let scaling = scaling_table(block);
    if !scaling.is_empty() {
        tables.push(Table::of(sheet, scaling, Vec::new()));
    }
    let left_out: Vec<String> = block.reasons().iter().map(Reason::sentence).collect();
    let notes = [left_out, notes(block)].concat();
    html! {
        (small(&facts(block).join(" ")))
        @for table in &tables { (table.markup(table.rows())) }
        @if !notes.is_empty() { (list(&notes)) }
    }
}

/// Returns a table without pictures.
pub(super) fn plain_table(sheet: &mut Sheet, columns: Vec<Column>) -> Markup {
    let table = Table::of(sheet, columns, Vec::new());
    table.markup(table.rows())
}

/// Makes the table of ratios, published figures and distributions.
fn ratios(sheet: &mut Sheet, block: &Block) -> Table {
    let spread = spread_of(block);
    let strips = block
        .rows
        .iter()
        .map(|row| ink::strip(spread?, row.distribution.as_ref()?, quantiles(row)));
    Table::of(sheet, columns(block, None), strips.collect())
}

/// Adds the contestants with their ratios, published figures and distributions, of which so many
/// bytes of the page are seen first, which other metrics were measured, and what it all was built
/// with.
pub(super) fn study(sheet: &mut Sheet, block: &Block, bytes: usize) {
    sheet.add(section("Contestants"));
    sheet.add(small(&facts(block).join(" ")));
    let names = Column::left("", block.rows.iter().map(|row| block.marked(row)));
    if !block.rows.is_empty() {
        ratios(sheet, block).split(sheet, bytes);
    }
    let left_out: Vec<String> = block.reasons().iter().map(Reason::sentence).collect();
    if !left_out.is_empty() {
        sheet.part("Contestants that did not run", list(&left_out), ODD_BYTES);
    }
    let scaling = scaling_table(block);
    if !scaling.is_empty() {
        folded(sheet, "On several threads", None, scaling);
    }
    let metrics = metrics_table(block);
    if !metrics.is_empty() {
        let metrics = metrics.into_iter().map(|column| column.rank(1));
        let columns = std::iter::once(names).chain(metrics).collect();
        folded(sheet, "Other metrics", Some(per_item(block)), columns);
    }
    let meaning = [columns_mean(from_ref(block)), notes(block)].concat();
    sheet.part("What the columns say", list(&meaning), ODD_BYTES);
    let source = format!("Source: {}", plain(&block.of.source));
    sheet.fold("Source and builds", list(&[vec![source], built_with(from_ref(block))].concat()));
}
