//! What a block says above its table and below it.

use super::block::Block;
use super::figure;
use crate::number::{Rounding, Scale, count, percent, value_text};
use crate::sentence::observation_noun;
use crate::text::plain;
use tiebreak_core::metric::Unit;
use tiebreak_core::plan::Scope;
use tiebreak_core::result::{PublishedResult, StudyRow};
use tiebreak_core::study::Workload;

/// Says what a workload is, behind its name; nothing where it does not.
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
    };
    let units = count(run.rounds, observation_noun(run));
    let calls = || block.rows.iter().filter_map(|row| row.calls_a_batch);
    let batch = match (calls().min(), calls().max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{least} to {}", count(most, "call"))
        }
        (calls, _) => count(calls.unwrap_or(of.calls_a_batch), "call"),
    };
    let rounds = match of.scope {
        Scope::Layout => units,
        _ => format!("{units} of {}", count(u64::from(of.rounds_a_unit), "round")),
    };
    let rounds =
        if of.races_pairs { format!("{rounds}, each of two contestants alone") } else { rounds };
    format!("{rounds}, {batch} a batch, {scope}.{}", why(block))
}

/// Why a unit has so many rounds: what the pilot found.
fn why(block: &Block) -> String {
    let pilot = block.of.pilot;
    if pilot.units == 0 || block.of.scope == Scope::Layout {
        return String::new();
    }
    let [unit, round] =
        [pilot.unit_cost_ns, pilot.round_cost_ns].map(|ns| value_text(Unit::Nanoseconds, ns));
    let costs = format!("a unit costs {unit} beside its rounds of {round}");
    if pilot.units < 2 {
        return format!(" In the pilot's only unit, {costs}.");
    }
    let spread = |variance: f64| percent(variance.max(0.0).sqrt(), Rounding::Nearest);
    format!(
        " Ratios spread by {} within a unit and by {} between units, and {costs}.",
        spread(pilot.variance_within),
        spread(pilot.variance_between),
    )
}

/// What a mark behind a name means.
fn of_contract(block: &Block, name: &str) -> String {
    let known = block.of.contracts.iter().find(|contract| contract.name == name);
    let text = known.map(|contract| plain(&contract.text)).filter(|text| !text.is_empty());
    let text = text.map_or(String::new(), |text| format!(" ({text})"));
    let (mark, name) = (block.mark(name), plain(name));
    format!("{mark} contract '{name}'{text}: not exact, in no claim with the others.")
}

/// What the signs of a block mean, and what was published beside figures.
pub(crate) fn notes(block: &Block) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(block.contracts().into_iter().map(|contract| of_contract(block, contract)));
    let tables = block.of.published.iter().enumerate();
    notes.extend(tables.map(|(index, table)| of_table(block, index, table)));
    notes
}

/// What was published where, with what stands in no column: words, and figures beside the first of
/// a contestant.
fn of_table(block: &Block, index: usize, table: &PublishedResult) -> String {
    let which = match block.of.published.len() {
        1 => "published".to_owned(),
        _ => format!("published [{}]", index + 1),
    };
    let has_figure = |row: &StudyRow| row.published.iter().any(|figure| figure.table == index);
    let unit = if block.of.rows.iter().any(has_figure) { figure::unit(table.unit) } else { "" };
    let (source, machine, text) = (plain(&table.source), plain(&table.machine), plain(&table.text));
    let about = joined(" (", &[&machine, unit], ", ", ")");
    let said = joined(": ", &[&text, &block.further_figures(index).join(", ")], "; ", "");
    format!("{which}: {source}{about}{said}.")
}

/// The parts that are not empty; nothing if all are.
fn joined(before: &str, parts: &[&str], between: &str, after: &str) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!("{before}{}{after}", parts.join(between)) }
}
