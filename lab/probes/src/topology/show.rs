//! Shows the topology, on a screen and as a picture.

mod svg;
pub(crate) mod tree;

use crate::show::*;
use crate::{Cache, CacheKind, CoreKind, Limits, Pair, Probed, Sharing, Topology};
use tiebreak_core::quantity::format_cpus;

/// Returns the lines of the screen that shows everything at once.
pub(crate) fn rows(found: &Topology) -> Vec<Row> {
    let mut rows = vec![Row::new("", counts(found))];
    let caches = caches_in_short(found);
    if !caches.is_empty() {
        rows.push(Row::new("caches", caches));
    }
    rows.push(Row::new("threads of a core", sharing_in_short(found)));
    rows
}

/// `8 CPUs (6 may be used) on 4 cores, 2 sockets, 2 memory nodes with 15.5 GiB`.
fn counts(found: &Topology) -> String {
    let online = found.online().count();
    let mut text = count(online as u64, "CPU");
    if found.allowed() < online {
        text += &format!(" ({} may be used)", found.allowed());
    }
    if let Some(cores) = found.cores() {
        text += &format!(" on {}", count(cores as u64, "core"));
    }
    let [fast, slow] = [CoreKind::Performance, CoreKind::Efficiency].map(|kind| {
        let cores = found.online().filter(|cpu| cpu.kind == Some(kind)).filter_map(|cpu| cpu.core);
        cores.collect::<std::collections::BTreeSet<_>>().len()
    });
    if slow > 0 {
        text += &format!(" ({fast} fast, {slow} slow)");
    }
    if let Some(sockets) = found.sockets() {
        text += &format!(", {}", count(sockets as u64, "socket"));
    }
    if !found.nodes.is_empty() {
        text += &format!(", {}", count(found.nodes.len() as u64, "memory node"));
    }
    if let Some(memory) = found.memory_bytes() {
        text += &format!(" with {}", bytes(memory));
    }
    text
}

/// Returns the CPUs that this process may use.
fn allowed(found: &Topology) -> Vec<usize> {
    found.cpus.iter().filter(|cpu| cpu.is_allowed).map(|cpu| cpu.cpu).collect()
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Topology, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Strong, counts(found))]);
    page.gap();
    tree::draw(&mut page, found, *look);
    page.gap();
    say(&mut page, sharing_in_sentences(found));
    pairs(&mut page, found, look);
    caches(&mut page, found, look);
    nodes(&mut page, found, look);
    page.gap();
    say(&mut page, limits(&found.limits));
    page.gap();
    let widest = found.compilers.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
    for tool in &found.compilers {
        let said = match (&tool.version, &tool.error) {
            (Some(version), _) => span(Tone::Plain, plain(version)),
            (None, Some(error)) => span(Tone::Dim, format!("there, but {}", plain(error))),
            (None, None) => span(Tone::Dim, "there"),
        };
        page.labelled(&format!("{:widest$}  ", plain(&tool.name)), &[said]);
    }
    page.finish()
}

fn table<R>(page: &mut Page, table: Table<'_, R>, look: &Look) {
    page.gap();
    lines(page, table.columns(), look);
}

/// Returns what this process may use, in sentences.
fn limits(limits: &Limits) -> String {
    let quota = limits.cpu_quota_us.zip(limits.cpu_period_us.filter(|period| *period > 0));
    let quota = match quota {
        Some((quota, period)) => format!(
            "Control groups allow {:.2} CPUs' time ({quota} us every {period} us).",
            quota as f64 / period as f64
        ),
        None if limits.is_cpu_quota_known => "No control group limits CPU time.".to_owned(),
        None => "Whether a control group limits CPU time is not told.".to_owned(),
    };
    let memory = match limits.memory_bytes {
        Some(limit) => format!(" Control groups allow {} of memory.", bytes(limit)),
        None => " No limit on memory is seen.".to_owned(),
    };
    quota + &memory
}

