//! Asymmetric barriers.
//!
//! A thread that stores and then loads needs a full fence in between if another thread does the
//! same the other way round, and both must not miss each other. If one of the two does so rarely,
//! it can pay for both: it interrupts the others, or waits until they were interrupted. The others
//! then need no instruction at all.

mod membarrier;
mod reason;
mod strategy;

pub use reason::{Reason, Refused};
pub use strategy::Strategy;

use core::sync::atomic::AtomicU8;

use crate::atomic::{Ordering, fence};

/// The strategy of the process as its place in [`Strategy::ALL`] plus one; 0 before the choice.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

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
    #[inline]
    pub fn process() -> Barrier {
        // Acquire: whoever sees the strategy comes after its registration.
        match Strategy::ALL.get(usize::from(CHOSEN.load(Ordering::Acquire)).wrapping_sub(1)) {
            Some(&strategy) => Barrier { strategy },
            None => Barrier::choose(),
        }
    }

    #[cold]
    fn choose() -> Barrier {
        let is_ready = |strategy: &Strategy| Barrier::with(*strategy).is_ok();
        let place = Strategy::ALL.iter().position(is_ready).unwrap_or(Strategy::ALL.len() - 1);
        // Release, for the load above. Several threads may choose at once: the first one counts.
        let first =
            CHOSEN.compare_exchange(0, place as u8 + 1, Ordering::Release, Ordering::Acquire);
        let place = first.map_or_else(|chosen| usize::from(chosen) - 1, |_| place);
        Barrier { strategy: Strategy::ALL[place] }
    }

    /// The barrier of one strategy, if that works here.
    pub fn with(strategy: Strategy) -> Result<Barrier, Refused> {
        let ready = match strategy {
            Strategy::SeqCst => Ok(()),
            _ if cfg!(any(loom, miri)) => Err(Reason::Model),
            _ => membarrier::prepare(strategy),
        };
        ready.map(|()| Barrier { strategy }).map_err(|reason| Refused { strategy, reason })
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
        if !cfg!(loom) && self.strategy.light_is_free() {
            core::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// The side that is taken rarely. It returns once every thread of this process has executed a
    /// full fence since the call, or was not running.
    pub fn heavy(self) {
        fence(Ordering::SeqCst);
        if self.strategy.light_is_free() && membarrier::issue(self.strategy).is_err() {
            std::process::abort();
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_keeps_its_choice_and_the_heavy_side_returns() {
        let barrier = Barrier::process();
        assert_eq!(barrier, Barrier::process());
        barrier.light();
        barrier.heavy();
        println!("{}", barrier.strategy());
        for strategy in Strategy::ALL {
            match Barrier::with(strategy) {
                Ok(barrier) => barrier.heavy(),
                Err(refused) => println!("{refused}"),
            }
        }
    }
}
