//! Memory nodes: each is read from its own CPUs, and from those of the first.

use super::*;
use tiebreak_report::text::each_once;

/// More threads than this on a node cost memory without a better result.
const MOST_THREADS: usize = 16;
/// The longest stretch.
const LONGEST: Duration = Duration::from_millis(150);

/// Nodes, each with those of the CPUs that belong to it.
pub(super) type Nodes = [(usize, Vec<usize>)];

/// Reads each pair of nodes for a part of the time that is left. A pair without a result is absent,
/// and the sentences give the reasons: one for each cause, with the number of pairs.
pub(super) fn measure(
    tree: &Tree,
    nodes: &Nodes,
    cache_bytes: u64,
    budget: &mut Budget<'_>,
) -> (Vec<NodeBandwidth>, Vec<String>) {
    let pairs = pairs(nodes);
    let all = pairs.len();
    let each = budget.left() / all.max(1) as u32;
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for (cpus, cpu_node, memory_node) in pairs {
        match read(tree, cpus, memory_node, cache_bytes, budget, each) {
            Ok(bytes_per_s) => found.push(NodeBandwidth {
                cpu_node: cpu_node as u32,
                memory_node: memory_node as u32,
                threads: cpus.len() as u32,
                bytes_per_s,
            }),
            Err(why) => lost.push(why),
        }
        budget.tell(0.0);
    }
    (found, reasons(&lost, all))
}

fn reasons(lost: &[String], all: usize) -> Vec<String> {
    let sentences = each_once(lost).into_iter().map(|why| {
        let count = lost.iter().filter(|other| *other == why).count();
        format!("of {count} of {all} pairs of memory nodes there is no bandwidth: {why}")
    });
    sentences.collect()
}

/// Returns CPUs, their node, and the node of the memory: first all local pairs.
fn pairs(nodes: &Nodes) -> Vec<(&[usize], usize, usize)> {
    let with_cpus = nodes.iter().filter(|(_, cpus)| !cpus.is_empty());
    let mut pairs: Vec<_> = with_cpus
        .map(|(node, cpus)| (&cpus[..cpus.len().min(MOST_THREADS)], *node, *node))
        .collect();
    if let Some(&(cpus, first, _)) = pairs.first() {
        let others = nodes.iter().filter(|(node, _)| *node != first);
        pairs.extend(others.map(|(node, _)| (cpus, first, *node)));
    }
    pairs
}

/// Returns the free memory of a node; `None` if the machine does not report it.
pub(super) fn free_bytes(tree: &Tree, node: usize) -> Option<u64> {
    tree.kib_bytes(&format!("/sys/devices/system/node/node{node}/meminfo"), "MemFree")
}

/// Returns the bandwidth of a pair in bytes per second, or why it is not known.
fn read(
    tree: &Tree,
    cpus: &[usize],
    node: usize,
    cache_bytes: u64,
    budget: &Budget<'_>,
    time: Duration,
) -> Result<f64, String> {
    if budget.left() < time / 2 || time.is_zero() {
        return Err("there was no time".to_owned());
    }
    let free = free_bytes(tree, node).unwrap_or(0) / 4 / cpus.len() as u64;
    let buffer_bytes = buffer_bytes(tree, cache_bytes, cpus.len()).min(free as usize);
    // Pages that must come from a node without free memory would end the process.
    if buffer_bytes < 2 * HUGE_PAGE {
        return Err("too little memory of the node is free, or it does not say".to_owned());
    }
    let setup = Setup {
        cpus,
        buffer_bytes: buffer_bytes / HUGE_PAGE * HUGE_PAGE,
        cache_bytes: cache_bytes as usize,
        node: Some(node),
        ready_by_ns: monotonic_ns() + (time / 2).as_nanos() as u64,
        interrupted: budget.interrupted(),
    };
    let hands =
        Hands::new(setup).map_err(|error| format!("memory of the node cannot be had: {error}"))?;
    let length = LONGEST.min(time / 3).min(budget.left());
    let windows = hands.run(cpus.len(), |_, hand| hand.stream(Traffic::Read, length));
    let rate = undisturbed(&rates(&windows), LEAST_WINDOWS);
    rate.ok_or_else(|| "too few windows of time in which all threads ran".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use tiebreak_machine::cpus;
    use tiebreak_machine::tree::made_up;

    #[test]
    fn a_pair_that_was_lost_has_a_reason() {
        fn check(free_kib: u32, is_interrupted: bool, expected: &str) {
            let text = format!("Node 1024 MemFree: {free_kib} kB");
            let file = "sys/devices/system/node/node1024/meminfo";
            let (_folder, tree) = made_up::tree(&[(file, &text)]);
            let cpus = cpus::allowed()[..1].to_vec();
            // No kernel has a node with this number, so that it gives no memory of it.
            let nodes = [(1024, cpus)];
            let (flag, mut progress) = (AtomicBool::new(is_interrupted), drop::<f64>);
            let mut budget = Budget::new(Duration::from_secs(60), &flag, &mut progress);
            let (found, reasons) = measure(&tree, &nodes, 16 << 20, &mut budget);
            assert_eq!((found.len(), reasons.len()), (0, 1), "{reasons:?}");
            let all = "of 1 of 1 pairs of memory nodes there is no bandwidth: ";
            assert!(reasons[0].starts_with(&(all.to_owned() + expected)), "{reasons:?}");
        }
        check(1 << 20, false, "memory of the node cannot be had: ");
        check(1 << 10, false, "too little memory");
        check(1 << 20, true, "there was no time");
    }

    #[test]
    fn pairs_lost_in_one_way_are_one_sentence() {
        let lost = ["not permitted", "no time", "not permitted"].map(str::to_owned);
        let expected = [(2, "not permitted"), (1, "no time")].map(|(count, why)| {
            format!("of {count} of 4 pairs of memory nodes there is no bandwidth: {why}")
        });
        assert_eq!(reasons(&lost, 4), expected);
        assert!(reasons(&[], 4).is_empty());
    }

    #[test]
    fn local_pairs_come_first_and_memory_without_cpus_is_remote() {
        let nodes = vec![(0, vec![0, 1]), (1, vec![2]), (4, vec![])];
        let (first, second) = (&[0, 1][..], &[2][..]);
        let expected = [(first, 0, 0), (second, 1, 1), (first, 0, 1), (first, 0, 4)];
        assert_eq!(pairs(&nodes), expected);
        assert_eq!(pairs(&[]), []);
    }
}