/// Returns the picture as SVG.
pub(crate) fn svg(found: &Topology) -> String {
    svg::topology(found, &counts(found), &sharing_in_sentences(found))
}

/// Rows of the table of pairs.
const ROWS: usize = 16;

/// What the machine says of the threads of a core: `one each`; `None` if it says nothing.
fn told(found: &Topology) -> Option<&'static str> {
    found.is_smt_advertised().map(|is_smt| if is_smt { "several" } else { "one each" })
}

/// In a line: `one each, as told and as measured (1.01x, 1 pair)`.
fn sharing_in_short(found: &Topology) -> String {
    let as_told = told(found).map_or("nothing told".to_owned(), |told| format!("{told} as told"));
    let Some(sharing) = found.sharing.value().filter(|sharing| !sharing.pairs.is_empty()) else {
        let why = if found.allowed() < 2 { ": one CPU may be used" } else { "" };
        return format!("{as_told}, not measured{why}");
    };
    if let Some(pair) = sharing.disagreements().next() {
        let ([a, b], times) = (pair.cpus, times(pair));
        let does = if pair.shares == Some(true) { "share" } else { "do not share" };
        let more = match sharing.disagreements().count() {
            1 => String::new(),
            many => format!(", and {} more", many - 1),
        };
        return format!("{as_told}, but CPUs {a} and {b} {does} a core ({times}{more})");
    }
    let range = range(sharing);
    let is_open = sharing.pairs.iter().any(|pair| pair.shares.is_none());
    match told(found) {
        _ if is_open => format!("{as_told}, open as measured ({range})"),
        Some(told) => format!("{told}, as told and as measured ({range})"),
        None if sharing.is_smt_measured() => format!("{as_told}, some seen to share one ({range})"),
        None => format!("{as_told}, none seen to share one ({range})"),
    }
}

/// `1.01x`, or from the smallest to the largest, and of how many pairs.
fn range(sharing: &Sharing) -> String {
    let slowdowns = sharing.pairs.iter().map(|pair| pair.slowdown);
    let low = slowdowns.clone().fold(f64::INFINITY, f64::min);
    let high = slowdowns.fold(0.0, f64::max);
    let [low, high] = [low, high].map(|value| ratio(value, 2, Rounding::Nearest));
    let (measured, all) = (sharing.pairs.len(), sharing.pairs_possible);
    let of = if measured < all {
        format!("{measured} of {all} pairs")
    } else {
        count(all as u64, "pair")
    };
    if low == high { format!("{low}, {of}") } else { format!("{low} to {high}, {of}") }
}

/// In sentences: the same, and why it was not measured, or how it was.
fn sharing_in_sentences(found: &Topology) -> String {
    let short = sharing_in_short(found);
    match &found.sharing {
        Probed::Inconclusive { why } => {
            let told = told(found).unwrap_or("nothing");
            format!("Threads of a core: {told} as told, not measured: {why}.")
        }
        Probed::Unavailable { .. } => format!("Threads of a core: {short}."),
        Probed::Measured { value } | Probed::Degraded { value, .. } => format!(
            "Threads of a core: {short}. Measured: two CPUs made the same additions alone and at \
             the same time. Those of one core take {:.1} times as long beside each other, or more.",
            value.threshold
        ),
    }
}

/// Returns how many times as long the two took together as alone: `1.01x`.
fn times(pair: &Pair) -> String {
    ratio(pair.slowdown, 2, Rounding::Nearest)
}

