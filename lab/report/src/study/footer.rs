//! The last lines of a study's page.

use super::block::Block;
use super::{ABOUT_TIMES, claims, figure, metrics, not_covered, scaling};
use crate::contents::after_warming_up;
use crate::footer::again;
use crate::number::Scale;
use crate::odd::odd_of;
use crate::prelude::*;
use crate::sentence::observation_noun;
use crate::text::grouped;
use tiebreak_core::study::{FigureStatistic, Workload};

/// What the columns mean, what was odd, what everything was built with, the machine, and how to get
/// the same again.
pub(super) fn footer(page: &mut Page, study: &StudyResult) {
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    let named = blocks.iter().map(|block| (block.run, block.of.workload.name.as_str()));
    let named: Vec<_> = named.collect();
    odd_of(page, &named);
    page.notes(columns_mean(&blocks));
    page.note(not_covered_by(&blocks));
    page.gap();
    let (Some(run), Some(block)) = (study.runs.first(), blocks.first()) else { return };
    page.entry("source", plain(&block.of.source));
    page.entries("built", built_with(&blocks));
    // The workload follows the seed that was given.
    let seed = run.seed.split_whitespace().next().unwrap_or_default();
    page.entry("run", format!("{}, seed {}", seconds(study.seconds), plain(seed)));
    again(page, &named);
}

/// Returns what the tables of the study do not cover.
pub(crate) fn not_covered_by(blocks: &[Block]) -> String {
    not_covered(blocks.iter().all(|block| block.of.workload.is_drawn))
}

/// Returns the meaning of the columns and what is missing in them, a sentence each.
pub(crate) fn columns_mean(blocks: &[Block]) -> Vec<String> {
    let Some(block) = blocks.first() else { return Vec::new() };
    let reference = plain(&block.of.reference);
    let mut lines = vec![format!(
        "'vs {reference}': how many times what a contestant needs {reference} needs; above 1x the \
         contestant is faster. Stopping inflates it: quote the interval. {ABOUT_TIMES}"
    )];
    lines.extend(order_of_rows(block, &reference));
    let is_settled = |one: &ClaimResult| !matches!(one.verdict, Verdict::Undecided | Verdict::Void);
    if blocks.iter().any(|block| claims(block.run).any(is_settled)) {
        lines.push("A claim's ratio is the one at the time of its verdict.".to_owned());
    }
    lines.extend(scaling::meaning(blocks));
    if blocks.iter().any(|block| block.rows.iter().any(|row| block.is_open(row))) {
        let asked = match block.precision() {
            Some(precision) => {
                format!("lay within {} of its middle", percent(precision, Rounding::Nearest))
            }
            None => "was as narrow as asked".to_owned(),
        };
        lines.push(format!("? the run ended before the interval {asked}."));
    }
    let rows = blocks.iter().flat_map(|block| &block.rows);
    let beyond: u64 = rows.filter_map(|row| row.distribution.as_ref()).map(|one| one.beyond).sum();
    if beyond > 0 {
        let batches = if beyond == 1 { "batch" } else { "batches" };
        lines.push(format!("{beyond} timed {batches} took longer than the pictures reach."));
    }
    lines.extend(metrics::missing(blocks));
    lines
}

