//! A visit to each CPU: whether it is interrupted, and by how much its clock can differ.

use std::time::{Duration, Instant};

use tiebreak_sync::interrupts::CpuSet;
use tiebreak_sync::interrupts::layout::{Slot, now_ns};

/// A CPU that is not interrupted for so long while it is busy has no tick: the slowest has 100 a
/// second.
const NO_TICK: Duration = Duration::from_millis(60);

/// How many moves to a CPU and back are timed at most.
const MOVES: u32 = 64;

/// A bound that is this good need not become better: a barrier takes a hundred times as long.
const GOOD_NS: u64 = 15_000;

/// A bound that is worse than this is useless: a barrier can go by counts.
const USELESS_NS: u64 = 1_000_000;

/// Programs in the kernel and processes read the same clock by different ways, whose rounding is
/// corrected at slightly different times.
const ROUNDING_NS: u64 = 1000;

/// A program in the kernel reads a clock that is switched over slightly after the one of processes
/// when the kernel corrects its rate. This covers 500 ppm, the most that time daemons set, over 20
/// ms between the two.
const UPDATE_NS: u64 = 10_000;

/// What was found.
#[derive(Debug, Default)]
pub struct Survey {
    /// An upper bound of how much the clocks of two CPUs differ; nothing if there is no good one.
    pub margin_ns: Option<u64>,
    /// CPUs that ran this process for 60 ms without an interrupt.
    pub silent: CpuSet,
    /// CPUs that were to be visited: the margin says nothing of others.
    pub surveyed: CpuSet,
    /// CPUs on which this process may not run.
    pub unvisited: CpuSet,
}

/// Visits the CPUs one after another. The thread may run afterwards where it could before.
///
/// A visit has a second use: the switch away from an idle task tells the program which task that
/// is.
pub fn survey(online: &CpuSet, slots: &[Slot]) -> Survey {
    let before = CpuSet::of_thread();
    let mut survey = Survey { surveyed: online.clone(), ..Survey::default() };
    for cpu in online.iter() {
        if !move_to(cpu) {
            survey.unvisited.insert(cpu);
        } else if !slots.get(cpu).is_some_and(is_interrupted) {
            survey.silent.insert(cpu);
        }
    }
    if survey.unvisited.is_empty() {
        survey.margin_ns = margin_ns(online);
    }
    if let Some(before) = before {
        let _ = before.bind_thread();
    }
    survey
}

/// Stays busy, without calling the kernel, until a program has run on this CPU.
fn is_interrupted(slot: &Slot) -> bool {
    let (count, start) = (slot.count(), Instant::now());
    while start.elapsed() < NO_TICK {
        if slot.count() != count {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

/// An upper bound of the difference between any two CPUs' clocks.
///
/// One thread reads the clock, moves to another CPU and reads it there. If that one is ahead by
/// `d`, it sees `move + d`, and `move - d` on the way back, where moves take some time, never a
/// negative one. So `-back < d < there` for the shortest of each. Two CPUs differ by at most the
/// sum of what each of them can differ from the first.
fn margin_ns(online: &CpuSet) -> Option<u64> {
    let mut online = online.iter();
    let first = online.next()?;
    let worst_ns =
        online.try_fold(0, |worst_ns: u64, cpu| Some(worst_ns.max(difference_ns(first, cpu)?)))?;
    Some(2 * worst_ns + ROUNDING_NS + UPDATE_NS).filter(|margin_ns| *margin_ns <= USELESS_NS)
}

/// An upper bound of the difference between two clocks; nothing if time went backwards.
fn difference_ns(first: usize, second: usize) -> Option<u64> {
    let (mut there_ns, mut back_ns) = (u64::MAX, u64::MAX);
    for _ in 0..MOVES {
        if !move_to(first) {
            return None;
        }
        let start_ns = now_ns();
        if !move_to(second) {
            return None;
        }
        let middle_ns = now_ns();
        move_to(first);
        let end_ns = now_ns();
        there_ns = there_ns.min(middle_ns.checked_sub(start_ns)?);
        back_ns = back_ns.min(end_ns.checked_sub(middle_ns)?);
        if there_ns.max(back_ns) <= GOOD_NS {
            break;
        }
    }
    Some(there_ns.max(back_ns))
}

/// Moves this thread to a CPU. When this returns `true`, it runs there.
fn move_to(cpu: usize) -> bool {
    CpuSet::from_iter([cpu]).bind_thread().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_nothing_writes_is_silent_and_affinity_is_put_back() {
        let before = CpuSet::of_thread().unwrap();
        let cpu = before.iter().next().unwrap();
        let slots: Vec<Slot> = (0..=cpu).map(|_| Slot::default()).collect();
        let survey = survey(&[cpu].into_iter().collect(), &slots);
        assert_eq!(survey.silent.iter().collect::<Vec<_>>(), [cpu]);
        assert_eq!(survey.surveyed.iter().collect::<Vec<_>>(), [cpu]);
        assert!(survey.unvisited.is_empty());
        assert_eq!(
            survey.margin_ns,
            Some(ROUNDING_NS + UPDATE_NS),
            "one clock differs little from itself"
        );
        assert_eq!(CpuSet::of_thread().unwrap(), before);
    }

    #[test]
    fn clocks_of_this_machine_have_a_bound_or_none() {
        let allowed = CpuSet::of_thread().unwrap();
        let slots: Vec<Slot> = Vec::new();
        let two: CpuSet = allowed.iter().take(2).collect();
        let survey = survey(&two, &slots);
        if let Some(margin_ns) = survey.margin_ns {
            assert!(margin_ns <= USELESS_NS);
            assert!(two.len() == 1 || margin_ns > ROUNDING_NS + UPDATE_NS, "moves take time");
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_not_visited() {
        let survey = survey(&[9999].into_iter().collect(), &[]);
        assert_eq!(survey.unvisited.to_string(), "9999");
        assert_eq!(survey.margin_ns, None);
    }
}
