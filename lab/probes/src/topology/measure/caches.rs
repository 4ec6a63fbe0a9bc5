//! Caches, each once.

use crate::{Cache, CacheKind};
use tiebreak_machine::cpus::parse_list;
use tiebreak_machine::fingerprint::cache_bytes;
use tiebreak_machine::tree::Tree;

/// The caches of these CPUs, level by level, then in the order of their first CPU.
pub(crate) fn read(tree: &Tree, online: &[usize]) -> Vec<Cache> {
    let mut caches: Vec<Cache> = Vec::new();
    for cpu in online {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        let names = tree.names(&folder);
        for index in names.iter().filter(|name| name.starts_with("index")) {
            let Some(cache) = one(tree, &format!("{folder}/{index}"), *cpu) else { continue };
            let is_same = |other: &Cache| {
                (other.level, other.kind) == (cache.level, cache.kind) && other.cpus == cache.cpus
            };
            if !caches.iter().any(is_same) {
                caches.push(cache);
            }
        }
    }
    caches.sort_by(|a, b| (a.level, a.kind, &a.cpus).cmp(&(b.level, b.kind, &b.cpus)));
    caches
}

fn one(tree: &Tree, folder: &str, cpu: usize) -> Option<Cache> {
    let text = |file: &str| tree.text(&format!("{folder}/{file}"));
    let above_zero = |file: &str| tree.number(&format!("{folder}/{file}")).filter(|n| *n > 0);
    let kind = match text("type")?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let shared = text("shared_cpu_list").and_then(|text| parse_list(&text));
    Some(Cache {
        level: text("level")?.parse().ok()?,
        kind,
        size_bytes: text("size").as_deref().and_then(cache_bytes),
        line_bytes: above_zero("coherency_line_size"),
        ways: above_zero("ways_of_associativity"),
        cpus: shared.filter(|cpus| cpus.contains(&cpu)).unwrap_or_else(|| vec![cpu]),
    })
}
