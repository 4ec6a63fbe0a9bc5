//! Memory nodes: each is read from its own CPUs, and from those of the first.

use super::*;

/// More threads than this on a node give no better result.
const MOST_THREADS: usize = 16;
/// The longest stretch.
const LONGEST: Duration = Duration::from_millis(150);

/// Nodes, each with the indices of the buffers that CPUs of it have touched.
pub(super) type Nodes = [(usize, Vec<usize>)];

/// Reads each pair of nodes for a part of the time that is left. A pair without a result is absent;
/// the sentence says how many are.
pub(super) fn measure(
    hands: &Hands<'_>,
    nodes: &Nodes,
    budget: &mut Budget<'_>,
) -> (Vec<NodeBandwidth>, Option<String>) {
    let pairs = pairs(nodes);
    let length = LONGEST.min(budget.left() / (2 * pairs.len().max(1) as u32));
    let mut found = Vec::new();
    for [(cpu_node, near), (memory_node, buffers)] in &pairs {
        let cpus: Vec<usize> = near.iter().map(|index| hands.setup.cpus[*index]).collect();
        let threads = near.len().min(buffers.len()).min(MOST_THREADS);
        let windows = hands.run_on(&cpus[..threads], &buffers[..threads], |_, hand| {
            hand.stream(Traffic::Read, length);
        });
        let rate = undisturbed(&rates(&windows), LEAST_WINDOWS);
        found.extend(rate.map(|bytes_per_s| NodeBandwidth {
            cpu_node: *cpu_node as u32,
            memory_node: *memory_node as u32,
            threads: threads as u32,
            bytes_per_s,
        }));
        budget.tell(0.0);
    }
    let (all, lost) = (pairs.len(), pairs.len() - found.len());
    let why = format!(
        "of {lost} of {all} pairs of memory nodes there is no bandwidth: no CPU near that memory \
         may be used, or there were too few windows of time in which all threads ran"
    );
    (found, (lost > 0).then_some(why))
}

/// Returns the node of the CPUs and that of the memory, each with its buffers: first all local
/// pairs.
fn pairs(nodes: &Nodes) -> Vec<[&(usize, Vec<usize>); 2]> {
    let with_cpus: Vec<_> = nodes.iter().filter(|(_, buffers)| !buffers.is_empty()).collect();
    let local = with_cpus.iter().map(|node| [*node; 2]);
    let remote = with_cpus.first().into_iter().flat_map(|first| {
        let others = nodes.iter().filter(|(node, _)| *node != first.0);
        others.map(|other| [*first, other])
    });
    local.chain(remote).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_or_lost_with_a_reason() {
        let (cpus, flag) = (cpus::allowed()[..1].to_vec(), AtomicBool::new(false));
        let setup = Setup {
            cpus: &cpus,
            buffer_bytes: 2 * HUGE_PAGE,
            cache_bytes: 1 << 20,
            ready_by_ns: u64::MAX,
            interrupted: &flag,
        };
        let hands = Hands::new(setup).unwrap();
        let mut progress = drop::<f64>;
        let mut budget = Budget::new(Duration::from_secs(60), &flag, &mut progress);
        // The memory of the second node has no CPU that could have touched a buffer there.
        let (found, why) = measure(&hands, &[(0, vec![0]), (2, Vec::new())], &mut budget);
        assert!(found.len() <= 1 && found.iter().all(|pair| pair.bytes_per_s > 0.0), "{found:?}");
        let why = why.unwrap();
        assert!(why.starts_with(&format!("of {} of 2 pairs", 2 - found.len())), "{why}");
    }

    #[test]
    fn local_pairs_come_first_and_memory_without_cpus_is_remote() {
        let nodes = [(0, vec![0, 1]), (1, vec![2]), (4, vec![])];
        let [a, b, c] = &nodes;
        assert_eq!(pairs(&nodes), [[a, a], [b, b], [a, b], [a, c]]);
        assert_eq!(pairs(&[]).len(), 0);
    }
}
