//! Caches, memory nodes and compilers, as tables.

use crate::{Cache, CacheKind, Topology};
use tiebreak_core::cpus::format_list;
use tiebreak_report::fact::bytes;
use tiebreak_report::look::{Look, Tone, span};
use tiebreak_report::number::count;
use tiebreak_report::page::Page;
use tiebreak_report::table::{Align, Column, render};
use tiebreak_report::text::plain;

/// Caches that differ in nothing but the CPUs that share them.
struct Alike<'a> {
    one: &'a Cache,
    number: usize,
}

fn alike(found: &Topology) -> Vec<Alike<'_>> {
    let key = |cache: &Cache| {
        (cache.level, cache.kind, cache.size_bytes, cache.line_bytes, cache.ways, cache.cpus.len())
    };
    let mut kinds: Vec<Alike> = Vec::new();
    for cache in &found.caches {
        match kinds.iter_mut().find(|kind| key(kind.one) == key(cache)) {
            Some(kind) => kind.number += 1,
            None => kinds.push(Alike { one: cache, number: 1 }),
        }
    }
    kinds
}

/// `L1d 48 KiB, L2 1 MiB, L3 32 MiB for 2 CPUs`.
pub(super) fn caches_in_short(found: &Topology) -> String {
    let kinds = alike(found);
    let data = kinds.iter().filter(|kind| kind.one.kind != CacheKind::Instruction);
    let text = |kind: &Alike| {
        let size = kind.one.size_bytes.map(|size| format!(" {}", bytes(size)));
        let shared = kind.one.cpus.len();
        let shared = if shared > 1 { format!(" for {shared} CPUs") } else { String::new() };
        format!("{}{}{shared}", name(kind.one), size.unwrap_or_default())
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
    let texts = |text: fn(&Alike) -> String| kinds.iter().map(text).collect();
    let size = |value: Option<u64>| value.map_or("-".to_owned(), bytes);
    let columns = vec![
        Column::new("cache", Align::Left, texts(|kind| name(kind.one))),
        Column::new("size", Align::Decimal, kinds.iter().map(|k| size(k.one.size_bytes)).collect()),
        Column::new("line", Align::Right, kinds.iter().map(|k| size(k.one.line_bytes)).collect()),
        Column::new(
            "ways",
            Align::Right,
            texts(|kind| kind.one.ways.map_or("-".to_owned(), |ways| ways.to_string())),
        )
        .rank(1),
        Column::new(
            "shared by",
            Align::Left,
            texts(|kind| count(kind.one.cpus.len() as u64, "CPU")),
        ),
        Column::new("number", Align::Right, texts(|kind| kind.number.to_string())),
    ];
    render(columns, look)
}

/// The nodes with their distances; empty if there is one only.
pub(super) fn nodes(found: &Topology, look: &Look) -> String {
    let nodes = &found.nodes;
    if nodes.len() < 2 {
        return String::new();
    }
    let cpus = |cpus: &[usize]| if cpus.is_empty() { "none".to_owned() } else { format_list(cpus) };
    let mut columns = vec![
        Column::new("node", Align::Right, nodes.iter().map(|node| node.node.to_string()).collect()),
        Column::new("CPUs", Align::Left, nodes.iter().map(|node| cpus(&node.cpus)).collect())
            .rank(2),
        Column::new(
            "memory",
            Align::Decimal,
            nodes.iter().map(|n| n.memory_bytes.map_or("-".to_owned(), bytes)).collect(),
        ),
    ];
    for (index, to) in nodes.iter().enumerate() {
        let distance =
            |from: &crate::Node| from.distances.get(index).map_or("-".to_owned(), u64::to_string);
        let cells = nodes.iter().map(distance).collect();
        columns.push(Column::new(&format!("to {}", to.node), Align::Right, cells).rank(1));
    }
    render(columns, look)
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
