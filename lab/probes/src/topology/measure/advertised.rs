//! Reads what the kernel reports: CPUs and which of them belong together, caches, and memory nodes.

use super::*;
use crate::{Cache, CacheKind, CoreKind, Node};
use std::collections::BTreeSet;
use tiebreak_machine::fingerprint::cache_bytes;

const FOLDER: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// The file of the number of a CPU's core, cluster, die and package, and those that list the CPUs
/// of it, of which the first one counts.
const SETS: [(&str, &[&str]); 4] = [
    ("core_id", &["core_cpus_list", "thread_siblings_list"]),
    ("cluster_id", &["cluster_cpus_list"]),
    ("die_id", &["die_cpus_list"]),
    ("physical_package_id", &["package_cpus_list", "core_siblings_list"]),
];

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
    let numbers =
        BTreeSet::from_iter([&online[..], &present.unwrap_or_default(), allowed].concat());
    let kinds = kinds(tree, &online);
    let mut seen: [Vec<Vec<usize>>; 4] = Default::default();
    let cpus = numbers.into_iter().map(|cpu| {
        let is_allowed = allowed.contains(&cpu);
        if !is_allowed && !online.contains(&cpu) {
            return Cpu { cpu, ..Cpu::default() };
        }
        let sets = SETS.map(|(id, files)| set(tree, cpu, id, files));
        let [core, cluster, die, package] =
            std::array::from_fn(|at| Some(index(&mut seen[at], sets[at].as_ref()?)));
        // A link of that name in its folder.
        let names = tree.names(&format!("{FOLDER}/cpu{cpu}"));
        let node = names.iter().find_map(|name| name.strip_prefix("node")?.parse().ok());
        let khz = tree.number(&format!("{FOLDER}/cpu{cpu}/cpufreq/cpuinfo_max_freq"));
        let mut one = Cpu { cpu, is_allowed, core, cluster, die, package, node, ..Cpu::default() };
        one.is_online = true;
        one.smt_siblings = sets[0].iter().flatten().copied().filter(|it| *it != cpu).collect();
        one.kind = kinds.get(&cpu).copied();
        one.max_hz = khz.and_then(|khz| khz.checked_mul(1000)).filter(|hz| *hz > 0);
        one
    });
    let cpus: Vec<Cpu> = cpus.collect();
    if cpus.iter().any(|cpu| cpu.is_online && cpu.core.is_none()) {
        reasons.push("the kernel does not tell which CPUs belong to a core".to_owned());
    }
    (cpus, reasons)
}

/// Returns the place of a set among those that were seen, which are in the order of their first
/// CPU.
fn index(seen: &mut Vec<Vec<usize>>, cpus: &[usize]) -> usize {
    seen.iter().position(|other| other == cpus).unwrap_or_else(|| {
        seen.push(cpus.to_vec());
        seen.len() - 1
    })
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
    let files = online.iter().map(|cpu| format!("{FOLDER}/cpu{cpu}/cpu_capacity"));
    let capacities: Vec<u64> = files.map_while(|file| tree.number(&file)).collect();
    let most = capacities.iter().max();
    if capacities.len() < online.len() || capacities.iter().min() == most {
        return BTreeMap::new();
    }
    let kinds = capacities.iter().map(|it| if Some(it) == most { Performance } else { Efficiency });
    online.iter().copied().zip(kinds).collect()
}

/// Returns the caches of these CPUs, level by level, then in the order of their first CPU.
pub(crate) fn caches(tree: &Tree, online: &[usize]) -> Vec<Cache> {
    let mut caches: Vec<Cache> = Vec::new();
    for cpu in online {
        let folder = format!("{FOLDER}/cpu{cpu}/cache");
        let names = tree.names(&folder).into_iter().filter(|name| name.starts_with("index"));
        caches.extend(names.filter_map(|name| cache(tree, &format!("{folder}/{name}"), *cpu)));
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
/// A hypervisor may give memory later than it says: the kernel then counts it in the whole from
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
    Node {
        node,
        cpus: list(tree, &format!("{folder}/cpulist")).unwrap_or_default(),
        memory_bytes: tree.kib_bytes(&format!("{folder}/meminfo"), "MemTotal"),
        distances: distances.split_ascii_whitespace().filter_map(|it| it.parse().ok()).collect(),
    }
}
