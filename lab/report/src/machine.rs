//! A machine as it was measured: one screen for all of it, and a page and a picture a probe.

mod bandwidth;
mod cacheline;
mod compare;
pub(crate) mod cores;
mod energy;
pub(crate) mod facts;
mod head;
mod hertz;
mod latency;
mod list;
mod nanoseconds;
pub mod noise;

mod timers;
pub(crate) mod topology;
mod tune;

pub use compare::{comparison, comparison_json};
pub use tune::{tuning, tuning_json};

use crate::look::{Look, Tone, span};
use crate::page::Page;
use crate::svg;
use tiebreak_core::machine::{MachinePrint, Probe, Probed, Tried};

pub(crate) use self::head::{head, tail, title};
pub use self::list::{ListRow, list};

/// Columns of the names on the left of the screen.
const NAMES: usize = 14;

/// A line of the screen: what it is about, and what was found.
pub(crate) struct Row {
    /// `32 KiB`, or empty below a row of the same.
    pub name: String,
    /// What was found.
    pub text: String,
}

impl Row {
    /// A line.
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Row {
        Row { name: name.into(), text: text.into() }
    }
}

/// What the screen says of a probe.
pub(crate) struct Entry {
    /// The probe.
    pub probe: Probe,
    /// What was found, a line each.
    pub lines: Vec<String>,
    /// What speaks against it, or why there is nothing.
    pub note: Option<String>,
}

