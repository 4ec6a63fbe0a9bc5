//! What the machine was.

use super::sheet::Sheet;
use crate::number::Scale;
use crate::text::plain;
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::metric::Unit;
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

/// `cpu model: Example CPU 3000`; sizes in a unit of their size.
fn text(key: &str, fact: &Fact) -> String {
    match (key.strip_suffix("_bytes"), fact) {
        (Some(name), Fact::Number(bytes)) => {
            let bytes = *bytes as f64;
            format!("{}: {}", name.replace('_', " "), Scale::of(Unit::Bytes, bytes).write(bytes))
        }
        (_, Fact::Number(number)) => format!("{}: {number}", key.replace('_', " ")),
        (_, Fact::Flag(yes)) => {
            format!("{}: {}", key.replace('_', " "), if *yes { "yes" } else { "no" })
        }
        (_, Fact::Text(text)) => format!("{}: {}", key.replace('_', " "), plain(text)),
    }
}
