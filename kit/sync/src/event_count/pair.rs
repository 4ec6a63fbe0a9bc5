//! Counts whose flag is in a word of its own, for one producer on any architecture:
//! [`steps`](super::steps) has the algorithm and why it is right.

use std::time::Instant;

use crate::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::barrier::Barrier;
use crate::futex::{self, Awake};

use super::count::{Armed, Count, sleep_on};
use super::kind::Value;

/// A word that only one thread stores to.
pub trait Version: core::fmt::Debug + Send + Sync {
    /// The count.
    type Value;
    /// Zero.
    #[cfg(not(loom))]
    const NEW: Self;
    /// Zero.
    #[cfg(loom)]
    fn fresh() -> Self;
    /// The count, acquired.
    fn load(&self) -> Self::Value;
    /// Adds, as the only one that stores; released.
    fn add_alone(&self, n: Self::Value);
}

macro_rules! version {
    ($atomic:ty, $value:ty) => {
        impl Version for $atomic {
            type Value = $value;

            #[cfg(not(loom))]
            const NEW: Self = <$atomic>::new(0);

            #[cfg(loom)]
            fn fresh() -> Self {
                <$atomic>::new(0)
            }

            #[inline(always)]
            fn load(&self) -> $value {
                // Acquire: what was written before an increment is seen by whoever sees the count.
                <$atomic>::load(self, Ordering::Acquire)
            }

            #[inline(always)]
            fn add_alone(&self, n: $value) {
                // Relaxed: only this thread stores. Release: see above.
                let sum = <$atomic>::load(self, Ordering::Relaxed).wrapping_add(n);
                self.store(sum.reduced(), Ordering::Release);
            }
        }
    };
}
version!(AtomicU32, u32);
version!(AtomicU64, u64);

/// A count, and beside it the flag with the number of wake-ups.
#[derive(Debug)]
pub struct Pair<V: Value> {
    version: V::Version,
    sleepers: AtomicU32,
}

impl<V: Value> Pair<V> {
    /// Adds as the only producer, with the barrier whose heavy side the waiters run.
    #[inline(always)]
    pub(super) fn add_alone(&self, n: V, barrier: Barrier) {
        self.version.add_alone(n);
        barrier.light();
        // Relaxed: the barrier orders it after the store.
        if self.sleepers.load(Ordering::Relaxed) & 1 != 0 {
            self.wake();
        }
    }
}

impl<V: Value> Count for Pair<V> {
    type Value = V;

    #[cfg(not(loom))]
    const NEW: Self = Pair { version: V::Version::NEW, sleepers: AtomicU32::new(0) };

    #[cfg(loom)]
    fn fresh() -> Self {
        Pair { version: V::Version::fresh(), sleepers: AtomicU32::new(0) }
    }

    #[inline(always)]
    fn value(&self) -> V {
        self.version.load()
    }

    fn arm(&self, _seen: V) -> Option<Armed> {
        // Relaxed: the heavy side that follows orders it before the look at the count.
        let found = self.sleepers.load(Ordering::Relaxed);
        if found & 1 != 0 {
            return Some(Armed { expected: found });
        }
        // Failed: others have raised it, or it is down again; the caller looks and comes back.
        self.sleepers
            .compare_exchange(found, found | 1, Ordering::Relaxed, Ordering::Relaxed)
            .ok()
            .map(|_| Armed { expected: found | 1 })
    }

    fn is_armed(&self, seen: V, _armed: Armed) -> bool {
        self.value() == seen
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        sleep_on(&self.sleepers, armed.expected, limit)
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Odd to even: the flag goes down and the number up. Only the one producer comes here, and
        // waiters leave an odd word alone. Release is for the waiter whose comparison fails.
        self.sleepers.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.sleepers);
    }
}
