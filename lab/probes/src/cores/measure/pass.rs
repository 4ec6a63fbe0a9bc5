//! Ways of passing a line to and fro, and waiting for it within limits.

use super::*;

/// How often a waiting side looks at its line before it looks at anything else: some microseconds
/// of loads, more than a line takes on any machine.
const LOOKS: u32 = 1 << 13;

/// A way of passing. Trips are counted from 1. The side that times hands a trip over and looks for
/// its return; the other one looks for it and answers.
pub(super) trait Pass {
    /// Hands over.
    fn give(lines: &Lines, trip: u64);
    /// Whether the trip has returned.
    fn is_back(lines: &Lines, trip: u64) -> bool;
    /// Whether the trip has arrived at the side that answers.
    fn is_here(lines: &Lines, trip: u64) -> bool;
    /// Sends it back.
    fn answer(lines: &Lines, trip: u64);
}

/// Each side stores to a line of its own and loads the other's; or both use one line, on which odd
/// numbers go and even ones return.
pub(super) struct Stores<const IS_ONE_LINE: bool>;

impl<const IS_ONE_LINE: bool> Pass for Stores<IS_ONE_LINE> {
    #[inline(always)]
    fn give(lines: &Lines, trip: u64) {
        let value = if IS_ONE_LINE { 2 * trip - 1 } else { trip };
        lines.first.0.store(value, Ordering::Release);
    }

    #[inline(always)]
    fn is_back(lines: &Lines, trip: u64) -> bool {
        let (line, value) =
            if IS_ONE_LINE { (&lines.first, 2 * trip) } else { (&lines.second, trip) };
        line.0.load(Ordering::Acquire) == value
    }

    #[inline(always)]
    fn is_here(lines: &Lines, trip: u64) -> bool {
        let value = if IS_ONE_LINE { 2 * trip - 1 } else { trip };
        lines.first.0.load(Ordering::Acquire) == value
    }

    #[inline(always)]
    fn answer(lines: &Lines, trip: u64) {
        let (line, value) =
            if IS_ONE_LINE { (&lines.first, 2 * trip) } else { (&lines.second, trip) };
        line.0.store(value, Ordering::Release);
    }
}

/// Both try to change one line until they succeed, from 0 to 1 and back to 0.
pub(super) struct CompareExchange;

impl Pass for CompareExchange {
    #[inline(always)]
    fn give(_: &Lines, _: u64) {}

    #[inline(always)]
    fn is_back(lines: &Lines, _: u64) -> bool {
        let word = &lines.first.0;
        word.compare_exchange(1, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn is_here(lines: &Lines, _: u64) -> bool {
        let word = &lines.first.0;
        word.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn answer(_: &Lines, _: u64) {}
}

/// How long a side waits for the other one.
pub(super) struct Patience<'a> {
    /// The side that times has finished.
    pub(super) done: &'a AtomicBool,
    /// The user wants to stop.
    pub(super) interrupted: &'a AtomicBool,
    /// The moment at which it gives up, on the monotonic clock.
    pub(super) deadline_ns: u64,
}

impl Patience<'_> {
    /// Whether nothing is to be waited for any more.
    pub(super) fn is_over(&self) -> bool {
        self.done.load(Ordering::Relaxed)
            || self.interrupted.load(Ordering::Relaxed)
            || monotonic_ns() >= self.deadline_ns
    }

    /// Looks until it is ready; `false` if patience ended first. A partner that is not on a CPU may
    /// wait for this one, so the CPU is offered now and then.
    #[inline(always)]
    fn wait(&self, mut is_ready: impl FnMut() -> bool) -> bool {
        loop {
            for _ in 0..LOOKS {
                if is_ready() {
                    return true;
                }
            }
            if self.is_over() {
                return false;
            }
            std::thread::yield_now();
        }
    }
}

/// Makes these round trips; `false` if patience ended before.
#[inline(always)]
pub(super) fn trips<P: Pass>(
    lines: &Lines,
    trips: std::ops::Range<u64>,
    patience: &Patience<'_>,
) -> bool {
    for trip in trips {
        P::give(lines, trip);
        if !patience.wait(|| P::is_back(lines, trip)) {
            return false;
        }
    }
    true
}

/// Answers every trip until patience ends.
#[inline(always)]
pub(super) fn answer<P: Pass>(lines: &Lines, patience: &Patience<'_>) {
    let mut trip = 1;
    while patience.wait(|| P::is_here(lines, trip)) {
        P::answer(lines, trip);
        trip += 1;
    }
}
