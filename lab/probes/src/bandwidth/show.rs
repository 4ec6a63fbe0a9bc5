//! Bandwidth, on a screen and as a picture.

#[cfg(test)]
mod tests;

use crate::show::*;
use crate::{Bandwidth, BandwidthPoint, Spread, Traffic};
use std::collections::BTreeSet;

/// Parts agree if the ratio of the best one to the least one is below this.
const MOVED: f64 = 1.25;

/// Returns the lines of the screen that shows all probes.
pub(crate) fn rows(found: &Bandwidth) -> Vec<Row> {
    let texts = [reads(found), others(found), loaded(found)];
    texts.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// Returns everything that was found, with its picture in letters.
pub(crate) fn page(found: &Bandwidth, look: &Look) -> String {
    let notes = notes(found).into_iter().map(|note| paragraph(Tone::Dim, note, look));
    let [knees, nodes, loads] = tables(found, look);
    let picture = by_threads_chart(found).text(look);
    let mut parts = vec![by_threads(found, look), picture, knees, nodes, loads, notes.collect()];
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Returns the picture as SVG.
pub(crate) fn svg(found: &Bandwidth) -> String {
    tiebreak_report::svg::charts(&[by_threads_chart(found)])
}

/// Returns a table with a row for each number of threads, and a column for each curve: reads stay
/// the longest on a narrow screen.
fn by_threads(found: &Bandwidth, look: &Look) -> String {
    let points = found.pinned().flat_map(|curve| &curve.points);
    let threads = points.map(|point| point.threads).collect::<BTreeSet<_>>();
    let threads: Vec<u32> = threads.into_iter().collect();
    let mut table = Table::of(&threads).right("threads, GB/s", 0, |threads| *threads);
    for curve in found.pinned() {
        let rank = u8::from(curve.traffic != Traffic::Read);
        table = table.decimal(curve.traffic.name(), rank, |threads| {
            or_dash(curve.point(*threads), |point| gb(point.bytes_per_s))
        });
    }
    table.text(look)
}

/// Returns tables of the best point and the knee of each curve, of reads between nodes, and of
/// latency by load; each is empty where there is nothing.
fn tables(found: &Bandwidth, look: &Look) -> [String; 3] {
    let known: Vec<_> = found
        .pinned()
        .filter_map(|curve| Some((curve.traffic.name(), curve.best()?, curve.knee.as_ref()?)))
        .collect();
    let knees = Table::of(&known)
        .left("curve", 0, |(name, ..)| name.to_string())
        .decimal("best GB/s", 0, |(_, best, _)| gb(best.bytes_per_s))
        .left("its parts", 2, |(_, best, _)| range(ends(best)))
        .right("95% with", 0, |(.., knee)| knee.threads)
        .left("parts say", 1, |(.., knee)| format!("{} to {}", knee.low_threads, knee.high_threads))
        .right("so many agree", 3, |(.., knee)| percent(knee.agreeing_share, Rounding::Nearest));
    let nodes = Table::of(&found.between_nodes)
        .right("CPUs of node", 0, |row| row.cpu_node)
        .right("memory of node", 0, |row| row.memory_node)
        .right("threads", 1, |row| row.threads)
        .decimal("read GB/s", 0, |row| gb(row.bytes_per_s));
    let loads = Table::of(&found.loaded_latency)
        .right("threads that read", 0, |row| row.threads)
        .decimal("read GB/s", 0, |row| gb(row.bytes_per_s))
        .right("ns a load", 0, |row| whole(row.latency_ns))
        .right("windows", 1, |row| row.windows_kept);
    [knees.text(look), nodes.text(look), loads.text(look)]
}

/// Returns bandwidth by threads, a pinned curve for each kernel, with the knee of the reads.
fn by_threads_chart(found: &Bandwidth) -> Chart {
    let pinned = found.pinned().map(|curve| {
        let points = curve.points.iter().map(|p| (f64::from(p.threads), p.bytes_per_s));
        (curve.traffic.name(), points.collect())
    });
    let most = found.cpus.len();
    let threads = axis("threads", most > 16, false, whole_tick);
    let rate = axis("GB/s", false, true, |bytes_per_s| format!("{}", bytes_per_s / 1e9));
    let mut by_threads = chart("Bandwidth by threads", [threads, rate], pinned);
    let knee = found.curve(Traffic::Read).and_then(|curve| curve.knee.as_ref());
    if let Some(knee) = knee.filter(|knee| most > 2 && knee.threads > 1) {
        by_threads.marks.push((f64::from(knee.threads), "95%".to_owned()));
    }
    by_threads
}

/// Writes a whole tick; one between two whole numbers has no label.
fn whole_tick(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 { whole(value) } else { String::new() }
}

/// Writes gigabytes per second, of 10^9 bytes: `43.6`.
fn gb(bytes_per_s: f64) -> String {
    let gb = bytes_per_s / 1e9;
    if gb < 99.95 { format!("{gb:.1}") } else { whole(gb) }
}

/// Writes a number of threads: `one thread`, `3 threads`.
fn threads(number: u32) -> String {
    if number == 1 { "one thread".to_owned() } else { format!("{number} threads") }
}

/// Returns the least and the best part. In older prints the point's own ends are those of rounds.
fn ends(point: &BandwidthPoint) -> [f64; 2] {
    let parts = Spread::of(point.parts_bytes_per_s.iter().copied());
    parts.map_or([point.low_bytes_per_s, point.high_bytes_per_s], |all| [all.low, all.high])
}

/// Writes the range of the parts: `52.1 to 86.2`.
fn range(ends: [f64; 2]) -> String {
    ends.map(gb).join(" to ")
}

/// Writes the read bandwidth: `read 43.6 GB/s with one thread, 87.4 GB/s with 4 threads (52.1 to
/// 86.2), 95% of the best with 3`.
fn reads(found: &Bandwidth) -> Option<String> {
    let curve = found.curve(Traffic::Read)?;
    let best = curve.best()?;
    let one = curve.point(1).filter(|_| best.threads > 1);
    let mut texts: Vec<String> = Vec::new();
    for point in one.into_iter().chain([best]) {
        let [low, high] = ends(point);
        let moved = high / low > MOVED;
        let range = if moved { format!(" ({})", range([low, high])) } else { String::new() };
        texts.push(format!(
            "{} GB/s with {}{range}",
            gb(point.bytes_per_s),
            threads(point.threads)
        ));
    }
    if let Some(knee) = curve.knee.as_ref().filter(|knee| knee.threads < best.threads) {
        texts.push(format!("95% of the best with {}", knee.threads));
    }
    let from = if found.is_from_caches { "perhaps from caches: " } else { "" };
    Some(format!("{from}read {}", joined(texts)))
}

/// Writes the other kernels, all with the number of threads that reads best: `with 2 threads write
/// 64.1, fill 81.4, copy 83.2, copy-past 90.1 GB/s`.
fn others(found: &Bandwidth) -> Option<String> {
    let number = found.curve(Traffic::Read)?.best()?.threads;
    let others = found.pinned().filter(|curve| curve.traffic as u8 >= Traffic::Write as u8);
    let rates = others.filter_map(|curve| {
        Some(format!("{} {}", curve.traffic.name(), gb(curve.point(number)?.bytes_per_s)))
    });
    let rates = Some(joined(rates)).filter(|rates| !rates.is_empty())?;
    Some(format!("with {} {rates} GB/s", threads(number)))
}

/// Writes the latency: `a load from memory takes 149 ns, 198 ns during reads of 3 threads at 76
/// GB/s`.
fn loaded(found: &Bandwidth) -> Option<String> {
    let idle = found.loaded_latency.iter().find(|one| one.asked_share == 0.0)?;
    let mut text = format!("a load from memory takes {:.0} ns", idle.latency_ns);
    if let Some(full) = found.loaded_latency.last().filter(|one| one.asked_share > 0.0) {
        let (readers, rate) = (threads(full.threads), gb(full.bytes_per_s));
        text += &format!(", {:.0} ns during reads of {readers} at {rate} GB/s", full.latency_ns);
    }
    Some(text)
}

/// Returns the small print of the page.
fn notes(found: &Bandwidth) -> Vec<String> {
    let points = found.pinned().flat_map(|curve| &curve.points);
    let all: u64 = points.clone().map(|point| point.windows).sum();
    let kept: u64 = points.map(|point| point.windows_kept).sum();
    let what = format!(
        "GB/s are 10^9 bytes a second, of all threads together, as a program counts them, where \
         nothing disturbs: 97% of all windows of {} ms in which every thread ran without a gap \
         ({kept} of {all}) stay below. Parts are consecutive windows, each with that rate of its \
         own. touch reads one value of each 64-byte line, as published (Lemire 2024); read reads \
         all of it ({}); fill and copy-past store past the caches; of a copy both bytes count. A \
         store may first read its line: then write moves 2 times what is shown, copy 1.5 times.",
        found.window_ns as f64 / 1e6,
        found.vectors
    );
    let buffers = format!(
        "Each thread has {} of its own, {} of it in large pages; of what is gone through, caches \
         hold {} at most. Pinned threads take CPUs in this order: {}.",
        bytes(found.buffer_bytes),
        or_dash(found.large_page_share, |share| percent(share, Rounding::Nearest)),
        or_dash(found.held_bytes, bytes),
        joined(found.cpus.iter().map(u32::to_string))
    );
    let mut notes = vec![what, buffers];
    if found.loaded_latency.is_empty() {
        let why = "that needs a second CPU, time, and windows in which all threads ran";
        notes.push(format!("Latency under load was not measured: {why}."));
    }
    notes
}
