//! Reads what the kernel reports: CPUs and which of them belong together, caches, and memory nodes.

use super::*;
use crate::{Cache, CacheKind, CoreKind, Node};
use std::collections::BTreeSet;
use tiebreak_machine::fingerprint::cache_bytes;

const FOLDER: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// Returns the CPUs that the kernel reports, in the order of their numbers, and what it does not
/// report. Those that this process may run on exist, whatever `/sys` says.
pub(crate) fn cpus(tree: &Tree, allowed: &[usize]) -> (Vec<Cpu>, Vec<String>) {
    let [online, present] =
        ["online", "present"].map(|file| list(tree, &format!("{FOLDER}/{file}")));
    let mut reasons = Vec::new();
    let online = online.unwrap_or_else(|| {
        let why = "online cannot be read: the CPUs are those that this process may use";
        reasons.push(format!("{FOLDER}/{why}"));
        allowed.to_vec()
    });
    let present = present.unwrap_or_default();
    let numbers = BTreeSet::from_iter([&online[..], &present, allowed].concat());
    let mut groups = Groups::default();
    let kinds = kinds(tree, &online);
    let mut cpus = Vec::new();
    for cpu in numbers {
        let is_allowed = allowed.contains(&cpu);
        let is_online = online.contains(&cpu) || is_allowed;
        let mut one = Cpu { cpu, is_online, is_allowed, ..Cpu::default() };
        if is_online {
            let threads = set(tree, cpu, "core_id", &["core_cpus_list", "thread_siblings_list"]);
            one.smt_siblings = threads.iter().flatten().copied().filter(|it| *it != cpu).collect();
            one.core = groups.index("core", threads);
            let cluster = set(tree, cpu, "cluster_id", &["cluster_cpus_list"]);
            one.cluster = groups.index("cluster", cluster);
            one.die = groups.index("die", set(tree, cpu, "die_id", &["die_cpus_list"]));
            let package = ["package_cpus_list", "core_siblings_list"];
            one.package = groups.index("package", set(tree, cpu, "physical_package_id", &package));
            // A link of that name in its folder.
            let names = tree.names(&format!("{FOLDER}/cpu{cpu}"));
            one.node = names.iter().find_map(|name| name.strip_prefix("node")?.parse().ok());
            one.kind = kinds.get(&cpu).copied();
            let khz = tree.number(&format!("{FOLDER}/cpu{cpu}/cpufreq/cpuinfo_max_freq"));
            one.max_hz = khz.and_then(|khz| khz.checked_mul(1000)).filter(|hz| *hz > 0);
        }
        cpus.push(one);
    }
    if cpus.iter().any(|cpu| cpu.is_online && cpu.core.is_none()) {
        reasons.push("the kernel does not tell which CPUs belong to a core".to_owned());
    }
    (cpus, reasons)
}

