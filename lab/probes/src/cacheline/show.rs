//! The cache line, on a screen and as a picture.

use crate::show::*;
use crate::{Cacheline, FlushPoint, LineAnswer, LineMethod};

/// The lines of the screen that tells everything at once.
pub(crate) fn rows(found: &Cacheline) -> Vec<Row> {
    let said = [Some(answer(found)), published(found)];
    said.into_iter().flatten().map(|text| Row::new("", text)).collect()
}

/// `64 bytes are flushed together, as sysfs and CPUID say; prefetch reaches 256 bytes`.
fn answer(found: &Cacheline) -> String {
    let Some((line, method)) = found.line_bytes.zip(found.answered_by) else {
        return "not known".to_owned();
    };
    let mut text = match method {
        LineMethod::FlushedTogether | LineMethod::LoadedTogether => {
            format!("{line} bytes are {}", method.words())
        }
        LineMethod::Sharing | LineMethod::Strided => format!("{line} bytes by {}", method.words()),
    };
    let sources: Vec<&str> = found.advertised.iter().map(|said| said.source.as_str()).collect();
    let sources = sources.join(" and ");
    match found.agrees() {
        Some(true) => {
            let say = if found.advertised.len() == 1 { "says" } else { "say" };
            text += &format!(", as {sources} {say}");
        }
        Some(false) => {
            let each =
                found.advertised.iter().map(|s| format!("{} says {}", s.source, s.line_bytes));
            text += &format!(", but {}", each.collect::<Vec<_>>().join(", "));
        }
        None => {}
    }
    if let Some(reach) = found.prefetch_reach_bytes.filter(|reach| *reach > line) {
        text += &format!("; prefetch reaches {reach} bytes");
    }
    text
}

/// `strided copy: stride 129 passes 1.38x (1.30x to 1.52x) as fast as 64 (published: 1.59x to
/// 1.66x)`.
fn published(found: &Cacheline) -> Option<String> {
    let gain = found.gain(64)?;
    let spread = gain.quartiles.map(|ends| format!(" ({})", told(ends))).unwrap_or_default();
    let gain = ratio(gain.ratio, 2, Rounding::Nearest);
    let published = "published: 1.59x to 1.66x";
    Some(format!("strided copy: stride 129 passes {gain}{spread} as fast as 64 ({published})"))
}

/// `1.30x to 1.52x`.
fn told(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(|times| ratio(times, 2, Rounding::Nearest));
    format!("{low} to {high}")
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Cacheline, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Strong, format!("cache line: {}", answer(found)))]);
    page.gap();
    let mut text = page.finish() + &methods(found, look);
    for chart in charts(found) {
        text += "\n";
        text += &chart.text(look);
    }
    if !found.gains.is_empty() {
        text += "\n";
        text += &gains(found, look);
    }
    text + "\n" + &small_print(found, look)
}

/// A row a method, and one for each that says of itself.
fn methods(found: &Cacheline, look: &Look) -> String {
    let names = found.said.iter().map(|said| said.method.words().to_owned());
    let missing = found.missing.iter().map(|missing| missing.method.words().to_owned());
    let sources = found.advertised.iter().map(|said| said.source.clone());
    let line = |said: &LineAnswer| match said.line_bytes {
        Some(line) => format!("{line} bytes"),
        None => "cannot be told".to_owned(),
    };
    let lines = found.said.iter().map(line);
    let whys = found.missing.iter().map(|missing| format!("not measured: {}", missing.why));
    let advertised = found.advertised.iter().map(|said| format!("{} bytes", said.line_bytes));
    let names = names.chain(missing).chain(sources);
    let rows: Vec<_> = names.zip(lines.chain(whys).chain(advertised)).collect();
    let table = Table::of(&rows).left("method", 0, |row| row.0.clone());
    table.left("a line", 0, |row| row.1.clone()).text(look)
}

/// The published rule, tried on each length of a line.
fn gains(found: &Cacheline, look: &Look) -> String {
    let title = "the published rule: past twice the line, more than 1.5x as fast";
    let table = Table::of(&found.gains)
        .right("if a line has", 0, |gain| bytes(gain.line_bytes))
        .right("stride", 0, |gain| gain.stride_bytes)
        .right("against", 0, |gain| gain.line_bytes)
        .decimal("as fast", 0, |gain| ratio(gain.ratio, 2, Rounding::Nearest))
        .left("quartiles", 0, |gain| gain.quartiles.map_or_else(String::new, told));
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
    if found.said.iter().any(|said| said.method == LineMethod::Sharing) {
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
    let line = found.line_bytes.map(|line| (line as f64, format!("line {line}")));
    let reach = found.prefetch_reach_bytes.filter(|reach| Some(*reach) != found.line_bytes);
    let reach = reach.map(|reach| (reach as f64, format!("prefetch {reach}")));
    let axis = |label, is_log, write| axis(label, is_log, true, write);
    let whole: fn(f64) -> String = |value| format!("{value:.0}");
    let curve = |name: &str, points: Vec<(f64, f64)>| Curve { name: name.to_owned(), points };
    let shares = |points: &[FlushPoint]| -> Vec<(f64, f64)> {
        points.iter().map(|point| (point.offset_bytes as f64, point.slow_share)).collect()
    };
    let sharing = found.sharing.iter().map(|p| (p.distance_bytes as f64, p.increment_ns)).collect();
    let strided = found.strided.iter().filter(|point| point.stride_bytes >= 16);
    let strided =
        strided.map(|p| (p.stride_bytes as f64, p.passed_bytes_per_s / 1e9)).collect::<Vec<_>>();
    let all = [
        Chart {
            title: "loads beside the start of a line".to_owned(),
            x: axis("bytes from the start of the line", true, whole),
            y: axis("share of slow loads", false, |value| percent(value, Rounding::Nearest)),
            curves: vec![
                curve("after it was flushed", shares(&found.flushed_together)),
                curve("after it was loaded", shares(&found.loaded_together)),
            ],
            marks: line.iter().cloned().chain(reach).collect(),
        },
        Chart {
            title: "two CPUs increment two words".to_owned(),
            x: axis("bytes between the words", true, whole),
            y: axis("time of an increment", false, ns),
            curves: vec![curve("increment", sharing)],
            marks: line.iter().cloned().collect(),
        },
        Chart {
            title: "the strided copy, as published".to_owned(),
            x: axis("stride in bytes", false, whole),
            y: axis("GB/s passed over, copied or not", false, whole),
            curves: vec![curve("copy", strided)],
            marks: line.into_iter().collect(),
        },
    ];
    all.into_iter().filter(|chart| !chart.curves[0].points.is_empty()).collect()
}

/// The pictures as SVG.
pub(crate) fn svg(found: &Cacheline) -> String {
    tiebreak_report::svg::charts(&charts(found))
}

#[cfg(test)]
mod tests;