/// What the screen says, probe by probe; a probe that was not asked for is absent.
pub(crate) fn entries(print: &MachinePrint) -> Vec<Entry> {
    let line = |row: Row| if row.name.is_empty() { row.text } else { row.name + ": " + &row.text };
    let entry = |probe: Probe| {
        let (rows, note) = rows(print, probe)?;
        let mut lines: Vec<String> = rows.into_iter().map(line).collect();
        if lines.is_empty() && note.is_none() {
            lines.push("measured".to_owned());
        }
        Some(Entry { probe, lines, note })
    };
    Probe::ALL.into_iter().filter_map(entry).collect()
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

/// The print as JSON, with a line feed at its end.
pub fn json(print: &MachinePrint) -> String {
    let text = serde_json::to_string_pretty(print).unwrap_or_default();
    text + "\n"
}

/// A line that says how far a print is: `core to core  3 of 8  40%`.
pub fn progress(probes: &[Probe], probe: Probe, share: f64, look: &Look) -> String {
    let index = probes.iter().position(|other| *other == probe).map_or(0, |index| index + 1);
    let percent = (share * 100.0).round();
    let dots = look.pick("\u{2026}", "...");
    format!("{}{dots} {percent:.0}%, probe {index} of {}", probe.words(), probes.len())
}

/// The page of one probe, with its pictures in letters; empty if it was not asked for.
pub fn page(print: &MachinePrint, probe: Probe, look: &Look) -> String {
    match probe {
        Probe::Topology => {
            let page = paged(&print.topology, look, topology::page);
            if page.is_empty() { page } else { page + "\n" + &facts::page(&print.machine, look) }
        }
        Probe::Timers => paged(&print.timers, look, timers::page),
        Probe::Cores => paged(&print.cores, look, cores::page),
        Probe::Cacheline => paged(&print.cacheline, look, cacheline::page),
        Probe::Latency => paged(&print.latency, look, latency::page),
        Probe::Bandwidth => paged(&print.bandwidth, look, bandwidth::page),
        Probe::Noise => paged(&print.noise, look, noise::page),
        Probe::Energy => paged(&print.energy, look, energy::page),
    }
}

/// The picture of one probe as SVG: of what was found, or the sentence that says why nothing was.
/// `None` if it was not asked for.
pub fn svg(print: &MachinePrint, probe: Probe) -> Option<String> {
    match probe {
        Probe::Topology => drawn(print.topology.as_ref()?, probe, topology::svg),
        Probe::Timers => drawn(print.timers.as_ref()?, probe, timers::svg),
        Probe::Cores => drawn(print.cores.as_ref()?, probe, cores::svg),
        Probe::Cacheline => drawn(print.cacheline.as_ref()?, probe, cacheline::svg),
        Probe::Latency => drawn(print.latency.as_ref()?, probe, latency::svg),
        Probe::Bandwidth => drawn(print.bandwidth.as_ref()?, probe, bandwidth::svg),
        Probe::Noise => drawn(print.noise.as_ref()?, probe, noise::svg),
        Probe::Energy => drawn(print.energy.as_ref()?, probe, energy::svg),
    }
}

fn drawn<T>(probed: &Probed<T>, probe: Probe, svg: fn(&T) -> String) -> Option<String> {
    match (probed.value(), note(probed)) {
        (Some(value), _) => Some(svg(value)),
        (None, why) => why.map(|why| svg::notice(probe.words(), &why)),
    }
}

fn rows(print: &MachinePrint, probe: Probe) -> Option<(Vec<Row>, Option<String>)> {
    Some(match probe {
        Probe::Topology => rows_of(print.topology.as_ref()?, topology::rows),
        Probe::Timers => rows_of(print.timers.as_ref()?, timers::rows),
        Probe::Cores => rows_of(print.cores.as_ref()?, cores::rows),
        Probe::Cacheline => rows_of(print.cacheline.as_ref()?, cacheline::rows),
        Probe::Latency => rows_of(print.latency.as_ref()?, latency::rows),
        Probe::Bandwidth => rows_of(print.bandwidth.as_ref()?, bandwidth::rows),
        Probe::Noise => rows_of(print.noise.as_ref()?, noise::rows),
        Probe::Energy => rows_of(print.energy.as_ref()?, energy::rows),
    })
}

fn rows_of<T>(probed: &Probed<T>, rows: fn(&T) -> Vec<Row>) -> (Vec<Row>, Option<String>) {
    (probed.value().map(rows).unwrap_or_default(), brief(probed))
}

/// The note for the screen, where the ways that were tried have no room for what each said.
fn brief<T>(probed: &Probed<T>) -> Option<String> {
    let Probed::Unavailable { tried, .. } = probed else { return note(probed) };
    let ways: Vec<&str> =
        tried.iter().map(|one| one.way.split(" (").next().unwrap_or(&one.way)).collect();
    Some(format!("not available on this machine (tried {})", ways.join(", ")))
}

/// The page of a probe, or why there is none, with what speaks against it below.
fn paged<T>(probed: &Option<Probed<T>>, look: &Look, page: fn(&T, &Look) -> String) -> String {
    let Some(probed) = probed else { return String::new() };
    if let Probed::Unavailable { what, tried } = probed {
        return unavailable(what, tried, look);
    }
    let mut text = probed.value().map(|value| page(value, look)).unwrap_or_default();
    if let Some(note) = note(probed) {
        let mut below = Page::new(*look);
        below.paragraph("", &[span(Tone::Dim, note)]);
        text += &below.finish();
    }
    text
}

/// Every way that was tried, below each other.
fn unavailable(what: &str, tried: &[Tried], look: &Look) -> String {
    let mut page = Page::new(*look);
    let text = format!("{what}: not available on this machine.");
    let first = span(Tone::Strong, text);
    page.paragraph("", &[first, span(Tone::Plain, " Tried, in this order:")]);
    for (index, Tried { way, error }) in tried.iter().enumerate() {
        let lead = format!("  {}. ", index + 1);
        page.paragraph(&lead, &[span(Tone::Plain, format!("{way}: {error}"))]);
    }
    page.finish()
}

/// What speaks against what was found, or why nothing was.
fn note<T>(probed: &Probed<T>) -> Option<String> {
    match probed {
        Probed::Measured { .. } => None,
        Probed::Degraded { reasons, .. } => Some(format!("degraded: {}", reasons.join("; "))),
        Probed::Inconclusive { why } => Some(format!("inconclusive: {why}")),
        Probed::Unavailable { what, tried } => {
            let tried: Vec<String> =
                tried.iter().map(|one| format!("{}: {}", one.way, one.error)).collect();
            let tried = tried.join("; ");
            Some(format!("{what}: not available on this machine (tried {tried})"))
        }
    }
}
