//! The memory that the control groups allow, and the part of it that is free.

use super::mount_of;
use crate::tree::Tree;

/// The bound from which a limit counts as none: version 1 writes "unlimited" as a number close to
/// this.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Returns the memory that this process may use, in bytes: the least of the limits of its control
/// group and of the enclosing ones. Returns `None` if there is no limit, or none is visible.
pub fn memory_limit_bytes(tree: &Tree) -> Option<u64> {
    least(tree, |group, files| limit(tree, group, files))
}

/// Returns the memory that this process can still get, in bytes: the least of what the kernel calls
/// available and, for its control group and each enclosing one, of the limit minus the used bytes.
/// The used bytes include files that the kernel caches in memory, so the result is too small rather
/// than too large. Returns `None` if none of these is known.
///
/// Source: `MemAvailable` of `/proc/meminfo`; `memory.max`
/// and `memory.current` (version 2), `memory.limit_in_bytes` and `memory.usage_in_bytes` (1).
pub fn memory_free_bytes(tree: &Tree) -> Option<u64> {
    let free = |group: &str, files: &Files| {
        let used = tree.number(&format!("{group}/{}", files.used)).unwrap_or(0);
        Some(limit(tree, group, files)?.saturating_sub(used))
    };
    tree.kib_bytes("/proc/meminfo", "MemAvailable").into_iter().chain(least(tree, free)).min()
}

/// The file names of a version of control groups.
struct Files {
    limit: &'static str,
    used: &'static str,
}

const VERSION_1: Files = Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes" };
const VERSION_2: Files = Files { limit: "memory.max", used: "memory.current" };

/// Returns the limit of one group, or `None` if it has none.
fn limit(tree: &Tree, group: &str, files: &Files) -> Option<u64> {
    tree.number(&format!("{group}/{}", files.limit)).filter(|bytes| *bytes < UNLIMITED_BYTES)
}

/// Returns the least number that `read` returns for the control groups of this process and the
/// enclosing ones.
fn least(tree: &Tree, read: impl Fn(&str, &Files) -> Option<u64>) -> Option<u64> {
    let groups = tree.text("/proc/self/cgroup")?;
    let mounts = tree.text("/proc/self/mountinfo")?;
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let version_2 = controllers.is_empty();
        if !version_2 && !controllers.split(',').any(|name| name == "memory") {
            return None;
        }
        let mount = mount_of(&mounts, "memory", version_2)?;
        let files = if version_2 { VERSION_2 } else { VERSION_1 };
        let path = path.trim_end_matches('/');
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.filter_map(|end| read(&format!("{mount}{}", &path[..end]), &files)).min()
    };
    groups.lines().filter_map(of_line).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::made_up;

    const MOUNT_1: &str = "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n";
    const MOUNT_2: &str = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

    fn check(files: &[(&str, &str)], limit: Option<u64>) {
        let (_folder, tree) = made_up::tree(files);
        assert_eq!(memory_limit_bytes(&tree), limit);
    }

    #[test]
    fn the_least_limit_along_the_path_counts() {
        let version_2 = [
            ("proc/self/cgroup", "0::/box/job\n"),
            ("proc/self/mountinfo", MOUNT_2),
            ("sys/fs/cgroup/box/memory.max", "1048576\n"),
            ("sys/fs/cgroup/box/job/memory.max", "max\n"),
        ];
        check(&version_2, Some(1 << 20));
        check(&version_2[..2], None);
        let version_1 = |limit: &'static str| {
            [
                ("proc/self/cgroup", "4:memory:/m\n0::/\n"),
                ("proc/self/mountinfo", MOUNT_1),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/m/memory.limit_in_bytes", limit),
            ]
        };
        check(&version_1("4096\n"), Some(4096));
        check(&version_1("9223372036854771712\n"), None);
        check(&[], None);
    }

    #[test]
    fn what_is_used_is_not_free() {
        let check = |files: &[(&str, &str)], free: Option<u64>| {
            let (_folder, tree) = made_up::tree(files);
            assert_eq!(memory_free_bytes(&tree), free, "{files:?}");
        };
        let info = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    8192 kB\n");
        check(&[], None);
        check(&[info], Some(8 << 20));
        let version_2 = [
            ("proc/self/cgroup", "0::/box/job\n"),
            ("proc/self/mountinfo", MOUNT_2),
            ("sys/fs/cgroup/box/job/memory.max", "6000000\n"),
            ("sys/fs/cgroup/box/job/memory.current", "1000000\n"),
            ("sys/fs/cgroup/box/memory.max", "7000000\n"),
            ("sys/fs/cgroup/box/memory.current", "5600000\n"),
            ("sys/fs/cgroup/memory.current", "99000000\n"),
        ];
        // The enclosing group is the fuller one.
        check(&version_2, Some(1_400_000));
        check(&version_2[..4], Some(5_000_000));
        // A group without a count of used bytes has at most its limit.
        check(&version_2[..3], Some(6_000_000));
        check(&[&version_2[..], &[("proc/meminfo", "MemAvailable: 1 kB")]].concat(), Some(1024));
        // A container sees its own group as the root, but by its path outside.
        let version_1 = |used: &'static str| {
            [
                info,
                ("proc/self/cgroup", "5:cpu:/\n4:memory:/far/away\n0::/\n"),
                ("proc/self/mountinfo", MOUNT_1),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", used),
            ]
        };
        check(&version_1("800000\n"), Some(200_000));
        check(&version_1("1000001\n"), Some(0));
    }
}
