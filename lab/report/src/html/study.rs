//! The table of a study's workload.

use super::ink;
use super::sheet::Sheet;
use super::table::table;
use crate::study::{
    Block, Spread, built_with, columns_mean, facts, metric_summary, metrics_table, notes, numbers,
    per_item, published, scaling_table,
};
use crate::table::Column;
use crate::text::plain;
use tiebreak_core::metric::Metric;
use tiebreak_core::result::StudyRow;

/// The contestants with their ratios, published figures and distributions, what was measured beside
/// wall time, and what it all was built with.
pub(super) fn study(sheet: &mut Sheet, block: &Block) {
    sheet.section("Contestants");
    sheet.paragraph("d", &facts(block).join(" "));
    let names: Vec<String> = block.rows.iter().map(|row| block.marked(row)).collect();
    let mut columns = numbers(block, ink::LOOK);
    // The sign of an open ratio stands beside its interval, not in a column of its own.
    if let (Some(signs), Some(intervals)) = (columns.pop(), columns.last_mut()) {
        for (interval, sign) in intervals.cells.iter_mut().zip(signs.cells) {
            *interval = format!("{interval} {sign}").trim_end().to_owned();
        }
    }
    columns.extend(published(block));
    if !names.is_empty() {
        table(sheet, &columns, &names, &strips(sheet, block));
    }
    on_threads(sheet, block);
    let left_out: Vec<String> = block.reasons().iter().map(why).collect();
    if !left_out.is_empty() {
        sheet.list(&left_out, "contestants that did not run");
    }
    let meaning = [columns_mean(block, std::slice::from_ref(block)), notes(block)].concat();
    sheet.list(&meaning, "notes");
    others(sheet, block, &names);
    sheet.section("Source and builds");
    let source = format!("Source: {}", plain(&block.of.source));
    let builds = built_with(std::slice::from_ref(block));
    sheet.list(&[vec![source], builds].concat(), "builds");
}

/// Why contestants are not in the table.
fn why((names, is_void, why): &(Vec<String>, bool, String)) -> String {
    let word = if *is_void { "void" } else { "not run" };
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb} {word}: {why}.", names.join(", "))
}

/// How contestants do on several threads, where there is room for it.
fn on_threads(sheet: &mut Sheet, block: &Block) {
    let columns = scaling_table(block);
    let Some(names) = columns.first().map(|column| column.cells.clone()) else { return };
    if names.len() <= sheet.limits.rows {
        sheet.section("On several threads");
        table(sheet, &columns, &names, &[]);
    }
}

/// What was measured beside wall time, where there is room for it.
fn others(sheet: &mut Sheet, block: &Block, names: &[String]) {
    let metrics = metrics_table(block);
    if metrics.is_empty() || names.len() > sheet.limits.rows || sheet.limits.places < 20 {
        return;
    }
    sheet.section("Beside wall time");
    sheet.paragraph("d", &per_item(block));
    let first = Column::new("", crate::table::Align::Left, names.to_vec());
    let metrics = metrics.into_iter().map(|column| column.rank(1));
    table(sheet, &std::iter::once(first).chain(metrics).collect::<Vec<_>>(), names, &[]);
}

fn strips(sheet: &Sheet, block: &Block) -> Vec<String> {
    let Some(spread) = Spread::of(block).filter(|_| sheet.limits.places > 0) else {
        return Vec::new();
    };
    let strip = |row: &&StudyRow| {
        let Some(histogram) = &row.distribution else { return String::new() };
        let values = metric_summary(row, Metric::WallTime);
        let values = values.map_or([None; 3], |s| [s.p10, s.median, s.p90]);
        let places = values.map(|value| value.map(|value| spread.place(value)));
        ink::strip(&spread.shares(histogram, sheet.limits.places), places)
    };
    block.rows.iter().map(strip).collect()
}
