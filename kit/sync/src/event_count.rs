//! Counters that can be waited for: event counts.
//!
//! A condition variable needs a lock around the data. An event count needs none: a reader takes the
//! count, looks at the data, and if there is nothing for it, waits *until the count is not what it
//! was*. A change between the look and the wait has changed the count, so the wait ends at once: no
//! wake-up is lost, and no reader holds a writer up (Reed and Kanodia 1979).
//!
//! What costs is to know whether anybody has to be woken. A flag in the count's own word tells: who
//! wants to sleep raises it, and an increment that finds it up takes it down and wakes everybody.
//! With many producers an increment is one locked instruction. With one, on x86-64, it is an `inc`
//! of memory that is not even atomic, and a branch (Khuong 2019, the event counts of Concurrency
//! Kit): such an increment may overwrite a flag that goes up in the same moment, so a waiter has to
//! make sure before it sleeps for good. [`Bound`] says how.
//!
//! | kind | producers | an increment | bound |
//! |---|---|---|---|
//! | [`Single`] on x86-64 | one at a time | `inc`, branch | a barrier, or one second |
//! | [`Single`] elsewhere | one at a time | that of [`TwoWord`] | a barrier |
//! | [`Multi`] | any number | locked add, branch | none needed |
//! | [`TwoWord`] | one at a time | store, light side of a barrier, load, branch | a barrier |
//!
//! [`EventCount32`] counts modulo 2^31, [`EventCount64`] modulo 2^63; an increment costs the same.
//! The shorter one suits values that are kept or compared as 32 bits. But a waiter that does not
//! look while exactly 2^31 increments happen takes the count for unchanged, and a busy producer
//! makes that many within seconds.
//!
//! # What holds
//!
//! *Theorem.* If a waiter has called [`EventCount::wait`] with `seen`, and the count has become
//! something else and stays so, the wait ends. It ends with a value that is not `seen`, and
//! everything that was written before the increment to that value is visible then.
//!
//! *Assumptions.* With [`Bound::Atomic`] none. With [`Bound::Barrier`] that of the barrier's
//! strategy, whose heavy side has to reach every thread of this process; the library chooses and
//! tests it. With [`Bound::OneSecond`] that every CPU is interrupted once a second; whoever
//! configures the machine must hold it. In all cases: futexes are those of one process, so a count
//! that lies in memory shared with another process wakes nobody there.
//!
//! *All waiters wake.* An increment that finds the flag up wakes everybody who sleeps on the count,
//! as each may wait for a different value. Waiters that are to be woken one at a time need a count
//! each.
//!
//! The steps and the argument stand in [`steps`]. Tested by: the model checker loom ([`Multi`],
//! [`TwoWord`]), an exploration of all states of x86-TSO ([`Single`]), and long runs with a
//! watchdog. Not offered: increments as restartable sequences that the waiter restarts by
//! `membarrier(2)`. They would serve [`Single`] on other architectures; there [`TwoWord`] does, of
//! which there is a proof.

mod bound;
mod count;
#[cfg(all(test, target_arch = "x86_64", not(miri), not(loom)))]
mod flag_loss;
mod flagged;
mod kind;
mod pair;
mod producer;
mod waiting;
mod word;

#[doc = include_str!("event_count/steps.md")]
pub mod steps {}

pub use bound::{Bound, Waiting};
pub use kind::{Multi, OneProducer, Producers, Single, TwoWord, Value};
pub use producer::Producer;

/// What the model checker's tests need: the waiting loop, over copies with a mistake in them.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    pub use super::count::{Armed, Count};
    pub use super::waiting::{Rule, wait};
    pub use crate::futex::{Awake, wait as futex_wait, wake_all as futex_wake_all};
}

use core::sync::atomic::AtomicU64;
use std::time::Instant;

use crate::atomic::{AtomicBool, Ordering};

use count::Count;
use waiting::Rule;

/// An event count of 31 bits.
pub type EventCount32<P> = EventCount<u32, P>;

/// An event count of 63 bits.
pub type EventCount64<P> = EventCount<u64, P>;

/// A count that can be waited for. See the [module](self) for what it is and what holds.
///
/// Representation: the word with the count, a second word of 32 bits on which waiters sleep, and
/// what is rarely touched; the flag is in the first word, that of [`TwoWord`] in the second. Give
/// it a cache line of its own if something else beside it is written often. Cost without waiters:
/// that of the increment. With one: a system call more for the producer; for the waiter a few
/// looks, one heavy side of a barrier ([`Single`], [`TwoWord`]) and a system call that sleeps.
/// While it sleeps: nothing.
///
/// ```
/// use tiebreak_sync::event_count::{EventCount64, Multi};
///
/// static DONE: EventCount64<Multi> = EventCount64::new();
///
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| DONE.increment());
///     }
///     let mut done = DONE.value();
///     while done < 3 {
///         done = DONE.wait(done);
///     }
///     assert_eq!(done, 3);
/// });
/// ```
#[derive(Debug)]
pub struct EventCount<V: Value, P: Producers> {
    count: P::Count<V>,
    has_producer: AtomicBool,
    waiting: Waiting,
    rescues: AtomicU64,
}

/// What to do before a sleep: the answer of the predicate of [`EventCount::wait_with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Sleep until the count changes.
    UntilWoken,
    /// Sleep until the count changes or until this moment; then ask again. A moment in the past
    /// asks again at once.
    Until(Instant),
    /// Wait no longer.
    End,
}