/// Sets of CPUs that were seen, by level, in the order of their first CPU.
#[derive(Default)]
struct Groups(BTreeMap<&'static str, Vec<Vec<usize>>>);

impl Groups {
    fn index(&mut self, level: &'static str, cpus: Option<Vec<usize>>) -> Option<usize> {
        let cpus = cpus?;
        let seen = self.0.entry(level).or_default();
        Some(seen.iter().position(|other| *other == cpus).unwrap_or_else(|| {
            seen.push(cpus);
            seen.len() - 1
        }))
    }
}

/// Reads a file that holds a list of CPUs.
fn list(tree: &Tree, file: &str) -> Option<Vec<usize>> {
    parse_list(&tree.text(file)?)
}

/// Returns the set that the first of these files names, if it contains this CPU. Where there is
/// none (Arm without a table of the processor's topology, kernels without clusters) the id is -1
/// or 65535, whatever the kernel lists.
fn set(tree: &Tree, cpu: usize, id: &str, files: &[&str]) -> Option<Vec<usize>> {
    let folder = format!("{FOLDER}/cpu{cpu}/topology");
    let id = tree.text(&format!("{folder}/{id}"));
    if id.is_some_and(|id| id.starts_with('-') || id == "65535") {
        return None;
    }
    let text = files.iter().find_map(|file| tree.text(&format!("{folder}/{file}")))?;
    parse_list(&text).filter(|cpus| cpus.contains(&cpu))
}

/// Returns the kind of each core, where there are several. Intel's hybrid processors have a counter
/// unit for each kind, which names its CPUs; on Arm each CPU has a capacity, of which the largest
/// is the fastest kind's.
fn kinds(tree: &Tree, online: &[usize]) -> BTreeMap<usize, CoreKind> {
    use CoreKind::{Efficiency, Performance};
    let [fast, slow] = ["cpu_core", "cpu_atom"]
        .map(|unit| list(tree, &format!("/sys/devices/{unit}/cpus")).unwrap_or_default());
    if !fast.is_empty() && !slow.is_empty() {
        let fast = fast.into_iter().map(|cpu| (cpu, Performance));
        return slow.into_iter().map(|cpu| (cpu, Efficiency)).chain(fast).collect();
    }
    let capacities =
        online.iter().map(|cpu| tree.number(&format!("{FOLDER}/cpu{cpu}/cpu_capacity")));
    let capacities: Vec<u64> = capacities.collect::<Option<_>>().unwrap_or_default();
    let most = capacities.iter().copied().max();
    if capacities.iter().min().copied() == most {
        return BTreeMap::new();
    }
    let kinds =
        capacities.iter().map(|it| if Some(*it) == most { Performance } else { Efficiency });
    online.iter().copied().zip(kinds).collect()
}

/// Returns the caches of these CPUs, level by level, then in the order of their first CPU.
pub(crate) fn caches(tree: &Tree, online: &[usize]) -> Vec<Cache> {
    let mut caches: Vec<Cache> = Vec::new();
    for cpu in online {
        let folder = format!("{FOLDER}/cpu{cpu}/cache");
        let names = tree.names(&folder);
        for index in names.iter().filter(|name| name.starts_with("index")) {
            let Some(cache) = cache(tree, &format!("{folder}/{index}"), *cpu) else { continue };
            caches.push(cache);
        }
    }
    // The sort is stable: of equal ones the first is kept.
    caches.sort_by(|a, b| (a.level, a.kind, &a.cpus).cmp(&(b.level, b.kind, &b.cpus)));
    caches.dedup_by(|a, b| (a.level, a.kind, &a.cpus) == (b.level, b.kind, &b.cpus));
    caches
}

fn cache(tree: &Tree, folder: &str, cpu: usize) -> Option<Cache> {
    let [kind, level, size, shared] = ["type", "level", "size", "shared_cpu_list"]
        .map(|file| tree.text(&format!("{folder}/{file}")));
    let [line_bytes, ways] = ["coherency_line_size", "ways_of_associativity"]
        .map(|file| tree.number(&format!("{folder}/{file}")).filter(|number| *number > 0));
    let kind = match kind?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let shared = shared.and_then(|text| parse_list(&text));
    Some(Cache {
        level: level?.parse().ok()?,
        kind,
        size_bytes: size.as_deref().and_then(cache_bytes),
        line_bytes,
        ways,
        cpus: shared.filter(|cpus| cpus.contains(&cpu)).unwrap_or_else(|| vec![cpu]),
    })
}

/// Nodes that add up to another amount than the whole, by more than one part in this number, are
/// not known.
const PART: u64 = 100;

/// Returns the memory nodes, in the order of their numbers; none if the kernel reports none.
///
/// A hypervisor may give memory later than it is told: the kernel then counts it in the whole from
/// the beginning, and in its node when it comes. So the only node has the whole, and of several
/// that do not add up to it nothing is known.
pub(super) fn nodes(tree: &Tree, memory_bytes: Option<u64>) -> Vec<Node> {
    let names = tree.names(NODES);
    let numbers = names.iter().filter_map(|name| name.strip_prefix("node")?.parse().ok());
    let mut nodes: Vec<Node> = numbers.map(|node| node_of(tree, node)).collect();
    nodes.sort_by_key(|node| node.node);
    let Some(whole) = memory_bytes else { return nodes };
    let sum: u64 = nodes.iter().filter_map(|node| node.memory_bytes).sum();
    if let [only] = &mut nodes[..] {
        only.memory_bytes = Some(whole);
    } else if sum.abs_diff(whole) > whole / PART {
        nodes.iter_mut().for_each(|node| node.memory_bytes = None);
    }
    nodes
}

fn node_of(tree: &Tree, node: usize) -> Node {
    let folder = format!("{NODES}/node{node}");
    let distances = tree.text(&format!("{folder}/distance")).unwrap_or_default();
    let distances: Option<Vec<u64>> =
        distances.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    Node {
        node,
        cpus: list(tree, &format!("{folder}/cpulist")).unwrap_or_default(),
        memory_bytes: tree.kib_bytes(&format!("{folder}/meminfo"), "MemTotal"),
        distances: distances.unwrap_or_default(),
    }
}
