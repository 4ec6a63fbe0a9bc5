//! A machine as it was measured: one screen for all of it, and a page and a picture a probe.

mod bandwidth;
mod cacheline;
pub(crate) mod cores;
mod energy;
mod latency;
mod noise;
mod timers;
mod topology;

use crate::look::{Look, Tone, span};
use crate::page::Page;
use tiebreak_core::machine::{MachinePrint, Probe, Probed};

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

/// One screen, not wider than 100 columns, that names every probe in words.
pub fn screen(print: &MachinePrint, look: &Look) -> String {
    let mut page = Page::new(*look);
    for probe in Probe::ALL {
        let Some((rows, note)) = rows(print, probe) else { continue };
        let mut name = probe.words();
        for row in rows {
            let text = if row.name.is_empty() { row.text } else { row.name + ": " + &row.text };
            page.paragraph(&format!("{name:NAMES$}"), &[span(Tone::Plain, text)]);
            name = "";
        }
        if let Some(note) = note {
            page.paragraph(&format!("{name:NAMES$}"), &[span(Tone::Dim, note)]);
        }
    }
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
        Probe::Topology => paged(&print.topology, look, topology::page),
        Probe::Timers => paged(&print.timers, look, timers::page),
        Probe::Cores => paged(&print.cores, look, cores::page),
        Probe::Cacheline => paged(&print.cacheline, look, cacheline::page),
        Probe::Latency => paged(&print.latency, look, latency::page),
        Probe::Bandwidth => paged(&print.bandwidth, look, bandwidth::page),
        Probe::Noise => paged(&print.noise, look, noise::page),
        Probe::Energy => paged(&print.energy, look, energy::page),
    }
}

/// The picture of one probe as SVG; `None` if nothing was found that could be drawn.
pub fn svg(print: &MachinePrint, probe: Probe) -> Option<String> {
    match probe {
        Probe::Topology => print.topology.as_ref()?.value().map(topology::svg),
        Probe::Timers => print.timers.as_ref()?.value().map(timers::svg),
        Probe::Cores => print.cores.as_ref()?.value().map(cores::svg),
        Probe::Cacheline => print.cacheline.as_ref()?.value().map(cacheline::svg),
        Probe::Latency => print.latency.as_ref()?.value().map(latency::svg),
        Probe::Bandwidth => print.bandwidth.as_ref()?.value().map(bandwidth::svg),
        Probe::Noise => print.noise.as_ref()?.value().map(noise::svg),
        Probe::Energy => print.energy.as_ref()?.value().map(energy::svg),
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
    (probed.value().map(rows).unwrap_or_default(), note(probed))
}

/// The page of a probe, or why there is none, with what speaks against it below.
fn paged<T>(probed: &Option<Probed<T>>, look: &Look, page: fn(&T, &Look) -> String) -> String {
    let Some(probed) = probed else { return String::new() };
    let mut text = probed.value().map(|value| page(value, look)).unwrap_or_default();
    if let Some(note) = note(probed) {
        let mut below = Page::new(*look);
        below.paragraph("", &[span(Tone::Dim, note)]);
        text += &below.finish();
    }
    text
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
