//! The control groups of this process that limit CPU time or memory.

mod memory;

pub use memory::{memory_free_bytes, memory_limit_bytes};

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
    let groups = tree.text("/proc/self/cgroup")?;
    let mounts = tree.text("/proc/self/mountinfo")?;
    let mut found = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let version_2 = controllers.is_empty();
        if !version_2 && !controllers.split(',').any(|name| name == "cpu") {
            continue;
        }
        let Some(mount) = mount_of(&mounts, "cpu", version_2) else {
            continue;
        };
        let seen = limits_along(tree, &mount, path, version_2);
        // A unified hierarchy that is mounted with version 1 has no CPU controller, so it gives no
        // information.
        if let Some(seen) = seen {
            found.get_or_insert_with(Vec::new).extend(seen);
        }
    }
    found
}

/// Returns the limits of a group and of its enclosing groups, or `None` if none of them has a CPU
/// controller.
fn limits_along(tree: &Tree, mount: &str, path: &str, version_2: bool) -> Option<Vec<Limited>> {
    let mut found = None;
    let mut path = path.trim_end_matches('/');
    loop {
        let group = format!("{mount}{path}");
        if let Some(text) = tree.text(&format!("{group}/cpu.stat")) {
            // The root group of version 2 has a cpu.stat but no limit.
            let throttled = text.contains("throttled");
            if throttled || path.is_empty() {
                found.get_or_insert_with(Vec::new);
            }
            if let Some((quota_us, period_us)) = quota(tree, &group, version_2) {
                let stat = format!("{group}/cpu.stat");
                found.get_or_insert_with(Vec::new).push(Limited { quota_us, period_us, stat });
            }
        }
        match path.rfind('/') {
            Some(end) => path = &path[..end],
            None => return found,
        }
    }
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
    let share = |limit: &Limited| u128::from(limit.quota_us) << 32;
    limits.iter().min_by_key(|limit| share(limit) / u128::from(limit.period_us.max(1)))
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
}
