//! Bandwidth, on a screen and as a picture.

#[cfg(test)]
mod tests;

use crate::show::*;
use crate::{Bandwidth, BandwidthCurve, BandwidthPoint, Spread, Traffic};
use std::collections::BTreeSet;

/// Parts agree if the ratio of the best one to the least one is below this.
const MOVED: f64 = 1.25;

/// Returns the lines of the screen that shows all probes.
pub(crate) fn rows(found: &Bandwidth) -> Vec<Row> {
    let texts = [reads(found), others(found), loaded(found)];
    texts.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// Returns everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Bandwidth, look: &Look) -> String {
    let mut charts = charts(found).into_iter().map(|chart| chart.text(look));
    let mut notes_page = Page::new(*look);
    for note in notes(found) {
        notes_page.paragraph("", &[span(Tone::Dim, note)]);
    }
    let by_threads = by_threads(found, look);
    let [knees, nodes, loads] = tables(found, look);
    let [first, second] = [(); 2].map(|()| charts.next().unwrap_or_default());
    let parts = [by_threads, first, knees, nodes, loads, second, notes_page.finish()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Returns the picture as SVG.
pub(crate) fn svg(found: &Bandwidth) -> String {
    tiebreak_report::svg::charts(&charts(found))
}

/// Returns a table with a row for each number of threads, and a column for each curve: reads stay
/// the longest on a narrow screen.
fn by_threads(found: &Bandwidth, look: &Look) -> String {
    let points = found.pinned().flat_map(|curve| &curve.points);
    let threads = points.map(|point| point.threads).collect::<BTreeSet<_>>();
    let threads: Vec<u32> = threads.into_iter().collect();
    let mut table = Table::of(&threads).right("threads, GB/s", 0, |threads| *threads);
    for curve in found.pinned() {
        let rank = match curve.traffic {
            Traffic::Read => 0,
            Traffic::Write | Traffic::Fill => 2,
            _ => 1,
        };
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
        .filter_map(|curve| Some((curve.traffic.name(), best(curve)?, curve.knee.as_ref()?)))
        .collect();
    let knees = Table::of(&known)
        .left("curve", 0, |(name, ..)| name.to_string())
        .decimal("best GB/s", 0, |(_, best, _)| gb(best.bytes_per_s))
        .left("its parts", 2, |(_, best, _)| parts(best))
        .right("with", 3, |(_, best, _)| best.threads)
        .right("95% with", 0, |(.., knee)| knee.threads)
        .left("parts say", 1, |(.., knee)| match (knee.low_threads, knee.high_threads) {
            (low, high) if low == high => low.to_string(),
            (low, high) => format!("{low} to {high}"),
        })
        .right("so many agree", 4, |(.., knee)| percent(knee.agreeing_share, Rounding::Nearest));
    let nodes = Table::of(&found.between_nodes)
        .right("CPUs of node", 0, |row| row.cpu_node)
        .right("memory of node", 0, |row| row.memory_node)
        .left("", 0, |row| if row.cpu_node == row.memory_node { "local" } else { "remote" })
        .right("threads", 1, |row| row.threads)
        .decimal("read GB/s", 0, |row| gb(row.bytes_per_s));
    let loads = Table::of(&found.loaded_latency)
        .right("threads that read", 0, |row| row.threads)
        .decimal("read GB/s", 0, |row| gb(row.bytes_per_s))
        .right("ns a load", 0, |row| whole(row.latency_ns))
        .right("windows", 1, |row| row.windows_kept);
    [knees.text(look), nodes.text(look), loads.text(look)]
}

/// Returns bandwidth by threads, a pinned curve for each kernel, with the knee of the reads; and
/// latency by the bandwidth beside it, if there are several levels of load.
fn charts(found: &Bandwidth) -> Vec<Chart> {
    let pinned = found.pinned().map(|curve| {
        let points = curve.points.iter().map(|p| (f64::from(p.threads), p.bytes_per_s));
        (curve.traffic.name(), points.collect())
    });
    let most = found.cpus.len();
    let axes =
        [axis("threads", most > 16, false, whole_tick), axis("GB/s", false, true, giga_tick)];
    let mut by_threads = chart("Bandwidth by threads", axes, pinned);
    let knee = found.curve(Traffic::Read).and_then(|curve| curve.knee.as_ref());
    if let Some(knee) = knee.filter(|knee| most > 2 && knee.threads > 1) {
        by_threads.marks.push((f64::from(knee.threads), "95%".to_owned()));
    }
    let mut charts = vec![by_threads];
    if found.loaded_latency.len() > 1 {
        let mut points: Vec<(f64, f64)> =
            found.loaded_latency.iter().map(|one| (one.bytes_per_s, one.latency_ns)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let x = axis("GB/s that the other threads read", false, true, giga_tick);
        charts.push(chart(
            "Latency of a load beside reads",
            [x, axis("ns", false, true, whole_tick)],
            [("a load from memory", points)],
        ));
    }
    charts
}

/// Writes a tick in gigabytes per second, which are round.
fn giga_tick(bytes_per_s: f64) -> String {
    format!("{}", bytes_per_s / 1e9)
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

/// Returns the best point of a curve; among equal ones that with the fewest threads.
fn best(curve: &BandwidthCurve) -> Option<&BandwidthPoint> {
    curve.points.iter().rev().max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
}

/// Writes the read bandwidth: `read 43.6 GB/s with one thread, 87.4 with 4 (medians 52.1 to 86.2),
/// 95% of the best with 3`.
fn reads(found: &Bandwidth) -> Option<String> {
    let curve = found.curve(Traffic::Read)?;
    let best = best(curve)?;
    let range = |point: &BandwidthPoint| {
        if apart(point) > MOVED { format!(" ({})", parts(point)) } else { String::new() }
    };
    let from = if found.is_from_caches { "from caches, not memory: " } else { "" };
    let of_best = (gb(best.bytes_per_s), best.threads, range(best));
    let Some(one) = curve.point(1) else {
        let (rate, threads, range) = of_best;
        return Some(format!("{from}read {rate} GB/s with {threads} threads{range}"));
    };
    let mut text = format!("{from}read {} GB/s with one thread{}", gb(one.bytes_per_s), range(one));
    if let (rate, threads @ 2.., range) = &of_best {
        text += &format!(", {rate} with {threads}{range}");
    }
    if let Some(knee) = curve.knee.as_ref().filter(|knee| knee.threads < best.threads) {
        text += &format!(", 95% of the best with {}", knee.threads);
    }
    Some(text)
}

/// Returns the least and the best part; older prints have other rounds, too.
fn ends(point: &BandwidthPoint) -> [f64; 2] {
    let spread = Spread::of(point.parts_bytes_per_s.iter().copied());
    spread.map_or([point.low_bytes_per_s, point.high_bytes_per_s], |all| [all.low, all.high])
}

/// Writes the range of the parts: `52.1 to 86.2`.
fn parts(point: &BandwidthPoint) -> String {
    let [low, high] = ends(point).map(gb);
    format!("{low} to {high}")
}

/// Returns the ratio of the best part to the least one.
fn apart(point: &BandwidthPoint) -> f64 {
    let [low, high] = ends(point);
    high / low
}

/// Writes the other kernels, all with the same number of threads: `with 2 threads write 64.1, fill
/// 81.4, copy 83.2, copy-past 90.1 GB/s`.
fn others(found: &Bandwidth) -> Option<String> {
    const OTHERS: [Traffic; 4] = [Traffic::Write, Traffic::Fill, Traffic::Copy, Traffic::CopyPast];
    let threads = found.shared_best(&OTHERS)?;
    let parts = OTHERS.iter().filter_map(|traffic| {
        let point = found.curve(*traffic)?.point(threads)?;
        Some(format!("{} {}", traffic.name(), gb(point.bytes_per_s)))
    });
    let with = if threads == 1 { "one thread".to_owned() } else { format!("{threads} threads") };
    Some(format!("with {with} {} GB/s", joined(parts)))
}

/// Writes the latency: `a load from memory takes 149 ns, 198 ns beside 3 threads that read at 76
/// GB/s`.
fn loaded(found: &Bandwidth) -> Option<String> {
    let idle = found.loaded_latency.iter().find(|one| one.asked_share == 0.0)?;
    let mut text = format!("a load from memory takes {:.0} ns", idle.latency_ns);
    if let Some(full) = found.loaded_latency.last().filter(|one| one.asked_share > 0.0) {
        let who = match full.threads {
            1 => "a thread that reads".to_owned(),
            more => format!("{more} threads that read"),
        };
        let rate = gb(full.bytes_per_s);
        text += &format!(", {:.0} ns beside {who} at {rate} GB/s", full.latency_ns);
    }
    Some(text)
}

/// Returns the small print of the page.
fn notes(found: &Bandwidth) -> Vec<String> {
    let mut notes = vec![
        format!(
            "GB/s are 10^9 bytes a second, of all threads together, as a program counts them, \
             where nothing disturbs: 97% of all windows of time stay below. Parts are consecutive \
             windows, each with that rate of its own. touch reads one value of each 64-byte line, \
             as published (Lemire 2024); read reads all of it ({}); write stores; fill stores past \
             the caches; copy reads and stores, and both count; copy-past stores past the caches.",
            found.vectors
        ),
        format!(
            "A store may first read the line that it changes. Then write moves {} times what is \
             shown to and from memory, and copy {} times.",
            Traffic::Write.most_moved(),
            Traffic::Copy.most_moved()
        ),
    ];
    let points = found.pinned().flat_map(|curve| curve.points.iter().map(move |p| (curve, p)));
    let all: u64 = points.clone().map(|(_, point)| point.windows).sum();
    let kept: u64 = points.clone().map(|(_, point)| point.windows_kept).sum();
    if all > 0 {
        notes.push(format!(
            "Only windows of {} ms count in which every thread ran without a gap: {kept} of {all} \
             ({}).",
            found.window_ns as f64 / 1e6,
            percent(kept as f64 / all as f64, Rounding::Nearest)
        ));
    }
    notes.push(buffers(found));
    let farthest = points.max_by(|a, b| apart(a.1).total_cmp(&apart(b.1)));
    if let Some((curve, point)) = farthest.filter(|(_, point)| apart(point) > MOVED) {
        notes.push(format!(
            "Parts differ: {} with {} was between {} GB/s. A hypervisor that moves CPUs does that, \
             and so do others who use the same memory.",
            curve.traffic.name(),
            count(u64::from(point.threads), "thread"),
            parts(point).replace(" to ", " and ")
        ));
    }
    let of_nodes = match (found.nodes, found.between_nodes.is_empty()) {
        (Some(0 | 1), _) => "There is one memory node, so nothing is remote.",
        (Some(_), true) => {
            "Between memory nodes nothing was measured: see the reasons for degraded."
        }
        (None, _) => "The machine does not say which memory nodes it has.",
        (Some(_), false) => "",
    };
    notes.extend(Some(of_nodes.to_owned()).filter(|note| !note.is_empty()));
    if found.loaded_latency.is_empty() {
        let why = if found.cpus.len() < 2 {
            "there is one CPU only"
        } else {
            "no window in which all threads ran, or no time"
        };
        notes.push(format!("Latency beside bandwidth was not measured: {why}."));
    }
    notes
}

fn buffers(found: &Bandwidth) -> String {
    let mut text = format!("Each thread has {} MiB of its own", found.buffer_bytes >> 20);
    if let Some(share) = found.large_page_share {
        text += &format!(", {} of it in large pages", percent(share, Rounding::Nearest));
    }
    if let Some(bytes) = found.last_level_bytes {
        text += &format!("; the last level cache is said to have {} MiB", bytes >> 20);
    }
    if let Some(bytes) = found.held_bytes {
        text += &format!("; of what is gone through, caches hold {} MiB at most", bytes >> 20);
    }
    let cpus = joined(found.cpus.iter().take(64).map(u32::to_string));
    let more = if found.cpus.len() > 64 { ", ..." } else { "" };
    format!("{text}. Pinned threads take CPUs in this order: {cpus}{more}.")
}
