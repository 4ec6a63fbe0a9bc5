//! What the machine was.

use super::sheet::Sheet;
use crate::date::format_unix_ms;
use crate::machine::entries;
use crate::machine::facts::text;
use crate::text::plain;
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::machine::MachinePrint;
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

/// The print that a run names.
pub(super) struct Measured<'a> {
    name: String,
    /// Absent if the store that was asked does not have it.
    print: Option<&'a MachinePrint>,
}

impl<'a> Measured<'a> {
    /// The print that this run names, if it names one.
    pub(super) fn of(run: &RunResult, print: Option<&'a MachinePrint>) -> Option<Measured<'a>> {
        run.machine.print.as_ref().map(|name| Measured { name: plain(name), print })
    }
}

/// The facts about the machine, those first that say most, as far as there is room, and its print.
pub(super) fn machine(sheet: &mut Sheet, run: &RunResult, measured: Option<&Measured<'_>>) {
    if run.machine.facts.0.is_empty() && measured.is_none() {
        return;
    }
    sheet.raw("<h2 id=machine>Machine</h2>\n");
    facts(sheet, run);
    if let Some(measured) = measured {
        print(sheet, measured);
    }
}

/// The screen of the print, folded.
fn print(sheet: &mut Sheet, measured: &Measured<'_>) {
    let name = sheet.name(&measured.name);
    let Some(print) = measured.print.filter(|_| sheet.limits.print > 0) else {
        sheet.paragraph("d", &format!("Measured before the run, as {}:", measured.name));
        return sheet.code(&format!("tiebreak machine show {}", measured.name));
    };
    let date = format_unix_ms(print.taken_unix_ms);
    sheet.raw(&format!("<details><summary>Measured as {name}, {date} UTC</summary>\n"));
    let mut room = sheet.limits.print;
    for entry in entries(print) {
        let texts: Vec<String> = entry.lines.iter().chain(&entry.note).cloned().collect();
        let shown: Vec<String> = texts.iter().take(room).map(|text| sheet.sentence(text)).collect();
        room -= shown.len();
        if !shown.is_empty() {
            let (words, shown) = (entry.probe.words(), shown.join("<br>"));
            sheet.raw(&format!("<p class=d><b>{words}</b><br>{shown}\n"));
        }
    }
    sheet.code(&format!("tiebreak machine show {}", measured.name));
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
    let texts: Vec<String> = shown.map(|(key, fact)| sheet.name(&text(key, fact))).collect();
    sheet.raw(&format!("<p class=d>{}\n", texts.join("; ")));
    sheet.left_out(facts.len() - texts.len(), "facts");
}
