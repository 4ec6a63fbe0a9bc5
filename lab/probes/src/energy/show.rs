//! Energy, on a screen and as a picture.

#[cfg(test)]
mod tests;

use crate::screen::Row;
use crate::show::bars::{Bar, bars};
use crate::{Energy, EnergyLoad, EnergyPart};
use tiebreak_report::look::{Look, Tone, span};
use tiebreak_report::page::Page;
use tiebreak_report::table::{Align, Column, rows as table_rows};

const INCLUDED: &str = "The meter knows no processes: whatever else runs there, other tenants of \
                        the machine included, is in every figure.";

/// The lines of the screen that tells everything at once.
pub(super) fn rows(found: &Energy) -> Vec<Row> {
    let mut text = format!("{} idle", watts(found.idle_watts));
    for load in most_of_each_width(found) {
        text += &format!(", {} with {} busy", watts(load.watts), cpus(load));
    }
    vec![Row::new("", format!("{text} ({})", found.source))]
}

/// Everything that was found, with its pictures in letters.
pub(super) fn page(found: &Energy, look: &Look) -> String {
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
    for row in table_rows(loads(found), look.columns()) {
        page.line(&row);
    }
    page.gap();
    page.paragraph("", &[span(Tone::Dim, about_idle(found))]);
    if found.parts.len() > 1 {
        page.gap();
        for row in table_rows(parts(found), look.columns()) {
            page.line(&row);
        }
    }
    page.finish()
}

/// The picture as SVG.
pub(super) fn svg(found: &Energy) -> String {
    let written: Vec<Bar> =
        all(found).map(|(name, value)| Bar { name, value, text: watts(value) }).collect();
    bars("Power by load", INCLUDED, &written)
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
fn all(found: &Energy) -> impl Iterator<Item = (String, f64)> {
    let loads = found.loads.iter().map(|load| (full_name(load), load.watts));
    [("idle".to_owned(), found.idle_watts)].into_iter().chain(loads)
}

fn full_name(load: &EnergyLoad) -> String {
    format!("{}, {}", load.name, cpus(load))
}

fn cpus(load: &EnergyLoad) -> String {
    if load.cpus == 1 { "one CPU".to_owned() } else { format!("all {} CPUs", load.cpus) }
}

/// Bars in letters: watts by load, from 0.
fn picture(found: &Energy, look: &Look) -> Vec<String> {
    let all: Vec<(String, f64)> = all(found).collect();
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
    let column = |title: &str, write: &dyn Fn(&EnergyLoad) -> String| {
        Column::new(title, Align::Decimal, found.loads.iter().map(write).collect())
    };
    let value = |load: &EnergyLoad| load.value_nj.map_or("-".to_owned(), |nj| format!("{nj:.3}"));
    vec![
        Column { align: Align::Left, ..column("load", &full_name) },
        column("W", &|load| number(load.watts)),
        column("W above idle", &|load| number(load.above_idle_watts)).rank(1),
        column("nJ a value", &value).rank(2),
        column("J", &|load| number(load.joules)).rank(3),
        column("s", &|load| format!("{:.2}", load.elapsed_ns as f64 / 1e9)).rank(4),
    ]
}

fn parts(found: &Energy) -> Vec<Column> {
    let known = |value: Option<f64>| value.map_or("-".to_owned(), number);
    let column = |title: &str, write: &dyn Fn(&EnergyPart) -> String| {
        Column::new(title, Align::Decimal, found.parts.iter().map(write).collect())
    };
    let counts = |part: &EnergyPart| if part.is_counted { "yes" } else { "no" }.to_owned();
    vec![
        Column { align: Align::Left, ..column("part", &|part| part.name.clone()) },
        column("W idle", &|part| known(part.idle_watts)),
        column("W, last load", &|part| known(part.busy_watts)).rank(1),
        Column { align: Align::Left, ..column("in the sum", &counts) }.rank(2),
    ]
}

fn about_idle(found: &Energy) -> String {
    let before = watts(found.idle_before_watts);
    let idle = match found.idle_after_watts {
        Some(after) => {
            format!("{before} before the loads and {} after them; the mean", watts(after))
        }
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
