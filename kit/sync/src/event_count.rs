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
//! tests it. With [`Bound::OneSecond`] that every CPU is interrupted once a second; who
//! configures the machine must hold it. In all cases: futexes are those of one process, so a count
//! that lies in memory shared with another process wakes no thread there.
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

mod count;
#[cfg(all(test, target_arch = "x86_64", not(miri), not(loom)))]
mod tests;
mod waiting;

#[doc = include_str!("event_count/steps.md")]
pub mod steps {}

/// What the model checker's tests need: the waiting loop, over copies with a mistake in them.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    pub use super::count::{Armed, Count};
    pub use super::waiting::{Rule, wait};
    pub use crate::futex::{Awake, wait as futex_wait, wake_all as futex_wake_all};
}

use core::sync::atomic::AtomicU64 as Statistic;
use std::time::Instant;

use crate::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::barrier::Barrier;

use count::{Alone, Count, Flagged, Pair, Word};
use waiting::Rule;

/// An event count of 31 bits.
pub type EventCount32<P> = EventCount<u32, P>;

/// An event count of 63 bits.
pub type EventCount64<P> = EventCount<u64, P>;

/// A count that can be waited for. See the [module](self) for what it is and what holds.
///
/// Representation: the word with the count, a second word of 32 bits on which waiters sleep, and
/// what is rarely touched; the flag is in the first word, that of [`TwoWord`] in the second. Give
/// it a cache line of its own if something else next to it is written often. Cost without waiters:
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
    rescues: Statistic,
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
            rescues: Statistic::new(0),
        }
    }

    /// A count of zero that a model checker watches; it never spins.
    #[cfg(loom)]
    pub fn new() -> Self {
        EventCount {
            count: <P::Count<V> as Count>::fresh(),
            has_producer: AtomicBool::new(false),
            waiting: Waiting::new().spins(0),
            rescues: Statistic::new(0),
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
    /// Everything that this thread wrote before is visible to a thread that sees the new value.
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
    /// The right to increment, if it is free.
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
        // Acquire: what the last producer stored to the count is seen by this one.
        if self.has_producer.swap(true, Ordering::Acquire) {
            return None;
        }
        let light = match self.bound() {
            Bound::Barrier(barrier) => barrier,
            // By these bounds, no light side is used.
            Bound::Atomic | Bound::OneSecond => Barrier::seq_cst(),
        };
        Some(Producer { of: self, light })
    }
}

impl<V: Value, P: Producers> Default for EventCount<V, P> {
    fn default() -> Self {
        Self::new()
    }
}

/// The right to increment a count that has one producer at a time. [`EventCount::producer`] gives
/// it, and it goes back when it is dropped.
///
/// It can be sent to another thread. What is not possible is to have two, or to use one from two
/// threads at once:
///
/// ```compile_fail
/// use tiebreak_sync::event_count::{EventCount64, Single};
/// let count = EventCount64::<Single>::new();
/// let producer = count.producer().unwrap();
/// let another = producer.clone();
/// ```
///
/// A token that is leaked (`mem::forget`) never goes back: the count then has no producer any more.
#[derive(Debug)]
#[must_use = "the token goes back when it is dropped"]
pub struct Producer<'a, V: Value, P: OneProducer> {
    of: &'a EventCount<V, P>,
    light: Barrier,
}

impl<'a, V: Value, P: OneProducer> Producer<'a, V, P> {
    /// Adds one, and wakes all waiters if there may be any.
    ///
    /// Everything that this thread wrote before is visible to a thread that sees the new value. On
    /// x86-64 this is one `inc` and one branch that is not taken.
    #[inline(always)]
    pub fn increment(&mut self) {
        self.of.count.increment_alone(self.light);
    }

    /// Adds `n`, modulo 2^31 (`u32`) or 2^63 (`u64`), and wakes all waiters if there may be any.
    /// Adding nothing does nothing.
    #[inline(always)]
    pub fn add(&mut self, n: V) {
        let n = n.reduced();
        if !n.is_zero() {
            self.of.count.add_alone(n, self.light);
        }
    }

    /// The count now.
    #[inline(always)]
    pub fn value(&self) -> V {
        self.of.count.value()
    }

    /// What this is the producer of.
    pub fn event_count(&self) -> &'a EventCount<V, P> {
        self.of
    }
}

impl<V: Value, P: OneProducer> Drop for Producer<'_, V, P> {
    fn drop(&mut self) {
        // Release: the next producer sees what this one stored to the count.
        self.of.has_producer.store(false, Ordering::Release);
    }
}

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
    /// producer is interrupted at least once a second. What takes interrupts away from a CPU
    /// (`nohz_full`, a hypervisor that stops guests) breaks it.
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
    spins: u32,
    bound: Option<Bound>,
}

impl Waiting {
    /// A hundred looks, some microseconds, before the flag goes up; the best bound there is.
    pub const fn new() -> Waiting {
        Waiting { spins: 100, bound: None }
    }

