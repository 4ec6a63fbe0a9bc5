//! The token of the one producer.

use crate::atomic::Ordering;
use crate::barrier::Barrier;

use super::EventCount;
use super::bound::Bound;
use super::count::Count;
use super::kind::{OneProducer, Value};

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
    /// The token of a count, if it is there.
    pub(super) fn take(of: &'a EventCount<V, P>) -> Option<Self> {
        // Acquire: what the last producer stored to the count is seen by this one.
        if of.has_producer.swap(true, Ordering::Acquire) {
            return None;
        }
        let light = match of.bound() {
            Bound::Barrier(barrier) => barrier,
            // By these bounds, no light side is used.
            Bound::Atomic | Bound::OneSecond => Barrier::seq_cst(),
        };
        Some(Producer { of, light })
    }

    /// Adds one, and wakes all waiters if there may be any.
    ///
    /// Everything that this thread wrote before is visible to whoever sees the new value. On x86-64
    /// this is one `inc` and one branch that is not taken.
    #[inline(always)]
    pub fn increment(&mut self) {
        P::increment::<V>(&self.of.count, self.light);
    }

    /// Adds `n`, modulo 2^31 (`u32`) or 2^63 (`u64`), and wakes all waiters if there may be any.
    /// Adding nothing does nothing.
    #[inline(always)]
    pub fn add(&mut self, n: V) {
        let n = n.reduced();
        if !n.is_zero() {
            P::add::<V>(&self.of.count, n, self.light);
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
