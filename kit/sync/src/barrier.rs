//! Asymmetric barriers.
//!
//! A thread that stores and then loads needs a full fence in between if another thread does the
//! same the other way round, and both must not miss each other. If one of the two does so rarely,
//! it can pay for both: it interrupts the others, or waits until they were interrupted. The others
//! then need no instruction at all.
//!
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
//! use tiebreak_sync::barrier::Barrier;
//!
//! static READING: AtomicBool = AtomicBool::new(false);
//! static CLOSED: AtomicBool = AtomicBool::new(false);
//!
//! /// Often, by one thread: no fence.
//! fn enter(barrier: Barrier) -> bool {
//!     READING.store(true, Relaxed);
//!     barrier.light();
//!     !CLOSED.load(Relaxed)
//! }
//!
//! /// Rarely, by another: whether nobody is inside. Never both `enter` and this say yes.
//! fn close(barrier: Barrier) -> bool {
//!     CLOSED.store(true, Relaxed);
//!     barrier.heavy();
//!     !READING.load(Relaxed)
//! }
//!
//! let barrier = Barrier::process();
//! assert!(enter(barrier));
//! assert!(!close(barrier));
//! ```
//!
//! # The theorem
//!
//! Let one thread do `store X; light(); load Y` and another `store Y; heavy(); load X`, all four
//! accesses atomic, with barriers of one strategy. Then at least one of them loads what the other
//! stored, or something later. A `heavy()` beside another `heavy()` is as good.
//!
//! *Proof.* During the heavy side there is a moment at which the first thread passes a full fence,
//! or it is off the CPU, which it left and will take again through one. The fence is either after
//! its store, which has then become visible before the heavy side returns and is found by the load
//! of X; or before its store, so that its load of Y, later still, comes after the fence and thus
//! after the store of Y, which preceded the heavy side. The light side itself only keeps the
//! compiler from moving the load of Y before the store of X.
//!
//! # What each strategy rests on
//!
//! - `membarrier-private-expedited`: the kernel interrupts each CPU that runs this address space,
//!   and waits for them; its manual page promises the order. Held by Linux since 4.14.
//! - `membarrier-global-expedited`: the same for each CPU that runs a registered process. Not held:
//!   Linux leaves out CPUs on which a thread of the process has ended
//!   ([`Unsound::LeavesOutCpus`]). So it is never chosen, and only [`Barrier::trust`] gives it.
//! - `mprotect`: the kernel interrupts those CPUs to make them forget a translation, and the return
//!   from an interrupt is a full fence. Held by an x86-64 CPU that cannot be made to forget from
//!   afar, and by a kernel and a hypervisor that are known: [`Unsound`] has what is refused. Nobody
//!   has promised it for the kernels to come, so those are refused until they were looked at.
//! - `barrierd`: every CPU was interrupted since, or was idle. Held by the daemon, on x86-64: see
//!   [`interrupts`](crate::interrupts).
//! - `membarrier-global-unexpedited`: the kernel waits until every CPU has switched threads or was
//!   idle; its manual page promises the order. Held by Linux since 4.3, without `nohz_full` CPUs.
//! - `seq-cst`: both sides have a fence. Nothing else is assumed.
//!
//! On the first failure of a heavy side that used to work, for instance because the program filters
//! its own system calls, another strategy does it, or at last the calling thread runs on every CPU
//! in turn: [`Substituted`] tells. If nothing is left the process is aborted; a heavy side never
//! returns without having been one.
//!
//! # Scope
//!
//! The threads of this process. Other processes that map the same memory are not covered, even
//! where the strategy reaches them: a substitute might not. A child of `fork` has the barrier of
//! its parent, for its own threads. `heavy` may take a lock, so it is not for signal handlers;
//! `light` is.

mod choice;
mod fork;
mod interrupts;
mod lock;
mod membarrier;
mod page;
mod reason;
mod soundness;
mod strategy;
mod substitute;
mod ticket;
mod walk;

pub use choice::Choice;
pub use reason::{Reason, Refused};
pub use soundness::Unsound;
pub use strategy::Strategy;
pub use substitute::Substituted;
pub use ticket::Ticket;

use core::sync::atomic::AtomicU8;

use crate::atomic::{Ordering, fence};

/// The strategy of the process as its place in [`Strategy::ALL`]; no place before the choice.
static CHOSEN: AtomicU8 = AtomicU8::new(u8::MAX);

/// A pair of fences, chosen together: [`light`](Self::light) on the frequent side,
/// [`heavy`](Self::heavy) on the rare one.
///
/// One byte, to be copied to where it is used. It can only be had after its strategy was made ready
/// and has worked once, so a light side is never free too early. The theorem is in the
/// [module's text](self). It needs the same strategy on both sides: the barriers of one process
/// ([`Barrier::process`]) have it, and a data structure that takes a barrier keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    strategy: Strategy,
}

impl Barrier {
    /// The barrier of this process: the best that works here, chosen at the first call, which takes
    /// some microseconds (some 10 ms where only the slowest strategies are left, also beside a
    /// `barrierd` that was stopped, and half a second at most beside one that gets no CPU). Later
    /// calls are one load and one test.
    #[inline]
    pub fn process() -> Barrier {
        // Acquire: whoever sees the strategy comes after its registration.
        match Strategy::from_place(CHOSEN.load(Ordering::Acquire)) {
            Some(strategy) => Barrier { strategy },
            None => Barrier::choose(),
        }
    }

