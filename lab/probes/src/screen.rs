//! A machine as it was measured: one screen for all of it, and a page and a picture a probe.

use crate::head::{head, tail};
use crate::probed::{Probed, Tried};
use crate::show::{Look, Page, Row, Tone, notice, paragraph, span};
use crate::{MachinePrint, Probe};
use tiebreak_report::fact;
use tiebreak_report::html::Measured;

/// Columns of the names on the left of the screen.
const NAMES: usize = 14;

/// What the screen says of a probe.
pub(crate) struct Entry {
    /// The probe.
    pub probe: Probe,
    /// What was found, a line each.
    pub lines: Vec<String>,
    /// What speaks against it, or why there is nothing.
    pub note: Option<String>,
}

/// Returns what the screen says, probe by probe; a probe that was not asked for is absent.
pub(crate) fn entries(print: &MachinePrint) -> Vec<Entry> {
    let mut entries = Vec::new();
    for probe in Probe::ALL {
        let Some(found) = print.found(probe) else { continue };
        let rows = found.value().map(|found| found.rows()).unwrap_or_default().into_iter();
        let mut lines: Vec<String> = rows
            .map(|Row { name, text }| if name.is_empty() { text } else { name + ": " + &text })
            .collect();
        let note = brief(&found);
        if lines.is_empty() && note.is_none() {
            lines.push("measured".to_owned());
        }
        entries.push(Entry { probe, lines, note });
    }
    entries
}

/// One screen, not wider than 100 columns: the machine and the date, every probe in words, and how
/// long it took. `name` is what the print is called in the store, if it is there.
pub fn screen(print: &MachinePrint, name: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Strong, head(print))]);
    page.gap();
    for Entry { probe, lines, note } in entries(print) {
        let lines = lines.into_iter().map(|line| (Tone::Plain, line));
        let note = note.into_iter().map(|note| (Tone::Dim, note));
        for (index, (tone, text)) in lines.chain(note).enumerate() {
            let lead = if index == 0 { probe.words() } else { "" };
            page.paragraph(&format!("{lead:NAMES$}"), &[span(tone, text)]);
        }
    }
    page.gap();
    page.paragraph("", &[span(Tone::Dim, tail(print, name))]);
    page.finish()
}

/// Returns the print as JSON, with a line feed at its end.
pub fn json(print: &MachinePrint) -> String {
    let text = serde_json::to_string_pretty(print).unwrap_or_default();
    text + "\n"
}

/// Returns a line that says how far a print is: `core to core 3 of 8 40%`.
pub fn progress(probes: &[Probe], probe: Probe, share: f64, look: &Look) -> String {
    let index = probes.iter().position(|other| *other == probe).map_or(0, |index| index + 1);
    let percent = (share * 100.0).round();
    let dots = look.pick("\u{2026}", "...");
    format!("{}{dots} {percent:.0}%, probe {index} of {}", probe.words(), probes.len())
}

/// Returns what a page of verdicts says of the machine they were reached on.
pub fn measured(print: &MachinePrint) -> Measured {
    let found = entries(print).into_iter().map(|Entry { probe, lines, note }| {
        (probe.words().to_owned(), lines.into_iter().chain(note).collect())
    });
    Measured { taken_unix_ms: print.taken_unix_ms, found: found.collect() }
}

/// Returns the page of one probe, with its pictures in letters; empty if it was not asked for.
pub fn page(print: &MachinePrint, probe: Probe, look: &Look) -> String {
    let Some(found) = print.found(probe) else { return String::new() };
    let page = paged(&found, look, |found| found.page(look));
    // The facts of the machine have no probe of their own.
    if probe != Probe::Topology {
        return page;
    }
    page + "\n" + &fact::page(&print.machine, look)
}

/// Returns the picture of one probe as SVG: of what was found, or the sentence that says why
/// nothing was. `None` if it was not asked for.
pub fn svg(print: &MachinePrint, probe: Probe) -> Option<String> {
    let found = print.found(probe)?;
    match found.value() {
        Some(found) => Some(found.svg()),
        None => note(&found).map(|why| notice(probe.words(), &why)),
    }
}

/// Returns the note for the screen, where the ways that were tried have no room for what each said.
fn brief<T>(probed: &Probed<T>) -> Option<String> {
    let Probed::Unavailable { tried, .. } = probed else { return note(probed) };
    let ways = tried.iter().filter_map(|one| one.way.split(" (").next());
    let ways = ways.collect::<Vec<_>>().join(", ");
    Some(format!("not available on this machine (tried {ways})"))
}

/// Returns the page of a probe, or why there is none, with what speaks against it below.
pub(crate) fn paged<T>(probed: &Probed<T>, look: &Look, page: impl FnOnce(&T) -> String) -> String {
    let Probed::Unavailable { what, tried } = probed else {
        let text = probed.value().map(page).unwrap_or_default();
        return text + &note(probed).map_or(String::new(), |note| paragraph(Tone::Dim, note, look));
    };
    // Every way that was tried, below each other.
    let mut page = Page::new(*look);
    let first = span(Tone::Strong, format!("{what}: not available on this machine."));
    page.paragraph("", &[first, span(Tone::Plain, " Tried, in this order:")]);
    for (number, Tried { way, error }) in (1..).zip(tried) {
        page.paragraph(&format!("  {number}. "), &[span(Tone::Plain, format!("{way}: {error}"))]);
    }
    page.finish()
}

/// Returns what speaks against what was found, or why nothing was.
fn note<T>(probed: &Probed<T>) -> Option<String> {
    match probed {
        Probed::Measured { .. } => None,
        Probed::Degraded { reasons, .. } => Some(format!("degraded: {}", reasons.join("; "))),
        Probed::Inconclusive { why } => Some(format!("inconclusive: {why}")),
        Probed::Unavailable { what, tried } => {
            let said = tried.iter().map(|one| format!("{}: {}", one.way, one.error));
            let said = said.collect::<Vec<_>>().join("; ");
            Some(format!("{what}: not available on this machine (tried {said})"))
        }
    }
}
