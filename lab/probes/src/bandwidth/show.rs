//! Bandwidth, on a screen and as a picture.

mod pictures;
mod tables;
mod words;

use crate::screen::Row;
use crate::{Bandwidth, BandwidthCurve, BandwidthPoint, Traffic};
use tiebreak_report::look::{Look, Tone, span};
use tiebreak_report::page::Page;

#[cfg(test)]
mod tests;

/// Below this ratio of the best round to the least one the rounds are of one mind.
const MOVED: f64 = 1.25;

/// The lines of the screen that tells everything at once.
pub(super) fn rows(found: &Bandwidth) -> Vec<Row> {
    let mut rows: Vec<Row> = [words::reads(found), words::others(found), words::loaded(found)]
        .into_iter()
        .flatten()
        .map(|text| Row::new("", text))
        .collect();
    rows.truncate(3);
    rows
}

/// Everything that was found, with its pictures in letters.
pub(super) fn page(found: &Bandwidth, look: &Look) -> String {
    let mut text = String::new();
    let mut add = |part: String| {
        if !part.is_empty() {
            text += if text.is_empty() { "" } else { "\n" };
            text += &part;
        }
    };
    add(tables::by_threads(found, look));
    add(pictures::by_threads(found).text(look));
    add(tables::knees(found, look));
    add(tables::between_nodes(found, look));
    add(tables::loaded(found, look));
    if found.loaded_latency.len() > 1 {
        add(pictures::loaded(found).text(look));
    }
    let mut notes = Page::new(*look);
    for note in words::notes(found) {
        notes.paragraph("", &[span(Tone::Dim, note)]);
    }
    add(notes.finish());
    text
}

/// The picture as SVG.
pub(super) fn svg(found: &Bandwidth) -> String {
    let mut charts = vec![pictures::by_threads(found)];
    if found.loaded_latency.len() > 1 {
        charts.push(pictures::loaded(found));
    }
    tiebreak_report::svg::charts(&charts)
}

/// `43.6`: gigabytes a second, of 10^9 bytes.
fn gb(bytes_per_s: f64) -> String {
    let gb = bytes_per_s / 1e9;
    if gb < 99.95 { format!("{gb:.1}") } else { format!("{gb:.0}") }
}

/// The best point of a curve, of equal ones that with the fewest threads.
fn best(curve: &BandwidthCurve) -> Option<&BandwidthPoint> {
    curve.points.iter().rev().max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
}

/// What a curve is called: `read`, `read, not pinned`.
fn name(curve: &BandwidthCurve) -> String {
    let pinned = if curve.is_pinned { "" } else { ", not pinned" };
    format!("{}{pinned}", curve.traffic.name())
}

/// The pinned curves of these kernels that are there.
fn pinned<'a>(found: &'a Bandwidth, of: &[Traffic]) -> Vec<&'a BandwidthCurve> {
    of.iter().filter_map(|traffic| found.curve(*traffic, true)).collect()
}