/// Shows the pairs, those first that contradict what the machine says.
fn pairs(page: &mut Page, found: &Topology, look: &Look) {
    let Some(sharing) = found.sharing.value() else { return };
    let mut pairs: Vec<&Pair> = sharing.pairs.iter().collect();
    pairs.sort_by_key(|pair| (!pair.is_wrong(), pair.shares.is_some()));
    let shown = &pairs[..pairs.len().min(ROWS)];
    let pairs_shown = Table::of(shown)
        .left("CPUs", 0, |pair| format!("{} and {}", pair.cpus[0], pair.cpus[1]))
        .left("told", 0, |pair| or_dash(pair.is_advertised, cores_in_words))
        .left("measured", 0, |pair| match pair.shares {
            Some(shares) => cores_in_words(shares),
            None => format!("one core in {}", percent(pair.shared_rounds, Rounding::Nearest)),
        })
        .decimal("together over alone", 0, |pair| times(pair))
        .right("rounds", 1, |pair| pair.rounds);
    table(page, pairs_shown, look);
    if pairs.len() > ROWS {
        say(page, format!("and {} more", count((pairs.len() - ROWS) as u64, "pair")));
    }
}

fn cores_in_words(is_one: bool) -> String {
    if is_one { "one core" } else { "two cores" }.to_owned()
}

/// Caches that differ in nothing but the CPUs that share them: one of them, and how many they are.
fn alike(found: &Topology) -> Vec<(&Cache, usize)> {
    let mut kinds: Vec<(&Cache, usize)> = Vec::new();
    for cache in &found.caches {
        match kinds.iter_mut().find(|(one, _)| properties(one) == properties(cache)) {
            Some((_, number)) => *number += 1,
            None => kinds.push((cache, 1)),
        }
    }
    kinds
}

fn properties(cache: &Cache) -> impl PartialEq {
    (cache.level, cache.kind, cache.size_bytes, cache.line_bytes, cache.ways, cache.cpus.len())
}

/// `L1d 48 KiB, L2 1 MiB, L3 32 MiB for 2 CPUs`.
fn caches_in_short(found: &Topology) -> String {
    let kinds = alike(found);
    let data = kinds.iter().filter(|(one, _)| one.kind != CacheKind::Instruction);
    let texts = data.map(|(one, _)| {
        let size = one.size_bytes.map(|size| format!(" {}", bytes(size)));
        let shared = one.cpus.len();
        let shared = if shared > 1 { format!(" for {shared} CPUs") } else { String::new() };
        format!("{}{}{shared}", name(one), size.unwrap_or_default())
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn name(cache: &Cache) -> String {
    let letter = match (cache.level, cache.kind) {
        (_, CacheKind::Instruction) => "i",
        (1, CacheKind::Data) => "d",
        _ => "",
    };
    format!("L{}{letter}", cache.level)
}

fn caches(page: &mut Page, found: &Topology, look: &Look) {
    let kinds = alike(found);
    if kinds.is_empty() {
        return;
    }
    let kinds = Table::of(&kinds)
        .left("cache", 0, |(one, _)| name(one))
        .decimal("size", 0, |(one, _)| or_dash(one.size_bytes, bytes))
        .right("line", 0, |(one, _)| or_dash(one.line_bytes, bytes))
        .right("ways", 1, |(one, _)| or_dash(one.ways, |ways| ways.to_string()))
        .left("shared by", 0, |(one, _)| count(one.cpus.len() as u64, "CPU"))
        .right("number", 0, |(_, number)| *number);
    table(page, kinds, look);
}

/// Shows the nodes with their distances, if there are several.
fn nodes(page: &mut Page, found: &Topology, look: &Look) {
    if found.nodes.len() < 2 {
        return;
    }
    let mut nodes = Table::of(&found.nodes)
        .right("node", 0, |node| node.node)
        .left("CPUs", 2, |node| match format_cpus(&node.cpus) {
            list if list.is_empty() => "none".to_owned(),
            list => list,
        })
        .decimal("memory", 0, |node| or_dash(node.memory_bytes, bytes));
    for (index, to) in found.nodes.iter().enumerate() {
        nodes = nodes.right(&format!("to {}", to.node), 1, |from| {
            or_dash(from.distances.get(index), u64::to_string)
        });
    }
    table(page, nodes, look);
}

#[cfg(test)]
pub(crate) mod tests;
