//! Latency of loads, on a screen and as a picture.

use crate::screen::Row;
use crate::show::ns;
use crate::{CacheSize, Latency, LatencyCurve, TlbLevel};
use tiebreak_report::chart::{Chart, Curve, Scale};
use tiebreak_report::fact::bytes;
use tiebreak_report::look::{Look, Tone, span};
use tiebreak_report::number::{Rounding, percent};
use tiebreak_report::page::Page;
use tiebreak_report::svg;
use tiebreak_report::table::{Align, Column, render};

/// The lines of the screen that tells everything at once.
pub(super) fn rows(found: &Latency) -> Vec<Row> {
    let mut levels: Vec<String> = found.caches.iter().filter_map(short).collect();
    levels.extend(found.memory_ns.map(|latency| format!("memory {}", ns(latency))));
    if levels.is_empty() {
        levels.push("no level was found".to_owned());
    }
    let mut rows = vec![Row::new("", levels.join(", "))];
    let smaller: Vec<String> = found.caches.iter().filter_map(smaller).collect();
    if !smaller.is_empty() {
        rows.push(Row::new("", smaller.join("; ")));
    }
    if let Some(text) = translation(found) {
        rows.push(Row::new("", text));
    }
    rows
}

/// `L1 0.99 ns to 48 KiB`, or `L2 3.52 ns (512 KiB to 1 MiB)` where its end is not sharp.
fn short(cache: &CacheSize) -> Option<String> {
    let latency = ns(cache.latency_ns?);
    let size = ends(cache).map(|[low, high]| {
        if low == high {
            format!(" to {}", bytes(low))
        } else {
            format!(" ({})", range([low, high]))
        }
    });
    Some(format!("L{} {latency}{}", cache.level, size.unwrap_or_default()))
}

/// Between which sizes a cache ends; of an older print, where it was said to.
fn ends(cache: &CacheSize) -> Option<[u64; 2]> {
    let effective = cache.effective_bytes?;
    Some(cache.ends_within_bytes.unwrap_or([effective; 2]))
}

/// `1 MiB`, or `512 KiB to 1 MiB`.
fn range([low, high]: [u64; 2]) -> String {
    if low == high { bytes(low) } else { format!("{} to {}", bytes(low), bytes(high)) }
}

/// Where a cache held half of what is advertised at most, or cannot be seen at all. Others may use
/// the rest, so it is no contradiction.
fn smaller(cache: &CacheSize) -> Option<String> {
    let advertised = cache.advertised_bytes?;
    let name = format!("L{} is advertised as {}", cache.level, bytes(advertised));
    match (ends(cache), cache.latency_ns) {
        (Some(ends), _) if ends[1] * 2 <= advertised => {
            Some(format!("{name}; {} of it answered here, now", range(ends)))
        }
        (None, None) => Some(format!("{name}, but is no level of its own here")),
        _ => None,
    }
}

/// `TLB: free to 96 pages, +1.63 ns to 4096, then +9.10 ns`.
fn translation(found: &Latency) -> Option<String> {
    let (last, before) = found.tlb_levels.split_last().filter(|(_, rest)| !rest.is_empty())?;
    let words = |level: &TlbLevel| match level.extra_ns {
        extra if extra < 0.1 => "free".to_owned(),
        extra => format!("+{}", ns(extra)),
    };
    let pages = |index| if index == 0 { " pages" } else { "" };
    let before = before.iter().enumerate();
    let before =
        before.map(|(i, level)| format!("{} to {}{}", words(level), level.to_pages, pages(i)));
    let before = before.collect::<Vec<_>>().join(", ");
    Some(format!("TLB: {before}, then {}", words(last)))
}

/// Everything that was found, with its pictures in letters.
pub(super) fn page(found: &Latency, look: &Look) -> String {
    let mut text = heading(found, look);
    text += &caches(found, look);
    for chart in [by_size(found), by_pages(found)].into_iter().flatten() {
        text += "\n";
        text += &chart.text(look);
    }
    for curve in &found.curves {
        text += "\n";
        text += &levels(curve, look);
    }
    text += "\n";
    text += &small_print(found, look);
    text
}

fn heading(found: &Latency, look: &Look) -> String {
    let mut page = Page::new(*look);
    let head = format!("load latency, on CPU {}", found.cpu);
    page.paragraph("", &[span(Tone::Strong, head)]);
    if let Some(text) = translation(found) {
        page.paragraph("", &[span(Tone::Plain, text)]);
    }
    page.gap();
    page.finish()
}