    /// How often to look before the flag goes up: it costs the producer a system call. By
    /// [`Bound::OneSecond`] the waiter looks as often again with the flag up; a barrier makes that
    /// needless. [`EventCount::wait_until`] looks at the clock once
    /// in a thousand looks, so that it passes its deadline by some 100 us at most.
    pub const fn spins(self, spins: u32) -> Waiting {
        Waiting { spins, ..self }
    }

    /// Which bound to use, as far as the kind of count has it. [`EventCount::bound`] says which is
    /// in force: [`Multi`] needs none, so it stays [`Bound::Atomic`]; [`TwoWord`] works by a
    /// barrier only; [`Single`] takes [`Bound::OneSecond`] where there is no barrier with a heavy
    /// side.
    pub const fn bound(self, bound: Bound) -> Waiting {
        Waiting { bound: Some(bound), ..self }
    }
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting::new()
    }
}

/// Closes the traits of this module: their promises are kept here, so nothing else implements them.
mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// What an event count holds: `u32`, of which it uses 31 bits, or `u64`, of which it uses 63.
pub trait Value: Sealed + Copy + Eq + core::fmt::Debug + Send + Sync + 'static {
    /// One.
    const ONE: Self;
    /// The largest value. After it comes zero.
    const MAX: Self;
    /// Count and flag in one word.
    #[doc(hidden)]
    type Word: Word<Value = Self>;
    /// What is left of a number of increments once those that lead back to the start are gone.
    #[doc(hidden)]
    fn reduced(self) -> Self;
    /// Whether this is zero.
    #[doc(hidden)]
    fn is_zero(self) -> bool;
}

/// Who increments an event count: [`Single`], [`Multi`] or [`TwoWord`].
pub trait Producers: Sealed + Send + Sync + 'static {
    /// The representation.
    #[doc(hidden)]
    type Count<V: Value>: Alone<Value = V>;
    /// The bound in force where this one is asked for.
    #[doc(hidden)]
    fn bound(asked: Option<Bound>) -> Bound;
}

/// The kinds with one producer at a time.
pub trait OneProducer: Producers {}

/// One producer at a time, who increments with a read-modify-write that is not atomic. On x86-64
/// that is one `inc` of memory and a branch; on any other architecture this is [`TwoWord`].
#[derive(Debug)]
pub enum Single {}

/// Any number of producers: an increment is one locked instruction and a branch.
#[derive(Debug)]
pub enum Multi {}

/// One producer at a time, on any architecture: the flag has a word of its own, and an increment is
/// a store, the light side of a barrier and a load.
#[derive(Debug)]
pub enum TwoWord {}

macro_rules! value {
    ($value:ty, $atomic:ty) => {
        impl Sealed for $value {}
        impl Value for $value {
            const ONE: Self = 1;
            const MAX: Self = <$value>::MAX >> 1;
            type Word = $atomic;

            #[inline(always)]
            fn reduced(self) -> Self {
                self & <Self as Value>::MAX
            }

            #[inline(always)]
            fn is_zero(self) -> bool {
                self == 0
            }
        }
    };
}
value!(u32, AtomicU32);
value!(u64, AtomicU64);

impl Sealed for Single {}
impl Sealed for Multi {}
impl Sealed for TwoWord {}

impl Producers for Multi {
    type Count<V: Value> = Flagged<V>;

    /// A locked instruction never overwrites a flag, so nothing is in flight that could.
    fn bound(_asked: Option<Bound>) -> Bound {
        Bound::Atomic
    }
}

impl Producers for TwoWord {
    type Count<V: Value> = Pair<V>;

    /// The light side is the producer's, so there has to be a heavy one.
    fn bound(asked: Option<Bound>) -> Bound {
        match asked {
            Some(Bound::Barrier(barrier)) => Bound::Barrier(barrier),
            _ => Bound::Barrier(Barrier::process()),
        }
    }
}

impl Producers for Single {
    #[cfg(target_arch = "x86_64")]
    type Count<V: Value> = Flagged<V>;
    #[cfg(not(target_arch = "x86_64"))]
    type Count<V: Value> = Pair<V>;

    /// A heavy side has to reach the producer between two instructions: a pair of plain fences
    /// does not, so the published rule takes its place.
    fn bound(asked: Option<Bound>) -> Bound {
        let barrier = match asked {
            _ if cfg!(not(target_arch = "x86_64")) => return TwoWord::bound(asked),
            Some(Bound::OneSecond) => return Bound::OneSecond,
            Some(Bound::Barrier(barrier)) => barrier,
            Some(Bound::Atomic) | None => Barrier::process(),
        };
        if barrier.strategy().light_is_free() { Bound::Barrier(barrier) } else { Bound::OneSecond }
    }
}

impl OneProducer for TwoWord {}
impl OneProducer for Single {}
