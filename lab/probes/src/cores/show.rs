//! Cores, on a screen and as a picture.

mod map;
#[cfg(test)]
mod tests;

use crate::show::*;
use crate::{Cores, Group, KernelLatency, Level, PairLatency, Shared};
use map::Map;
pub(crate) use map::svg;
use tiebreak_core::quantity::format_cpus;

/// The most pairs with several modes, and the most groups, that are listed one by one.
const MODES_LISTED: usize = 8;
const GROUPS_LISTED: usize = 8;

/// Returns the lines of the screen that shows all probes.
pub(crate) fn rows(found: &Cores) -> Vec<Row> {
    let Some(headline) = found.headline() else { return Vec::new() };
    let (nearest, farthest) = (ns(headline.nearest_ns), ns(headline.farthest_ns));
    let one_way = if found.pairs == 1 {
        let kernels = found.kernels.iter();
        joined(kernels.map(|one| format!("{} ns by {}", ns(one.nearest_ns), one.kernel.words())))
    } else {
        let (kernel, pairs) = (headline.kernel.words(), pairs(found, headline));
        format!("{nearest} ns (nearest) to {farthest} ns (farthest), {kernel}, {pairs}")
    };
    let look = if found.is_short_look { ": a short look" } else { "" };
    let groups = groups_in_short(found).map_or(String::new(), |text| text + "; ");
    let mut rows = vec![
        Row::new("one way", one_way),
        Row::new("", format!("{groups}{}{look}", rounds_in(found))),
    ];
    let moved: Vec<_> = with_modes(headline).collect();
    if let Some(pair) = moved.first() {
        let more = match moved.len() {
            1 => String::new(),
            all => format!("; and {} more", count(all as u64 - 1, "pair")),
        };
        rows.push(Row::new("several values", format!("{}{more}", modes(pair))));
    }
    rows
}

/// Names the groups of each level; of a single pair, what is advertised.
fn groups_in_short(found: &Cores) -> Option<String> {
    if found.pairs == 1 {
        let shares = found.levels.first().and_then(shared_by_all)?;
        return Some(format!("the machine says: {}", shares.words()));
    }
    (!found.levels.is_empty()).then(|| joined(found.levels.iter().map(level_in_short)))
}

/// Returns everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Cores, look: &Look) -> String {
    let mut page = Page::new(*look);
    let title = "Core to core latency, one way: half a round trip, in nanoseconds";
    page.paragraph("", &[span(Tone::Strong, title)]);
    page.gap();
    for line in table_rows(kernels(found), look.columns()) {
        page.table_line(&line);
    }
    let (Some(headline), Some(map)) = (found.headline(), Map::of(found)) else {
        return page.finish();
    };
    page.gap();
    map.letters(&mut page, look);
    groups(found, &mut page);
    several_values(headline, &mut page);
    page.gap();
    page.paragraph("", &[span(Tone::Dim, method(found, headline))]);
    page.finish()
}

fn groups(found: &Cores, page: &mut Page) {
    if found.levels.is_empty() {
        return;
    }
    page.gap();
    page.line(&[span(Tone::Strong, "Groups")]);
    let wide = found.levels.iter().map(|level| ns(level.within_ns).len()).max().unwrap_or(0);
    for level in &found.levels {
        let lead = format!("  {:>wide$} ns  ", ns(level.within_ns));
        page.paragraph(&lead, &[span(Tone::Plain, level_in_full(level))]);
    }
}

fn several_values(headline: &KernelLatency, page: &mut Page) {
    let moved: Vec<_> = with_modes(headline).collect();
    if moved.is_empty() {
        return;
    }
    page.gap();
    page.line(&[span(Tone::Strong, "Pairs with several values")]);
    for pair in moved.iter().take(MODES_LISTED) {
        page.paragraph("  ", &[span(Tone::Plain, modes(pair))]);
    }
    if moved.len() > MODES_LISTED {
        let more = format!("and {} more", moved.len() - MODES_LISTED);
        page.paragraph("  ", &[span(Tone::Dim, more)]);
    }
    let why = "A hypervisor that moves virtual CPUs does this, or a CPU that changes its speed. \
               The lowest value is the pair's latency; the mean of them would be one that never \
               was.";
    page.paragraph("  ", &[span(Tone::Dim, why)]);
}

