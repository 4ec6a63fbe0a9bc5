//! Shows the topology, on a screen and as a picture.

pub(crate) mod groups;

use crate::show::*;
use crate::{Cache, CacheKind, CoreKind, Limits, Node, Pair, Probed, Sharing, Topology};
pub(crate) use groups::svg;
use tiebreak_core::language::Tool;
use tiebreak_core::quantity::format_cpus;

/// Rows of the table of pairs.
const ROWS: usize = 16;

/// Returns the lines of the screen that shows everything at once.
pub(crate) fn rows(found: &Topology) -> Vec<Row> {
    let caches = caches_in_short(found);
    let rows = [("", counts(found)), ("caches", caches), ("threads of a core", sharing(found))];
    let rows = rows.into_iter().filter(|(_, text)| !text.is_empty());
    rows.map(|(name, text)| Row::new(name, text)).collect()
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Topology, look: &Look) -> String {
    let parts = [
        paragraph(Tone::Strong, counts(found), look),
        groups::letters(found, look),
        paragraph(Tone::Plain, format!("Threads of a core: {}.", sharing(found)), look),
        found.sharing.value().map_or(String::new(), |sharing| pairs(sharing, look)),
        caches(found, look),
        if found.nodes.len() > 1 { nodes(&found.nodes, look) } else { String::new() },
        limits(&found.limits, look),
        compilers(&found.compilers, look),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// `8 CPUs (0-5 may be used) on 4 cores, 2 sockets, 2 memory nodes with 15.5 GiB`.
fn counts(found: &Topology) -> String {
    let (all, online) = (found.cpus.len(), found.online().count());
    let allowed = found.cpus.iter().filter(|cpu| cpu.is_allowed).map(|cpu| cpu.cpu);
    let allowed: Vec<usize> = allowed.collect();
    let slow = found.online().filter(|cpu| cpu.kind == Some(CoreKind::Efficiency)).count();
    let nodes = Some(found.nodes.len()).filter(|nodes| *nodes > 0);
    let texts = [
        Some(count(online as u64, "CPU")),
        (allowed.len() < online).then(|| format!(" ({} may be used)", format_cpus(&allowed))),
        (online < all).then(|| format!(" ({} off)", all - online)),
        found.cores().map(|cores| format!(" on {}", count(cores as u64, "core"))),
        (slow > 0).then(|| format!(" ({} slow)", count(slow as u64, "CPU"))),
        found.sockets().map(|sockets| format!(", {}", count(sockets as u64, "socket"))),
        nodes.map(|nodes| format!(", {}", count(nodes as u64, "memory node"))),
        found.memory_bytes().map(|memory| format!(" with {}", bytes(memory))),
    ];
    texts.into_iter().flatten().collect()
}

/// Returns what the machine says of the threads of a core, and what was measured: `one each
/// advertised; 0 of 1 pair share one as measured (1.01x at most)`.
fn sharing(found: &Topology) -> String {
    let advertised = match found.is_smt_advertised() {
        Some(true) => "several advertised",
        Some(false) => "one each advertised",
        None => "nothing advertised",
    };
    let pairs = found.sharing.value().map_or(&[][..], |sharing| &sharing.pairs);
    let Some(most) = pairs.iter().map(|pair| pair.slowdown).max_by(f64::total_cmp) else {
        let Probed::Inconclusive { why } = &found.sharing else {
            return format!("{advertised}, not measured");
        };
        return format!("{advertised}, not measured: {why}");
    };
    let [shared, open] =
        [Some(true), None].map(|shares| pairs.iter().filter(|pair| pair.shares == shares).count());
    let (all, most) = (count(pairs.len() as u64, "pair"), ratio(most, 2, Rounding::Nearest));
    let mut text =
        format!("{advertised}; {shared} of {all} share one as measured ({most} at most)");
    if open > 0 {
        text += &format!(", {open} open");
    }
    let wrong: Vec<&Pair> = pairs.iter().filter(|pair| pair.is_wrong()).collect();
    if let Some(Pair { cpus: [a, b], .. }) = wrong.first() {
        let wrong = count(wrong.len() as u64, "pair");
        text += &format!("; {wrong} not as advertised: CPUs {a} and {b}");
    }
    text
}

/// Shows the pairs, those first that contradict what the machine says, and how they were measured.
fn pairs(sharing: &Sharing, look: &Look) -> String {
    let mut pairs: Vec<&Pair> = sharing.pairs.iter().collect();
    pairs.sort_by_key(|pair| (!pair.is_wrong(), pair.shares.is_some()));
    let shown = &pairs[..pairs.len().min(ROWS)];
    let table = Table::of(shown)
        .left("CPUs", 0, |pair| format!("{} and {}", pair.cpus[0], pair.cpus[1]))
        .left("advertised", 0, |pair| or_dash(pair.is_advertised, cores_in_words))
        .left("measured", 0, |pair| match pair.shares {
            Some(shares) => cores_in_words(shares),
            None => format!("one core in {}", percent(pair.shared_rounds, Rounding::Nearest)),
        })
        .decimal("together over alone", 0, |pair| ratio(pair.slowdown, 2, Rounding::Nearest))
        .right("rounds", 1, |pair| pair.rounds);
    let how = format!(
        "{} of {} shown, of {} possible. Two CPUs made the same additions alone and at the same \
         time; those of one core take {:.1} times as long together, or more.",
        shown.len(),
        count(pairs.len() as u64, "pair"),
        sharing.pairs_possible,
        sharing.threshold
    );
    table.text(look) + &paragraph(Tone::Dim, how, look)
}

fn cores_in_words(is_one: bool) -> String {
    if is_one { "one core" } else { "two cores" }.to_owned()
}

/// Returns runs of caches that differ in nothing but the CPUs that share them.
fn alike(found: &Topology) -> Vec<&[Cache]> {
    let alike = found.caches.chunk_by(|a, b| properties(a) == properties(b));
    alike.collect()
}

fn properties(cache: &Cache) -> impl PartialEq {
    (cache.level, cache.kind, cache.size_bytes, cache.line_bytes, cache.ways, cache.cpus.len())
}

/// `L1d 48 KiB, L2 1 MiB, L3 32 MiB for 2 CPUs`.
fn caches_in_short(found: &Topology) -> String {
    let kinds = alike(found).into_iter().map(|alike| &alike[0]);
    joined(kinds.filter(|one| one.kind != CacheKind::Instruction).map(|one| {
        let size = one.size_bytes.map_or(String::new(), |size| format!(" {}", bytes(size)));
        let shared = Some(one.cpus.len()).filter(|shared| *shared > 1);
        let shared = shared.map_or(String::new(), |shared| format!(" for {shared} CPUs"));
        name(one) + &size + &shared
    }))
}

fn name(cache: &Cache) -> String {
    let letter = match (cache.level, cache.kind) {
        (_, CacheKind::Instruction) => "i",
        (1, CacheKind::Data) => "d",
        _ => "",
    };
    format!("L{}{letter}", cache.level)
}

fn caches(found: &Topology, look: &Look) -> String {
    Table::of(&alike(found))
        .left("cache", 0, |alike| name(&alike[0]))
        .decimal("size", 0, |alike| or_dash(alike[0].size_bytes, bytes))
        .right("line", 0, |alike| or_dash(alike[0].line_bytes, bytes))
        .right("ways", 1, |alike| or_dash(alike[0].ways, |ways| ways.to_string()))
        .left("shared by", 0, |alike| count(alike[0].cpus.len() as u64, "CPU"))
        .right("number", 0, |alike| alike.len())
        .text(look)
}

fn nodes(nodes: &[Node], look: &Look) -> String {
    Table::of(nodes)
        .right("node", 0, |node| node.node)
        .left("CPUs", 2, |node| format_cpus(&node.cpus))
        .decimal("memory", 0, |node| or_dash(node.memory_bytes, bytes))
        .left("distances", 1, |node| joined(node.distances.iter().map(u64::to_string)))
        .text(look)
}

/// Returns what limits this process, in sentences; empty if nothing is known to.
fn limits(limits: &Limits, look: &Look) -> String {
    let quota = limits.cpu_quota_us.zip(limits.cpu_period_us.filter(|period| *period > 0));
    let quota = quota.map(|(quota, period)| {
        let cpus = quota as f64 / period as f64;
        format!("Control groups allow {cpus:.2} CPUs' time ({quota} us every {period} us).")
    });
    let memory = limits
        .memory_bytes
        .map(|limit| format!("Control groups allow {} of memory.", bytes(limit)));
    let texts = quota.into_iter().chain(memory);
    texts.map(|text| paragraph(Tone::Plain, text, look)).collect()
}

fn compilers(tools: &[Tool], look: &Look) -> String {
    Table::of(tools)
        .left("tool", 0, |tool| plain(&tool.name))
        .left("version", 0, |tool| {
            plain(tool.version.as_ref().or(tool.error.as_ref()).map_or("there", |said| said))
        })
        .text(look)
}

#[cfg(test)]
pub(crate) mod tests;
