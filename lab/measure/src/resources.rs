//! What else the machine did during a run, and the marks that follow.
//!
//! The meters that a plan asks for, and those that are not read.
//!
//! How long a thread has waited for a CPU, as the kernel counts it.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use tiebreak_core::counts::Counts;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Plan;
use tiebreak_core::sample::{Beside, Mark, Marks};
use tiebreak_machine::busy::{Busy, Difference};
use tiebreak_machine::clock::{self, ProcessClock};

/// Foreign load above this share of our CPUs' time marks a sample.
const FOREIGN_SHARE: f64 = 0.1;
/// Stolen time above this share of our CPUs' time marks a sample.
const STEAL_SHARE: f64 = 0.01;

/// Reads the state of the CPUs before and after runs.
#[derive(Debug)]
pub(crate) struct Surroundings {
    busy: Busy,
    launcher: Option<ProcessClock>,
    /// Whether this process may only run where the contestants may, so that its time is theirs.
    counts_itself: bool,
    contestants_cpu_ns: u64,
    throttled_before_ns: Option<u64>,
}

impl Surroundings {
    pub(crate) fn new(cpus: &[usize], allowed: &[usize], launcher_pid: i32) -> Surroundings {
        Surroundings {
            busy: Busy::open(cpus),
            launcher: ProcessClock::of(launcher_pid),
            counts_itself: cpus == allowed,
            contestants_cpu_ns: 0,
            throttled_before_ns: None,
        }
    }

    /// Reads the state; call it just before a run.
    pub(crate) fn before_run(&mut self) {
        self.look();
        self.throttled_before_ns = self.busy.throttled_ns();
    }

    /// Reads the state again; call it just after a run of `wall_ns` that started at `start_ns` and
    /// used `cpu_ns`.
    pub(crate) fn after_run(&mut self, start_ns: u64, wall_ns: u64, cpu_ns: u64) -> Around {
        let throttled_ns = self.busy.throttled_ns();
        self.contestants_cpu_ns += cpu_ns;
        self.look();
        let window = self.busy.window(start_ns);
        let total_ns = wall_ns as f64 * self.busy.cpu_count() as f64;
        let part = |share: fn(&Difference) -> f64| {
            window.as_ref().map(|window| (share(window) * total_ns) as u64)
        };
        let throttled_ns = throttled_ns.zip(self.throttled_before_ns);
        let beside = Beside {
            foreign_cpu_ns: part(|window| window.foreign_share),
            steal_ns: part(|window| window.steal_share),
            migrations: None,
            run_delay_ns: None,
            throttled_ns: throttled_ns.map(|(now, then)| now.saturating_sub(then)),
        };
        Around { beside, window }
    }

    fn look(&mut self) {
        let mut own_ns = self.contestants_cpu_ns;
        own_ns += self.launcher.map_or(0, clock::process_cpu_ns_of);
        if self.counts_itself {
            own_ns += clock::process_cpu_ns() + waited_for_cpu_ns();
        }
        self.busy.look(clock::monotonic_ns(), own_ns);
    }
}

/// The state of the machine around one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub(crate) beside: Beside,
    window: Option<Difference>,
}

impl Around {
    /// Adds the marks that the surroundings give a sample.
    pub(crate) fn marks(&self, marks: Marks) -> Marks {
        let over = |share: f64, limit: f64, mark: Mark, marks: Marks| {
            if share > limit { marks.with(mark) } else { marks }
        };
        let window = self.window;
        let foreign = window.map_or(0.0, |window| window.foreign_share);
        let marks = over(foreign, FOREIGN_SHARE, Mark::ForeignLoad, marks);
        let steal = window.map_or(0.0, |window| window.steal_share);
        let marks = over(steal, STEAL_SHARE, Mark::Steal, marks);
        let some = |count: Option<u64>| count.is_some_and(|count| count > 0);
        let marks = if some(self.beside.migrations) { marks.with(Mark::Migrated) } else { marks };
        if some(self.beside.throttled_ns) { marks.with(Mark::Throttled) } else { marks }
    }
}

/// Returns the CPU time of the children that this process has waited for: its hooks and judges.
fn waited_for_cpu_ns() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is valid for the result, and all zero bytes are a valid value of it.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    time_ns(usage.ru_utime) + time_ns(usage.ru_stime)
}

/// Converts a `timeval` to nanoseconds.
pub(crate) fn time_ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

/// Returns the metrics that need hardware counters.
pub(crate) fn counted() -> Vec<Metric> {
    Counts::METRICS.to_vec()
}

/// Returns whether a claim is about one of these metrics.
pub(crate) fn asks(plan: &Plan, metrics: &[Metric]) -> bool {
    plan.claims.iter().any(|planned| metrics.contains(&planned.claim.metric))
}

/// A meter that is not read in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingMeter {
    /// The metrics that are not measured without it.
    pub metrics: Vec<Metric>,
    /// Why, with each way that was tried, as a text for people.
    pub why: String,
}

/// The open `schedstat` of a thread, which says how long it has waited for a CPU so far.
#[derive(Debug)]
pub(crate) struct Waits(Option<File>);

impl Waits {
    /// Opens that of the calling thread.
    pub(crate) fn own() -> Waits {
        Waits(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Opens that of the main thread of a process.
    pub(crate) fn of(pid: u32) -> Waits {
        Waits(File::open(format!("/proc/{pid}/schedstat")).ok())
    }

    /// Returns the wait so far in nanoseconds; 0 if the kernel does not report it.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.0.as_ref().and_then(scheduled).map_or(0, |(_, waited_ns)| waited_ns)
    }
}

/// Reads time on a CPU and time waiting for one, in nanoseconds, from a file `schedstat`.
pub(crate) fn scheduled(file: &File) -> Option<(u64, u64)> {
    let mut text = [0; 80];
    let length = file.read_at(&mut text, 0).ok()?;
    let mut numbers = std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_earned_above_the_limits() {
        let check = |foreign: f64, steal: f64, moves: u64, held_ns: u64, marks: &[Mark]| {
            let window = Difference { foreign_share: foreign, steal_share: steal };
            let beside = Beside {
                foreign_cpu_ns: Some(1),
                steal_ns: Some(1),
                migrations: Some(moves),
                run_delay_ns: None,
                throttled_ns: Some(held_ns),
            };
            let around = Around { beside, window: Some(window) };
            let earned: Vec<_> = around.marks(Marks::NONE).iter().collect();
            assert_eq!(earned, marks);
        };
        check(0.1, 0.01, 0, 0, &[]);
        check(0.2, 0.0, 0, 0, &[Mark::ForeignLoad]);
        check(0.0, 0.02, 1, 5, &[Mark::Steal, Mark::Migrated, Mark::Throttled]);
        let unknown = Around { beside: Beside::default(), window: None };
        assert_eq!(unknown.marks(Marks::NONE), Marks::NONE);
    }

    #[test]
    fn waits_only_grow() {
        for waits in [Waits::own(), Waits::of(std::process::id())] {
            let before = waits.waited_ns();
            std::thread::yield_now();
            assert!(waits.waited_ns() >= before);
        }
        assert_eq!(Waits(None).waited_ns(), 0);
    }
}
