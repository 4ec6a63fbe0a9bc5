//! Asymmetric barriers.
//!
//! A thread that stores and then loads needs a full fence in between if another thread does the
//! same the other way round, and both must not miss each other. If one of the two does so rarely,
//! it can pay for both: it interrupts the others, or waits until they were interrupted. The others
//! then need no instruction at all.

mod strategy;

pub use strategy::Strategy;

use crate::atomic::{Ordering, fence};

/// A pair of fences, chosen together: [`light`](Self::light) on the frequent side,
/// [`heavy`](Self::heavy) on the rare one.
///
/// The theorem: let one thread do `store X; light(); load Y`, another `store Y; heavy(); load X`,
/// with the same strategy. Then at least one of them sees the other's store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    strategy: Strategy,
}

impl Barrier {
    /// The barrier of this process: the best that works here, chosen at the first call.
    pub fn process() -> Barrier {
        Barrier::seq_cst()
    }

    /// A full fence on both sides: works everywhere, and is cheap nowhere.
    pub const fn seq_cst() -> Barrier {
        Barrier { strategy: Strategy::SeqCst }
    }

    /// By what it works.
    pub const fn strategy(self) -> Strategy {
        self.strategy
    }

    /// The side that is taken often: nothing at all where the heavy side does the work, else a full
    /// fence.
    #[inline(always)]
    pub fn light(self) {
        if self.strategy.light_is_free() {
            core::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// The side that is taken rarely. It returns once every thread of this process has executed a
    /// full fence since the call, or was not running.
    pub fn heavy(self) {
        fence(Ordering::SeqCst);
    }

    /// Begins a heavy side without waiting for its end.
    pub fn begin(self) -> Ticket {
        self.heavy();
        Ticket { is_done: true }
    }
}

/// A heavy side that was begun.
#[derive(Debug)]
#[must_use]
pub struct Ticket {
    is_done: bool,
}

impl Ticket {
    /// Whether the barrier is complete.
    pub fn poll(&mut self) -> bool {
        self.is_done
    }

    /// Waits until it is.
    pub fn wait(self) {}
}
