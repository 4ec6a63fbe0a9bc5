//! How much memory a probe may take, and what the machine says of its caches, cores and nodes.

use super::*;

/// A buffer is at least so large where memory allows it.
const LEAST_BYTES: u64 = 256 << 20;

/// Of what the caches hold that a buffer should be, so that little of it is in there.
const TIMES_CACHE: u64 = 4;

/// Of the memory that is free, the probe takes one part of so many at most.
const PART_OF_MEMORY: u64 = 4;

/// The bytes of each of so many buffers, in whole large pages, at least two of them.
pub(super) fn buffer_bytes(tree: &Tree, cache_bytes: u64, threads: usize) -> usize {
    let wanted = LEAST_BYTES.max(cache_bytes.saturating_mul(TIMES_CACHE));
    let most =
        cgroup::memory_free_bytes(tree).map(|all| all / PART_OF_MEMORY / threads.max(1) as u64);
    let bytes = wanted.min(most.unwrap_or(wanted)) as usize;
    (bytes / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES).max(2 * LARGE_PAGE_BYTES)
}

/// The memory nodes that hold memory, with those of the CPUs that are theirs; `None` if the machine
/// does not say.
pub(super) fn nodes(tree: &Tree, cpus: &[usize]) -> Option<Vec<(usize, Vec<usize>)>> {
    let folder = "/sys/devices/system/node";
    let with_memory = cpus::parse_list(&tree.text(&format!("{folder}/has_memory"))?)?;
    let of_node = |node: usize| {
        let text = tree.text(&format!("{folder}/node{node}/cpulist")).unwrap_or_default();
        let own = cpus::parse_list(&text).unwrap_or_default();
        (node, cpus.iter().copied().filter(|cpu| own.contains(cpu)).collect())
    };
    Some(with_memory.into_iter().map(of_node).collect())
}

/// Memory of a node that nobody uses; `None` if the machine does not say.
pub(super) fn node_free_bytes(tree: &Tree, node: usize) -> Option<u64> {
    tree.kib_bytes(&format!("/sys/devices/system/node/node{node}/meminfo"), "MemFree")
}

/// How much of this process' memory lies in large pages, in bytes; `None` if the kernel does not
/// say.
pub(super) fn large_pages_bytes(tree: &Tree) -> Option<u64> {
    tree.kib_bytes("/proc/self/smaps_rollup", "AnonHugePages")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::tree::made_up;

    const MIB: usize = 1 << 20;
    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:   16777216 kB\n");

    #[test]
    fn buffers_are_large_and_leave_most_of_the_memory() {
        let check = |files: &[(&str, &str)], cache_mib: u64, threads: usize, mib: usize| {
            let (_folder, tree) = made_up::tree(files);
            let bytes = buffer_bytes(&tree, cache_mib << 20, threads);
            assert_eq!(bytes, mib * MIB, "{files:?} {threads}");
        };
        check(&[], 0, 2, 256);
        check(&[MEMORY], 32, 2, 256);
        check(&[MEMORY], 96, 2, 384);
        check(&[MEMORY], 96, 64, 64);
        check(&[MEMORY], 96, 100_000, 4);
        let version_2 = [
            MEMORY,
            ("proc/self/cgroup", "0::/box/job\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/box/memory.max", "536870912\n"),
            ("sys/fs/cgroup/box/job/memory.max", "max\n"),
            ("sys/fs/cgroup/box/memory.current", "402653184\n"),
        ];
        check(&version_2[..5], 0, 2, 64);
        check(&version_2, 0, 2, 16);
        let version_1 = [
            MEMORY,
            ("proc/self/cgroup", "5:cpu:/\n4:memory:/far/away\n0::/\n"),
            ("proc/self/mountinfo", "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup none rw,memory"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"),
        ];
        check(&version_1, 0, 1, 256);
        check(&version_1, 0, 4, 64);
    }

    #[test]
    fn nodes_are_read_or_absent() {
        let (_folder, tree) = made_up::tree(&[
            ("sys/devices/system/node/has_memory", "0,2\n"),
            ("sys/devices/system/node/node0/cpulist", "0-3"),
            ("sys/devices/system/node/node2/cpulist", "8-11"),
            (
                "sys/devices/system/node/node2/meminfo",
                "Node 2 MemTotal: 9 kB\nNode 2 MemFree: 3 kB",
            ),
            ("proc/self/smaps_rollup", "Rss: 5 kB\nAnonHugePages:    2048 kB\n"),
        ]);
        assert_eq!(nodes(&tree, &[1, 2, 8]), Some(vec![(0, vec![1, 2]), (2, vec![8])]));
        assert_eq!(large_pages_bytes(&tree), Some(2 << 20));
        assert_eq!([2, 0].map(|node| node_free_bytes(&tree, node)), [Some(3072), None]);
        let (_folder, empty) = made_up::tree(&[]);
        assert_eq!(nodes(&empty, &[0]), None);
        assert_eq!(large_pages_bytes(&empty), None);
    }
}
