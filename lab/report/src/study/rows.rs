//! A block of the table on a screen.

use super::block::Block;
use super::footer::{about, facts, notes};
use super::{metrics, scaling};
use crate::chart::{Chart, Span};
use crate::histogram::{blocks, is_drawn, shares};
use crate::prelude::*;
use tiebreak_core::result::Histogram;

/// The narrowest picture of a distribution that still says something, and the widest.
const STRIP: std::ops::RangeInclusive<usize> = 14..=40;

/// A workload: what it is, its contestants, and which other metrics were measured. Where the
/// screen is wide enough all of a contestant stands on one line, else pictures and published
/// figures stand below.
pub(crate) fn block_lines(page: &mut Page, block: &Block, look: Look) {
    page.gap();
    let workload = &block.of.workload;
    let name = span(Tone::Strong, plain(&workload.name));
    page.paragraph("", &[name, words(about(workload))]);
    facts(block).into_iter().for_each(|fact| page.note(fact));
    if !block.rows.is_empty() {
        page.gap();
        main_table(page, block, look);
    }
    block.reasons().iter().for_each(|reason| page.paragraph(INDENT, &reason.spans()));
    let others = metrics::table(block);
    if !others.is_empty() {
        page.gap();
        page.wide_table([vec![names(block, Some(look))], others].concat());
        page.note(metrics::per_item(block));
    }
    let scaling = scaling::table(block);
    if !scaling.is_empty() {
        page.gap();
        page.note(scaling::per_second(block));
        page.wide_table(scaling);
        page.gap();
        chart_lines(page, scaling::chart(block).as_ref(), look);
    }
    page.notes(notes(block));
}

/// Adds a chart, if there is one, as letters.
pub(super) fn chart_lines(page: &mut Page, chart: Option<&Chart>, look: Look) {
    let look = Look { width: look.columns() - INDENT.len(), ..look };
    let text = chart.map_or(String::new(), |chart| chart.text(&look));
    for line in text.lines() {
        page.table_line(&[words(format!("{INDENT}{line}"))]);
    }
}

/// Adds the numbers with pictures and published figures, which stand below where they have no room
/// next to the numbers.
fn main_table(page: &mut Page, block: &Block, look: Look) {
    let (numbers, published) = (numbers(block, Some(look)), published(block));
    let spread = spread_of(block);
    let room = look.table_columns() - INDENT.len();
    let taken = width(&[numbers.clone(), published.clone()].concat());
    let strip = room.saturating_sub(taken + GAP).min(*STRIP.end());
    let fits = if spread.is_some() { strip >= *STRIP.start() } else { taken <= room };
    if fits {
        return with_strips(page, block, numbers, published, strip);
    }
    page.wide_table(numbers);
    if spread.is_some() || !published.is_empty() {
        let name = vec![names(block, Some(look))];
        let taken = width(&[name.clone(), published.clone()].concat()) + GAP;
        let strip = (look.columns() - INDENT.len()).saturating_sub(taken);
        page.gap();
        with_strips(page, block, name, published, strip.clamp(*STRIP.start(), *STRIP.end()));
    }
}

/// Adds a table with the distributions, if there are any, in some columns between others, and the
/// ends of their scale below them.
fn with_strips(
    page: &mut Page,
    block: &Block,
    first: Vec<Column>,
    last: Vec<Column>,
    columns: usize,
) {
    let Some(spread) = spread_of(block) else {
        return page.wide_table([first, last].concat());
    };
    let before = " ".repeat(width(&first) + GAP);
    let strips = strips(block, spread, columns, page.look());
    page.wide_table([first, vec![strips], last].concat());
    let (low, high) = (block.time(spread.low), block.time_with_unit(spread.high));
    let kind = if spread.is_log { "log" } else { "" };
    let gap = columns.saturating_sub(low.width() + kind.len() + high.width());
    let [left, right] = [gap / 2, (gap - gap / 2).max(1)].map(|gap| " ".repeat(gap));
    let axis = format!("{before}{low}{left}{kind}{right}{high}");
    page.table_line(&[words(INDENT), span(Tone::Dim, axis)]);
}

