//! Tables, with a distribution below each row.

use super::sheet::{Sheet, list, name, section, small};
use super::{ODD_BYTES, ink};
use crate::chart::Span;
use crate::contestants::{claimed_metrics, metric_columns, other_columns};
use crate::look::Look;
use crate::study::{
    Block, Reason, built_with, columns, columns_mean, facts, metric_summary, metrics_table, notes,
    per_item, scaling_table, shares, spread_of,
};
use crate::table::{Align, Column};
use crate::text::{plain, short};
use maud::{Markup, html};
use tiebreak_core::metric::Metric;
use tiebreak_core::result::{ContestantResult, RunResult, StudyRow};

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
    let names: Vec<String> = run
        .contestants
        .iter()
        .map(|one| format!("{}{}", one.name, if one.fault.is_some() { " (void)" } else { "" }))
        .collect();
    sheet.add(section("Contestants"));
    let strips: Vec<Option<Markup>> = run.contestants.iter().map(|one| strip(run, one)).collect();
    split(sheet, &columns, &names, &strips, bytes);
    let commands: Vec<Markup> = run.contestants.iter().filter_map(command).collect();
    let shown = sheet.fill(&commands, bytes);
    if let Some(rest) = commands.get(shown..).filter(|rest| !rest.is_empty()) {
        sheet.fold("What the others run", html! { @for one in rest { (one) } });
    }
}

/// Returns the command of a contestant, and its fault.
fn command(contestant: &ContestantResult) -> Option<Markup> {
    let mut text = format!("{}: {}", plain(&contestant.name), plain(&contestant.command));
    if let Some(fault) = &contestant.fault {
        text += &format!(" {}", short(&fault.to_string()));
    } else if let Some(fault) =
        contestant.first_failure.as_ref().filter(|_| contestant.failures > 0)
    {
        let failures = contestant.failures;
        text += &format!(" failed {failures} times; first it {}", short(&fault.to_string()));
    }
    let says_more = contestant.command != contestant.name || contestant.fault.is_some();
    says_more.then(|| small(&text))
}

/// Draws the distribution of a program; all share their scale.
fn strip(run: &RunResult, contestant: &ContestantResult) -> Option<Markup> {
    let histogram = contestant.distribution.as_ref()?;
    let metric = claimed_metrics(run)[0];
    let spread = Span { low: histogram.low, high: histogram.high, is_log: false };
    let summary = contestant.metrics.iter().find(|(key, _)| *key == metric);
    let values = summary.map_or([None; 3], |(_, s)| [s.p10, s.median, s.p90]);
    let is_drawn = histogram.low < histogram.high && !histogram.counts.is_empty();
    is_drawn.then(|| {
        let heights = shares(spread, histogram, ink::PLACES);
        ink::strip(&heights, values.map(|value| value.map(|value| spread.place(value))))
    })
}

/// Adds a table, whose rows are seen first as far as they leave the page within so many bytes; the
/// others are folded, and the page says how many they are. `names` replaces the first column, and
/// each of `strips` that there is stands below its row.
pub(super) fn split(
    sheet: &mut Sheet,
    columns: &[Column],
    names: &[String],
    strips: &[Option<Markup>],
    bytes: usize,
) {
    let table = Table::of(sheet, columns, names, strips);
    let used = sheet.first_bytes() + table.markup(0..0).0.len();
    let lengths = (0..names.len()).map(|row| table.row(row).0.len());
    let ends = lengths.scan(used, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    let shown = ends.take_while(|end| *end <= bytes).count();
    if shown > 0 {
        sheet.add(table.markup(0..shown));
    }
    if shown < names.len() {
        let rest = names.len() - shown;
        let title =
            if shown > 0 { format!("{rest} more contestants") } else { "All contestants".into() };
        sheet.fold(&title, table.markup(shown..names.len()));
    }
}

/// A table all of whose rows stand together; `names` replaces the first column.
pub(super) fn whole(sheet: &mut Sheet, columns: &[Column], names: &[String]) -> Markup {
    Table::of(sheet, columns, names, &[]).markup(0..names.len())
}

/// A table, row by row.
struct Table<'a> {
    class: String,
    columns: Vec<&'a Column>,
    names: &'a [String],
    strips: &'a [Option<Markup>],
}

impl<'a> Table<'a> {
    /// Columns without any value are left out.
    fn of(
        sheet: &mut Sheet,
        columns: &'a [Column],
        names: &'a [String],
        strips: &'a [Option<Markup>],
    ) -> Table<'a> {
        let is_shown = |(index, column): &(usize, &Column)| *index == 0 || column.has_values();
        let columns: Vec<&Column> =
            columns.iter().enumerate().filter(is_shown).map(|(_, column)| column).collect();
        let class = sheet.table_class();
        for (index, column) in columns.iter().enumerate() {
            style(sheet, &class, index + 1, column);
        }
        Table { class, columns, names, strips }
    }

    fn row(&self, row: usize) -> Markup {
        html! {
            tr {
                td { (name(&self.names[row])) }
                @for column in &self.columns[1..] {
                    td { (name(column.cells.get(row).map_or("", String::as_str))) }
                }
            }
            @if let Some(Some(strip)) = self.strips.get(row) {
                tr.s { td colspan=(self.columns.len()) { (strip) } }
            }
        }
    }

    fn markup(&self, rows: std::ops::Range<usize>) -> Markup {
        html! {
            div.x {
                table class=(self.class) {
                    tr { @for column in &self.columns { th { (name(&column.title)) } } }
                    @for row in rows { (self.row(row)) "\n" }
                }
            }
        }
    }
}

/// The rules for a column, counted from 1: they stand once in the head of the page, where a class
/// would stand in every cell.
fn style(sheet: &mut Sheet, class: &str, number: usize, column: &Column) {
    let cells = format!(".{class} tr>:nth-child({number})");
    if column.align == Align::Left && number > 1 {
        sheet.style(&format!("{cells}{{text-align:left}}"));
    }
    if column.title == "interval" {
        sheet.style(&format!(
            "@media(max-width:560px){{{cells}{{white-space:normal;min-width:3.7rem}}}}"
        ));
    }
    if column.rank >= WIDE {
        sheet.style(&format!("@media(max-width:560px){{{cells}{{display:none}}}}"));
    }
}

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
