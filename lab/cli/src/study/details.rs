//! The findings before a race, in words.

use tiebreak_lab::core::quantity::format_ns;
use tiebreak_lab::core::study::Pilot;

/// Describes the findings of a workload's pilot, and what follows from them.
pub fn piloted(workload: &str, pilot: &Pilot, rounds_a_unit: u32, batch_ns: f64) -> String {
    if pilot.units == 0 {
        return format!("{workload}: nothing to compare");
    }
    let spread = |variance: f64| format!("{:.2}%", variance.sqrt() * 100.0);
    // One unit says nothing about the spread of units.
    let spreads = match pilot.units {
        1 => String::new(),
        _ => format!(
            "rounds spread by {} and units by {}, ",
            spread(pilot.variance_within),
            spread(pilot.variance_between)
        ),
    };
    format!(
        "{workload}: batches of {}, {} a unit; in {} of the pilot {spreads}a round took {} and a \
         unit {} more",
        format_ns(batch_ns),
        count(u64::from(rounds_a_unit), "round"),
        count(u64::from(pilot.units), "unit"),
        format_ns(pilot.round_cost_ns),
        format_ns(pilot.unit_cost_ns),
    )
}

/// Returns a text such as `1 call` or `12 calls`.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Adds a note below each row of a table; the table's first line contains the titles.
pub fn with_notes(table: &str, notes: impl Iterator<Item = String>) -> String {
    let mut lines = table.lines();
    let mut text = format!("{}\n", lines.next().unwrap_or_default());
    for (line, note) in lines.zip(notes) {
        text += line;
        text += "\n";
        if !note.is_empty() {
            text += &format!("  {note}\n");
        }
    }
    text
}
