//! What the probe of topology found.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Figure, Unit};
use crate::probed::Probed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tiebreak_core::tool::Tool;

mod parts;
mod sharing;

pub use parts::{Cache, CacheKind, CoreKind, Cpu, Limits, Node};
pub use sharing::{Pair, Sharing};

/// What the machine says its CPUs, caches and memory nodes are, whether its CPUs share cores as far
/// as that was measured, what this process may use of it, and the compilers that were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// The CPUs, in the order of their numbers; those that are off are among them.
    pub cpus: Vec<Cpu>,
    /// Each cache once, level by level, then in the order of its first CPU.
    pub caches: Vec<Cache>,
    /// The memory nodes, in the order of their numbers; none if the kernel does not tell them.
    pub nodes: Vec<Node>,
    /// The memory of the machine, which nodes may lack until a hypervisor gives it; absent if the
    /// kernel does not tell it, and in older prints.
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
    /// How many sockets have a CPU that is on; `None` if the kernel does not say so of each.
    pub fn sockets(&self) -> Option<usize> {
        self.distinct(|cpu| cpu.package)
    }

    /// How many cores have a CPU that is on; `None` if the kernel does not say so of each.
    pub fn cores(&self) -> Option<usize> {
        self.distinct(|cpu| cpu.core)
    }

    /// The CPUs that are on.
    pub fn online(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(|cpu| cpu.is_online)
    }

    /// How many CPUs this process may use.
    pub fn allowed(&self) -> usize {
        self.cpus.iter().filter(|cpu| cpu.is_allowed).count()
    }

    /// Whether the machine says that CPUs share cores; `None` if it says nothing of cores.
    pub fn is_smt_advertised(&self) -> Option<bool> {
        self.cores()?;
        Some(self.online().any(|cpu| !cpu.smt_siblings.is_empty()))
    }

    /// The memory of the machine, in bytes: what is told of the whole, else of all nodes; `None` if
    /// the kernel does not tell it.
    pub fn memory_bytes(&self) -> Option<u64> {
        if self.whole_memory_bytes.is_some() {
            return self.whole_memory_bytes;
        }
        let sizes: Option<Vec<u64>> = self.nodes.iter().map(|node| node.memory_bytes).collect();
        sizes.filter(|sizes| !sizes.is_empty()).map(|sizes| sizes.iter().sum())
    }

    /// The caches of a level that hold data.
    pub fn data_caches(&self, level: u8) -> impl Iterator<Item = &Cache> {
        let is_data = |cache: &&Cache| cache.kind != CacheKind::Instruction;
        self.caches.iter().filter(move |cache| cache.level == level).filter(is_data)
    }

    fn max_hz(&self) -> Option<f64> {
        self.online().filter_map(|cpu| cpu.max_hz).max().map(|hz| hz as f64)
    }

    fn distinct(&self, of: impl Fn(&Cpu) -> Option<usize>) -> Option<usize> {
        let found: Option<BTreeSet<usize>> = self.online().map(of).collect();
        found.map(|found| found.len()).filter(|count| *count > 0)
    }

    /// The numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        // What the machine says of itself is a fact.
        let figure = |key: &str, words: &str, value: Option<f64>, unit: Unit| {
            Some(Figure::fact(format!("topology-{key}"), words, value?, unit))
        };
        let count = |key: &str, words: &str, value: Option<usize>| {
            figure(key, words, value.map(|value| value as f64), Unit::Count)
        };
        let mut figures = vec![
            count("cpus", "CPUs that may be used", Some(self.allowed())),
            count("cores", "cores", self.cores()),
            count("sockets", "sockets", self.sockets()),
            count("nodes", "memory nodes", Some(self.nodes.len()).filter(|n| *n > 0)),
            figure("memory", "memory", self.memory_bytes().map(|b| b as f64), Unit::Bytes),
            figure("max-frequency", "highest frequency told", self.max_hz(), Unit::Hertz),
        ];
        for level in 1..=4 {
            let each = self.data_caches(level).filter_map(|cache| cache.size_bytes).max();
            let all: u64 = self.data_caches(level).filter_map(|cache| cache.size_bytes).sum();
            let name = if level == 1 { "L1d".to_owned() } else { format!("L{level}") };
            let key = name.to_lowercase();
            let words = [format!("{name} cache, each"), format!("{name} cache, all together")];
            let each = each.map(|bytes| bytes as f64);
            let all = each.map(|_| all as f64);
            figures.push(figure(&format!("{key}-each"), &words[0], each, Unit::Bytes));
            figures.push(figure(&format!("{key}-all"), &words[1], all, Unit::Bytes));
        }
        figures.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests;