/// Explains the order of the rows, and which batches their times come from.
fn order_of_rows(block: &Block, reference: &str) -> [String; 2] {
    let order = match (block.rows.iter().any(|row| row.ratio.is_some()), block.is_ranked()) {
        (false, _) => "times, which proves nothing.",
        (true, false) => "ratios.",
        (true, true) => {
            "ratios; 'rank' gives the places that their intervals leave open: rows whose intervals \
             overlap share some."
        }
    };
    let times = if block.of.races_pairs {
        format!("the batches raced with {reference}, of {reference} over all:")
    } else {
        "all batches of a row, and rows were in different units:".to_owned()
    };
    [
        format!("Rows stand in the order of their {order}"),
        format!(
            "Times are medians over {times} their quotients are not the ratios, which compare \
             within each unit."
        ),
    ]
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

/// Returns the description of a workload to put behind its name; empty if there is none.
pub(crate) fn about(workload: &Workload) -> String {
    match workload.about.as_str() {
        "" => String::new(),
        about => format!(": {}", plain(about)),
    }
}

/// The input, the scope, and how many rounds a unit has and why: a sentence each.
pub(crate) fn facts(block: &Block) -> Vec<String> {
    vec![input(block), units(block)]
}

fn input(block: &Block) -> String {
    let of = block.of;
    let bytes = of.input_bytes as f64;
    let bytes = Scale::of(Unit::Bytes, bytes).write(bytes);
    let items = match of.items {
        0 | 1 => String::new(),
        items => format!("{}, ", count(items, &plain(&of.item))),
    };
    let drawn = match (of.workload.is_drawn, of.scope) {
        (true, Scope::Layout) => "one input, drawn for this run",
        (true, _) => "each unit draws an input of its own, the same for all contestants",
        (false, _) => "one input for all units",
    };
    format!("{items}{bytes}; {drawn}.")
}

fn units(block: &Block) -> String {
    let (of, run) = (block.of, block.run);
    let scope = match of.scope {
        Scope::Code => "scope code: placed afresh in memory for each unit",
        Scope::Binary => "scope binary: a fresh process for each unit",
        Scope::Layout => "scope layout: as the binaries lie in memory",
        Scope::Stream => "scope stream",
        Scope::Load => "scope load",
    };
    let calls = block.rows.iter().filter_map(|row| row.calls_a_batch);
    let batch = match (calls.clone().min(), calls.max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{least} to {}", count(most, "call"))
        }
        (calls, _) => count(calls.unwrap_or(of.calls_a_batch), "call"),
    };
    let mut rounds = count(run.rounds, observation_noun(run));
    if of.scope != Scope::Layout {
        rounds += &format!(" of {}", count(u64::from(of.rounds_a_unit), "round"));
        rounds += &after_warming_up(&of.pilot);
    }
    if of.races_pairs {
        rounds += ", each of two contestants alone";
    }
    format!("{rounds}, {batch} a batch, {scope}.{}", why(block))
}

/// Returns the pilot's findings, which decide the rounds of a unit.
fn why(block: &Block) -> String {
    let pilot = block.of.pilot;
    if pilot.units == 0 || block.of.scope == Scope::Layout {
        return String::new();
    }
    let [unit, round] =
        [pilot.unit_cost_ns, pilot.round_cost_ns].map(|ns| value_text(Unit::Nanoseconds, ns));
    let costs = format!("a unit costs {unit} in addition to its rounds of {round}");
    if pilot.units < 2 {
        return format!(" In the pilot's only unit, {costs}.");
    }
    let [within, between] = [pilot.variance_within, pilot.variance_between]
        .map(|variance| percent(variance.max(0.0).sqrt(), Rounding::Nearest));
    format!(" Ratios spread by {within} within a unit and by {between} between units, and {costs}.")
}

/// Explains the mark of a contract.
fn of_contract(block: &Block, name: &str) -> String {
    let known = block.of.contracts.iter().find(|contract| contract.name == name);
    let text = known.map(|contract| plain(&contract.text)).filter(|text| !text.is_empty());
    let text = text.map_or(String::new(), |text| format!(" ({text})"));
    let (mark, name) = (block.mark(name), plain(name));
    format!("{mark} contract '{name}'{text}: not exact, in no claim with the others.")
}

/// What the signs of a block mean, and what was published in addition to figures.
pub(crate) fn notes(block: &Block) -> Vec<String> {
    let contracts = block.contracts().into_iter().map(|contract| of_contract(block, contract));
    contracts.chain((0..block.of.published.len()).map(|index| of_table(block, index))).collect()
}

/// What was published where, with what stands in no column: words, and figures after the first of
/// a contestant.
fn of_table(block: &Block, index: usize) -> String {
    let table = &block.of.published[index];
    let which = match block.of.published.len() {
        1 => "published".to_owned(),
        _ => format!("published [{}]", index + 1),
    };
    let has_figure = |row: &StudyRow| row.published.iter().any(|figure| figure.table == index);
    let unit = if block.of.rows.iter().any(has_figure) { figure::unit(table.unit) } else { "" };
    let (source, machine, text) = (plain(&table.source), plain(&table.machine), plain(&table.text));
    let statistic = match table.statistic.filter(|_| !unit.is_empty()) {
        None => "",
        Some(FigureStatistic::Minimum) => "the shortest times there and under 'here'",
        Some(FigureStatistic::Mean) => "means there, medians under 'here'",
        Some(FigureStatistic::Median) => "medians there and under 'here'",
    };
    let about = joined(" (", &[&machine, unit, statistic], ", ", ")");
    let said = joined(": ", &[&text, &block.further_figures(index).join(", ")], "; ", "");
    format!("{which}: {source}{about}{said}.")
}

/// The parts that are not empty; nothing if all are.
fn joined(before: &str, parts: &[&str], between: &str, after: &str) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!("{before}{}{after}", parts.join(between)) }
}
