//! How much memory the control groups allow.

use super::mount_of;
use crate::tree::Tree;

/// Limits from here on are none: version 1 writes "unlimited" as a number close to this.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// The memory that this process may use, in bytes: the least of the limits of its control group and
/// of those around it. `None` if there is no limit, or none can be seen.
pub(crate) fn memory_limit_bytes(tree: &Tree) -> Option<u64> {
    let groups = tree.text("/proc/self/cgroup")?;
    let mounts = tree.text("/proc/self/mountinfo")?;
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let version_2 = controllers.is_empty();
        if !version_2 && !controllers.split(',').any(|name| name == "memory") {
            return None;
        }
        let mount = mount_of(&mounts, "memory", version_2)?;
        least_along(tree, &mount, path, if version_2 { "memory.max" } else { FILE_1 })
    });
    limits.min().filter(|bytes| *bytes < UNLIMITED_BYTES)
}

const FILE_1: &str = "memory.limit_in_bytes";

fn least_along(tree: &Tree, mount: &str, path: &str, file: &str) -> Option<u64> {
    let path = path.trim_end_matches('/');
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    ends.filter_map(|end| tree.number(&format!("{mount}{}/{file}", &path[..end]))).min()
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
}