/// Returns a table with a row for each way of passing.
fn kernels(found: &Cores) -> Vec<Column> {
    let several = found.pairs > 1;
    let nearest = if several { "nearest pair" } else { "latency" };
    let table = Table::of(&found.kernels)
        .left("passed by", 0, |kernel| kernel.kernel.words())
        .decimal(nearest, 0, |kernel| ns(kernel.nearest_ns) + " ns");
    if !several {
        return table
            .left("rounds lie within", 1, |kernel| {
                let modes = kernel.pairs.iter().take(1).flat_map(|pair| &pair.modes);
                joined(modes.map(|mode| format!("{} to {} ns", ns(mode.low_ns), ns(mode.high_ns))))
            })
            .columns();
    }
    table
        .decimal("farthest pair", 0, |kernel| ns(kernel.farthest_ns) + " ns")
        .right("pairs", 1, |kernel| kernel.pairs.len())
        .columns()
}

/// Writes the number of pairs, or how many of them were seen: `28 pairs`, `20 of 28 pairs`.
fn pairs(found: &Cores, headline: &KernelLatency) -> String {
    let seen = headline.pairs.len() as u64;
    if seen == found.pairs {
        count(seen, "pair")
    } else {
        format!("{seen} of {} pairs", found.pairs)
    }
}

fn with_modes(headline: &KernelLatency) -> impl Iterator<Item = &PairLatency> {
    headline.pairs.iter().filter(|pair| pair.modes.len() > 1)
}

/// Writes the modes of a pair: `CPUs 0 and 1: 60.1 ns in 75% of rounds, 275 ns in 20%`.
fn modes(pair: &PairLatency) -> String {
    let modes = pair.modes.iter().enumerate().map(|(index, mode)| {
        let of = if index == 0 { " of rounds" } else { "" };
        format!("{} ns in {}{of}", ns(mode.latency_ns), percent(mode.share, Rounding::Nearest))
    });
    format!("CPUs {} and {}: {}", pair.cpus[0], pair.cpus[1], joined(modes))
}

/// Writes the number of groups and their latency: `4 SMT pairs at 8.1 ns`, `1 group at 60.1 ns`.
fn level_in_short(level: &Level) -> String {
    let number = together(level).count() as u64;
    let name = match (shared_by_all(level), number) {
        (Some(shares), 1) => format!("1 {}", shares.words()),
        // `2 shared L3` needs no plural.
        (Some(shares @ (Shared::L2 | Shared::L3)), _) => format!("{number} {}", shares.words()),
        (Some(shares), _) => count(number, shares.words()),
        (None, _) => count(number, "group"),
    };
    format!("{name} at {} ns", ns(level.within_ns))
}

/// Writes the groups, `shared L3: 0-3; 4-7`, and how they agree with what is advertised.
fn level_in_full(level: &Level) -> String {
    let lists: Vec<String> =
        together(level).take(GROUPS_LISTED).map(|group| format_cpus(&group.cpus)).collect();
    let name = shared_by_all(level).map_or("not named by the machine", Shared::words);
    let mut text = format!("{name}: {}", lists.join("; "));
    let more = together(level).count() - lists.len();
    if more > 0 {
        text += &format!("; and {more} more");
    }
    let alone = level.groups.len() - together(level).count();
    if alone > 0 {
        text += &format!("; {} alone", count(alone as u64, "CPU"));
    }
    if let Some(agreement) = level.agreement.filter(|agreement| *agreement < 1.0) {
        text += &format!(" (agreement with what the machine says: {agreement:.2} of 1)");
    }
    text
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
    let short = " This is a short look: a hypervisor moves CPUs more rarely than that.";
    let short = if found.is_short_look { short } else { "" };
    let invalid: u64 = headline.pairs.iter().map(|pair| pair.invalid).sum();
    let batches: u64 = headline.pairs.iter().map(|pair| pair.batches).sum();
    format!(
        "{}, {}. Two lines: each CPU stores to its own and loads the other's. A round is the lower \
         quartile of batches of about 8 us, timed by either CPU in turn; {invalid} of {batches} \
         batches were left out, as a thread was away in them.{short}",
        rounds_in(found),
        pairs(found, headline)
    )
}

/// Writes the rounds and their time: `20 rounds in 31 s`.
fn rounds_in(found: &Cores) -> String {
    format!("{} in {}", count(found.rounds, "round"), seconds(found.span_ns as f64 / 1e9))
}

/// Writes a latency in nanoseconds, with a decimal below 100.
fn ns(latency_ns: f64) -> String {
    let decimals = usize::from(latency_ns < 99.95);
    format!("{latency_ns:.decimals$}")
}
