//! Reads what the kernel counts during a watch: interrupts, work put off, stolen time, throttling.

use super::*;

/// Events by the kernel's name and words, with the count of each CPU.
type Events = BTreeMap<(String, String), BTreeMap<usize, u64>>;

/// The kernel's counters at one moment. What it does not report is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Those of `/proc/interrupts`.
    interrupts: Events,
    /// Those of `/proc/softirqs`.
    softirqs: Events,
    /// Stolen time by CPU, in nanoseconds.
    steal_ns: BTreeMap<usize, u64>,
    /// What limits on CPU time did so far.
    throttled: Option<Throttled>,
}

/// How often an interrupt, or work that was put off, came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupts {
    /// The kernel's name of it: `LOC`; of a device, the device's.
    pub name: String,
    /// What it is, by the kernel: `Local timer interrupts`; may be empty.
    pub words: String,
    /// How often it came.
    pub count: u64,
}

impl Counts {
    /// Reads all of them. Cost: some 100 us, more with many CPUs.
    pub(crate) fn read(tree: &Tree) -> Counts {
        let [interrupts, softirqs, stat] = ["/proc/interrupts", "/proc/softirqs", "/proc/stat"]
            .map(|path| tree.text(path).unwrap_or_default());
        Counts {
            interrupts: events(&interrupts),
            softirqs: events(&softirqs),
            steal_ns: steal_ns(&stat),
            throttled: throttled(tree),
        }
    }

    /// Returns what came to a CPU since an earlier moment, and was not 0.
    pub(crate) fn interrupts_since(&self, earlier: &Counts, cpu: usize) -> Vec<Interrupts> {
        differences(&self.interrupts, &earlier.interrupts, &[cpu])
    }

    /// Work that was put off, on these CPUs together.
    pub(super) fn softirqs_since(&self, earlier: &Counts, cpus: &[usize]) -> Vec<Interrupts> {
        differences(&self.softirqs, &earlier.softirqs, cpus)
    }

    /// Time that a hypervisor took of a CPU, in steps of 10 ms.
    pub(super) fn steal_since(&self, earlier: &Counts, cpu: usize) -> Option<u64> {
        Some(self.steal_ns.get(&cpu)?.saturating_sub(*earlier.steal_ns.get(&cpu)?))
    }

    /// Returns what limits on CPU time did.
    pub(super) fn throttled_since(&self, earlier: &Counts) -> Option<Throttled> {
        let (now, before) = (self.throttled?, earlier.throttled?);
        Some(Throttled {
            periods: now.periods.saturating_sub(before.periods),
            held_back_ns: now.held_back_ns.saturating_sub(before.held_back_ns),
        })
    }
}

fn differences(now: &Events, before: &Events, cpus: &[usize]) -> Vec<Interrupts> {
    let all = now.iter().filter_map(|(key, counts)| {
        let then = before.get(key)?;
        // A CPU that appeared in between has no earlier count, and so no difference.
        let of_cpus = cpus.iter().filter_map(|cpu| counts.get(cpu).zip(then.get(cpu)));
        let count: u64 = of_cpus.map(|(now, then)| now.saturating_sub(*then)).sum();
        let (name, words) = key.clone();
        (count > 0).then_some(Interrupts { name, words, count })
    });
    all.collect()
}

/// Returns what `/proc/interrupts` or `/proc/softirqs` counts: a head that names the CPUs, then
/// lines of a name, a count for each of them, and words.
fn events(text: &str) -> Events {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default().split_whitespace();
    let cpus: Vec<usize> = head.filter_map(|word| word.strip_prefix("CPU")?.parse().ok()).collect();
    let events = lines.filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let numbers = words.iter().map_while(|word| word.parse().ok());
        let counts: BTreeMap<usize, u64> = cpus.iter().copied().zip(numbers).collect();
        let words = &words[counts.len()..];
        // Of a device's interrupt the number says nothing: its last word is the device.
        let is_number = name.trim().bytes().all(|byte| byte.is_ascii_digit());
        let name = words.last().filter(|_| is_number).copied().unwrap_or(name.trim());
        Some(((name.to_owned(), words.join(" ")), counts))
    });
    events.collect()
}

