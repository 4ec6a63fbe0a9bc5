//! What the machine was.

use super::sheet::Sheet;
use crate::machine::facts::text;
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::result::RunResult;

/// What a reader asks for first.
const FIRST: [&str; 8] = [
    "cpu_model",
    "cpus_online",
    "cpus_allowed",
    "memory_bytes",
    "kernel",
    "os",
    "governor",
    "hypervisor",
];

/// The facts about the machine, those first that say most, as far as there is room.
pub(super) fn machine(sheet: &mut Sheet, run: &RunResult) {
    let mut facts: Vec<(&String, &Fact)> = run.machine.0.iter().collect();
    if facts.is_empty() {
        return;
    }
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    facts.sort_by_key(|(key, _)| (key.starts_with("now_"), rank(key)));
    sheet.section("Machine");
    let shown = facts.iter().take(sheet.limits.notes);
    let texts: Vec<String> = shown.map(|(key, fact)| sheet.name(&text(key, fact))).collect();
    sheet.raw(&format!("<p class=d>{}\n", texts.join("; ")));
    sheet.left_out(facts.len() - texts.len(), "facts");
}
