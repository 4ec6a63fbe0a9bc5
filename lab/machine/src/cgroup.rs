//! The control groups of this process that limit CPU time or memory, and the memory that is free.

use crate::tree::Tree;

/// A control group with a limit on CPU time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited {
    /// The CPU time that the group may use in a period, in microseconds.
    pub quota_us: u64,
    /// The period in microseconds.
    pub period_us: u64,
    /// The path of its `cpu.stat`, from the root.
    pub stat: String,
}

/// Returns the limited groups of this process, its own first, then the enclosing ones.
///
/// Returns `None` where no CPU controller is visible, so that nothing is known.
pub fn limited(tree: &Tree) -> Option<Vec<Limited>> {
    let mut found = None;
    for hierarchy in hierarchies(tree, "cpu")? {
        for group in hierarchy.groups() {
            let stat = format!("{group}/cpu.stat");
            // A unified hierarchy that is mounted with version 1 has no CPU controller, so it gives
            // no information.
            let Some(text) = tree.text(&stat) else { continue };
            let quota = quota(tree, &group, hierarchy.version_2);
            // The root group of version 2 has a cpu.stat but no limit.
            if quota.is_some() || text.contains("throttled") || group == hierarchy.mount {
                let limits =
                    quota.map(|(quota_us, period_us)| Limited { quota_us, period_us, stat });
                found.get_or_insert_with(Vec::new).extend(limits);
            }
        }
    }
    found
}

/// A mounted hierarchy of control groups in which this process is.
struct Hierarchy {
    mount: String,
    /// The path of the process's own group below the mount point.
    path: String,
    version_2: bool,
}

impl Hierarchy {
    /// Returns the paths of the process's own group and of those around it, its own first, the root
    /// last.
    fn groups(&self) -> impl Iterator<Item = String> {
        let path = self.path.trim_end_matches('/');
        let ends = path.rmatch_indices('/').map(|(end, _)| end);
        [path.len()].into_iter().chain(ends).map(|end| format!("{}{}", self.mount, &path[..end]))
    }
}

/// Returns the hierarchies that may have a controller.
fn hierarchies(tree: &Tree, controller: &str) -> Option<Vec<Hierarchy>> {
    let groups = tree.text("/proc/self/cgroup")?;
    let mounts = tree.text("/proc/self/mountinfo")?;
    let hierarchies = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.to_owned());
        let version_2 = controllers.is_empty();
        if !version_2 && !controllers.split(',').any(|name| name == controller) {
            return None;
        }
        Some(Hierarchy { mount: mount_of(&mounts, controller, version_2)?, path, version_2 })
    });
    Some(hierarchies.collect())
}

fn quota(tree: &Tree, group: &str, version_2: bool) -> Option<(u64, u64)> {
    if version_2 {
        let text = tree.text(&format!("{group}/cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        return Some((quota.parse().ok()?, period.parse().ok()?));
    }
    let quota = tree.number(&format!("{group}/cpu.cfs_quota_us"))?;
    Some((quota, tree.number(&format!("{group}/cpu.cfs_period_us"))?))
}

/// Returns the limit that allows the smallest share of time.
pub fn tightest(limits: &[Limited]) -> Option<&Limited> {
    limits
        .iter()
        .min_by_key(|limit| (u128::from(limit.quota_us) << 32) / u128::from(limit.period_us.max(1)))
}

/// Returns the mount point of the hierarchy with a controller, from `mountinfo`.
fn mount_of(mounts: &str, controller: &str, version_2: bool) -> Option<String> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let point = left.split(' ').nth(4)?;
        let mut right = right.split(' ');
        let kind = right.next()?;
        let options = right.nth(1).unwrap_or("");
        let wanted = if version_2 {
            kind == "cgroup2"
        } else {
            kind == "cgroup" && options.split(',').any(|option| option == controller)
        };
        wanted.then(|| point.trim_end_matches('/').to_owned())
    })
}

/// Returns the time for which a group was throttled so far, in nanoseconds, from the text of its
/// `cpu.stat`.
pub fn throttled_ns(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        let value: u64 = value.trim().parse().ok()?;
        match key {
            "throttled_usec" => value.checked_mul(1000),
            "throttled_time" => Some(value),
            _ => None,
        }
    })
}

/// The bound from which a limit counts as none: version 1 writes "unlimited" as a number close to
/// this.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Returns the memory that this process may use, in bytes: the least of the limits of its control
/// group and of the enclosing ones. Returns `None` if there is no limit, or none is visible.
pub fn memory_limit_bytes(tree: &Tree) -> Option<u64> {
    least(tree, |limit, _| limit)
}

