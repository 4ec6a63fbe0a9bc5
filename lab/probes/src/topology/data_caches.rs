//! What the machine says of its data caches.

use super::measure::advertised;
use crate::{Cache, CacheKind};
use tiebreak_machine::tree::Tree;

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
}
