//! The last lines of a study's page.

use super::block::Block;
use super::{ABOUT_TIMES, metrics, not_covered, scaling};
use crate::footer::{again, entries, entry};
use crate::number::{Rounding, percent, seconds};
use crate::odd::{self, odd_of, told_warnings};
use crate::page::Page;
use crate::text::{grouped, plain};
use tiebreak_core::result::StudyResult;

/// What the columns mean, what was odd, what everything was built with, the machine, and how to get
/// the same again.
pub(super) fn footer(page: &mut Page, study: &StudyResult) {
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    let named = || blocks.iter().map(|block| (block.run, block.of.workload.name.as_str()));
    let told = |(run, name)| told_warnings(run).map(move |warning| (warning, name));
    let odd = odd_of(named().flat_map(told));
    if !odd.is_empty() {
        page.gap();
        page.note(odd::TITLE);
    }
    odd.into_iter().for_each(|text| page.item(text));
    notes_of(page, &blocks);
    page.note(not_covered_by(&blocks));
    page.gap();
    let (Some(run), Some(block)) = (study.runs.first(), blocks.first()) else { return };
    entry(page, "source", plain(&block.of.source));
    entries(page, "built", built_with(&blocks));
    entry(page, "run", format!("{}, seed {}", seconds(study.seconds), plain(&run.seed)));
    again(page, &named().collect::<Vec<_>>());
}

/// What the columns of the tables mean, and what is missing in them.
pub(super) fn notes_of(page: &mut Page, blocks: &[Block]) {
    let Some(block) = blocks.first() else { return };
    page.gap();
    columns_mean(block, blocks).into_iter().for_each(|text| page.note(text));
}

/// What holds of no table of the study.
pub(super) fn not_covered_by(blocks: &[Block]) -> String {
    not_covered(blocks.iter().all(|block| block.of.workload.is_drawn))
}

/// The same, a sentence each.
pub(crate) fn columns_mean(block: &Block, blocks: &[Block]) -> Vec<String> {
    let reference = plain(&block.of.reference);
    let mut lines = vec![format!(
        "'vs {reference}': how many times what a contestant needs {reference} needs; above 1x the \
         contestant is faster. Stopping inflates it: quote the interval. {ABOUT_TIMES}"
    )];
    lines.extend(order_of_rows(block, &reference));
    lines.extend(scaling::meaning(blocks));
    if blocks.iter().any(Block::has_open) {
        lines.push(match block.precision() {
            Some(precision) => format!(
                "? the run ended before the interval lay within {} of its middle.",
                percent(precision, Rounding::Nearest)
            ),
            None => "? the run ended before the interval was as narrow as asked.".to_owned(),
        });
    }
    let beyond = |block: &Block| {
        let known = block.rows.iter().filter_map(|row| row.distribution.as_ref());
        known.map(|histogram| histogram.beyond).sum::<u64>()
    };
    match blocks.iter().map(beyond).sum::<u64>() {
        0 => {}
        1 => lines.push("1 timed batch took longer than the pictures reach.".to_owned()),
        all => lines.push(format!("{all} timed batches took longer than the pictures reach.")),
    }
    lines.extend(metrics::missing(blocks));
    lines
}

/// Why rows stand where they do, and of which batches their times are.
fn order_of_rows(block: &Block, reference: &str) -> Vec<String> {
    let order = match (block.rows.iter().any(|row| row.ratio.is_some()), block.is_ranked()) {
        (false, _) => "Rows stand in the order of their times, which proves nothing.".to_owned(),
        (true, false) => "Rows stand in the order of their ratios.".to_owned(),
        (true, true) => "Rows stand in the order of their ratios; 'rank' gives the places that \
                         their intervals leave open: rows whose intervals overlap share some."
            .to_owned(),
    };
    let times = if block.of.races_pairs {
        format!(
            "Times are medians over the batches beside {reference}, of {reference} over all: their \
         quotients are not the ratios, which compare within each unit."
        )
    } else {
        "Times are medians over all batches of a row, and rows were in different units: \
          their quotients are not the ratios, which compare within each unit."
            .to_owned()
    };
    vec![order, times]
}

/// What the contestants were built with, each compiler with its contestants.
pub(crate) fn built_with(blocks: &[Block]) -> Vec<String> {
    let rows = blocks.iter().flat_map(|block| &block.of.rows);
    let built = grouped(rows.filter(|row| !row.receipt.is_empty()).map(|row| {
        let standard = row.standard.as_ref().map_or(String::new(), |s| format!(", {}", plain(s)));
        (format!("{}{standard}", plain(&row.receipt)), plain(&row.name))
    }));
    built.into_iter().map(|(with, names)| format!("{with}: {}", names.join(", "))).collect()
}
