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

/// Returns the data caches of a CPU, level 1 first; where the kernel does not list them those that
/// the CPU on which this runs does; empty where neither does.
pub(crate) fn advertised(cpu: usize) -> Vec<AdvertisedCache> {
    let listed = listed(&Tree::at(Path::new("/")), cpu);
    if listed.is_empty() { by_cpuid() } else { listed }
}

/// Returns those that the kernel lists.
fn listed(tree: &Tree, cpu: usize) -> Vec<AdvertisedCache> {
    // Level by level, as they are read.
    let all = advertised::caches(tree, &[cpu]).into_iter();
    let of_data = all.filter(|cache| cache.kind != CacheKind::Instruction);
    let known = of_data.filter_map(|Cache { level, line_bytes, size_bytes, .. }| {
        Some(AdvertisedCache { level: level.into(), size_bytes: size_bytes?, line_bytes })
    });
    known.collect()
}

/// Returns what CPUID says: leaf 4, and leaf 0x8000_001D of the same form where the CPU's maker is
/// AMD.
fn by_cpuid() -> Vec<AdvertisedCache> {
    #[cfg(target_arch = "x86_64")]
    for leaf in [4, 0x8000_001D] {
        use std::arch::x86_64::{__cpuid, __cpuid_count};
        let is_known = leaf <= __cpuid(leaf & 0x8000_0000).eax;
        let caches = described(|index| {
            let found = __cpuid_count(leaf, index);
            if is_known { [found.eax, found.ebx, found.ecx] } else { [0; 3] }
        });
        if !caches.is_empty() {
            return caches;
        }
    }
    Vec::new()
}

/// Returns the data caches that EAX, EBX and ECX describe, an index each, until the type is 0
/// (Intel SDM, volume 2A, CPUID leaf 4; AMD APM, volume 3, appendix E.4.15).
#[cfg(target_arch = "x86_64")]
fn described(registers: impl Fn(u32) -> [u32; 3]) -> Vec<AdvertisedCache> {
    let all = (0..16).map(registers).take_while(|[eax, ..]| eax & 31 != 0);
    let of_data = all.filter(|[eax, ..]| matches!(eax & 31, 1 | 3));
    let mut caches: Vec<AdvertisedCache> = of_data
        .map(|[eax, ebx, ecx]| {
            let [line_bytes, partitions, ways] = [(0, 12), (12, 10), (22, 10)]
                .map(|(from, bits)| u64::from(ebx >> from & ((1 << bits) - 1)) + 1);
            let size_bytes = line_bytes * partitions * ways * (u64::from(ecx) + 1);
            AdvertisedCache { level: eax >> 5 & 7, size_bytes, line_bytes: Some(line_bytes) }
        })
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
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
        assert_eq!(listed(&tree, 3), expected);
        assert_eq!(listed(&tree, 0), []);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_cpu_describes_its_caches() {
        let cache = |level, size_bytes| AdvertisedCache { level, size_bytes, line_bytes: Some(64) };
        let check = |registers: &[[u32; 3]], expected: &[AdvertisedCache]| {
            let at = |index: u32| registers.get(index as usize).copied().unwrap_or([0; 3]);
            assert_eq!(described(at), expected);
        };
        check(&[], &[]);
        // 48 KiB in 12 ways, code of 32 KiB, 2 MiB in 16 ways, 260 MiB in 20 ways.
        let xeon = [
            [0xfc00_4121, 0x02c0_003f, 0x3f],
            [0xfc00_4122, 0x01c0_003f, 0x3f],
            [0xfc01_c143, 0x03c0_003f, 0x7ff],
            [0xfc1f_c163, 0x04c0_003f, 0x3_3fff],
        ];
        check(&xeon, &[cache(1, 48 << 10), cache(2, 2 << 20), cache(3, 260 << 20)]);
        // What this CPU says has its levels in order, whatever it is.
        assert!(by_cpuid().is_sorted_by_key(|cache| cache.level));
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
