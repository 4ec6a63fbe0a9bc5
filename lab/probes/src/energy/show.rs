//! Energy, on a screen and as a picture.

#[cfg(test)]
mod tests;

use crate::Energy;
use crate::show::bars::bars;
use crate::show::*;
use tiebreak_report::text::each_once;

const INCLUDED: &str = "The meter knows no processes: whatever else runs there, other tenants of \
                        the machine included, is in every figure.";

/// Returns the lines of the screen that shows all probes: for each number of CPUs, the load that
/// took most.
pub(crate) fn rows(found: &Energy) -> Vec<Row> {
    let mut text = format!("{} idle", watts(found.idle_watts));
    for count in each_once(found.loads.iter().map(|load| load.cpus)) {
        let loads = found.loads.iter().filter(|load| load.cpus == count);
        let most = loads.map(|load| load.watts).fold(f64::NEG_INFINITY, f64::max);
        text += &format!(", {} with {} busy", watts(most), cpus(count));
    }
    vec![Row::new("", format!("{text} ({})", found.source))]
}

/// Returns everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Energy, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.line(&[span(Tone::Strong, "energy")]);
    let period_ms = found.period_ns as f64 / 1e6;
    let moves = format!("Metered by {}, which moves every {period_ms:.1} ms.", found.source);
    say(&mut page, format!("{moves} {INCLUDED}"));
    page.gap();
    lines(&mut page, loads(found, look), look);
    page.gap();
    page.paragraph("", &[span(Tone::Dim, about_idle(found))]);
    if found.parts.len() > 1 {
        page.gap();
        let parts = Table::of(&found.parts)
            .left("part", 0, |part| part.name.clone())
            .decimal("W idle", 0, |part| or_dash(part.idle_watts, number))
            .decimal("W, last load", 1, |part| or_dash(part.busy_watts, number))
            .left("in the sum", 2, |part| if part.is_counted { "yes" } else { "no" });
        lines(&mut page, parts.columns(), look);
    }
    page.finish()
}

/// Returns the picture as SVG.
pub(crate) fn svg(found: &Energy) -> String {
    bars("Power by load", INCLUDED, watts, &all(found))
}

/// Returns what is drawn: the idle machine and each load.
fn all(found: &Energy) -> Vec<(String, f64)> {
    let loads = found.loads.iter().map(|load| {
        let name = format!("{}, {}", load.name, cpus(load.cpus));
        (name, load.watts)
    });
    [("idle".to_owned(), found.idle_watts)].into_iter().chain(loads).collect()
}

fn cpus(count: u32) -> String {
    if count == 1 { "one CPU".to_owned() } else { format!("all {count} CPUs") }
}

fn loads(found: &Energy, look: &Look) -> Vec<Column> {
    let all = all(found);
    let most = all.iter().map(|(_, watts)| *watts).fold(0.0, f64::max);
    let loads = [None].into_iter().chain(found.loads.iter().map(Some));
    let rows: Vec<_> = all.into_iter().zip(loads).collect();
    Table::of(&rows)
        .left("load", 0, |((name, _), _)| name.clone())
        .right("power", 0, |((_, value), _)| watts(*value))
        .left("", 5, |((_, watts), _)| bar(*watts, most, look))
        .decimal("W above idle", 1, |(_, load)| or_dash(*load, |one| number(one.above_idle_watts)))
        .decimal("nJ a value", 2, |(_, load)| {
            or_dash(load.and_then(|one| one.value_nj), |nj| format!("{nj:.3}"))
        })
        .decimal("J", 3, |(_, load)| or_dash(*load, |one| number(one.joules)))
        .decimal("s", 4, |(_, load)| {
            or_dash(*load, |one| format!("{:.2}", one.elapsed_ns as f64 / 1e9))
        })
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

/// Writes three digits, as far as they are decimals.
fn number(value: f64) -> String {
    match value.abs() {
        small if small < 9.995 => format!("{value:.2}"),
        medium if medium < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
