//! Hardware counters of the programs that a process starts.

use super::Unavailable;
use super::perf::{self, Counter, Event, Value};
use tiebreak_core::counts::Counts;
use tiebreak_core::sample::Meters;

/// The kernel's numbers of the events (`PERF_COUNT_HW_*`).
pub(super) const EVENTS: Counts<u64> =
    Counts { cycles: 0, instructions: 1, branch_misses: 5, cache_misses: 3 };
/// `PERF_COUNT_SW_CPU_MIGRATIONS`
const MIGRATIONS: u64 = 4;
/// `PERF_COUNT_SW_DUMMY`
const DUMMY: u64 = 9;

/// Open counters of everything that one process starts from now on.
#[derive(Debug)]
pub struct Counters {
    hardware: Counts<Option<Counter>>,
    migrations: Option<Counter>,
    /// The reason why hardware counters are missing, if they are.
    unavailable: Option<Unavailable>,
    /// Counters that are never switched on, see [`anchors`].
    _anchors: Vec<Counter>,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    pub(super) hardware: Counts<Option<Value>>,
    pub(super) migrations: Option<Value>,
}

/// The counts between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The hardware's counts, without energy.
    pub meters: Meters,
    /// The number of moves from one CPU to another.
    pub migrations: Option<u64>,
    /// Whether a count is scaled because it shared its hardware counter.
    pub multiplexed: bool,
}

impl Counters {
    /// Opens counters of everything that the process `pid` (0 is the calling thread) starts from
    /// now on. `pid` itself is not counted. Events that cannot be counted stay `None`.
    ///
    /// Counts user mode and kernel, or only user mode where no more is permitted. Counting slows
    /// down the counted program: starting a process took 6 us longer with the kernel's count of
    /// migrations alone, and 0.2 ms longer with hardware counters in a virtual machine, where each
    /// access to one may leave the guest. So hardware counters are opened only `with_hardware`.
    pub fn open(pid: i32, with_hardware: bool) -> Counters {
        let anchors = anchors(pid, with_hardware);
        let hardware = with_hardware.then(|| perf::open_permitted(|more| open_group(pid, more)));
        let event = inherited(perf::TYPE_SOFTWARE, MIGRATIONS, 0);
        let migrations = Counter::open(event, pid, -1, None).ok();
        let (hardware, unavailable) = match hardware.transpose() {
            Ok(hardware) => (hardware.unwrap_or_default(), None),
            Err(reason) => (Counts::default(), Some(reason)),
        };
        Counters { hardware, migrations, unavailable, _anchors: anchors }
    }

    /// Returns the reason why there are no hardware counters; `None` if there are, or if none were
    /// requested.
    pub fn unavailable(&self) -> Option<&Unavailable> {
        self.unavailable.as_ref()
    }

    /// Reads the counters. Cost: about a microsecond per counter.
    pub fn read(&self) -> Reading {
        let read = |counter: &Option<Counter>| counter.as_ref()?.read().ok();
        Reading { hardware: self.hardware.as_ref().map(read), migrations: read(&self.migrations) }
    }
}

impl Reading {
    /// Computes the counts since an earlier reading of the same counters.
    pub fn since(&self, earlier: &Reading) -> Counted {
        let mut multiplexed = false;
        let counts = self.hardware.zip(earlier.hardware).map(|(now, then)| {
            let (value, is_scaled) = scale(now?, then?)?;
            multiplexed |= is_scaled;
            Some(value)
        });
        let migrations = self.migrations.zip(earlier.migrations);
        Counted {
            meters: Meters::default().with_counts(counts),
            migrations: migrations.map(|(now, then)| now.count.saturating_sub(then.count)),
            multiplexed,
        }
    }
}

/// Opens the events, all in one group so that they count the same moments. An event that does not
/// fit into the group counts alone, and one that does not exist is `None`.
fn open_group(pid: i32, exclude: u64) -> std::io::Result<Counts<Option<Counter>>> {
    let event = |config| inherited(perf::TYPE_HARDWARE, config, exclude);
    let leader = Counter::open(event(EVENTS.cycles), pid, -1, None)?;
    let members = EVENTS.map(|config| {
        if config == EVENTS.cycles {
            return None;
        }
        // A member follows its leader: it must not be switched off separately.
        let mut member = event(config);
        member.flags &= !(perf::DISABLED | perf::ENABLE_ON_EXEC);
        let opened = Counter::open(member, pid, -1, Some(&leader));
        opened.or_else(|_| Counter::open(event(config), pid, -1, None)).ok()
    });
    Ok(Counts { cycles: Some(leader), ..members })
}