    #[cold]
    fn choose() -> Barrier {
        let strategy = Barrier::choice().active;
        // Release, for the load above. Every thread stores the same.
        CHOSEN.store(strategy as u8, Ordering::Release);
        Barrier { strategy }
    }

    /// What was chosen for this process, and why nothing better.
    ///
    /// ```
    /// use tiebreak_sync::barrier::Barrier;
    ///
    /// println!("{}", Barrier::choice());
    /// // barrier: membarrier-private-expedited
    /// assert_eq!(Barrier::choice().active, Barrier::process().strategy());
    /// ```
    pub fn choice() -> &'static Choice {
        choice::of_this_process()
    }

    /// The barrier of one strategy, if that works here. Whoever names one shares it with everybody
    /// who is on the other side.
    ///
    /// # Errors
    ///
    /// Why it does not work.
    pub fn with(strategy: Strategy) -> Result<Barrier, Refused> {
        match choice::prepare(strategy) {
            Ok(()) => Ok(Barrier { strategy }),
            Err(reason) => Err(Refused { strategy, reason }),
        }
    }

    /// The barrier of one strategy, if it works here, whether or not it is known to be a barrier:
    /// to measure it, or on a machine of which the caller knows more than this crate does.
    ///
    /// # Errors
    ///
    /// Why it does not work.
    ///
    /// # Safety
    ///
    /// The caller knows that the strategy is a barrier on this kernel and this CPU (each
    /// [`Unsound`] says what would make it none), or lets no memory depend on it.
    pub unsafe fn trust(strategy: Strategy) -> Result<Barrier, Refused> {
        match choice::prepare_unchecked(strategy) {
            Ok(()) => Ok(Barrier { strategy }),
            Err(reason) => Err(Refused { strategy, reason }),
        }
    }

    /// A full fence on both sides: works everywhere, and is cheap nowhere.
    pub const fn seq_cst() -> Barrier {
        Barrier { strategy: Strategy::SeqCst }
    }

    /// By what it works.
    pub const fn strategy(self) -> Strategy {
        self.strategy
    }

    /// The side that is taken often: one test of a byte where the heavy side does the work, else a
    /// full fence.
    #[inline(always)]
    pub fn light(self) {
        // A model checker knows no asymmetric fence.
        if !cfg!(loom) && self.strategy.light_is_free() {
            core::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// The side that is taken rarely. It returns once every thread of this process has passed a
    /// full fence since the call, or was not running.
    ///
    /// # Aborts
    ///
    /// The process, if the system calls of every strategy fail that used to work: see the
    /// [module's text](self).
    pub fn heavy(self) {
        // SeqCst: the caller's own full fence, and its stores come before all that follows.
        fence(Ordering::SeqCst);
        let result = match self.strategy {
            Strategy::SeqCst => return,
            Strategy::Mprotect => page::issue(),
            Strategy::Interrupts => return self.begin().wait(),
            _ => membarrier::issue(self.strategy),
        };
        if let Err(reason) = result {
            substitute::heavy(self.strategy, reason);
        }
        // Acquire: the caller's next loads come after the kernel's that saw the others done.
        fence(Ordering::Acquire);
    }

    /// Begins a heavy side without waiting for its end, where the strategy can do that; see
    /// [`Ticket`]. It aborts the process where [`heavy`](Self::heavy) does.
    ///
    /// ```
    /// use tiebreak_sync::barrier::Barrier;
    ///
    /// let mut ticket = Barrier::process().begin();
    /// if !ticket.poll() {
    ///     // Something else, then:
    ///     ticket.wait();
    /// }
    /// ```
    pub fn begin(self) -> Ticket {
        if self.strategy != Strategy::Interrupts {
            self.heavy();
            return Ticket::COMPLETE;
        }
        // SeqCst: as in `heavy`.
        fence(Ordering::SeqCst);
        match interrupts::begin() {
            Ok(pending) => Ticket::of(pending),
            Err(reason) => {
                substitute::heavy(self.strategy, reason);
                Ticket::COMPLETE
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_keeps_its_choice() {
        let barrier = Barrier::process();
        assert_eq!(barrier, Barrier::process());
        assert_eq!(barrier.strategy(), Barrier::choice().active);
        assert_eq!(size_of::<Barrier>(), 1);
    }

    /// Fences of loom work inside of its models only.
    #[cfg(not(loom))]
    #[test]
    fn each_strategy_works_or_says_why_not() {
        for strategy in Strategy::ALL {
            match Barrier::with(strategy) {
                Ok(barrier) => {
                    barrier.light();
                    barrier.heavy();
                    barrier.begin().wait();
                    let soon = std::time::Instant::now() + std::time::Duration::from_secs(10);
                    assert!(barrier.begin().wait_until(soon));
                    println!("{strategy}: works");
                }
                Err(refused) => {
                    assert_ne!(strategy, Strategy::SeqCst);
                    println!("{refused}");
                }
            }
        }
    }

    #[test]
    fn under_a_model_nothing_but_fences_is_offered() {
        let is_model = cfg!(any(loom, miri));
        if is_model {
            assert_eq!(Barrier::process(), Barrier::seq_cst());
        } else {
            println!("not under a model: {}", Barrier::choice());
        }
    }
}
