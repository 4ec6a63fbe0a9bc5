//! When a waiter may sleep for good.

use crate::barrier::Barrier;

/// What makes it certain that the producer will see the flag of a waiter.
///
/// It prints its name:
///
/// ```
/// use tiebreak_sync::event_count::Bound;
/// assert_eq!(Bound::OneSecond.to_string(), "one-second");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Producers increment with locked instructions, which overwrite nothing: a flag that is up
    /// will be seen. No assumption.
    Atomic,
    /// After the flag went up, the waiter runs the heavy side of a barrier and looks again. A hard
    /// bound: it assumes what the strategy of the barrier assumes, nothing about time.
    Barrier(Barrier),
    /// The published rule: the waiter sleeps for 2, 16, 128 and 1024 ms, about, until a second has
    /// passed since the flag went up, and then for good. The assumption: every CPU that runs a
    /// producer is interrupted at least once a second. Whoever takes interrupts away from a CPU
    /// (`nohz_full`, a hypervisor that stops guests) must hold it.
    OneSecond,
}

impl core::fmt::Display for Bound {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Bound::Atomic => formatter.write_str("atomic"),
            Bound::Barrier(barrier) => write!(formatter, "barrier {}", barrier.strategy()),
            Bound::OneSecond => formatter.write_str("one-second"),
        }
    }
}

/// How to wait.
///
/// ```
/// use tiebreak_sync::event_count::{Bound, EventCount64, Single, Waiting};
///
/// let waiting = Waiting::new().spins(0).bound(Bound::OneSecond);
/// let count = EventCount64::<Single>::with_waiting(waiting);
/// # #[cfg(target_arch = "x86_64")]
/// assert_eq!(count.bound(), Bound::OneSecond);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub(super) spins: u32,
    pub(super) bound: Option<Bound>,
}

impl Waiting {
    /// A hundred looks, some microseconds, before the flag goes up; the best bound there is.
    pub const fn new() -> Waiting {
        Waiting { spins: 100, bound: None }
    }

    /// How often to look before the flag goes up: it costs the producer a system call. By
    /// [`Bound::OneSecond`] the waiter looks as often again with the flag up; a barrier makes that
    /// needless. [`EventCount::wait_until`](super::EventCount::wait_until) looks at the clock once
    /// in a thousand looks, so that it passes its deadline by some 100 us at most.
    pub const fn spins(self, spins: u32) -> Waiting {
        Waiting { spins, ..self }
    }

    /// Which bound to use, as far as the kind of count has it. [`EventCount::bound`] says which is
    /// in force: [`Multi`] needs none, so it stays [`Bound::Atomic`]; [`TwoWord`] works by a
    /// barrier only; [`Single`] takes [`Bound::OneSecond`] where there is no barrier with a heavy
    /// side.
    ///
    /// [`EventCount::bound`]: super::EventCount::bound
    /// [`Multi`]: super::Multi
    /// [`Single`]: super::Single
    /// [`TwoWord`]: super::TwoWord
    pub const fn bound(self, bound: Bound) -> Waiting {
        Waiting { bound: Some(bound), ..self }
    }
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting::new()
    }
}