/// Opens counters that are not inherited and stay off.
///
/// When a process and its child have equal sets of counters, the kernel may swap the sets at a
/// context switch instead of saving and loading them. Then `exec` would switch on the very counters
/// that we hold, and the child's end would close them. A counter that the child does not inherit
/// makes the sets differ. Older kernels keep hardware and software counters in separate sets.
fn anchors(pid: i32, with_hardware: bool) -> Vec<Counter> {
    let off = |kind, config| {
        let flags = perf::DISABLED | perf::EXCLUDE_KERNEL | perf::EXCLUDE_HYPERVISOR;
        let event = Event { kind, config, flags, read_format: perf::READ_TIMES };
        Counter::open(event, pid, -1, None).ok()
    };
    let hardware = with_hardware.then(|| off(perf::TYPE_HARDWARE, EVENTS.cycles)).flatten();
    off(perf::TYPE_SOFTWARE, DUMMY).into_iter().chain(hardware).collect()
}

fn inherited(kind: u32, config: u64, more: u64) -> Event {
    let flags = perf::DISABLED | perf::INHERIT | perf::ENABLE_ON_EXEC | perf::EXCLUDE_HYPERVISOR;
    Event { kind, config, flags: flags | more, read_format: perf::READ_TIMES }
}

/// Returns the count since `then`, scaled by the share of time for which it had a hardware counter,
/// and whether it was scaled; `None` if it never had one.
fn scale(now: Value, then: Value) -> Option<(u64, bool)> {
    let count = now.count.saturating_sub(then.count);
    let enabled = now.enabled_ns.saturating_sub(then.enabled_ns);
    let running = now.running_ns.saturating_sub(then.running_ns);
    if running == 0 {
        return (enabled == 0).then_some((count, false));
    }
    if running >= enabled {
        return Some((count, false));
    }
    Some(((u128::from(count) * u128::from(enabled) / u128::from(running)) as u64, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn counts_are_scaled_when_the_counter_was_shared() {
        let value = |count, enabled_ns, running_ns| Value { count, enabled_ns, running_ns };
        let then = value(100, 1000, 1000);
        let check = |now: Value, scaled: Option<(u64, bool)>| assert_eq!(scale(now, then), scaled);
        check(value(150, 2000, 2000), Some((50, false)));
        check(value(150, 2000, 1500), Some((100, true)));
        check(value(100, 2000, 1000), None);
        check(then, Some((0, false)));
    }

    #[test]
    fn missing_counters_stay_missing() {
        let some = Some(Value { count: 5, enabled_ns: 1, running_ns: 1 });
        let now =
            Reading { hardware: Counts { cycles: some, ..Counts::default() }, migrations: None };
        let counted = now.since(&Reading { hardware: Counts::all(some), migrations: some });
        assert_eq!(counted.meters.cycles, Some(0));
        assert_eq!(counted.meters.instructions, None);
        assert_eq!(counted.migrations, None);
    }

    #[test]
    fn what_is_started_is_counted_and_the_starter_is_not() {
        // The counters follow the thread that opens them and starts the program.
        let counters = Counters::open(0, true);
        if let Some(reason) = counters.unavailable() {
            assert!(!reason.tried.is_empty());
            return;
        }
        let count = |script: &str| {
            let before = counters.read();
            assert!(Command::new("sh").arg("-c").arg(script).status().unwrap().success());
            counters.read().since(&before)
        };
        let short = count(":").meters.instructions.unwrap();
        let long = count("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").meters;
        let child = count("sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'").meters;
        assert!(long.instructions.unwrap() > short + 5_000_000, "{short} {long:?}");
        assert!(child.instructions.unwrap() > short + 5_000_000, "{short} {child:?}");
        let before = counters.read();
        let spun = (0..3_000_000_u64).fold(1, |x, i| std::hint::black_box(x ^ i));
        assert_ne!(spun, 0);
        assert_eq!(counters.read().since(&before).meters.instructions, Some(0));
    }
}
