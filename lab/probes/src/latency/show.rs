//! Latency of loads, on a screen and as a picture.

use crate::show::*;
use crate::{CacheSize, Latency, TlbLevel};

/// Returns the lines of the screen that shows all probes.
pub(crate) fn rows(found: &Latency) -> Vec<Row> {
    let mut levels: Vec<String> = found.caches.iter().filter_map(short).collect();
    levels.extend(found.memory_ns.map(|latency| format!("memory {}", ns(latency))));
    if levels.is_empty() {
        levels.push("no level was found".to_owned());
    }
    let unseen = found.caches.iter().filter_map(unseen).collect::<Vec<_>>().join("; ");
    let unseen = Some(unseen).filter(|text| !text.is_empty());
    let texts = [Some(levels.join(", ")), unseen, translation(found)];
    texts.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// Writes a cache: `L1 0.99 ns to 48 KiB`, or `L2 3.52 ns (512 KiB to 1 MiB)` where its end is not
/// sharp. Where that is half of what is advertised at most, as others use the rest: `L3 15.0 ns to
/// 4 MiB of 32 MiB`.
fn short(cache: &CacheSize) -> Option<String> {
    let latency = ns(cache.latency_ns?);
    let advertised = cache.advertised_bytes.unwrap_or(0);
    let size = ends(cache).map_or(String::new(), |[low, high]| {
        let is_less = high * 2 <= advertised;
        let of = if is_less { format!(" of {}", bytes(advertised)) } else { String::new() };
        let ends = range([low, high]);
        if low == high { format!(" to {ends}{of}") } else { format!(" ({ends}{of})") }
    });
    Some(format!("L{} {latency}{size}", cache.level))
}

/// Says that an advertised cache was not seen.
fn unseen(cache: &CacheSize) -> Option<String> {
    let advertised = cache.advertised_bytes?;
    let is_unseen = cache.latency_ns.is_none() && ends(cache).is_none();
    is_unseen
        .then(|| format!("L{} of {} is no level of its own here", cache.level, bytes(advertised)))
}

/// Returns the sizes between which a cache ends; for an older print its effective size.
fn ends(cache: &CacheSize) -> Option<[u64; 2]> {
    cache.ends_within_bytes.or(Some([cache.effective_bytes?; 2]))
}

/// Writes a range of sizes: `1 MiB`, or `512 KiB to 1 MiB`.
fn range([low, high]: [u64; 2]) -> String {
    if low == high { bytes(low) } else { format!("{} to {}", bytes(low), bytes(high)) }
}

/// Writes the levels of translation: `TLB: free to 96 pages, +1.63 ns to 4096, then +9.10 ns`.
fn translation(found: &Latency) -> Option<String> {
    let extra = |level: &TlbLevel| match level.extra_ns {
        less if less < 0.1 => "free".to_owned(),
        more => format!("+{}", ns(more)),
    };
    let (last, before) = found.tlb_levels.split_last().filter(|(_, rest)| !rest.is_empty())?;
    let before = before.iter().enumerate().map(|(index, level)| {
        let pages = if index == 0 { " pages" } else { "" };
        format!("{} to {}{pages}", extra(level), level.to_pages)
    });
    Some(format!("TLB: {}, then {}", joined(before), extra(last)))
}

/// Returns everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Latency, look: &Look) -> String {
    let mut parts = vec![heading(found, look)];
    parts.extend(charts(found).iter().map(|chart| chart.text(look)));
    parts.push(small_print(found, look));
    parts.join("\n")
}

/// Returns a title, and a table with a row for each cache and one for memory, if it was seen.
fn heading(found: &Latency, look: &Look) -> String {
    let title = format!("load latency, on CPU {}", found.cpu);
    let translation = translation(found).map(|text| paragraph(Tone::Plain, text, look));
    let memory = CacheSize { latency_ns: found.memory_ns, ..CacheSize::default() };
    let rows: Vec<&CacheSize> =
        found.caches.iter().chain(found.memory_ns.map(|_| &memory)).collect();
    let table = Table::of(&rows)
        .left("level", 0, |cache| match cache.level {
            0 => "memory".to_owned(),
            level => format!("L{level}"),
        })
        .decimal("latency", 0, |cache| or_dash(cache.latency_ns, ns))
        .right("advertised", 0, |cache| or_dash(cache.advertised_bytes, bytes))
        .right("effective", 0, |cache| or_dash(ends(cache), range));
    let title = paragraph(Tone::Strong, title, look) + &translation.unwrap_or_default();
    title + "\n" + &table.text(look)
}

fn small_print(found: &Latency, look: &Look) -> String {
    let judge = or_dash(found.judged_by_page_bytes, bytes);
    let text = format!(
        "Each load waits for the one before; the lines of the data are visited once each, in \
         random order. Medians of batches of about 10 us. A level is a run of sizes whose \
         latencies differ little, and holds its largest size; caches are judged by the curve of \
         pages of {judge}. What the TLB costs is what a line on each of so many pages of 4 KiB \
         costs more than as many lines side by side. A load of a line that was flushed just before \
         takes {}. Twice as many loads took {:.2} times as long.",
        or_dash(found.flushed_ns, ns),
        found.double_work_ratio
    );
    paragraph(Tone::Dim, text, look)
}

/// Returns latency over size, with a mark at the advertised size of each cache, and latency over
/// the number of pages.
fn charts(found: &Latency) -> Vec<Chart> {
    let curves = found.curves.iter().map(|curve| {
        let points = curve.points.iter().map(|p| (p.size_bytes as f64, p.latency_ns));
        (format!("pages of {}", bytes(curve.page_bytes)), points.collect())
    });
    let apart = found.tlb.iter().map(|point| (point.pages as f64, point.apart_ns));
    let packed = found.tlb.iter().map(|point| (point.pages as f64, point.packed_ns));
    let tlb = [
        ("one line on each page", apart.collect()),
        ("as many lines side by side", packed.collect()),
    ];
    let size = axis("bytes of data", true, false, |value| bytes(value as u64));
    let pages = axis("lines, or pages of 4 KiB with a line on each", true, false, whole);
    let [up, also_up] = [(); 2].map(|()| axis("ns a load", true, false, ns));
    let mut charts = vec![
        chart("load latency by size", [size, up], curves),
        chart("load latency by pages in use", [pages, also_up], tlb),
    ];
    charts[0].marks.extend(found.caches.iter().filter_map(|cache| {
        let size = cache.advertised_bytes?;
        Some((size as f64, format!("L{} {}", cache.level, bytes(size))))
    }));
    charts.retain(|chart| chart.curves.iter().any(|curve| !curve.points.is_empty()));
    charts
}

/// Returns the pictures as SVG.
pub(crate) fn svg(found: &Latency) -> String {
    tiebreak_report::svg::charts(&charts(found))
}

#[cfg(test)]
mod tests;
