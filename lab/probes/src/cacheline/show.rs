//! The cache line, on a screen and as a picture.

use crate::show::*;
use crate::{Cacheline, FlushPoint, LineMethod};

/// Returns the lines of the screen that shows all probes.
pub(crate) fn rows(found: &Cacheline) -> Vec<Row> {
    let texts = [Some(answer(found)), published(found)];
    texts.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// Writes the answer: `64 bytes are flushed together, and sysfs says 64, CPUID says 64; prefetch
/// reaches 256 bytes`.
fn answer(found: &Cacheline) -> String {
    let Some((line, method)) = found.line_bytes.zip(found.answered_by) else {
        return "not known".to_owned();
    };
    let by = if method == LineMethod::FlushedTogether { "are" } else { "by" };
    let mut text = format!("{line} bytes {by} {}", method.words());
    if let Some(agrees) = found.agrees() {
        let said = found.advertised.iter();
        let said = said.map(|one| format!("{} says {}", one.source, one.line_bytes));
        text += &format!(", {} {}", if agrees { "and" } else { "but" }, joined(said));
    }
    if let Some(reach) = found.prefetch_reach_bytes.filter(|reach| *reach > line) {
        text += &format!("; prefetch reaches {reach} bytes");
    }
    text
}

/// Writes the gain: `strided copy: stride 129 passes 1.38x (1.30x to 1.52x) as fast as 64
/// (published: 1.59x to 1.66x)`.
fn published(found: &Cacheline) -> Option<String> {
    let gain = found.gain(64)?;
    let spread = gain.quartiles.map(|ends| format!(" ({})", range(ends))).unwrap_or_default();
    let gain = times(gain.ratio) + &spread;
    let published = "(published: 1.59x to 1.66x)";
    Some(format!("strided copy: stride 129 passes {gain} as fast as 64 {published}"))
}

fn times(value: f64) -> String {
    ratio(value, 2, Rounding::Nearest)
}

/// Writes a range of ratios: `1.30x to 1.52x`.
fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", times(low), times(high))
}

/// Returns everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Cacheline, look: &Look) -> String {
    let title = paragraph(Tone::Strong, format!("cache line: {}", answer(found)), look);
    let charts: Vec<String> = charts(found).iter().map(|chart| chart.text(look)).collect();
    let mut parts = vec![title, methods(found, look), charts.join("\n"), gains(found, look)];
    parts.retain(|part| !part.is_empty());
    parts.join("\n") + "\n" + &paragraph(Tone::Dim, SMALL_PRINT, look)
}

/// Returns a table with a row for each method and for each advertised size.
fn methods(found: &Cacheline, look: &Look) -> String {
    let said = found
        .said
        .iter()
        .map(|one| (one.method.words(), one.line_bytes.map_or("not known".to_owned(), in_bytes)));
    let missing = found.missing.iter();
    let missing = missing.map(|one| (one.method.words(), format!("not measured: {}", one.why)));
    let advertised = found.advertised.iter();
    let advertised = advertised.map(|one| (one.source.as_str(), in_bytes(one.line_bytes)));
    let rows: Vec<(&str, String)> = said.chain(missing).chain(advertised).collect();
    let table = Table::of(&rows).left("method", 0, |row| row.0);
    table.left("a line", 0, |row| row.1.clone()).text(look)
}

fn in_bytes(line: u64) -> String {
    format!("{line} bytes")
}

/// Returns a table of the published rule, tried on each length of a line: past twice the line, the
/// copy is more than 1.5x as fast.
fn gains(found: &Cacheline, look: &Look) -> String {
    Table::of(&found.gains)
        .right("strided copy at", 0, |gain| gain.stride_bytes)
        .right("against", 0, |gain| gain.line_bytes)
        .decimal("as fast", 0, |gain| times(gain.ratio))
        .left("quartiles", 0, |gain| gain.quartiles.map_or_else(String::new, range))
        .text(look)
}

/// What the words on the page mean.
const SMALL_PRINT: &str = "Flushed together: two addresses are loaded, the first, at the start of \
     a page, is flushed, the second is timed. Loaded together: both are flushed, the first is \
     loaded, the second is timed. False sharing: two CPUs increment two words. The strided copy \
     is the published program: every so many bytes of an array of 32 MiB one is copied to \
     another array, ten times at each stride; past twice a line it should be more than 1.5x as \
     fast. A machine that fetches ahead makes it ambiguous, so no answer rests on it.";

fn charts(found: &Cacheline) -> Vec<Chart> {
    let sharing = found.sharing.iter().map(|p| (p.distance_bytes as f64, p.increment_ns));
    let strided = found.strided.iter().map(|p| (p.stride_bytes as f64, p.passed_bytes_per_s / 1e9));
    let from_start = axis("bytes from the start of the line", true, true, whole);
    let slow = axis("share of slow loads", false, true, |v| percent(v, Rounding::Nearest));
    let between = axis("bytes between the words", true, true, whole);
    let increment = axis("time of an increment", false, true, ns);
    let stride = axis("stride in bytes", false, true, whole);
    let passed = axis("GB/s passed over, copied or not", false, true, whole);
    let near = [
        ("after it was flushed", shares(&found.flushed_together)),
        ("after it was loaded", shares(&found.loaded_together)),
    ];
    let words = [("increment", sharing.collect())];
    let copies = [("copy", strided.collect())];
    let mut charts = vec![
        chart("loads next to the start of a line", [from_start, slow], near),
        chart("two CPUs increment two words", [between, increment], words),
        chart("the strided copy, as published", [stride, passed], copies),
    ];
    let line = found.line_bytes.map(|line| (line as f64, format!("line {line}")));
    charts.iter_mut().for_each(|chart| chart.marks.extend(line.clone()));
    let reach = found.prefetch_reach_bytes.filter(|reach| Some(*reach) != found.line_bytes);
    charts[0].marks.extend(reach.map(|reach| (reach as f64, format!("prefetch {reach}"))));
    charts.retain(|chart| !chart.curves[0].points.is_empty());
    charts
}

fn shares(points: &[FlushPoint]) -> Vec<(f64, f64)> {
    points.iter().map(|point| (point.offset_bytes as f64, point.slow_share)).collect()
}

/// Returns the pictures as SVG.
pub(crate) fn svg(found: &Cacheline) -> String {
    tiebreak_report::svg::charts(&charts(found))
}

#[cfg(test)]
mod tests;
