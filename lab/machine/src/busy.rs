//! The disturbances during a sample: CPU time of others, time that a hypervisor took, throttling.
//!
//! The kernel counts idle and stolen time in ticks of 10 ms (`USER_HZ`), so an interval shorter
//! than many ticks has no useful count. So the value reported for a sample is the share of a
//! *window*, times the length of the sample. The window ends with the sample, starts no later than
//! it, and is at least [`WINDOW_NS`] long. Nothing is reported until that much time has passed.

use crate::cgroup;
use crate::tree::Tree;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::fs::FileExt;

/// The shortest window that is reported: 25 ticks, so that a tick is 4% of a CPU.
pub const WINDOW_NS: u64 = 250_000_000;

/// The least time between snapshots, a tick: an earlier one would find the same numbers.
const TICK_NS: u64 = 10_000_000;

/// The counters of the CPUs at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The time at which it was taken, by the monotonic clock.
    pub taken_ns: u64,
    /// The time in which the CPUs were idle or waited for a disk, summed over the CPUs.
    pub idle_ns: u64,
    /// The time that the hypervisor took, summed over the CPUs.
    pub steal_ns: u64,
    /// The CPU time so far that is known to be ours.
    pub own_cpu_ns: u64,
}

/// The disturbances between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The CPU time of others as a share of the CPUs' time, from 0 to 1.
    pub foreign_share: f64,
    /// The stolen time as a share of the CPUs' time, from 0 to 1.
    pub steal_share: f64,
}

impl Snapshot {
    /// Computes the disturbances between an earlier snapshot and this one on `cpus` CPUs.
    ///
    /// `foreign = elapsed x cpus - idle - steal - own`, not below 0. Returns `None` if no time has
    /// passed.
    pub fn difference(&self, earlier: &Snapshot, cpus: usize) -> Option<Difference> {
        let elapsed = self.taken_ns.checked_sub(earlier.taken_ns)?;
        let total = elapsed as f64 * cpus as f64;
        if total <= 0.0 {
            return None;
        }
        let [idle, steal, own] = [
            (self.idle_ns, earlier.idle_ns),
            (self.steal_ns, earlier.steal_ns),
            (self.own_cpu_ns, earlier.own_cpu_ns),
        ]
        .map(|(now, then)| now.saturating_sub(then) as f64);
        let used = idle + steal + own;
        Some(Difference {
            foreign_share: ((total - used) / total).clamp(0.0, 1.0),
            steal_share: (steal / total).clamp(0.0, 1.0),
        })
    }
}

/// A reader of the counters of a set of CPUs, which keeps the most recent snapshots.
///
/// The files stay open. Cost of a snapshot: tens of microseconds, at most once in 10 ms.
#[derive(Debug)]
pub struct Busy {
    stat: Option<File>,
    limited: Option<Vec<File>>,
    cpus: Vec<usize>,
    tick_ns: u64,
    buffer: Vec<u8>,
    past: VecDeque<Snapshot>,
}

impl Busy {
    /// Opens the counters of these CPUs. A counter that cannot be opened is not reported later.
    pub fn open(cpus: &[usize]) -> Busy {
        Busy::open_below(&Tree::here(), cpus)
    }

    fn open_below(tree: &Tree, cpus: &[usize]) -> Busy {
        // SAFETY: sysconf only reads a number.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let limited = cgroup::limited(tree).map(|groups| {
            groups.iter().filter_map(|group| File::open(tree.path(&group.stat)).ok()).collect()
        });
        Busy {
            stat: File::open(tree.path("/proc/stat")).ok(),
            limited,
            cpus: cpus.to_vec(),
            tick_ns: 1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1),
            buffer: Vec::new(),
            past: VecDeque::with_capacity(64),
        }
    }

    /// Takes a snapshot if the last one is at least a tick old. `own_cpu_ns` is all CPU time so far
    /// that is known to be ours (tiebreak's, the contestants', their hooks').
    pub fn look(&mut self, now_ns: u64, own_cpu_ns: u64) {
        if self.past.back().is_some_and(|last| now_ns < last.taken_ns + TICK_NS) {
            return;
        }
        let Some((idle_ns, steal_ns)) = self.idle_and_steal_ns() else {
            return;
        };
        self.past.push_back(Snapshot { taken_ns: now_ns, idle_ns, steal_ns, own_cpu_ns });
        // The next windows start from the one snapshot that is older than the window.
        while self.past.get(1).is_some_and(|second| second.taken_ns + WINDOW_NS <= now_ns) {
            self.past.pop_front();
        }
    }

    /// Returns the disturbances in the window that ends with the last snapshot and starts no later
    /// than `start_ns`, or `None` while no window is long enough.
    pub fn window(&self, start_ns: u64) -> Option<Difference> {
        let last = self.past.back()?;
        let first = self.past.iter().rev().find(|snapshot| {
            snapshot.taken_ns + WINDOW_NS <= last.taken_ns && snapshot.taken_ns <= start_ns
        });
        last.difference(first?, self.cpus.len())
    }

    /// Returns the number of CPUs that are observed.
    pub fn cpu_count(&self) -> usize {
        self.cpus.len()
    }

    /// Returns the time in nanoseconds for which control groups have throttled us so far, or `None`
    /// where no CPU controller is visible. Costs nothing where no group has a limit.
    pub fn throttled_ns(&mut self) -> Option<u64> {
        let mut sum = 0;
        for file in self.limited.as_ref()? {
            let mut buffer = [0; 1024];
            let length = file.read_at(&mut buffer, 0).ok()?;
            sum += cgroup::throttled_ns(std::str::from_utf8(&buffer[..length]).ok()?)?;
        }
        Some(sum)
    }

    fn idle_and_steal_ns(&mut self) -> Option<(u64, u64)> {
        let mut file = self.stat.as_ref()?;
        file.rewind().ok()?;
        self.buffer.clear();
        file.read_to_end(&mut self.buffer).ok()?;
        let (idle, steal) = idle_and_steal(&self.buffer, &self.cpus)?;
        Some((idle * self.tick_ns, steal * self.tick_ns))
    }
}

