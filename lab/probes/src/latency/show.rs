//! Latency of loads, on a screen and as a picture.

use crate::show::*;
use crate::{CacheSize, Latency, LatencyCurve, TlbLevel};

/// The lines of the screen that tells everything at once.
pub(crate) fn rows(found: &Latency) -> Vec<Row> {
    let mut levels: Vec<String> = found.caches.iter().filter_map(short).collect();
    levels.extend(found.memory_ns.map(|latency| format!("memory {}", ns(latency))));
    if levels.is_empty() {
        levels.push("no level was found".to_owned());
    }
    let smaller: Vec<String> = found.caches.iter().filter_map(smaller).collect();
    let smaller = (!smaller.is_empty()).then(|| smaller.join("; "));
    let said = [Some(levels.join(", ")), smaller, translation(found)];
    said.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// `L1 0.99 ns to 48 KiB`, or `L2 3.52 ns (512 KiB to 1 MiB)` where its end is not sharp.
fn short(cache: &CacheSize) -> Option<String> {
    let latency = ns(cache.latency_ns?);
    let size = ends(cache).map(|ends| match ends {
        [low, high] if low == high => format!(" to {}", bytes(low)),
        ends => format!(" ({})", range(ends)),
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
pub(crate) fn page(found: &Latency, look: &Look) -> String {
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

/// A row a cache: latency, and what it holds beside what it should; and one of memory, if it was
/// seen.
fn caches(found: &Latency, look: &Look) -> String {
    let memory = CacheSize { latency_ns: found.memory_ns, ..CacheSize::default() };
    let rows: Vec<(String, &CacheSize)> = found
        .caches
        .iter()
        .map(|cache| (format!("L{}", cache.level), cache))
        .chain(found.memory_ns.map(|_| ("memory".to_owned(), &memory)))
        .collect();
    Table::of(&rows)
        .left("level", 0, |(name, _)| name.clone())
        .decimal("latency", 0, |(_, cache)| or_dash(cache.latency_ns, ns))
        .right("advertised", 0, |(_, cache)| or_dash(cache.advertised_bytes, bytes))
        .right("effective", 0, |(_, cache)| or_dash(ends(cache), range))
        .text(look)
}

/// The levels of one curve, as the change points cut it.
fn levels(curve: &LatencyCurve, look: &Look) -> String {
    let share = curve
        .page_share
        .map(|share| format!(" ({} of the data lay on them)", percent(share, Rounding::Nearest)));
    let title = format!("pages of {}{}", bytes(curve.page_bytes), share.unwrap_or_default());
    let table = Table::of(&curve.levels)
        .right("data from", 0, |level| bytes(level.from_bytes))
        .right("to", 0, |level| bytes(level.to_bytes))
        .decimal("a load takes", 0, |level| ns(level.latency_ns));
    paragraph(Tone::Strong, title, look) + &table.text(look)
}

fn small_print(found: &Latency, look: &Look) -> String {
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
    paragraph(Tone::Dim, text, look)
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
        x: axis("bytes of data", true, false, |value| bytes(value as u64)),
        y: axis("ns a load", true, false, ns),
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
        x: axis("lines, or pages of 4 KiB with a line on each", true, false, |n| format!("{n:.0}")),
        y: axis("ns a load", true, false, ns),
        curves: vec![
            curve("one line on each page", |point| point.apart_ns),
            curve("as many lines side by side", |point| point.packed_ns),
        ],
        marks: Vec::new(),
    })
}

/// The pictures as SVG.
pub(crate) fn svg(found: &Latency) -> String {
    let charts: Vec<Chart> = [by_size(found), by_pages(found)].into_iter().flatten().collect();
    tiebreak_report::svg::charts(&charts)
}

#[cfg(test)]
mod tests;
