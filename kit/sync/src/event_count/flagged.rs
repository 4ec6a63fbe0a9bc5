//! Counts whose flag is in the word itself: [`steps`](super::steps) has the algorithm and why it is
//! right.

use std::time::Instant;

use crate::atomic::{AtomicU32, Ordering};
use crate::futex::{self, Awake};

use super::count::{Armed, Count, sleep_on};
use super::kind::Value;
use super::word::Word;

/// A word with count and flag, and beside it the number of wake-ups, on which waiters sleep.
///
/// They do not sleep on the word itself, even where it has the 32 bits of a futex: a word that is
/// as it was may have a flag that was answered and raised anew, which a plain increment in flight
/// is about to overwrite. The number tells the two apart.
#[derive(Debug)]
pub struct Flagged<V: Value> {
    pub(super) word: V::Word,
    pub(super) wakes: AtomicU32,
}

impl<V: Value> Flagged<V> {
    /// Adds as one of many producers.
    #[inline(always)]
    pub(super) fn add_locked(&self, n: V) {
        if self.word.add_locked(n) {
            self.wake();
        }
    }

    /// Adds one as the only producer.
    #[inline(always)]
    pub(super) fn increment_alone(&self) {
        self.word.increment_alone(|| self.wake());
    }

    /// Adds as the only producer.
    #[inline(always)]
    pub(super) fn add_alone(&self, n: V) {
        self.word.add_alone(n, || self.wake());
    }
}

impl<V: Value> Count for Flagged<V> {
    type Value = V;

    #[cfg(not(loom))]
    const NEW: Self = Flagged { word: V::Word::NEW, wakes: AtomicU32::new(0) };

    #[cfg(loom)]
    fn fresh() -> Self {
        Flagged { word: V::Word::fresh(), wakes: AtomicU32::new(0) }
    }

    #[inline(always)]
    fn value(&self) -> V {
        self.word.load().reduced()
    }

    fn arm(&self, seen: V) -> Option<Armed> {
        // Before the flag, and acquired: see the argument in `steps`.
        let expected = self.wakes.load(Ordering::Acquire);
        self.word.raise(seen).then_some(Armed { expected })
    }

    fn is_armed(&self, seen: V, _armed: Armed) -> bool {
        self.word.load() == V::Word::flagged(seen)
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        sleep_on(&self.wakes, armed.expected, limit)
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Down before the wake-up: who raises it in between sleeps and is woken, for nothing at
        // worst. The other way round, its flag would be taken down and nobody would wake it.
        self.word.lower();
        // Release: whoever reads this number sees the flag down.
        self.wakes.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.wakes);
    }
}