/// Sums the idle and the stolen ticks of the CPUs, from the text of `/proc/stat`. Returns `None` if
/// the text does not list them all.
fn idle_and_steal(stat: &[u8], cpus: &[usize]) -> Option<(u64, u64)> {
    let (mut idle, mut steal, mut found) = (0, 0, 0);
    for line in stat.split(|byte| *byte == b'\n') {
        let Some(line) = line.strip_prefix(b"cpu") else {
            break;
        };
        let mut fields = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
        if line.first() == Some(&b' ') || !cpus.contains(&fields.next()?.parse().ok()?) {
            continue;
        }
        // user nice system IDLE IOWAIT irq softirq STEAL ...
        let numbers: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        idle += numbers.get(3)? + numbers.get(4).unwrap_or(&0);
        steal += numbers.get(7).unwrap_or(&0);
        found += 1;
    }
    (found == cpus.len() && found > 0).then_some((idle, steal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::tree::made_up;

    const STAT: &str = "cpu  9 9 9 100 9 9 9 9\ncpu0 1 0 2 40 5 0 0 7 0 0\n\
                        cpu1 1 0 2 60 0 0 0 1 0 0\nintr 5 0\n";

    #[test]
    fn ticks_are_summed_over_the_chosen_cpus() {
        assert_eq!(idle_and_steal(STAT.as_bytes(), &[0, 1]), Some((105, 8)));
        assert_eq!(idle_and_steal(STAT.as_bytes(), &[1]), Some((60, 1)));
        assert_eq!(idle_and_steal(STAT.as_bytes(), &[2]), None);
        assert_eq!(idle_and_steal(b"", &[0]), None);
    }

    #[test]
    fn foreign_time_is_what_is_left() {
        let at = |taken_ms: u64, idle_ms: u64, steal_ms: u64, own_ms: u64| Snapshot {
            taken_ns: taken_ms * 1_000_000,
            idle_ns: idle_ms * 1_000_000,
            steal_ns: steal_ms * 1_000_000,
            own_cpu_ns: own_ms * 1_000_000,
        };
        let check = |later: Snapshot, cpus: usize, foreign: f64, steal: f64| {
            let difference = later.difference(&at(0, 100, 0, 0), cpus).unwrap();
            assert!((difference.foreign_share - foreign).abs() < 1e-9, "{difference:?}");
            assert!((difference.steal_share - steal).abs() < 1e-9, "{difference:?}");
        };
        check(at(1000, 600, 100, 200), 1, 0.2, 0.1);
        check(at(1000, 1100, 0, 500), 2, 0.25, 0.0);
        check(at(1000, 1100, 0, 900), 1, 0.0, 0.0);
        assert_eq!(at(0, 0, 0, 0).difference(&at(0, 0, 0, 0), 1), None);
    }

    #[test]
    fn windows_are_long_enough_or_absent() {
        let (_folder, tree) = made_up::tree(&[("proc/stat", STAT)]);
        let mut busy = Busy::open_below(&tree, &[0]);
        let ms = 1_000_000;
        for time in 0..60 {
            busy.look(time * 5 * ms, 0);
            // The made-up file does not change, so all the time counts as foreign.
            let found = busy.window(time * 5 * ms).map(|difference| difference.foreign_share);
            assert_eq!(found, (time * 5 >= 250).then_some(1.0), "{time}");
        }
        assert!(busy.past.len() <= 27);
        assert!(busy.window(0).is_none(), "the window must not start after the sample");
        assert_eq!(busy.throttled_ns(), None);
    }

    #[test]
    fn long_tables_are_read_whole() {
        let lines: String = (0..400).map(|cpu| format!("cpu{cpu} 1 0 2 3 0 0 0 1\n")).collect();
        let (_folder, tree) = made_up::tree(&[("proc/stat", &format!("cpu  1\n{lines}intr 1\n"))]);
        let mut busy = Busy::open_below(&tree, &[399]);
        assert_eq!(busy.idle_and_steal_ns(), Some((3 * busy.tick_ns, busy.tick_ns)));
    }

    #[test]
    fn this_machine_has_counters() {
        let mut busy = Busy::open(&crate::cpus::allowed());
        assert_eq!(busy.cpu_count(), crate::cpus::allowed().len());
        let start = clock::monotonic_ns();
        busy.look(start, 0);
        assert!(busy.window(start).is_none());
        assert_eq!(busy.past.len(), 1);
    }
}
