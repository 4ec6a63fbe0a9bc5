//! What else the machine did during a run, the marks that follow, and the meters that are not read.

use crate::error::StartError;
use crate::system::{Usage, parse_schedstat, rusage};
use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::counts::Counts;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Plan;
use tiebreak_core::sample::{Beside, Mark, Marks};
use tiebreak_core::sampler::Quiet;
use tiebreak_machine::busy::{Busy, Difference};
use tiebreak_machine::clock::{self, ProcessClock};
use tiebreak_machine::cpus;
use tiebreak_machine::quiet::QuietGate;

/// Foreign load above this share of our CPUs' time marks a sample.
pub(crate) const FOREIGN_SHARE: f64 = 0.1;
/// Stolen time above this share of our CPUs' time marks a sample.
pub(crate) const STEAL_SHARE: f64 = 0.01;

/// Adds the marks that are earned.
pub(crate) fn marked<const N: usize>(marks: Marks, earned: [(bool, Mark); N]) -> Marks {
    let earned = earned.into_iter().filter(|(is_earned, _)| *is_earned);
    earned.map(|(_, mark)| mark).fold(marks, Marks::with)
}

/// Waits for a quiet machine, if the plan asks for that.
#[derive(Debug)]
pub(crate) struct Gate {
    gate: Option<QuietGate>,
    interrupted: &'static AtomicBool,
}

impl Gate {
    /// Opens the gate of these CPUs; the processes of `own` count as quiet.
    pub(crate) fn new(
        plan: &Plan,
        cpus: &[usize],
        own: &[u32],
        interrupted: &'static AtomicBool,
    ) -> Gate {
        let gate = plan.program.wait_for_quiet.then(|| QuietGate::new(cpus, own));
        Gate { gate, interrupted }
    }

    /// Looks whether the machine is quiet, for [`Gate::was_quiet`].
    pub(crate) fn look(&mut self) {
        if let Some(gate) = &mut self.gate {
            gate.look();
        }
    }

    /// Returns whether the machine was quiet at the latest looks, or need not be.
    pub(crate) fn was_quiet(&self) -> bool {
        self.gate.as_ref().is_none_or(QuietGate::was_quiet)
    }

    /// Waits until the machine is quiet, the time is over, or the user interrupts.
    pub(crate) fn wait(&mut self, at_most_ns: u64) -> Quiet {
        let Some(gate) = &mut self.gate else {
            return Quiet { waited_ns: 0, quiet: true };
        };
        gate.wait(at_most_ns, &|| self.interrupted.load(Ordering::Relaxed))
    }
}

/// Checks that this process may use a CPU.
pub(crate) fn check_cpu(cpu: Option<usize>, allowed: &[usize]) -> Result<(), StartError> {
    match cpu.filter(|cpu| !allowed.contains(cpu)) {
        Some(cpu) => Err(StartError::CpuNotAllowed { cpu, allowed: cpus::format_cpus(allowed) }),
        None => Ok(()),
    }
}

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
    /// Opens the meters of these CPUs. The launcher is the process that starts contestants, if it
    /// is not this one.
    pub(crate) fn new(cpus: &[usize], allowed: &[usize], launcher: Option<i32>) -> Surroundings {
        Surroundings {
            busy: Busy::open(cpus),
            launcher: launcher.and_then(ProcessClock::of),
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
        let throttled_ns = throttled_ns.zip(self.throttled_before_ns);
        let beside = Beside {
            foreign_cpu_ns: window.map(|window| (window.foreign_share * total_ns) as u64),
            steal_ns: window.map(|window| (window.steal_share * total_ns) as u64),
            throttled_ns: throttled_ns.map(|(now, then)| now.saturating_sub(then)),
            ..Beside::default()
        };
        Around { beside, window }
    }

    fn look(&mut self) {
        let mut own_ns = self.contestants_cpu_ns;
        own_ns += self.launcher.map_or(0, clock::process_cpu_ns_of);
        if self.counts_itself {
            // Its hooks and judges are children that it has waited for.
            let waited_for = Usage::from(rusage(libc::RUSAGE_CHILDREN));
            own_ns += clock::process_cpu_ns() + waited_for.cpu_ns();
        }
        self.busy.look(clock::monotonic_ns(), own_ns);
    }
}