/// Stolen time by CPU, from the text of `/proc/stat`.
fn steal_ns(stat: &str) -> BTreeMap<usize, u64> {
    // SAFETY: sysconf only reads a number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let tick_ns = 1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1);
    let of_cpus = stat.lines().filter_map(|line| {
        let mut words = line.strip_prefix("cpu")?.split(' ');
        // The line of all CPUs has no number, and so no CPU.
        let cpu: usize = words.next()?.parse().ok()?;
        // user nice system idle iowait irq softirq STEAL ...
        let steal: u64 = words.nth(7)?.parse().ok()?;
        Some((cpu, steal * tick_ns))
    });
    of_cpus.collect()
}

/// Returns what the limits on CPU time of this process' groups did so far; `None` where no
/// controller can be seen.
fn throttled(tree: &Tree) -> Option<Throttled> {
    let mut sum = Throttled::default();
    for group in cgroup::limited(tree)? {
        let stat = tree.text(&group.stat)?;
        sum.held_back_ns += cgroup::throttled_ns(&stat)?;
        let periods = stat.lines().find_map(|line| line.strip_prefix("nr_throttled "));
        sum.periods += periods?.trim().parse::<u64>().ok()?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::tree::made_up;

    const INTERRUPTS: &str = "           CPU0       CPU2       \n \
        31:          0       6807 PCI-MSIX-0000:00:01.0   3-edge      virtio0-stats\n\
        NMI:          1          2   Non-maskable interrupts\n\
        LOC:       1000       2000   Local timer interrupts\n\
        ERR:          7\n";
    const LATER: &str = "           CPU0       CPU2       \n \
        31:          0       6809 PCI-MSIX-0000:00:01.0   3-edge      virtio0-stats\n\
        NMI:          1          2   Non-maskable interrupts\n\
        LOC:       1250       2250   Local timer interrupts\n\
        ERR:          7\n";
    const SOFT: &str = "                    CPU0       CPU2       \n\
        HI:          0          0\n\
        TIMER:        10       20\n";

    fn counts(files: &[(&str, &str)]) -> Counts {
        let (_folder, tree) = made_up::tree(files);
        Counts::read(&tree)
    }

    #[test]
    fn interrupts_are_told_by_name() {
        let before = counts(&[("proc/interrupts", INTERRUPTS)]);
        let now = counts(&[("proc/interrupts", LATER)]);
        let check = |cpu: usize, expected: &[(&str, u64)]| {
            let found = now.interrupts_since(&before, cpu);
            let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.count)).collect();
            assert_eq!(found, expected, "{cpu}");
        };
        check(0, &[("LOC", 250)]);
        check(2, &[("LOC", 250), ("virtio0-stats", 2)]);
        check(1, &[]);
        // A CPU that appeared in between has no count of before.
        let alone = counts(&[("proc/interrupts", "CPU0\nLOC: 5 Local timer interrupts\n")]);
        assert!(now.interrupts_since(&alone, 2).is_empty());
    }

    #[test]
    fn softirqs_and_steal_are_told() {
        let stat = |steal: u64| format!("cpu  0 0 0 0 0 0 0 9 0 0\ncpu0 1 0 2 40 5 0 0 {steal}\n");
        let later = SOFT.replace("20\n", "26\n");
        let files =
            |stat: &str, soft: &str| counts(&[("proc/stat", stat), ("proc/softirqs", soft)]);
        let (before, now) = (files(&stat(7), SOFT), files(&stat(9), &later));
        let timer = Interrupts { name: "TIMER".to_owned(), words: String::new(), count: 6 };
        assert_eq!(now.softirqs_since(&before, &[0, 2]), [timer]);
        assert_eq!(now.steal_since(&before, 0), Some(20_000_000));
        assert_eq!(now.steal_since(&before, 1), None);
    }

    #[test]
    fn throttling_is_summed_or_unknown() {
        let mount = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
        let at = |periods: u64, us: u64| {
            let stat = format!("nr_periods 9\nnr_throttled {periods}\nthrottled_usec {us}\n");
            counts(&[
                ("proc/self/cgroup", "0::/box\n"),
                ("proc/self/mountinfo", mount),
                ("sys/fs/cgroup/box/cpu.stat", &stat),
                ("sys/fs/cgroup/box/cpu.max", "150000 100000\n"),
            ])
        };
        let since = at(5, 900).throttled_since(&at(2, 400));
        assert_eq!(since, Some(Throttled { periods: 3, held_back_ns: 500_000 }));
        assert_eq!(at(5, 900).throttled_since(&Counts::default()), None);
    }

    #[test]
    fn nothing_is_told_where_nothing_can_be_read() {
        let nothing = counts(&[]);
        assert_eq!(nothing, Counts::default());
        assert_eq!(events("no head\nLOC: x y\n").len(), 1);
    }
}
