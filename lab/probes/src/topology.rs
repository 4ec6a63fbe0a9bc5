//! What the probe of topology found.

mod analyse;
pub(crate) mod data_caches;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Figure, Unit};
use crate::probed::Probed;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_core::language::Tool;

/// What the machine says its CPUs, caches and memory nodes are, whether its CPUs share cores as far
/// as that was measured, what this process may use of it, and the compilers that were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// The CPUs, in the order of their numbers; those that are off are among them.
    pub cpus: Vec<Cpu>,
    /// Each cache once, level by level, then in the order of its first CPU.
    pub caches: Vec<Cache>,
    /// The memory nodes, in the order of their numbers; none if the kernel does not report them.
    pub nodes: Vec<Node>,
    /// The memory of the machine, which nodes may lack until a hypervisor gives it; absent if the
    /// kernel does not report it, and in older prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_memory_bytes: Option<u64>,
    /// Which pairs of CPUs share a core, as measured.
    pub sharing: Probed<Sharing>,
    /// What this process may use.
    pub limits: Limits,
    /// Compilers and interpreters along `PATH`, in a fixed order.
    pub compilers: Vec<Tool>,
}

impl Topology {
    /// Returns how many sockets have a CPU that is on; `None` if the kernel does not say so of
    /// each.
    pub fn sockets(&self) -> Option<usize> {
        self.distinct(|cpu| cpu.package)
    }

    /// Returns how many cores have a CPU that is on; `None` if the kernel does not say so of each.
    pub fn cores(&self) -> Option<usize> {
        self.distinct(|cpu| cpu.core)
    }

    /// Returns the CPUs that are on.
    pub fn online(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(|cpu| cpu.is_online)
    }

    /// Returns how many CPUs this process may use.
    pub fn allowed(&self) -> usize {
        self.cpus.iter().filter(|cpu| cpu.is_allowed).count()
    }

    /// Whether the machine says that CPUs share cores; `None` if it says nothing of cores.
    pub fn is_smt_advertised(&self) -> Option<bool> {
        self.cores()?;
        Some(self.online().any(|cpu| !cpu.smt_siblings.is_empty()))
    }

    /// Returns the memory of the machine, in bytes: the size of the whole if known, else of all
    /// nodes; `None` if the kernel does not report it.
    pub fn memory_bytes(&self) -> Option<u64> {
        let of_nodes = self.nodes.iter().map(|node| node.memory_bytes).sum::<Option<u64>>();
        self.whole_memory_bytes.or(of_nodes.filter(|_| !self.nodes.is_empty()))
    }

    /// Returns the caches of a level that hold data.
    pub fn data_caches(&self, level: u8) -> impl Iterator<Item = &Cache> {
        let of_level = self.caches.iter().filter(move |cache| cache.level == level);
        of_level.filter(|cache| cache.kind != CacheKind::Instruction)
    }

    /// Returns how many values a property of the CPUs that are on has; `None` if one has none.
    pub(crate) fn distinct(&self, of: impl Fn(&Cpu) -> Option<usize>) -> Option<usize> {
        let found: Option<BTreeSet<usize>> = self.online().map(of).collect();
        found.map(|found| found.len()).filter(|count| *count > 0)
    }

    /// Returns the numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let nodes = Some(self.nodes.len()).filter(|count| *count > 0);
        let counts = [
            ("cpus", "CPUs that may be used", Some(self.allowed())),
            ("cores", "cores", self.cores()),
            ("sockets", "sockets", self.sockets()),
            ("nodes", "memory nodes", nodes),
        ];
        let counts = counts
            .map(|(key, words, count)| fact(key, words, count.map(|it| it as u64), Unit::Count));
        let mut figures = Vec::from(counts);
        figures.push(fact("memory", "memory", self.memory_bytes(), Unit::Bytes));
        let max_hz = self.online().filter_map(|cpu| cpu.max_hz).max();
        figures.push(fact("max-frequency", "highest advertised frequency", max_hz, Unit::Hertz));
        for level in 1..=4 {
            let sizes = self.data_caches(level).filter_map(|cache| cache.size_bytes);
            let sizes: Vec<u64> = sizes.collect();
            let name = if level == 1 { "L1d".to_owned() } else { format!("L{level}") };
            let each = sizes.iter().max().copied();
            let all = each.map(|_| sizes.iter().sum());
            for (key, words, value) in [("each", "each", each), ("all", "all together", all)] {
                let key = format!("{}-{key}", name.to_lowercase());
                figures.push(fact(&key, &format!("{name} cache, {words}"), value, Unit::Bytes));
            }
        }
        figures.into_iter().flatten().collect()
    }
}