/// The columns that a table takes with all that it has.
fn width(columns: &[Column]) -> usize {
    rows(columns.to_vec(), usize::MAX).first().map_or(0, |row| columns_of(row))
}

/// Makes the column of the names, cut for a screen if it is for one.
pub(super) fn names(block: &Block, screen: Option<Look>) -> Column {
    let columns = screen.map_or(0, |look| (look.columns() / 4).min(24));
    Column::left("", cells(&block.rows, |row| cut(block.marked(row), columns, screen)))
}

/// Makes the columns of names, times and ratios, cut for a screen if they are for one.
fn numbers(block: &Block, screen: Option<Look>) -> Vec<Column> {
    let rows = &block.rows;
    let [time, p10, p90] = transposed(rows.iter().map(|row| block.times(row)));
    let [ratio, limits] = transposed(rows.iter().map(|row| block.ratio(row)));
    let languages = cells(rows, |row| row.language.map_or("-", |of| of.name()).to_owned());
    let signs = cells(rows, |row| if block.is_open(row) { "?" } else { "" }.to_owned());
    let reference = cut(plain(&block.of.reference), 14, screen);
    vec![
        names(block, screen),
        Column::left("rank", cells(rows, |row| block.rank(row))).rank(2),
        Column::left("in", languages).rank(4),
        Column::decimal(&cut(block.title(), 16, screen), time),
        Column::decimal("p10", p10).rank(3),
        Column::decimal("p90", p90).rank(3),
        Column::decimal(&format!("vs {reference}"), ratio),
        Column::left("interval", limits).rank(1),
        Column::left("", signs).rank(1),
    ]
}

/// Returns a text, cut to some columns if it is for a screen.
fn cut(text: String, columns: usize, screen: Option<Look>) -> String {
    screen.map_or(text.clone(), |look| shorten_middle(&text, columns, look))
}

/// Makes the same and those of what was published, with the sign of an open ratio next to its
/// interval, not in a column of its own.
pub(crate) fn columns(block: &Block, screen: Option<Look>) -> Vec<Column> {
    let mut columns = numbers(block, screen);
    if let (Some(signs), Some(intervals)) = (columns.pop(), columns.last_mut()) {
        for (interval, sign) in intervals.cells.iter_mut().zip(signs.cells) {
            *interval = format!("{interval} {sign}").trim_end().to_owned();
        }
    }
    columns.extend(published(block));
    columns
}

/// What was published: the figure, ours in its unit, and its ratio; nothing where nothing was.
fn published(block: &Block) -> Vec<Column> {
    if block.rows.iter().all(|row| row.published.is_empty()) {
        return Vec::new();
    }
    let rows = &block.rows;
    let figures = cells(rows, |row| or_none(block.published(row)));
    let here = cells(rows, |row| or_none(block.in_published_unit(row)));
    let ratios = cells(rows, |row| or_none(block.published_ratio(row)));
    vec![
        Column::decimal("published", figures),
        Column::decimal("here", here).rank(3),
        Column::decimal("its ratio", ratios).rank(2),
    ]
}

/// The distributions below each other on one scale.
pub(super) fn strips(block: &Block, spread: Span, columns: usize, look: Look) -> Column {
    let strips = cells(&block.rows, |row| {
        let shares = row.distribution.as_ref().map(|of| shares(spread, of, columns));
        shares.map_or(String::new(), |shares| blocks(&shares, look))
    });
    Column::left("spread", strips)
}

/// The scale of the distributions of a block, in nanoseconds for one call; `None` if there is none:
/// linear if they come with the same bins, else logarithmic, because then they are too far apart
/// for a linear one.
pub(crate) fn spread_of(block: &Block) -> Option<Span> {
    let all = block.rows.iter().filter_map(|row| row.distribution.as_ref());
    let all: Vec<&Histogram> = all.filter(|histogram| is_drawn(histogram)).collect();
    let first = all.first()?;
    let low = all.iter().map(|one| one.low).fold(f64::INFINITY, f64::min);
    let high = all.iter().map(|one| one.high).fold(f64::NEG_INFINITY, f64::max);
    let is_shared = all.iter().all(|one| (one.low, one.high) == (first.low, first.high));
    Some(Span { low, high, is_log: !is_shared && low > 0.0 })
}