/// The state of the machine around one run, or around a unit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    pub(crate) beside: Beside,
    pub(crate) window: Option<Difference>,
}

impl Around {
    /// Returns the share of the CPUs' time that the hypervisor took; `None` if it is unknown.
    pub(crate) fn steal_share(&self) -> Option<f64> {
        self.window.map(|window| window.steal_share)
    }

    /// Adds the marks that the surroundings give a sample.
    pub(crate) fn marks(&self, marks: Marks) -> Marks {
        let foreign = self.window.map_or(0.0, |window| window.foreign_share);
        let steal = self.steal_share().unwrap_or(0.0);
        marked(
            marks,
            [
                (foreign > FOREIGN_SHARE, Mark::ForeignLoad),
                (steal > STEAL_SHARE, Mark::Steal),
                (self.beside.migrations > Some(0), Mark::Migrated),
                (self.beside.throttled_ns > Some(0), Mark::Throttled),
            ],
        )
    }
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

impl MissingMeter {
    /// Returns why no hardware counter is read.
    pub(crate) fn counters(why: impl ToString) -> MissingMeter {
        MissingMeter { metrics: counted(), why: why.to_string() }
    }

    /// Returns why no energy is metered.
    pub(crate) fn energy(why: impl ToString) -> MissingMeter {
        MissingMeter { metrics: vec![Metric::Energy], why: why.to_string() }
    }
}

/// The open `schedstat` of a thread, which says how long it has waited for a CPU so far.
#[derive(Debug)]
pub(crate) struct Waits(Option<File>);

impl Waits {
    /// Opens that of a thread: `thread-self`, or the number of a process for its main thread.
    /// Allocates nothing.
    pub(crate) fn open(whose: impl std::fmt::Display) -> Waits {
        let mut path = [0; 40];
        let written = write!(path.as_mut_slice(), "/proc/{whose}/schedstat").ok();
        let path = written.and_then(|()| CStr::from_bytes_until_nul(&path).ok()?.to_str().ok());
        Waits(path.and_then(|path| File::open(path).ok()))
    }

    /// Returns the time on a CPU and the time waiting for one so far, in nanoseconds; `None` if
    /// there is no such file.
    pub(crate) fn scheduled_ns(&self) -> Option<(u64, u64)> {
        self.read().map(|[run_ns, waited_ns, _]| (run_ns, waited_ns))
    }

    /// Returns the same times; `None` also if the kernel does not count them.
    pub(crate) fn counted_ns(&self) -> Option<(u64, u64)> {
        let counted = self.read().filter(|[.., slices]| *slices > 0);
        counted.map(|[run_ns, waited_ns, _]| (run_ns, waited_ns))
    }

    /// Returns the same numbers, and the number of slices, which stays 0 if the kernel does not
    /// count. Allocates nothing.
    fn read(&self) -> Option<[u64; 3]> {
        let mut text = [0; 80];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        parse_schedstat(&text[..length])
    }

    /// Returns the wait so far in nanoseconds; `None` if the kernel does not count it.
    pub(crate) fn counted_wait_ns(&self) -> Option<u64> {
        self.counted_ns().map(|(_, waited_ns)| waited_ns)
    }

    /// Returns the wait so far in nanoseconds; 0 if the kernel does not report it.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.scheduled_ns().map_or(0, |(_, waited_ns)| waited_ns)
    }
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
        for waits in [Waits::open("thread-self"), Waits::open(std::process::id())] {
            let before = waits.waited_ns();
            std::thread::yield_now();
            assert!(waits.waited_ns() >= before);
        }
        assert_eq!(Waits(None).waited_ns(), 0);
    }
}
