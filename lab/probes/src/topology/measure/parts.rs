//! CPUs, and which of them belong together.

use crate::{CoreKind, Cpu};
use std::collections::BTreeMap;
use tiebreak_machine::cpus::parse_list;
use tiebreak_machine::tree::Tree;

const FOLDER: &str = "/sys/devices/system/cpu";

/// The CPUs that are told, in the order of their numbers, and what is not told of them. Those that
/// this process may run on exist, whatever `/sys` says.
pub(super) fn read(tree: &Tree, allowed: &[usize]) -> (Vec<Cpu>, Vec<String>) {
    let list = |file: &str| tree.text(&format!("{FOLDER}/{file}")).and_then(|t| parse_list(&t));
    let mut reasons = Vec::new();
    let online = list("online");
    if online.is_none() {
        reasons.push(format!(
            "{FOLDER}/online cannot be read: the CPUs are those that this process may use"
        ));
    }
    let online = online.unwrap_or_else(|| allowed.to_vec());
    let present = list("present").unwrap_or_default();
    let mut numbers = [&online[..], &present, allowed].concat();
    numbers.sort_unstable();
    numbers.dedup();
    let mut groups = Groups::default();
    let kinds = Kinds::read(tree, &online);
    let mut cpus = Vec::new();
    for cpu in numbers {
        let is_online = online.contains(&cpu) || allowed.contains(&cpu);
        let is_allowed = allowed.contains(&cpu);
        let bare = Cpu { cpu, is_online, is_allowed, ..Cpu::default() };
        cpus.push(if is_online { groups.place(tree, bare, &kinds) } else { bare });
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
    /// Fills in what `/sys` says of a CPU.
    fn place(&mut self, tree: &Tree, bare: Cpu, kinds: &Kinds) -> Cpu {
        let cpu = bare.cpu;
        let threads = set(tree, cpu, &["core_cpus_list", "thread_siblings_list"]);
        let siblings = threads.iter().flatten().copied().filter(|other| *other != cpu).collect();
        Cpu {
            core: self.index("core", threads),
            cluster: self.index("cluster", cluster(tree, cpu)),
            die: self.index("die", set(tree, cpu, &["die_cpus_list"])),
            package: self.index("package", package(tree, cpu)),
            node: node(tree, cpu),
            smt_siblings: siblings,
            kind: kinds.of(cpu),
            max_hz: max_hz(tree, cpu),
            ..bare
        }
    }

    fn index(&mut self, level: &'static str, cpus: Option<Vec<usize>>) -> Option<usize> {
        let cpus = cpus?;
        let seen = self.0.entry(level).or_default();
        Some(seen.iter().position(|other| *other == cpus).unwrap_or_else(|| {
            seen.push(cpus);
            seen.len() - 1
        }))
    }
}

/// The set that the first of these files names, if this CPU is in it.
fn set(tree: &Tree, cpu: usize, files: &[&str]) -> Option<Vec<usize>> {
    let text = |file: &&str| tree.text(&format!("{FOLDER}/cpu{cpu}/topology/{file}"));
    let cpus = files.iter().find_map(text).and_then(|text| parse_list(&text))?;
    cpus.contains(&cpu).then_some(cpus)
}

/// The CPUs of a package. Where firmware names none (Arm without a table of the processor's
/// topology) the id is -1, and what the kernel then gives as siblings is no package.
fn package(tree: &Tree, cpu: usize) -> Option<Vec<usize>> {
    let id = tree.text(&format!("{FOLDER}/cpu{cpu}/topology/physical_package_id"));
    if id.is_some_and(|id| id.starts_with('-')) {
        return None;
    }
    set(tree, cpu, &["package_cpus_list", "core_siblings_list"])
}

/// The CPUs of a cluster. Kernels without clusters answer with an id of -1 or 65535.
fn cluster(tree: &Tree, cpu: usize) -> Option<Vec<usize>> {
    let id = tree.text(&format!("{FOLDER}/cpu{cpu}/topology/cluster_id"))?;
    if id.starts_with('-') || id == "65535" {
        return None;
    }
    set(tree, cpu, &["cluster_cpus_list"])
}

/// The node of a CPU: a link of that name in its folder.
fn node(tree: &Tree, cpu: usize) -> Option<usize> {
    let names = tree.names(&format!("{FOLDER}/cpu{cpu}"));
    names.iter().find_map(|name| name.strip_prefix("node")?.parse().ok())
}

fn max_hz(tree: &Tree, cpu: usize) -> Option<u64> {
    let khz = tree.number(&format!("{FOLDER}/cpu{cpu}/cpufreq/cpuinfo_max_freq"))?;
    khz.checked_mul(1000).filter(|hz| *hz > 0)
}

/// The kinds of cores, where there are several.
struct Kinds {
    performance: Vec<usize>,
    efficiency: Vec<usize>,
}

impl Kinds {
    /// Intel's hybrid processors have a counter unit for each kind, which names its CPUs; on Arm
    /// each CPU has a capacity, of which the largest is the fastest kind's.
    fn read(tree: &Tree, online: &[usize]) -> Kinds {
        let unit = |name: &str| {
            let text = tree.text(&format!("/sys/devices/{name}/cpus"));
            text.and_then(|text| parse_list(&text)).unwrap_or_default()
        };
        let (performance, efficiency) = (unit("cpu_core"), unit("cpu_atom"));
        if !performance.is_empty() && !efficiency.is_empty() {
            return Kinds { performance, efficiency };
        }
        let capacity = |cpu: &usize| tree.number(&format!("{FOLDER}/cpu{cpu}/cpu_capacity"));
        let known: Option<Vec<u64>> = online.iter().map(capacity).collect();
        let capacities = known.unwrap_or_default();
        let most = capacities.iter().max().copied().unwrap_or(0);
        let of = |wanted: fn(u64, u64) -> bool| {
            let pairs = online.iter().zip(&capacities);
            pairs.filter(|(_, c)| wanted(**c, most)).map(|(cpu, _)| *cpu).collect()
        };
        Kinds { performance: of(|c, most| c == most), efficiency: of(|c, most| c < most) }
    }

    fn of(&self, cpu: usize) -> Option<CoreKind> {
        if self.efficiency.is_empty() {
            return None;
        }
        match () {
            () if self.performance.contains(&cpu) => Some(CoreKind::Performance),
            () if self.efficiency.contains(&cpu) => Some(CoreKind::Efficiency),
            () => None,
        }
    }
}
