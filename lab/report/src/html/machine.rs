//! What the machine was.

use super::sheet::{Sheet, code, name, sentence, small};
use crate::date::format_unix_ms;
use crate::fact;
use crate::text::plain;
use maud::{Markup, html};
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

/// The facts about the machine, those first that say most, and its print.
pub(super) fn machine(sheet: &mut Sheet, run: &RunResult, measured: Option<&Measured>) {
    if run.machine.facts.0.is_empty() && run.machine.print.is_none() {
        return;
    }
    let content = html! {
        (facts(run))
        @if let Some(print) = &run.machine.print {
            (self::print(&plain(print), measured))
        }
    };
    sheet.fold("Machine", html! { div #machine { (content) } });
}

fn facts(run: &RunResult) -> Markup {
    let mut facts: Vec<(&String, &Fact)> = run.machine.facts.0.iter().collect();
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    facts.sort_by_key(|(key, _)| (key.starts_with("now_"), rank(key)));
    let texts: Vec<String> = facts.iter().map(|(key, fact)| name(&fact::text(key, fact))).collect();
    html! { @if !texts.is_empty() { p.d { (texts.join("; ")) } } }
}

/// What the print says; nothing but its name if it is not at hand.
fn print(print: &str, measured: Option<&Measured>) -> Markup {
    let head = match measured {
        None => format!("Measured before the run, as {print}:"),
        Some(measured) => {
            format!("Measured as {print}, {} UTC:", format_unix_ms(measured.taken_unix_ms))
        }
    };
    html! {
        (small(&head))
        @for (words, texts) in measured.iter().flat_map(|measured| &measured.found) {
            p.d { b { (name(words)) } @for text in texts { br; (sentence(text)) } }
        }
        (code(&format!("tiebreak machine show {print}")))
    }
}
