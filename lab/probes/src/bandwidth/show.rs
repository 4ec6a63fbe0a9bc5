//! Bandwidth, on a screen and as a picture.

mod words;

use crate::show::*;
use crate::{Bandwidth, BandwidthCurve, BandwidthPoint, Traffic};

#[cfg(test)]
mod tests;

/// Below this ratio of the best round to the least one the rounds are of one mind.
const MOVED: f64 = 1.25;

/// The lines of the screen that tells everything at once.
pub(crate) fn rows(found: &Bandwidth) -> Vec<Row> {
    let said = [words::reads(found), words::others(found), words::loaded(found)];
    said.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Bandwidth, look: &Look) -> String {
    let mut text = String::new();
    let mut add = |part: String| {
        if !part.is_empty() {
            text += if text.is_empty() { "" } else { "\n" };
            text += &part;
        }
    };
    add(by_threads(found, look));
    add(threads_chart(found).text(look));
    add(knees(found, look));
    add(between_nodes(found, look));
    add(loads(found, look));
    if found.loaded_latency.len() > 1 {
        add(loaded_chart(found).text(look));
    }
    let mut notes = Page::new(*look);
    for note in words::notes(found) {
        notes.paragraph("", &[span(Tone::Dim, note)]);
    }
    add(notes.finish());
    text
}

/// The picture as SVG.
pub(crate) fn svg(found: &Bandwidth) -> String {
    let mut charts = vec![threads_chart(found)];
    if found.loaded_latency.len() > 1 {
        charts.push(loaded_chart(found));
    }
    tiebreak_report::svg::charts(&charts)
}

/// A row for each number of threads, a column for each curve.
fn by_threads(found: &Bandwidth, look: &Look) -> String {
    let mut threads: Vec<u32> =
        found.curves.iter().flat_map(|curve| &curve.points).map(|point| point.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut table = Table::of(&threads).right("threads, GB/s", 0, |threads| *threads);
    for curve in &found.curves {
        let title = format!("{}{}", curve.traffic.name(), if curve.is_pinned { "" } else { "*" });
        let rate = |threads: &u32| or_dash(curve.point(*threads), |point| gb(point.bytes_per_s));
        table = table.decimal(&title, rank(curve), rate);
    }
    let is_free = found.curves.iter().any(|curve| !curve.is_pinned);
    table.text(look) + if is_free { "* not pinned\n" } else { "" }
}

/// Reads stay the longest on a narrow screen.
fn rank(curve: &BandwidthCurve) -> u8 {
    match (curve.traffic, curve.is_pinned) {
        (Traffic::Read, true) => 0,
        (Traffic::Touch | Traffic::Copy | Traffic::CopyPast, true) => 1,
        (Traffic::Write | Traffic::Fill, true) => 2,
        (_, false) => 3,
    }
}

/// Where more threads stop paying, and what the rounds make of it.
fn knees(found: &Bandwidth, look: &Look) -> String {
    let known = found.curves.iter();
    let known = known.filter_map(|curve| Some((name(curve), best(curve)?, curve.knee.as_ref()?)));
    let range = |low: u32, high: u32| {
        if low == high { low.to_string() } else { format!("{low} to {high}") }
    };
    Table::of(&known.collect::<Vec<_>>())
        .left("curve", 0, |(name, ..)| name.clone())
        .decimal("best GB/s", 0, |(_, best, _)| gb(best.bytes_per_s))
        .left("its rounds", 2, |(_, best, _)| {
            format!("{} to {}", gb(best.low_bytes_per_s), gb(best.high_bytes_per_s))
        })
        .right("with", 3, |(_, best, _)| best.threads)
        .right("95% with", 0, |(.., knee)| knee.threads)
        .left("rounds say", 1, |(.., knee)| range(knee.low_threads, knee.high_threads))
        .right("so many agree", 4, |(.., knee)| percent(knee.agreeing_share, Rounding::Nearest))
        .text(look)
}

/// Reads between nodes; empty where there is one only.
fn between_nodes(found: &Bandwidth, look: &Look) -> String {
    if found.between_nodes.is_empty() {
        return String::new();
    }
    Table::of(&found.between_nodes)
        .right("CPUs of node", 0, |row| row.cpu_node)
        .right("memory of node", 0, |row| row.memory_node)
        .left("", 0, |row| if row.cpu_node == row.memory_node { "local" } else { "remote" })
        .right("threads", 1, |row| row.threads)
        .decimal("read GB/s", 0, |row| gb(row.bytes_per_s))
        .text(look)
}

/// Latency by load; empty where it was not measured.
fn loads(found: &Bandwidth, look: &Look) -> String {
    if found.loaded_latency.is_empty() {
        return String::new();
    }
    Table::of(&found.loaded_latency)
        .right("load asked for", 0, |row| percent(row.asked_share, Rounding::Nearest))
        .right("threads", 2, |row| row.threads)
        .decimal("read GB/s", 0, |row| gb(row.bytes_per_s))
        .right("ns a load", 0, |row| format!("{:.0}", row.latency_ns))
        .right("windows", 1, |row| row.windows_kept)
        .text(look)
}

/// Bandwidth by threads, a curve a kernel with its threads pinned, and the knee of the reads.
fn threads_chart(found: &Bandwidth) -> Chart {
    let curve = |curve: &BandwidthCurve| {
        let points = curve.points.iter().map(|p| (f64::from(p.threads), p.bytes_per_s));
        Curve { name: name(curve), points: points.collect() }
    };
    let most = found.cpus.len();
    let knee = found.curve(Traffic::Read, true).and_then(|curve| curve.knee.as_ref());
    let knee = knee.filter(|knee| most > 2 && knee.threads > 1);
    let mark = knee.map(|knee| (f64::from(knee.threads), "95%, read medians".to_owned()));
    Chart {
        title: "Bandwidth by threads".to_owned(),
        x: axis("threads", most > 16, false, whole),
        y: axis("GB/s", false, true, giga),
        curves: found.curves.iter().filter(|curve| curve.is_pinned).map(curve).collect(),
        marks: mark.into_iter().collect(),
    }
}

/// Latency by the bandwidth beside it.
fn loaded_chart(found: &Bandwidth) -> Chart {
    let mut points: Vec<(f64, f64)> =
        found.loaded_latency.iter().map(|one| (one.bytes_per_s, one.latency_ns)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Chart {
        title: "Latency of a load beside reads".to_owned(),
        x: axis("GB/s that the other threads read", false, true, giga),
        y: axis("ns", false, true, whole),
        curves: vec![Curve { name: "a load from memory".to_owned(), points }],
        marks: Vec::new(),
    }
}

/// A tick in gigabytes a second: these are round.
fn giga(bytes_per_s: f64) -> String {
    format!("{}", bytes_per_s / 1e9)
}

/// A tick; between two whole numbers there is none to name.
fn whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 { format!("{value:.0}") } else { String::new() }
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
