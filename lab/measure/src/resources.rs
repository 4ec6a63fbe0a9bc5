//! What else the machine did during a run, and the marks that follow.

use std::mem::MaybeUninit;
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
}