impl<V: Value, P: Producers> EventCount<V, P> {
    /// A count of zero with the default way to wait.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self::with_waiting(Waiting::new())
    }

    /// A count of zero with a way to wait.
    #[cfg(not(loom))]
    pub const fn with_waiting(waiting: Waiting) -> Self {
        EventCount {
            count: <P::Count<V> as Count>::NEW,
            has_producer: AtomicBool::new(false),
            waiting,
            rescues: AtomicU64::new(0),
        }
    }

    /// A count of zero that a model checker watches; it never spins.
    #[cfg(loom)]
    pub fn new() -> Self {
        EventCount {
            count: <P::Count<V> as Count>::fresh(),
            has_producer: AtomicBool::new(false),
            waiting: Waiting::new().spins(0),
            rescues: AtomicU64::new(0),
        }
    }

    /// The count now. Everything that was written before the increment to it is visible.
    #[inline(always)]
    pub fn value(&self) -> V {
        self.count.value()
    }

    /// Waits until the count is not `seen`, and gives what it is then.
    ///
    /// ```
    /// use tiebreak_sync::event_count::{EventCount32, Multi};
    ///
    /// let count = EventCount32::<Multi>::new();
    /// let seen = count.value();
    /// count.increment();
    /// assert_eq!(count.wait(seen), 1);
    /// ```
    #[inline]
    pub fn wait(&self, seen: V) -> V {
        loop {
            if let Some(value) = self.wait_with(seen, || Pause::UntilWoken) {
                return value;
            }
        }
    }

    /// The same until a deadline: nothing if the count still is `seen` by then. A deadline in the
    /// past looks, as often as [`Waiting::spins`] says but at most 1001 times, and does not sleep.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use tiebreak_sync::event_count::{EventCount32, Multi};
    ///
    /// let count = EventCount32::<Multi>::new();
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert_eq!(count.wait_until(0, deadline), None);
    /// count.add(2);
    /// assert_eq!(count.wait_until(0, deadline), Some(2));
    /// ```
    #[inline]
    pub fn wait_until(&self, seen: V, deadline: Instant) -> Option<V> {
        self.wait_by(seen, Some(deadline), || {
            if Instant::now() < deadline { Pause::Until(deadline) } else { Pause::End }
        })
    }

    /// Waits until the count is not `seen`, or until `predicate` ends the wait: it is asked before
    /// each sleep, so at least once if the count does not change within as many looks as
    /// [`Waiting::spins`] says, and again whenever the waiter was awake in between.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use tiebreak_sync::event_count::{EventCount64, Multi, Pause};
    ///
    /// let count = EventCount64::<Multi>::new();
    /// let mut times = 0;
    /// let value = count.wait_with(0, || {
    ///     times += 1;
    ///     let soon = Instant::now() + Duration::from_millis(1);
    ///     if times < 3 { Pause::Until(soon) } else { Pause::End }
    /// });
    /// assert_eq!((value, times), (None, 3));
    /// ```
    #[inline]
    pub fn wait_with(&self, seen: V, predicate: impl FnMut() -> Pause) -> Option<V> {
        self.wait_by(seen, None, predicate)
    }

    /// As [`wait_with`](Self::wait_with), and from the deadline on it no longer spins.
    #[inline]
    fn wait_by(
        &self,
        seen: V,
        deadline: Option<Instant>,
        predicate: impl FnMut() -> Pause,
    ) -> Option<V> {
        // No flag, no system call and no rule if there is nothing to wait for.
        if let Some(value) = waiting::changed(&self.count, seen) {
            return Some(value);
        }
        let (spins, rescues) = (self.waiting.spins, &self.rescues);
        let rule = Rule { spins, deadline, bound: self.bound(), rescues };
        waiting::wait(&self.count, seen, &rule, predicate)
    }

    /// The bound in force.
    ///
    /// ```
    /// use tiebreak_sync::event_count::{EventCount64, Multi};
    /// assert_eq!(EventCount64::<Multi>::new().bound().to_string(), "atomic");
    /// ```
    pub fn bound(&self) -> Bound {
        P::bound(self.waiting.bound)
    }

    /// How many sleeps ended by their own time limit and then found the count changed. Only the
    /// sleeps of [`Bound::OneSecond`] count. It is an upper limit on flags that were lost: a sleep
    /// whose time was over just before its wake-up arrived is one, too.
    pub fn rescues(&self) -> u64 {
        // Relaxed: a statistic.
        self.rescues.load(Ordering::Relaxed)
    }
}

impl<V: Value> EventCount<V, Multi> {
    /// Adds one, and wakes all waiters if there may be any.
    ///
    /// Everything that this thread wrote before is visible to whoever sees the new value.
    #[inline(always)]
    pub fn increment(&self) {
        self.count.add_locked(V::ONE);
    }

    /// Adds `n`, modulo 2^31 (`u32`) or 2^63 (`u64`), and wakes all waiters if there may be any.
    /// Adding nothing does nothing.
    #[inline(always)]
    pub fn add(&self, n: V) {
        let n = n.reduced();
        if !n.is_zero() {
            self.count.add_locked(n);
        }
    }
}

impl<V: Value, P: OneProducer> EventCount<V, P> {
    /// The right to increment, if nobody has it.
    ///
    /// ```
    /// use tiebreak_sync::event_count::{EventCount64, Single};
    ///
    /// let count = EventCount64::<Single>::new();
    /// let mut producer = count.producer().unwrap();
    /// assert!(count.producer().is_none());
    /// producer.increment();
    /// producer.add(2);
    /// assert_eq!(count.value(), 3);
    /// drop(producer);
    /// assert!(count.producer().is_some());
    /// ```
    pub fn producer(&self) -> Option<Producer<'_, V, P>> {
        Producer::take(self)
    }
}

impl<V: Value, P: Producers> Default for EventCount<V, P> {
    fn default() -> Self {
        Self::new()
    }
}
