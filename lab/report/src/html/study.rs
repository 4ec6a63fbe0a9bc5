//! The table of a study's workload.

use super::sheet::{Sheet, list, section, small};
use super::table::{split, whole};
use super::{ODD_BYTES, ink};
use crate::look::Look;
use crate::study::{
    Block, Reason, built_with, columns, columns_mean, facts, metric_summary, metrics_table, notes,
    per_item, scaling_table, shares, spread_of,
};
use crate::table::Column;
use crate::text::plain;
use maud::{Markup, html};
use tiebreak_core::metric::Metric;
use tiebreak_core::result::StudyRow;

/// Adds the contestants with their ratios, published figures and distributions, of which so many
/// bytes of the page are seen first, what was measured beside wall time, and what it all was built
/// with.
pub(super) fn study(sheet: &mut Sheet, block: &Block, bytes: usize) {
    sheet.add(section("Contestants"));
    sheet.add(small(&facts(block).join(" ")));
    let names: Vec<String> = block.rows.iter().map(|row| block.marked(row)).collect();
    let columns = columns(block, Some(Look::PAPER));
    if !names.is_empty() {
        split(sheet, &columns, &names, &strips(block), bytes);
    }
    let left_out: Vec<String> = block.reasons().iter().map(Reason::sentence).collect();
    if !left_out.is_empty() {
        sheet.part("Contestants that did not run", list(&left_out), ODD_BYTES);
    }
    let scaling = scaling_table(block);
    if let Some(first) = scaling.first() {
        let table = whole(sheet, &scaling, &first.cells);
        sheet.fold("On several threads", table);
    }
    others(sheet, block, &names);
    let meaning = [columns_mean(block, std::slice::from_ref(block)), notes(block)].concat();
    sheet.part("What the columns say", list(&meaning), ODD_BYTES);
    let source = format!("Source: {}", plain(&block.of.source));
    let builds = built_with(std::slice::from_ref(block));
    sheet.fold("Source and builds", list(&[vec![source], builds].concat()));
}

/// What was measured beside wall time.
fn others(sheet: &mut Sheet, block: &Block, names: &[String]) {
    let metrics = metrics_table(block);
    if metrics.is_empty() {
        return;
    }
    let first = Column::left("", names.to_vec());
    let metrics = metrics.into_iter().map(|column| column.rank(1));
    let columns: Vec<Column> = std::iter::once(first).chain(metrics).collect();
    let table = whole(sheet, &columns, names);
    sheet.fold("Beside wall time", html! { (small(&per_item(block))) (table) });
}

/// The distributions, which share their scale.
fn strips(block: &Block) -> Vec<Option<Markup>> {
    let spread = spread_of(block);
    let strip = |row: &&StudyRow| {
        let (spread, histogram) = (spread?, row.distribution.as_ref()?);
        let values = metric_summary(row, Metric::WallTime);
        let values = values.map_or([None; 3], |s| [s.p10, s.median, s.p90]);
        let places = values.map(|value| value.map(|value| spread.place(value)));
        Some(ink::strip(&shares(spread, histogram, ink::PLACES), places))
    };
    block.rows.iter().map(strip).collect()
}
