//! Energy, on a screen and as a picture.

#[cfg(test)]
mod tests;

use crate::show::bars::bars;
use crate::show::*;
use crate::{Energy, EnergyLoad};
use tiebreak_report::text::each_once;

const INCLUDED: &str = "The meter knows no processes: whatever else runs there, other tenants of \
                        the machine included, is in every figure.";

const SUMS: &str = "The loads add up 64-bit integers in a level-1 cache, one at a time or in \
                    vectors; a value is one of them.";

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
    let period_ms = found.period_ns as f64 / 1e6;
    let moves = format!("Metered by {}, which moves every {period_ms:.1} ms.", found.source);
    say(&mut page, format!("{moves} {INCLUDED}"));
    page.gap();
    let most = found.loads.iter().map(|load| load.watts).fold(0.0, f64::max);
    let loads = Table::of(&found.loads)
        .left("load", 0, name)
        .right("power", 0, |load| watts(load.watts))
        .left("", 3, |load| bar(load.watts, most, look))
        .decimal("W above idle", 1, |load| number(load.above_idle_watts))
        .decimal("nJ a value", 2, |load| or_dash(load.value_nj, |nj| format!("{nj:.3}")));
    lines(&mut page, loads.columns(), look);
    page.gap();
    let parts = Table::of(&found.parts)
        .left("part", 0, |part| part.name.clone())
        .decimal("W idle", 0, |part| or_dash(part.idle_watts, number))
        .decimal("W, last load", 1, |part| or_dash(part.busy_watts, number))
        .left("in the sum", 2, |part| if part.is_counted { "yes" } else { "no" });
    lines(&mut page, parts.columns(), look);
    page.gap();
    let after = found.idle_after_watts.map(|after| format!(", {} after them", watts(after)));
    let before = format!("{} before the loads", watts(found.idle_before_watts));
    let idle = format!("Idle, the machine took {before}{}.", after.unwrap_or_default());
    page.paragraph("", &[span(Tone::Dim, format!("{idle} {SUMS}"))]);
    page.finish()
}

/// Returns the picture as SVG.
pub(crate) fn svg(found: &Energy) -> String {
    let loads = found.loads.iter().map(|load| (name(load), load.watts));
    let all: Vec<_> = [("idle".to_owned(), found.idle_watts)].into_iter().chain(loads).collect();
    bars("Power by load", INCLUDED, watts, &all)
}

fn name(load: &EnergyLoad) -> String {
    format!("{}, {}", load.name, cpus(load.cpus))
}

fn cpus(count: u32) -> String {
    if count == 1 { "one CPU".to_owned() } else { format!("all {count} CPUs") }
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
