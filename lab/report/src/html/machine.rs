//! What the machine was.

use super::sheet::Sheet;
use crate::date::format_unix_ms;
use crate::fact;
use crate::text::plain;
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

/// What the print of a machine says.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// When it was taken, in milliseconds since 1970 (UTC).
    pub taken_unix_ms: u64,
    /// Of each probe its name in words and what it found, a line each.
    pub found: Vec<(String, Vec<String>)>,
}

/// The facts about the machine, those first that say most, as far as there is room, and its print.
pub(super) fn machine(sheet: &mut Sheet, run: &RunResult, measured: Option<&Measured>) {
    if run.machine.facts.0.is_empty() && run.machine.print.is_none() {
        return;
    }
    sheet.raw("<h2 id=machine>Machine</h2>\n");
    facts(sheet, run);
    if let Some(name) = &run.machine.print {
        print(sheet, &plain(name), measured);
    }
}

/// What the print says, folded; nothing but its name if it is not at hand.
fn print(sheet: &mut Sheet, name: &str, measured: Option<&Measured>) {
    let show = format!("tiebreak machine show {name}");
    let Some(measured) = measured.filter(|_| sheet.limits.print > 0) else {
        sheet.paragraph("d", &format!("Measured before the run, as {name}:"));
        return sheet.code(&show);
    };
    let date = format_unix_ms(measured.taken_unix_ms);
    let name = sheet.name(name);
    sheet.raw(&format!("<details><summary>Measured as {name}, {date} UTC</summary>\n"));
    let mut room = sheet.limits.print;
    for (words, texts) in &measured.found {
        let shown: Vec<String> = texts.iter().take(room).map(|text| sheet.sentence(text)).collect();
        room -= shown.len();
        if !shown.is_empty() {
            sheet.raw(&format!("<p class=d><b>{words}</b><br>{}\n", shown.join("<br>")));
        }
    }
    sheet.code(&show);
    sheet.raw("</details>\n");
}

fn facts(sheet: &mut Sheet, run: &RunResult) {
    let mut facts: Vec<(&String, &Fact)> = run.machine.facts.0.iter().collect();
    if facts.is_empty() {
        return;
    }
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    facts.sort_by_key(|(key, _)| (key.starts_with("now_"), rank(key)));
    let shown = facts.iter().take(sheet.limits.notes);
    let texts: Vec<String> = shown.map(|(key, fact)| sheet.name(&fact::text(key, fact))).collect();
    sheet.raw(&format!("<p class=d>{}\n", texts.join("; ")));
    sheet.left_out(facts.len() - texts.len(), "facts");
}