/// Returns the CPUs of each value of a property, in the order of the values.
pub(crate) fn grouped(cpus: &[Cpu], of: fn(&Cpu) -> Option<usize>) -> BTreeMap<usize, Vec<usize>> {
    let mut groups = BTreeMap::<usize, Vec<usize>>::new();
    for (cpu, value) in cpus.iter().filter_map(|cpu| Some((cpu.cpu, of(cpu)?))) {
        groups.entry(value).or_default().push(cpu);
    }
    groups
}

/// Returns a figure that is a fact: the machine advertises it.
fn fact(key: &str, words: &str, value: Option<u64>, unit: Unit) -> Option<Figure> {
    Some(Figure::fact(format!("topology-{key}"), words, value? as f64, unit))
}

/// A CPU as the kernel counts them: a core, or a thread of one.
///
/// Core, cluster, die and package are counted over the whole machine from 0, in the order of their
/// first CPU: the kernel's own numbers repeat in each package, or are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Its number.
    pub cpu: usize,
    /// Whether it is on.
    pub is_online: bool,
    /// Whether this process may run on it.
    pub is_allowed: bool,
    /// Its core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<usize>,
    /// The cluster of cores that it belongs to, where the kernel knows of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<usize>,
    /// Its die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<usize>,
    /// Its package: what sits in a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<usize>,
    /// Its memory node, by the kernel's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// The other CPUs of its core, as advertised.
    pub smt_siblings: Vec<usize>,
    /// Of what kind its core is, where the machine has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CoreKind>,
    /// Its highest frequency, if known, in cycles a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hz: Option<u64>,
}

/// A kind of core, on a machine that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreKind {
    /// The fastest kind.
    Performance,
    /// Any other.
    Efficiency,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Its line in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// How many lines of one index it can hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ways: Option<u64>,
    /// The CPUs that share it.
    pub cpus: Vec<usize>,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// Both.
    Unified,
}

/// A memory node: memory, and the CPUs that are nearest to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its number.
    pub node: usize,
    /// Its CPUs; none of memory alone.
    pub cpus: Vec<usize>,
    /// Its memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How far it is to each node, in the order of the nodes, as the firmware says: 10 is itself.
    /// Empty if not known.
    pub distances: Vec<u64>,
}

/// What this process may use; absent is what does not limit it or is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU time that its control groups may use in [`Limits::cpu_period_us`], in microseconds: the
    /// tightest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota_us: Option<u64>,
    /// The period of the quota in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_period_us: Option<u64>,
    /// Memory that its control groups may use, in bytes: the tightest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Memory nodes that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<usize>>,
    /// Whether the control groups could be seen at all.
    pub is_cpu_quota_known: bool,
}

/// Pairs of CPUs that ran the same work alone and at the same time.
///
/// Two threads of one core that both keep its adders busy get about half of them each; two cores do
/// not hinder each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// The pairs, those that the machine says share a core first.
    pub pairs: Vec<Pair>,
    /// Pairs of CPUs that this process may use, which shows how many were left out.
    pub pairs_possible: usize,
    /// From which slowdown on two CPUs are taken to share a core.
    pub threshold: f64,
}

impl Pair {
    /// Whether measurement and machine say different things.
    pub fn is_wrong(&self) -> bool {
        self.shares
            .zip(self.is_advertised)
            .is_some_and(|(measured, advertised)| measured != advertised)
    }
}

/// A pair of CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The two CPUs, the lower number first.
    pub cpus: [usize; 2],
    /// Whether the machine says that they share a core; absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_advertised: Option<bool>,
    /// Whether they do, as measured; absent if the rounds disagree: a hypervisor may move them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<bool>,
    /// Time of a batch together with the other over its time alone: the median of the rounds.
    pub slowdown: f64,
    /// The share of rounds in which they seemed to share a core.
    pub shared_rounds: f64,
    /// Rounds that count.
    pub rounds: usize,
    /// A batch alone, in nanoseconds: the median of the rounds.
    pub alone_ns: f64,
    /// A batch together with the other, in nanoseconds: the median of the rounds.
    pub together_ns: f64,
    /// Batches that count.
    pub batches: u64,
    /// Batches that do not count: the other did not run meanwhile, or hardly.
    pub invalid_batches: u64,
}

#[cfg(test)]
mod tests;
