//! Cores, on a screen and as a picture.

mod grid;
mod map;
mod svg;
#[cfg(test)]
mod tests;

use crate::show::*;
use crate::{Cores, Group, KernelLatency, Level, PairLatency, Shared};
use map::{Map, STEPS, ns};
use tiebreak_core::cpus::format_list;

/// Pairs with several modes that are told one by one.
const MODES_TOLD: usize = 8;
/// Groups that are told one by one.
const GROUPS_TOLD: usize = 8;

/// The lines of the screen that tells everything at once.
pub(crate) fn rows(found: &Cores) -> Vec<Row> {
    let Some(headline) = found.headline() else { return Vec::new() };
    let mut rows = Vec::new();
    let (nearest, farthest) = (ns(headline.nearest_ns), ns(headline.farthest_ns));
    let (kernel, pairs) = (headline.kernel.words(), pairs(found, headline));
    let by = |one: &KernelLatency| format!("{} ns by {}", ns(one.nearest_ns), one.kernel.words());
    rows.push(Row::new(
        "one way",
        match found.pairs {
            1 => found.kernels.iter().map(by).collect::<Vec<_>>().join(", "),
            _ => format!("{nearest} ns (nearest) to {farthest} ns (farthest), {kernel}, {pairs}"),
        },
    ));
    let look = if found.is_short_look { ": a short look" } else { "" };
    let rounds = format!("{} in {}{look}", count(found.rounds, "round"), took(found));
    let groups = groups_in_short(found).map_or(String::new(), |text| text + "; ");
    rows.push(Row::new("", groups + &rounds));
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

/// The groups of each level; of a single pair, what the machine says of it.
fn groups_in_short(found: &Cores) -> Option<String> {
    if found.pairs == 1 {
        let shares = found.levels.first().and_then(shared_by_all)?;
        return Some(format!("the machine says: {}", shares.words()));
    }
    let levels: Vec<_> = found.levels.iter().map(level_in_short).collect();
    (!levels.is_empty()).then(|| levels.join(", "))
}

/// Everything that was found, with its pictures in letters.
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
    grid::draw(&map, &mut page, look);
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
    for pair in moved.iter().take(MODES_TOLD) {
        page.paragraph("  ", &[span(Tone::Plain, modes(pair))]);
    }
    if moved.len() > MODES_TOLD {
        let more = format!("and {} more", moved.len() - MODES_TOLD);
        page.paragraph("  ", &[span(Tone::Dim, more)]);
    }
    let why = "A hypervisor that moves virtual CPUs does this, or a CPU that changes its speed. \
               The lowest value is the pair's latency; the mean of them would be one that never \
               was.";
    page.paragraph("  ", &[span(Tone::Dim, why)]);
}

/// The picture as SVG.
pub(crate) fn svg(found: &Cores) -> String {
    svg::cores(found)
}

/// A row for each way of passing.
fn kernels(found: &Cores) -> Vec<Column> {
    let several = found.pairs > 1;
    let nearest = if several { "nearest pair" } else { "latency" };
    let table = Table::of(&found.kernels)
        .left("passed by", 0, |kernel| kernel.kernel.words())
        .decimal(nearest, 0, |kernel| ns(kernel.nearest_ns) + " ns");
    let ends = |kernel: &KernelLatency| kernel.pairs.first().map(ends).unwrap_or_default();
    if !several {
        return table.left("rounds lie within", 1, ends).columns();
    }
    table
        .decimal("farthest pair", 0, |kernel| ns(kernel.farthest_ns) + " ns")
        .right("pairs", 1, |kernel| kernel.pairs.len())
        .columns()
}

/// Where the rounds of each mode of a pair lie.
fn ends(pair: &PairLatency) -> String {
    let ends =
        pair.modes.iter().map(|mode| format!("{} to {} ns", ns(mode.low_ns), ns(mode.high_ns)));
    ends.collect::<Vec<_>>().join(", ")
}

/// `of 28 pairs`, or how many of them.
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

/// `CPUs 0 and 1: 60.1 ns in 75% of rounds, 275 ns in 20%`.
fn modes(pair: &PairLatency) -> String {
    let mut text = format!("CPUs {} and {}: ", pair.cpus[0], pair.cpus[1]);
    for (index, mode) in pair.modes.iter().enumerate() {
        let share = percent(mode.share, Rounding::Nearest);
        text += &match index {
            0 => format!("{} ns in {share} of rounds", ns(mode.latency_ns)),
            _ => format!(", {} ns in {share}", ns(mode.latency_ns)),
        };
    }
    text
}

/// `4 SMT pairs at 8.1 ns`, `1 group at 60.1 ns`.
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

/// `shared L3: 0-3; 4-7`, and how that agrees with what the machine says.
fn level_in_full(level: &Level) -> String {
    let lists: Vec<String> =
        together(level).take(GROUPS_TOLD).map(|group| format_list(&group.cpus)).collect();
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

/// The groups that are more than a CPU alone.
fn together(level: &Level) -> impl Iterator<Item = &Group> {
    level.groups.iter().filter(|group| group.cpus.len() > 1)
}

/// What the CPUs of every group share, as the machine says; `None` if it does not say the same of
/// each.
fn shared_by_all(level: &Level) -> Option<Shared> {
    let first = together(level).next()?.shares;
    first.filter(|_| together(level).all(|group| group.shares == first))
}

fn method(found: &Cores, headline: &KernelLatency) -> String {
    let sum = |of: fn(&PairLatency) -> u64| headline.pairs.iter().map(of).sum::<u64>();
    let short = " This is a short look: a hypervisor moves CPUs more rarely than that.";
    let short = if found.is_short_look { short } else { "" };
    let (rounds, took, pairs) = (count(found.rounds, "round"), took(found), pairs(found, headline));
    let (invalid, batches) = (sum(|pair| pair.invalid), sum(|pair| pair.batches));
    format!(
        "{rounds} in {took}, {pairs}. Two lines: each CPU stores to its own and loads the other's. \
         A round is the lower quartile of batches of about 8 us, timed by either CPU in turn; \
         {invalid} of {batches} batches were left out, as a thread was away in them.{short}"
    )
}

fn took(found: &Cores) -> String {
    seconds(found.span_ns as f64 / 1e9)
}
