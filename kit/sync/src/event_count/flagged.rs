//! Counts whose flag is in the word itself: [`steps`](super::steps) has the algorithm and why it is
//! right.

use std::time::Instant;

use crate::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::futex::{self, Awake};

use super::count::{Armed, Count, sleep_on};
use super::kind::Value;
use super::word::Word;

/// 31 bits and the flag. The word is the futex.
#[derive(Debug)]
pub struct Flagged32 {
    word: AtomicU32,
}

impl Count for Flagged32 {
    type Value = u32;

    #[cfg(not(loom))]
    const NEW: Self = Flagged32 { word: AtomicU32::new(0) };

    #[cfg(loom)]
    fn fresh() -> Self {
        Flagged32 { word: AtomicU32::new(0) }
    }

    #[inline(always)]
    fn value(&self) -> u32 {
        Word::load(&self.word).reduced()
    }

    fn arm(&self, seen: u32) -> Option<Armed> {
        let (found, is_new) = self.word.raise(seen);
        let expected = AtomicU32::flagged(seen);
        (found == expected).then_some(Armed { expected, is_new })
    }

    fn is_armed(&self, seen: u32, _armed: Armed) -> bool {
        Word::load(&self.word) == AtomicU32::flagged(seen)
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        sleep_on(&self.word, armed.expected, limit)
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Down before the wake-up: who raises it in between sleeps and is woken, for nothing at
        // worst. The other way round, its flag would be taken down and nobody would wake it.
        self.word.lower();
        futex::wake_all(&self.word);
    }
}

/// 63 bits and the flag. Sleepers sleep on the number of wake-ups, as a futex has 32 bits.
#[derive(Debug)]
pub struct Flagged64 {
    word: AtomicU64,
    wakes: AtomicU32,
}

impl Count for Flagged64 {
    type Value = u64;

    #[cfg(not(loom))]
    const NEW: Self = Flagged64 { word: AtomicU64::new(0), wakes: AtomicU32::new(0) };

    #[cfg(loom)]
    fn fresh() -> Self {
        Flagged64 { word: AtomicU64::new(0), wakes: AtomicU32::new(0) }
    }

    #[inline(always)]
    fn value(&self) -> u64 {
        Word::load(&self.word).reduced()
    }

    fn arm(&self, seen: u64) -> Option<Armed> {
        // Before the flag, and acquired: see the argument in `steps`.
        let expected = self.wakes.load(Ordering::Acquire);
        let (found, is_new) = self.word.raise(seen);
        (found == AtomicU64::flagged(seen)).then_some(Armed { expected, is_new })
    }

    fn is_armed(&self, seen: u64, _armed: Armed) -> bool {
        Word::load(&self.word) == AtomicU64::flagged(seen)
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        sleep_on(&self.wakes, armed.expected, limit)
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        self.word.lower();
        // Release: whoever reads this number sees the flag down.
        self.wakes.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.wakes);
    }
}

/// What producers do.
pub trait InWord: Count {
    /// Adds as one of many producers.
    fn add_locked(&self, n: Self::Value);
    /// Adds one as the only producer.
    fn increment_alone(&self);
    /// Adds as the only producer.
    fn add_alone(&self, n: Self::Value);
}

macro_rules! in_word {
    ($count:ty) => {
        impl InWord for $count {
            #[inline(always)]
            fn add_locked(&self, n: Self::Value) {
                if self.word.add_locked(n) {
                    self.wake();
                }
            }

            #[inline(always)]
            fn increment_alone(&self) {
                self.word.increment_alone(|| self.wake());
            }

            #[inline(always)]
            fn add_alone(&self, n: Self::Value) {
                self.word.add_alone(n, || self.wake());
            }
        }
    };
}
in_word!(Flagged32);
in_word!(Flagged64);
