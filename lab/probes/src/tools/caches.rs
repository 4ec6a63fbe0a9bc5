//! What the machine says of its data caches and of its memory.

use super::*;
use crate::topology::measure::advertised;
use crate::{Cache, CacheKind};

/// A data cache, as the kernel lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertisedCache {
    /// 1 is the nearest to the core.
    pub level: u32,
    /// What it holds.
    pub size_bytes: u64,
    /// Bytes of a line, where the kernel says so.
    pub line_bytes: Option<u64>,
}

/// Returns the data caches of a CPU, level 1 first; empty where the kernel does not list them.
pub(crate) fn advertised(tree: &Tree, cpu: usize) -> Vec<AdvertisedCache> {
    // Level by level, as they are read.
    let all = advertised::caches(tree, &[cpu]).into_iter();
    let of_data = all.filter(|cache| cache.kind != CacheKind::Instruction);
    let known = of_data.filter_map(|Cache { level, line_bytes, size_bytes, .. }| {
        Some(AdvertisedCache { level: level.into(), size_bytes: size_bytes?, line_bytes })
    });
    known.collect()
}

/// Returns what a probe may map at most: an eighth of the memory that is free for use, here and in
/// the control groups; 256 MiB if neither is known.
pub(crate) fn memory_share_bytes(tree: &Tree) -> u64 {
    cgroup::memory_free_bytes(tree).unwrap_or(2 << 30) / 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::tree::made_up::tree;

    #[test]
    fn data_caches_in_order() {
        let folder = "sys/devices/system/cpu/cpu3/cache";
        let file = |index: u32, name: &str| format!("{folder}/index{index}/{name}");
        let mut files = Vec::new();
        let caches =
            [(2, "1", "Instruction", "32K"), (0, "3", "Unified", "4M"), (1, "1", "Data", "48K")];
        for (index, level, kind, size) in caches {
            for (name, text) in [("level", level), ("type", kind), ("size", size)] {
                files.push((file(index, name), text));
            }
        }
        files.push((file(1, "coherency_line_size"), "64"));
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_folder, tree) = tree(&files);
        let cache =
            |level, size_bytes, line_bytes| AdvertisedCache { level, size_bytes, line_bytes };
        let expected = [cache(1, 48 << 10, Some(64)), cache(3, 4 << 20, None)];
        assert_eq!(advertised(&tree, 3), expected);
        assert_eq!(advertised(&tree, 0), []);
    }

    #[test]
    fn the_share_of_memory_obeys_the_group() {
        let check = |files: &[(&str, &str)], bytes: u64| {
            let (_folder, tree) = tree(files);
            assert_eq!(memory_share_bytes(&tree), bytes);
        };
        let info = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    8192 kB\n");
        check(&[info], 1 << 20);
        let group = [
            info,
            ("proc/self/cgroup", "0::/job\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/job/memory.max", "4194304"),
            ("sys/fs/cgroup/job/memory.current", "3145728"),
        ];
        check(&group[..4], 1 << 19);
        check(&group, 1 << 17);
        check(&[], 256 << 20);
    }
}
