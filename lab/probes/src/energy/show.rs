//! Energy, on a screen and as a picture.

#[cfg(test)]
mod tests;

use crate::show::bars::bars;
use crate::show::*;
use crate::{Energy, EnergyLoad};

const INCLUDED: &str = "The meter knows no processes: whatever else runs there, other tenants of \
                        the machine included, is in every figure.";

/// The lines of the screen that tells everything at once.
pub(crate) fn rows(found: &Energy) -> Vec<Row> {
    let mut text = format!("{} idle", watts(found.idle_watts));
    for load in most_of_each_width(found) {
        text += &format!(", {} with {} busy", watts(load.watts), cpus(load));
    }
    vec![Row::new("", format!("{text} ({})", found.source))]
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Energy, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.line(&[span(Tone::Strong, "energy")]);
    let period = period(found.period_ns);
    let source = format!("Metered by {}, which moves every {period}. {INCLUDED}", found.source);
    page.paragraph("", &[span(Tone::Plain, source)]);
    page.gap();
    for line in picture(found, look) {
        page.line(&[span(Tone::Plain, line)]);
    }
    page.gap();
    lines(&mut page, loads(found), look);
    page.gap();
    page.paragraph("", &[span(Tone::Dim, about_idle(found))]);
    if found.parts.len() > 1 {
        page.gap();
        lines(&mut page, parts(found), look);
    }
    page.finish()
}

/// The picture as SVG.
pub(crate) fn svg(found: &Energy) -> String {
    bars("Power by load", INCLUDED, watts, &all(found))
}

/// Of each number of CPUs, the load that took most.
fn most_of_each_width(found: &Energy) -> Vec<&EnergyLoad> {
    let mut most: Vec<&EnergyLoad> = Vec::new();
    for load in &found.loads {
        match most.iter_mut().find(|other| other.cpus == load.cpus) {
            Some(other) if other.watts < load.watts => *other = load,
            Some(_) => {}
            None => most.push(load),
        }
    }
    most
}

/// What is drawn: the idle machine and each load.
fn all(found: &Energy) -> Vec<(String, f64)> {
    let loads = found.loads.iter().map(|load| (full_name(load), load.watts));
    [("idle".to_owned(), found.idle_watts)].into_iter().chain(loads).collect()
}

fn full_name(load: &EnergyLoad) -> String {
    format!("{}, {}", load.name, cpus(load))
}

fn cpus(load: &EnergyLoad) -> String {
    if load.cpus == 1 { "one CPU".to_owned() } else { format!("all {} CPUs", load.cpus) }
}

/// Bars in letters: watts by load, from 0.
fn picture(found: &Energy, look: &Look) -> Vec<String> {
    let all = all(found);
    let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let names = widest(&mut all.iter().map(|(name, _)| name.len()));
    let numbers = widest(&mut all.iter().map(|(_, value)| watts(*value).len()));
    let most = all.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let room = look.columns().saturating_sub(names + 2 + 1 + numbers).max(2);
    let line = |(name, value): &(String, f64)| {
        let length = if most > 0.0 { (value / most * room as f64).round() as usize } else { 0 };
        let bar = look.pick("\u{2588}", "#").repeat(length);
        format!("{name:names$}  {bar} {}", watts(*value))
    };
    all.iter().map(line).collect()
}

fn loads(found: &Energy) -> Vec<Column> {
    Table::of(&found.loads)
        .left("load", 0, full_name)
        .decimal("W", 0, |load| number(load.watts))
        .decimal("W above idle", 1, |load| number(load.above_idle_watts))
        .decimal("nJ a value", 2, |load| or_dash(load.value_nj, |nj| format!("{nj:.3}")))
        .decimal("J", 3, |load| number(load.joules))
        .decimal("s", 4, |load| format!("{:.2}", load.elapsed_ns as f64 / 1e9))
        .columns()
}

fn parts(found: &Energy) -> Vec<Column> {
    Table::of(&found.parts)
        .left("part", 0, |part| part.name.clone())
        .decimal("W idle", 0, |part| or_dash(part.idle_watts, number))
        .decimal("W, last load", 1, |part| or_dash(part.busy_watts, number))
        .left("in the sum", 2, |part| if part.is_counted { "yes" } else { "no" })
        .columns()
}

fn about_idle(found: &Energy) -> String {
    let before = watts(found.idle_before_watts);
    let idle = match found.idle_after_watts {
        Some(it) => format!("{before} before the loads and {} after them; the mean", watts(it)),
        None => format!("{before} before the loads; it"),
    };
    format!(
        "Idle, the machine took {idle} is subtracted in 'W above idle' and 'nJ a value'. The loads \
         add up 64-bit integers in a level-1 cache, one at a time or in vectors; a value is one of \
         them."
    )
}

fn watts(value: f64) -> String {
    format!("{} W", number(value))
}

/// Three digits, so far as they stand behind the point.
fn number(value: f64) -> String {
    match value.abs() {
        small if small < 9.995 => format!("{value:.2}"),
        medium if medium < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn period(period_ns: u64) -> String {
    format!("{:.1} ms", period_ns as f64 / 1e6)
}
