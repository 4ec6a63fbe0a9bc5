//! What the machine says of its data caches.

use super::measure::advertised;
use crate::{Cache, CacheKind};
use tiebreak_machine::tree::Tree;

/// A data cache, as the kernel lists it or the CPU describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertisedCache {
    /// 1 is the nearest to the core.
    pub level: u32,
    /// What it holds.
    pub size_bytes: u64,
    /// Bytes of a line, where that is known.
    pub line_bytes: Option<u64>,
}

/// Returns the data caches of a CPU, level 1 first; where the kernel does not list them, those that
/// the CPU on which this runs describes; empty where neither is known.
pub(crate) fn advertised(tree: &Tree, cpu: usize) -> Vec<AdvertisedCache> {
    let listed = listed(tree, cpu);
    if listed.is_empty() { by_cpuid() } else { listed }
}

/// Returns those that the kernel lists, level 1 first.
pub(crate) fn listed(tree: &Tree, cpu: usize) -> Vec<AdvertisedCache> {
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
#[cfg(target_arch = "x86_64")]
fn by_cpuid() -> Vec<AdvertisedCache> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    let leaves =
        [4, 0x8000_001D].into_iter().filter(|leaf| *leaf <= __cpuid(leaf & 0x8000_0000).eax);
    let caches = leaves.map(|leaf| {
        described(|index| {
            let found = __cpuid_count(leaf, index);
            [found.eax, found.ebx, found.ecx]
        })
    });
    caches.into_iter().find(|caches| !caches.is_empty()).unwrap_or_default()
}

#[cfg(not(target_arch = "x86_64"))]
fn by_cpuid() -> Vec<AdvertisedCache> {
    Vec::new()
}

/// Returns the data caches that EAX, EBX and ECX describe, an index each, until the type is 0
/// (Intel SDM, volume 2A, CPUID leaf 4; AMD APM, volume 3, appendix E.4.15).
#[cfg(target_arch = "x86_64")]
fn described(registers: impl Fn(u32) -> [u32; 3]) -> Vec<AdvertisedCache> {
    let all = (0..16).map(registers).take_while(|[eax, ..]| eax & 31 != 0);
    let of_data = all.filter(|[eax, ..]| matches!(eax & 31, 1 | 3));
    let caches = of_data.map(|[eax, ebx, ecx]| {
        let [line_bytes, partitions, ways] = [(0, 12), (12, 10), (22, 10)]
            .map(|(from, bits)| u64::from(ebx >> from & ((1 << bits) - 1)) + 1);
        let size_bytes = line_bytes * partitions * ways * (u64::from(ecx) + 1);
        AdvertisedCache { level: eax >> 5 & 7, size_bytes, line_bytes: Some(line_bytes) }
    });
    let mut caches: Vec<AdvertisedCache> = caches.collect();
    caches.sort_by_key(|cache| cache.level);
    caches
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
        assert_eq!((listed(&tree, 0), advertised(&tree, 0)), (Vec::new(), by_cpuid()));
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
}