/// A row a cache: latency, and what it holds beside what it should.
fn caches(found: &Latency, look: &Look) -> String {
    let size = |size: Option<u64>| size.map_or("-".to_owned(), bytes);
    let time = |latency: Option<f64>| latency.map_or("-".to_owned(), ns);
    let cells = |cell: &dyn Fn(&CacheSize) -> String, memory: Option<String>| {
        found.caches.iter().map(cell).chain(memory).collect::<Vec<_>>()
    };
    let memory = found.memory_ns;
    let none = memory.map(|_| "-".to_owned());
    let of = cells(&|cache| format!("L{}", cache.level), memory.map(|_| "memory".to_owned()));
    let latency = cells(&|cache| time(cache.latency_ns), memory.map(ns));
    let advertised = cells(&|cache| size(cache.advertised_bytes), none.clone());
    let effective = cells(&|cache| ends(cache).map_or("-".to_owned(), range), none);
    render(
        vec![
            Column::new("level", Align::Left, of),
            Column::new("latency", Align::Decimal, latency),
            Column::new("advertised", Align::Right, advertised),
            Column::new("effective", Align::Right, effective),
        ],
        look,
    )
}

/// The levels of one curve, as the change points cut it.
fn levels(curve: &LatencyCurve, look: &Look) -> String {
    let mut page = Page::new(*look);
    let share = curve
        .page_share
        .map(|share| format!(" ({} of the data lay on them)", percent(share, Rounding::Nearest)));
    let title = format!("pages of {}{}", bytes(curve.page_bytes), share.unwrap_or_default());
    page.paragraph("", &[span(Tone::Strong, title)]);
    let cells = |cell: fn(u64, u64, f64) -> String| -> Vec<String> {
        let levels = curve.levels.iter();
        levels.map(|level| cell(level.from_bytes, level.to_bytes, level.latency_ns)).collect()
    };
    let table = vec![
        Column::new("data from", Align::Right, cells(|from, _, _| bytes(from))),
        Column::new("to", Align::Right, cells(|_, to, _| bytes(to))),
        Column::new("a load takes", Align::Decimal, cells(|_, _, latency| ns(latency))),
    ];
    page.finish() + &render(table, look)
}

fn small_print(found: &Latency, look: &Look) -> String {
    let mut page = Page::new(*look);
    let judge = found
        .judged_by_page_bytes
        .map(|page| format!(" Caches are judged by the curve of pages of {}.", bytes(page)));
    let flushed = found.flushed_ns.map_or(String::new(), |flushed| {
        let flushed = ns(flushed);
        format!(
            " Memory is seen where all larger sizes take about as long as a load of a line that \
             was flushed just before, which takes {flushed}."
        )
    });
    let text = format!(
        "Each load waits for the one before; the lines of the data are visited once each, in \
         random order. Medians of batches of about 10 us. A level is a run of sizes whose \
         latencies differ little, and holds its largest size; steps between two levels are left \
         out. What the TLB costs is what a line on each of so many pages of 4 KiB costs more than \
         as many lines side by side.{}{flushed} Twice as many loads took {:.2} times as long.",
        judge.unwrap_or_default(),
        found.double_work_ratio
    );
    page.paragraph("", &[span(Tone::Dim, text)]);
    page.finish()
}

/// Latency over size, with a mark at what each cache should hold.
fn by_size(found: &Latency) -> Option<Chart> {
    let curve = |curve: &LatencyCurve| Curve {
        name: format!("pages of {}", bytes(curve.page_bytes)),
        points: curve.points.iter().map(|p| (p.size_bytes as f64, p.latency_ns)).collect(),
    };
    let mark = |cache: &CacheSize| {
        let size = cache.advertised_bytes?;
        Some((size as f64, format!("L{} {}", cache.level, bytes(size))))
    };
    (!found.curves.is_empty()).then(|| Chart {
        title: "load latency by size".to_owned(),
        x: axis("bytes of data", |value| bytes(value as u64)),
        y: axis("ns a load", ns),
        curves: found.curves.iter().map(curve).collect(),
        marks: found.caches.iter().filter_map(mark).collect(),
    })
}

/// Latency over the number of pages.
fn by_pages(found: &Latency) -> Option<Chart> {
    let curve = |name: &str, of: fn(&crate::TlbPoint) -> f64| Curve {
        name: name.to_owned(),
        points: found.tlb.iter().map(|point| (point.pages as f64, of(point))).collect(),
    };
    (!found.tlb.is_empty()).then(|| Chart {
        title: "load latency by pages in use".to_owned(),
        x: axis("lines, or pages of 4 KiB with a line on each", |value| format!("{value:.0}")),
        y: axis("ns a load", ns),
        curves: vec![
            curve("one line on each page", |point| point.apart_ns),
            curve("as many lines side by side", |point| point.packed_ns),
        ],
        marks: Vec::new(),
    })
}

fn axis(label: &str, write: fn(f64) -> String) -> Scale {
    Scale { label: label.to_owned(), is_log: true, from_zero: false, write }
}

/// The pictures as SVG.
pub(super) fn svg(found: &Latency) -> String {
    let charts: Vec<Chart> = [by_size(found), by_pages(found)].into_iter().flatten().collect();
    svg::charts(&charts)
}

#[cfg(test)]
mod tests;
