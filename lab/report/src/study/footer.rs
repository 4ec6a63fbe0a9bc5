//! The last lines of a study's page.

use super::block::Block;
use super::{ABOUT_TIMES, metrics, not_covered, note, scaling};
use crate::contestants::INDENT;
use crate::footer::{machine_model, print_line, repeat_lines, replay_line};
use crate::look::{Look, Tone, span};
use crate::number::{Rounding, percent, seconds};
use crate::odd::told_warnings;
use crate::page::Page;
use crate::text::plain;
use tiebreak_core::result::StudyResult;

/// What the columns mean, what was odd, what everything was built with, the machine, and how to get
/// the same again.
pub(super) fn footer(page: &mut Page, study: &StudyResult, look: Look) {
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    odd(page, &blocks);
    notes_of(page, &blocks);
    note(page, &not_covered_by(&blocks));
    page.gap();
    let entry = |page: &mut Page, name: &str, text: String| {
        page.labelled(&format!("{INDENT}{name:<9}"), &[span(Tone::Plain, text)]);
    };
    let (Some(run), Some(of)) = (study.runs.first(), blocks.first().map(|block| block.of)) else {
        return;
    };
    entry(page, "source", plain(&of.source));
    for (index, text) in built_with(&blocks).into_iter().enumerate() {
        entry(page, if index == 0 { "built" } else { "" }, text);
    }
    entry(page, "run", format!("{}, seed {}", seconds(study.seconds), plain(&run.seed)));
    if let Some(model) = machine_model(run) {
        entry(page, "machine", model);
    }
    if let Some(print) = print_line(run) {
        entry(page, "", print);
    }
    for (index, line) in repeat_lines(run, look).into_iter().enumerate() {
        let name = format!("{INDENT}{:<9}", if index == 0 { "repeat" } else { "" });
        page.line(&[span(Tone::Dim, name), span(Tone::Plain, line)]);
    }
    for (index, block) in blocks.iter().enumerate() {
        let replay = replay_line(block.run);
        let workload = plain(&block.of.workload.name);
        entry(page, if index == 0 { "replay" } else { "" }, format!("{replay} ({workload})"));
    }
}

/// What the columns of the tables mean, and what is missing in them.
pub(super) fn notes_of(page: &mut Page, blocks: &[Block]) {
    let Some(block) = blocks.first() else { return };
    page.gap();
    columns_mean(block, blocks).iter().for_each(|text| note(page, text));
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
    let mut built: Vec<(String, Vec<String>)> = Vec::new();
    for row in blocks.iter().flat_map(|block| &block.of.rows).filter(|row| !row.receipt.is_empty())
    {
        let standard = row.standard.as_ref().map_or(String::new(), |s| format!(", {}", plain(s)));
        let with = format!("{}{standard}", plain(&row.receipt));
        let name = plain(&row.name);
        match built.iter_mut().find(|(other, _)| *other == with) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => built.push((with, vec![name])),
        }
    }
    built.into_iter().map(|(with, names)| format!("{with}: {}", names.join(", "))).collect()
}

/// The warnings, each once, with the workloads that it is about.
fn odd(page: &mut Page, blocks: &[Block]) {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for block in blocks {
        for warning in told_warnings(block.run) {
            let (text, name) = (plain(&warning.to_string()), plain(&block.of.workload.name));
            match said.iter_mut().find(|(other, _)| *other == text) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => said.push((text, vec![name])),
            }
        }
    }
    if said.is_empty() {
        return;
    }
    page.gap();
    note(page, "what was odd");
    for (text, names) in said {
        page.paragraph("  - ", &[span(Tone::Plain, format!("{}: {text}", names.join(", ")))]);
    }
}
