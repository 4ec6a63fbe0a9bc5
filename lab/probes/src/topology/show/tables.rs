//! Caches, memory nodes and compilers, as tables.

use super::*;
use crate::{Cache, CacheKind};
use tiebreak_core::cpus::format_list;

/// Caches that differ in nothing but the CPUs that share them: one of them, and how many they are.
fn alike(found: &Topology) -> Vec<(&Cache, usize)> {
    let key = |cache: &Cache| {
        (cache.level, cache.kind, cache.size_bytes, cache.line_bytes, cache.ways, cache.cpus.len())
    };
    let mut kinds: Vec<(&Cache, usize)> = Vec::new();
    for cache in &found.caches {
        match kinds.iter_mut().find(|(one, _)| key(one) == key(cache)) {
            Some((_, number)) => *number += 1,
            None => kinds.push((cache, 1)),
        }
    }
    kinds
}

/// `L1d 48 KiB, L2 1 MiB, L3 32 MiB for 2 CPUs`.
pub(super) fn caches_in_short(found: &Topology) -> String {
    let kinds = alike(found);
    let data = kinds.iter().filter(|(one, _)| one.kind != CacheKind::Instruction);
    let text = |(one, _): &(&Cache, usize)| {
        let size = one.size_bytes.map(|size| format!(" {}", bytes(size)));
        let shared = one.cpus.len();
        let shared = if shared > 1 { format!(" for {shared} CPUs") } else { String::new() };
        format!("{}{}{shared}", name(one), size.unwrap_or_default())
    };
    data.map(text).collect::<Vec<_>>().join(", ")
}

fn name(cache: &Cache) -> String {
    let letter = match (cache.level, cache.kind) {
        (_, CacheKind::Instruction) => "i",
        (1, CacheKind::Data) => "d",
        _ => "",
    };
    format!("L{}{letter}", cache.level)
}

pub(super) fn caches(found: &Topology, look: &Look) -> String {
    let kinds = alike(found);
    if kinds.is_empty() {
        return String::new();
    }
    Table::of(&kinds)
        .left("cache", 0, |(one, _)| name(one))
        .decimal("size", 0, |(one, _)| or_dash(one.size_bytes, bytes))
        .right("line", 0, |(one, _)| or_dash(one.line_bytes, bytes))
        .right("ways", 1, |(one, _)| or_dash(one.ways, |ways| ways.to_string()))
        .left("shared by", 0, |(one, _)| count(one.cpus.len() as u64, "CPU"))
        .right("number", 0, |(_, number)| *number)
        .text(look)
}

/// The nodes with their distances; empty if there is one only.
pub(super) fn nodes(found: &Topology, look: &Look) -> String {
    let nodes = &found.nodes;
    if nodes.len() < 2 {
        return String::new();
    }
    let cpus = |cpus: &[usize]| if cpus.is_empty() { "none".to_owned() } else { format_list(cpus) };
    let mut table = Table::of(nodes)
        .right("node", 0, |node| node.node)
        .left("CPUs", 2, |node| cpus(&node.cpus))
        .decimal("memory", 0, |node| or_dash(node.memory_bytes, bytes));
    for (index, to) in nodes.iter().enumerate() {
        table = table.right(&format!("to {}", to.node), 1, |from| {
            or_dash(from.distances.get(index), u64::to_string)
        });
    }
    table.text(look)
}

pub(super) fn compilers(found: &Topology, look: &Look) -> String {
    let mut page = Page::new(*look);
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
