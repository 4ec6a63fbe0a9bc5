//! Memory nodes: each is read from its own CPUs, and from those of the first.

use super::team::{Common, Job, Team};
use super::{Bandwidth, UNDISTURBED, WINDOW_NS, buffer, quantile_of_enough, rates, room, windows};
use crate::clock::monotonic_ns;
use crate::probes::Budget;
use crate::tree::Tree;
use std::io;
use std::time::Duration;
use tiebreak_core::machine::{NodeBandwidth, Traffic};

/// More threads than this on a node cost more memory than they tell.
const MOST_THREADS: usize = 16;
/// A stretch is at most so long.
const LONGEST: Duration = Duration::from_millis(150);

/// Nodes, each with those of the CPUs that are its own.
type Nodes = [(usize, Vec<usize>)];

/// Reads each pair of nodes for a part of the time that is left. A pair of which nothing is known
/// is absent.
pub(super) fn measure(
    tree: &Tree,
    nodes: &Nodes,
    probe: &Bandwidth,
    budget: &mut Budget<'_>,
) -> Vec<NodeBandwidth> {
    let pairs = pairs(nodes);
    let each = budget.left() / pairs.len().max(1) as u32;
    let mut found = Vec::new();
    for (cpus, cpu_node, memory_node) in pairs {
        if budget.left() < each / 2 || each.is_zero() {
            break;
        }
        if let Ok(Some(bytes_per_s)) = read(tree, cpus, memory_node, probe, budget, each) {
            let [cpu_node, memory_node] = [cpu_node, memory_node].map(|node| node as u32);
            let threads = cpus.len() as u32;
            found.push(NodeBandwidth { cpu_node, memory_node, threads, bytes_per_s });
        }
        budget.tell(0.0);
    }
    found
}

/// CPUs, their node, and the node of the memory: first all that are local.
fn pairs(nodes: &Nodes) -> Vec<(&[usize], usize, usize)> {
    let some = |cpus: &'_ Vec<usize>| cpus.len().min(MOST_THREADS);
    let with_cpus = || nodes.iter().filter(|(_, cpus)| !cpus.is_empty());
    let local = with_cpus().map(|(node, cpus)| (&cpus[..some(cpus)], *node, *node));
    let first = with_cpus().next();
    let remote = first.into_iter().flat_map(|(first, cpus)| {
        let others = nodes.iter().filter(move |(node, _)| node != first);
        others.map(move |(node, _)| (&cpus[..some(cpus)], *first, *node))
    });
    local.chain(remote).collect()
}

fn read(
    tree: &Tree,
    cpus: &[usize],
    node: usize,
    probe: &Bandwidth,
    budget: &Budget<'_>,
    time: Duration,
) -> io::Result<Option<f64>> {
    let free = room::node_free_bytes(tree, node).unwrap_or(0) / 4 / cpus.len() as u64;
    let wanted = room::buffer_bytes(tree, probe.last_level_bytes, cpus.len());
    let buffer_bytes = wanted.min(free as usize);
    // Pages that must come from a node that has none would end the process.
    if buffer_bytes < 2 * buffer::LARGE_PAGE_BYTES {
        return Ok(None);
    }
    let common = Common {
        cpus,
        vectors: &probe.vectors,
        buffer_bytes: buffer_bytes / buffer::LARGE_PAGE_BYTES * buffer::LARGE_PAGE_BYTES,
        cache_bytes: probe.cache_bytes(),
        node: Some(node),
        ready_by_ns: monotonic_ns() + (time / 2).as_nanos() as u64,
        interrupted: budget.interrupted(),
    };
    std::thread::scope(|scope| {
        let team = Team::start(scope, common)?;
        if team.buffer_bytes < 2 * buffer::LARGE_PAGE_BYTES {
            return Ok(None);
        }
        let jobs = vec![Job::Stream(Traffic::Read); cpus.len()];
        let length = LONGEST.min(time / 3).min(budget.left());
        let windows = windows::common(&team.run(&jobs, true, length), WINDOW_NS);
        let mut rates: Vec<u64> = rates(&windows).collect();
        Ok(quantile_of_enough(&mut rates, UNDISTURBED))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_pairs_come_first_and_memory_without_cpus_is_remote() {
        let nodes = vec![(0, vec![0, 1]), (1, vec![2]), (4, vec![])];
        let (first, second) = (&[0, 1][..], &[2][..]);
        let expected = [(first, 0, 0), (second, 1, 1), (first, 0, 1), (first, 0, 4)];
        assert_eq!(pairs(&nodes), expected);
        assert_eq!(pairs(&[]), []);
    }
}
