//! Writes the first and the last line of a print, and the list of prints.

use crate::MachinePrint;
use crate::show::*;
use serde::Deserialize;
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_core::metric::Unit;
use tiebreak_report::date::format_unix_ms;
use tiebreak_report::number::value_text;
use tiebreak_report::text::shorten_middle;

/// `2026-11-22 14:05 UTC: Example CPU 3000, CPUs 0-7 of 8, KVM, 16 GiB, Linux 6.18`; what is not
/// known is left out.
pub(crate) fn head(print: &MachinePrint) -> String {
    format!("{} UTC: {}", format_unix_ms(print.taken_unix_ms), machine(&print.machine))
}

/// Returns the processor's name.
pub(crate) fn model(facts: &Fingerprint) -> String {
    text(facts, "cpu_model").unwrap_or_else(|| "a processor without a name".to_owned())
}

fn text(facts: &Fingerprint, key: &str) -> Option<String> {
    match facts.0.get(key) {
        Some(Fact::Text(text)) => Some(plain(text)),
        _ => None,
    }
}

/// Processor and CPUs.
pub(crate) fn processor(facts: &Fingerprint) -> String {
    let of = number(facts, "cpus_online").map_or(String::new(), |online| format!(" of {online}"));
    match text(facts, "cpus_allowed") {
        Some(allowed) => format!("{}, CPUs {allowed}{of}", model(facts)),
        None => model(facts),
    }
}

/// Returns the machine in a few words.
fn machine(facts: &Fingerprint) -> String {
    let hypervisor = text(facts, "hypervisor").filter(|name| name != "none");
    let memory = number(facts, "memory_bytes").map(|bytes| bytes as f64);
    let parts = [
        Some(processor(facts)),
        hypervisor.map(|name| if name == "yes" { "a virtual machine".to_owned() } else { name }),
        memory.map(|bytes| value_text(Unit::Bytes, bytes)),
        text(facts, "kernel").map(|kernel| format!("Linux {kernel}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn number(facts: &Fingerprint, key: &str) -> Option<u64> {
    match facts.0.get(key) {
        Some(Fact::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Returns how long it took, and how to see it again.
pub(crate) fn tail(print: &MachinePrint, name: Option<&str>) -> String {
    let took = seconds(print.took_ns as f64 / 1e9);
    let look = if print.is_quick { ", a short look at each" } else { "" };
    let took = if print.interrupted {
        format!("stopped after {took}, before all of it was measured")
    } else {
        format!("took {took}{look}")
    };
    match name.map(plain) {
        Some(name) => format!("{took}; kept: tiebreak machine show {name}"),
        None => took,
    }
}

/// A print in the list: fields of the print, and its name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ListRow {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// Milliseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub taken_unix_ms: u64,
    /// How long all probes took, in nanoseconds.
    pub took_ns: u64,
    /// What the machine said of itself.
    pub machine: Fingerprint,
}

/// Prints as a table, or a sentence if there are none.
pub fn list(rows: &[ListRow], look: &Look) -> String {
    if rows.is_empty() {
        return "No print is kept yet: 'tiebreak machine' makes one in half a minute.\n".to_owned();
    }
    let [name, took]: [fn(&ListRow) -> String; 2] =
        [|row| row.name.clone(), |row| seconds(row.took_ns as f64 / 1e9)];
    let used = |cell: fn(&ListRow) -> String| rows.iter().map(|row| cell(row).len()).max();
    // The date takes 16 columns, and each gap 2.
    let used = used(name).max(Some(5)).unwrap_or(0) + used(took).max(Some(4)).unwrap_or(0) + 22;
    let room = look.columns().saturating_sub(used).max(8);
    Table::of(rows)
        .left("print", 0, name)
        .left("taken (UTC)", 0, |row| format_unix_ms(row.taken_unix_ms))
        .right("took", 0, took)
        .left("machine", 0, |row| shorten_middle(&processor(&row.machine), room, *look))
        .text(look)
}
