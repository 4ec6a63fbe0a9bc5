//! The cache line, on a screen and as a picture.

use crate::show::*;
use crate::{Cacheline, FlushPoint, LineMethod};

/// Returns the lines of the screen that shows all probes.
pub(crate) fn rows(found: &Cacheline) -> Vec<Row> {
    let texts = [Some(answer(found)), published(found)];
    texts.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// Writes the answer: `64 bytes are flushed together, as sysfs and CPUID say; prefetch reaches 256
/// bytes`.
fn answer(found: &Cacheline) -> String {
    let Some((line, method)) = found.line_bytes.zip(found.answered_by) else {
        return "not known".to_owned();
    };
    let by = if method == LineMethod::FlushedTogether { "are" } else { "by" };
    let mut text = format!("{line} bytes {by} {}", method.words());
    let advertised = found.advertised.iter();
    match found.agrees() {
        Some(true) => {
            let sources: Vec<&str> = advertised.map(|one| one.source.as_str()).collect();
            let say = if sources.len() == 1 { "says" } else { "say" };
            text += &format!(", as {} {say}", sources.join(" and "));
        }
        Some(false) => {
            let each = advertised.map(|one| format!("{} says {}", one.source, one.line_bytes));
            text += &format!(", but {}", joined(each));
        }
        None => {}
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
    let gain = times(gain.ratio);
    let published = "published: 1.59x to 1.66x";
    Some(format!("strided copy: stride 129 passes {gain}{spread} as fast as 64 ({published})"))
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
    let title = format!("cache line: {}", answer(found));
    let mut parts = vec![paragraph(Tone::Strong, title, look), methods(found, look)];
    parts.extend(charts(found).iter().map(|chart| chart.text(look)));
    if !found.gains.is_empty() {
        parts.push(gains(found, look));
    }
    parts.push(small_print(found, look));
    parts.join("\n")
}

/// Returns a table with a row for each method and for each advertised size.
fn methods(found: &Cacheline, look: &Look) -> String {
    let bytes = |line: u64| format!("{line} bytes");
    let said = found
        .said
        .iter()
        .map(|one| (one.method.words(), one.line_bytes.map_or("cannot be told".to_owned(), bytes)));
    let missing = found.missing.iter();
    let missing = missing.map(|one| (one.method.words(), format!("not measured: {}", one.why)));
    let advertised = found.advertised.iter();
    let advertised = advertised.map(|one| (one.source.as_str(), bytes(one.line_bytes)));
    let rows: Vec<(&str, String)> = said.chain(missing).chain(advertised).collect();
    let table = Table::of(&rows).left("method", 0, |row| row.0);
    table.left("a line", 0, |row| row.1.clone()).text(look)
}

/// Returns a table of the published rule, tried on each length of a line.
fn gains(found: &Cacheline, look: &Look) -> String {
    let title = "the published rule: past twice the line, more than 1.5x as fast";
    let table = Table::of(&found.gains)
        .right("if a line has", 0, |gain| bytes(gain.line_bytes))
        .right("stride", 0, |gain| gain.stride_bytes)
        .right("against", 0, |gain| gain.line_bytes)
        .decimal("as fast", 0, |gain| times(gain.ratio))
        .left("quartiles", 0, |gain| gain.quartiles.map_or_else(String::new, range));
    paragraph(Tone::Strong, title, look) + &table.text(look)
}

fn small_print(found: &Cacheline, look: &Look) -> String {
    let mut text = String::new();
    if !found.flushed_together.is_empty() {
        text += "Flushed together: two addresses are loaded, the first, at the start of a page, is \
                 flushed, the second is timed. Loaded together: both are flushed, the first is \
                 loaded, the second is timed; where most are slow, nothing was fetched ahead any \
                 more. Slow is what takes longer than the geometric mean of a hit and a miss. ";
    }
    if found.said.iter().any(|one| one.method == LineMethod::Sharing) {
        text += "False sharing: two CPUs increment two words, and only batches count during which \
                 both ran. ";
    }
    text += "The strided copy is the published program: every so many bytes of an array of 32 MiB \
             one is copied to another array, ten times at each stride; medians. Strides that the \
             rule compares take turns in drawn order; quartiles are those of the ratio in each \
             turn. A machine that fetches ahead makes it ambiguous, so no answer rests on it.";
    paragraph(Tone::Dim, text, look)
}

fn charts(found: &Cacheline) -> Vec<Chart> {
    let sharing = found.sharing.iter().map(|p| (p.distance_bytes as f64, p.increment_ns));
    let strided = found.strided.iter().filter(|point| point.stride_bytes >= 16);
    let strided = strided.map(|p| (p.stride_bytes as f64, p.passed_bytes_per_s / 1e9));
    let [from_start, between] = ["bytes from the start of the line", "bytes between the words"]
        .map(|label| axis(label, true, true, whole));
    let mut charts = vec![
        chart(
            "loads beside the start of a line",
            [
                from_start,
                axis("share of slow loads", false, true, |v| percent(v, Rounding::Nearest)),
            ],
            [
                ("after it was flushed", shares(&found.flushed_together)),
                ("after it was loaded", shares(&found.loaded_together)),
            ],
        ),
        chart(
            "two CPUs increment two words",
            [between, axis("time of an increment", false, true, ns)],
            [("increment", sharing.collect())],
        ),
        chart(
            "the strided copy, as published",
            [
                axis("stride in bytes", false, true, whole),
                axis("GB/s passed over, copied or not", false, true, whole),
            ],
            [("copy", strided.collect())],
        ),
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
