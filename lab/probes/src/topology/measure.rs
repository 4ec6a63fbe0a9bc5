//! The probe of topology: what the machine says of its CPUs, caches and memory, and which CPUs are
//! seen to share a core.
//!
//! What it says comes from `/sys/devices/system`, CPU by CPU; sets of CPUs are compared there, not
//! numbers, because numbers of cores repeat in each package and are absent on some machines. What
//! it says need not be true: a hypervisor may hide that two CPUs are threads of one core. So pairs
//! also run the same work alone and together ([`sharing`]).

mod choice;
mod sharing;
pub(crate) mod told;
mod work;

use crate::tools::*;
use crate::{Cpu, Limits, Topology as Found};

pub use sharing::{PairReading, Round};

/// The probe.
#[derive(Debug)]
pub struct Topology {
    told: Advertised,
    cpus: Vec<usize>,
}

/// What it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What is said of it, without what was measured, and without compilers.
    pub found: Found,
    /// Pairs of CPUs that ran the same work alone and together, or why there are none.
    pub pairs: Probed<Vec<PairReading>>,
    /// Pairs that there are among the CPUs that may be used.
    pub pairs_possible: usize,
}

/// What the machine says.
#[derive(Clone, Debug, PartialEq)]
struct Advertised {
    found: Found,
    /// What it does not say, a sentence each.
    reasons: Vec<String>,
}

impl Advertised {
    fn read(tree: &Tree, allowed: &[usize]) -> Advertised {
        let (cpus, mut reasons) = told::cpus(tree, allowed);
        let online: Vec<_> = cpus.iter().filter(|cpu| cpu.is_online).map(|cpu| cpu.cpu).collect();
        let caches = told::caches(tree, &online);
        if caches.is_empty() {
            reasons.push("the kernel does not tell the caches".to_owned());
        }
        let whole_memory_bytes = tree.kib_bytes("/proc/meminfo", "MemTotal");
        let found = Found {
            cpus,
            caches,
            nodes: told::nodes(tree, whole_memory_bytes),
            whole_memory_bytes,
            sharing: Probed::inconclusive("nothing was measured"),
            limits: limits(tree),
            compilers: Vec::new(),
        };
        Advertised { found, reasons }
    }
}

fn limits(tree: &Tree) -> Limits {
    let groups = cgroup::limited(tree);
    let quota = groups.as_deref().and_then(cgroup::tightest);
    let status = tree.text("/proc/self/status").unwrap_or_default();
    let nodes = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    Limits {
        cpu_quota_us: quota.map(|limit| limit.quota_us),
        cpu_period_us: quota.map(|limit| limit.period_us),
        memory_bytes: cgroup::memory_limit_bytes(tree),
        nodes: nodes.and_then(cpus::parse_list),
        is_cpu_quota_known: groups.is_some(),
    }
}

impl Topology {
    /// Reads what the machine says, and will measure between these CPUs.
    ///
    /// # Errors
    /// Neither `/sys` nor the scheduler tells a single CPU.
    pub fn new(cpus: &[usize]) -> Result<Topology, Unavailable> {
        Topology::below(&Tree::at(Path::new("/")), cpus, &cpus::allowed())
    }

    fn below(tree: &Tree, cpus: &[usize], allowed: &[usize]) -> Result<Topology, Unavailable> {
        let told = Advertised::read(tree, allowed);
        if told.found.cpus.is_empty() {
            let tried = ["/sys/devices/system/cpu/online", "sched_getaffinity"];
            let tried = tried.map(|way| (way.to_owned(), "no CPU is told".to_owned())).to_vec();
            return Err(Unavailable { what: "topology", tried });
        }
        Ok(Topology { told, cpus: cpus.to_vec() })
    }

    /// Measures which CPUs share a core, for at most three fifths of the budget.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let Advertised { found, reasons } = self.told.clone();
        let wanted = choice::wanted(&found.cpus, &self.cpus);
        let count = self.cpus.len();
        let reading = Reading {
            found,
            pairs: sharing::measure(&wanted, longest(budget), budget),
            pairs_possible: count * count.saturating_sub(1) / 2,
        };
        Probed::of(reading, reasons)
    }
}

/// What is left of the budget is for whoever asks the compilers.
fn longest(budget: &Budget<'_>) -> Duration {
    budget.left().min(budget.length().mul_f64(0.6))
}

#[cfg(test)]
mod tests;
