//! Cores, on a screen and as a picture.

mod map;
#[cfg(test)]
mod tests;

use crate::show::*;
use crate::{Cores, Group, KernelLatency, Level, PairLatency, Shared, Spread};
use map::Map;
pub(crate) use map::svg;
use tiebreak_core::quantity::format_cpus;

/// The most groups, and the most pairs with several values, that are listed one by one.
const LISTED: usize = 8;
const TITLE: &str = "Core to core latency, one way: half a round trip";

/// Returns the lines of the screen that shows all probes.
pub(crate) fn rows(found: &Cores) -> Vec<Row> {
    let Some(headline) = found.headline() else { return Vec::new() };
    let kernels = found.kernels.iter().map(|one| {
        let range = range(Spread { low: one.nearest_ns, high: one.farthest_ns });
        format!("{range} by {}", one.kernel.words())
    });
    let one_way = format!("{}; {}", joined(kernels), pairs(found, headline));
    let levels = found.levels.iter().map(level_in_short);
    let mut rows =
        vec![Row::new("one way", one_way), Row::new("", joined(levels.chain([rounds(found)])))];
    let moved = with_modes(headline);
    if let Some(pair) = moved.first() {
        let text = format!("{}, such as {}", count(moved.len() as u64, "pair"), modes(pair));
        rows.push(Row::new("several values", text));
    }
    rows
}

/// Returns everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Cores, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Strong, TITLE)]);
    page.gap();
    lines(&mut page, ends(found), look);
    let (Some(headline), Some(map)) = (found.headline(), Map::of(found)) else {
        return page.finish();
    };
    page.gap();
    map.letters(&mut page, look);
    list(&mut page, "Groups", found.levels.iter().map(level_in_full).collect());
    let moved = with_modes(headline).into_iter().map(modes);
    list(&mut page, "Pairs with several values, of which the lowest counts", moved.collect());
    page.gap();
    page.paragraph("", &[span(Tone::Dim, method(found, headline))]);
    page.finish()
}

/// Adds texts below a title, as many as fit; nothing if there are none.
fn list(page: &mut Page, title: &str, texts: Vec<String>) {
    if texts.is_empty() {
        return;
    }
    page.gap();
    page.line(&[span(Tone::Strong, title)]);
    for text in texts.iter().take(LISTED) {
        page.paragraph("  ", &[span(Tone::Plain, text)]);
    }
    if texts.len() > LISTED {
        page.paragraph("  ", &[span(Tone::Dim, format!("and {} more", texts.len() - LISTED))]);
    }
}

/// Returns a table of the nearest and the farthest pair by each way of passing, and where their
/// rounds lie.
fn ends(found: &Cores) -> Vec<Column> {
    let ends = found
        .kernels
        .iter()
        .flat_map(|one| [(one, "nearest", one.nearest_ns), (one, "farthest", one.farthest_ns)]);
    // A single pair is the nearest and the farthest.
    let ends: Vec<_> = ends.step_by(if found.pairs == 1 { 2 } else { 1 }).collect();
    Table::of(&ends)
        .left("passed by", 0, |(kernel, ..)| kernel.kernel.words())
        .left("pair", 0, |(_, end, _)| if found.pairs == 1 { "the only" } else { end }.to_owned())
        .decimal("latency", 0, |(.., latency_ns)| ns(*latency_ns))
        .left("its rounds", 1, |(kernel, _, latency_ns)| {
            or_dash(kernel.pair_at(*latency_ns).and_then(PairLatency::spread), range)
        })
        .columns()
}

/// Writes the number of pairs, or how many of them were seen: `28 pairs`, `20 of 28 pairs`.
fn pairs(found: &Cores, headline: &KernelLatency) -> String {
    match headline.pairs.len() as u64 {
        seen if seen == found.pairs => count(seen, "pair"),
        seen => format!("{seen} of {} pairs", found.pairs),
    }
}

fn with_modes(headline: &KernelLatency) -> Vec<&PairLatency> {
    headline.pairs.iter().filter(|pair| pair.modes.len() > 1).collect()
}

/// Writes the modes of a pair: `CPUs 0 and 1: 60.1 ns in 75% of rounds, 275 ns in 20%`.
fn modes(pair: &PairLatency) -> String {
    let modes = pair.modes.iter().enumerate().map(|(index, mode)| {
        let of = if index == 0 { " of rounds" } else { "" };
        format!("{} in {}{of}", ns(mode.latency_ns), percent(mode.share, Rounding::Nearest))
    });
    format!("CPUs {} and {}: {}", pair.cpus[0], pair.cpus[1], joined(modes))
}

/// Writes the number of groups and their latency: `4 SMT pairs at 8.10 ns`, `1 group at 60.1 ns`.
fn level_in_short(level: &Level) -> String {
    let name = shared_by_all(level).map_or("group", Shared::words);
    format!("{} at {}", count(together(level).count() as u64, name), ns(level.within_ns))
}

/// Writes the groups, `23.6 ns, shared L3: 0-3; 4-7`, and how they agree with what is advertised.
fn level_in_full(level: &Level) -> String {
    let mut lists: Vec<String> = together(level).map(|group| format_cpus(&group.cpus)).collect();
    if lists.len() > LISTED {
        lists.splice(LISTED.., [format!("and {} more", lists.len() - LISTED)]);
    }
    let name = shared_by_all(level).map_or("not named by the machine", Shared::words);
    let agreement = level.agreement.filter(|agreement| *agreement < 1.0);
    let agreement = agreement.map_or(String::new(), |agreement| {
        format!(" (agreement with what the machine says: {agreement:.2} of 1)")
    });
    format!("{}, {name}: {}{agreement}", ns(level.within_ns), lists.join("; "))
}

/// Returns the groups of more than one CPU.
fn together(level: &Level) -> impl Iterator<Item = &Group> {
    level.groups.iter().filter(|group| group.cpus.len() > 1)
}

/// Returns what the CPUs of every group share, as advertised; `None` if groups differ.
fn shared_by_all(level: &Level) -> Option<Shared> {
    let first = together(level).next()?.shares;
    first.filter(|_| together(level).all(|group| group.shares == first))
}

fn method(found: &Cores, headline: &KernelLatency) -> String {
    let invalid: u64 = headline.pairs.iter().map(|pair| pair.invalid).sum();
    let batches: u64 = headline.pairs.iter().map(|pair| pair.batches).sum();
    let why_several = match with_modes(headline)[..] {
        [] => "",
        _ => {
            " Several values come from a hypervisor that moves virtual CPUs, or a CPU that changes \
             its speed; their mean would be a latency that never was."
        }
    };
    format!(
        "{}, {}. The map shows {}, timed by the CPU of the row. A round is the lower quartile of \
         batches of about 8 us; {invalid} of {batches} batches were left out, as a thread was away \
         in them.{why_several}",
        rounds(found),
        pairs(found, headline),
        headline.kernel.words(),
    )
}

/// Writes the rounds and their time: `20 rounds in 31 s`.
fn rounds(found: &Cores) -> String {
    let look = if found.is_short_look { ", a short look" } else { "" };
    format!("{} in {}{look}", count(found.rounds, "round"), seconds(found.span_ns as f64 / 1e9))
}

/// Writes latencies from the least to the greatest: `7.90 to 23.6 ns`, or one of them if they are
/// about equal.
fn range(Spread { low, high }: Spread) -> String {
    match [low, high].map(ns) {
        [low, high] if low == high => low,
        [low, high] if high.ends_with(" ns") => format!("{} to {high}", low.replace(" ns", "")),
        [low, high] => format!("{low} to {high}"),
    }
}