/// Returns the memory that this process can still get, in bytes: the least of what the kernel calls
/// available and, for its control group and each enclosing one, of the limit minus the used bytes.
/// The used bytes include files that the kernel caches in memory, so the result is too small rather
/// than too large. Returns `None` if none of these is known.
///
/// Source: `MemAvailable` of `/proc/meminfo`; `memory.max`
/// and `memory.current` (version 2), `memory.limit_in_bytes` and `memory.usage_in_bytes` (1).
pub fn memory_free_bytes(tree: &Tree) -> Option<u64> {
    let free = least(tree, |limit, used| limit.saturating_sub(used));
    tree.kib_bytes("/proc/meminfo", "MemAvailable").into_iter().chain(free).min()
}

/// The files of a limit and of the used bytes, by the version of control groups.
const FILES: [[&str; 2]; 2] =
    [["memory.limit_in_bytes", "memory.usage_in_bytes"], ["memory.max", "memory.current"]];

/// Returns the least number that `of` returns for the limit and the used bytes of the control
/// groups of this process and the enclosing ones; those without a limit are left out.
fn least(tree: &Tree, of: impl Fn(u64, u64) -> u64) -> Option<u64> {
    let mut least = None;
    for hierarchy in hierarchies(tree, "memory")? {
        for group in hierarchy.groups() {
            let [limit, used] = FILES[usize::from(hierarchy.version_2)]
                .map(|file| tree.number(&format!("{group}/{file}")));
            if let Some(limit) = limit.filter(|bytes| *bytes < UNLIMITED_BYTES) {
                let number = of(limit, used.unwrap_or(0));
                least = least.into_iter().chain([number]).min();
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::made_up;

    const MOUNT_2: &str = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
    const MOUNT_1: &str = "31 1 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct\n\
                           32 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn limits_of_version_2_are_found_along_the_path() {
        let (_folder, tree) = made_up::tree(&[
            ("proc/self/cgroup", "0::/box/job\n"),
            ("proc/self/mountinfo", MOUNT_2),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 5\n"),
            ("sys/fs/cgroup/box/cpu.stat", "usage_usec 5\nthrottled_usec 7\n"),
            ("sys/fs/cgroup/box/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/box/job/cpu.stat", "throttled_usec 0\n"),
            ("sys/fs/cgroup/box/job/cpu.max", "max 100000\n"),
        ]);
        let found = limited(&tree).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].quota_us, found[0].period_us), (150_000, 100_000));
        assert_eq!(tree.text(&found[0].stat).as_deref().and_then(throttled_ns), Some(7000));
    }

    #[test]
    fn limits_of_version_1_are_found_beside_an_empty_version_2() {
        let (_folder, tree) = made_up::tree(&[
            ("proc/self/cgroup", "2:cpuacct,cpu:/a\n1:memory:/m\n0::/\n"),
            ("proc/self/mountinfo", MOUNT_1),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_throttled 1\nthrottled_time 9\n"),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "throttled_time 0\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ]);
        let found = limited(&tree).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].quota_us, 50_000);
        assert_eq!(tree.text(&found[0].stat).as_deref().and_then(throttled_ns), Some(9));
    }

    #[test]
    fn no_controller_is_not_the_same_as_no_limit() {
        let files = [("proc/self/cgroup", "0::/\n"), ("proc/self/mountinfo", MOUNT_2)];
        let (_folder, tree) = made_up::tree(&files);
        assert_eq!(limited(&tree), None);
        std::fs::create_dir_all(tree.path("sys/fs/cgroup")).unwrap();
        std::fs::write(tree.path("sys/fs/cgroup/cpu.stat"), "usage_usec 5\n").unwrap();
        assert_eq!(limited(&tree), Some(Vec::new()));
    }

    const MEMORY_1: &str = "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n";

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
        fn version_1(limit: &str) -> [(&str, &str); 4] {
            [
                ("proc/self/cgroup", "4:memory:/m\n0::/\n"),
                ("proc/self/mountinfo", MEMORY_1),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/m/memory.limit_in_bytes", limit),
            ]
        }
        check(&version_1("4096\n"), Some(4096));
        check(&version_1("9223372036854771712\n"), None);
        check(&[], None);
    }

    #[test]
    fn what_is_used_is_not_free() {
        fn check(files: &[(&str, &str)], free: Option<u64>) {
            let (_folder, tree) = made_up::tree(files);
            assert_eq!(memory_free_bytes(&tree), free, "{files:?}");
        }
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
                ("proc/self/mountinfo", MEMORY_1),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", used),
            ]
        };
        check(&version_1("800000\n"), Some(200_000));
        check(&version_1("1000001\n"), Some(0));
    }
}
