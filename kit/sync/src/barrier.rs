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
//! /// Rarely, by another: whether no thread is inside. Never both `enter` and this say yes.
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
//! stored, or something later. A `heavy()` against another `heavy()` is as good.
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
//!   afar, and by a kernel and a hypervisor that are known: [`Unsound`] has what is refused. It
//!   was never promised for the kernels to come, so those are refused until they were looked at.
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

mod fork;
mod interrupts;
mod membarrier;
mod page;
mod soundness;
mod substitute;
#[cfg(test)]
mod tests;

pub use soundness::Unsound;
pub use substitute::Substituted;

use core::sync::atomic::AtomicU8;
use std::time::Instant;

use crate::atomic::Published;
use crate::atomic::{Ordering, fence};
use crate::interrupts::Stale;

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
    /// some microseconds (some 10 ms where only the slowest strategies are left, also with a
    /// `barrierd` that was stopped, and half a second at most with one that gets no CPU). Later
    /// calls are one load and one test.
    #[inline]
    pub fn process() -> Barrier {
        // Acquire: a thread that sees the strategy comes after its registration.
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
        CHOICE.get_or_make(|| choose(prepare))
    }

    /// The barrier of one strategy, if that works here. All callers that name one share it with
    /// everybody who is on the other side.
    ///
    /// # Errors
    ///
    /// Why it does not work.
    pub fn with(strategy: Strategy) -> Result<Barrier, Refused> {
        match prepare(strategy) {
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
        match prepare_unchecked(strategy) {
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
            return Ticket { pending: None };
        }
        // SeqCst: as in `heavy`.
        fence(Ordering::SeqCst);
        match interrupts::begin() {
            Ok(pending) => Ticket { pending: Some(pending) },
            Err(reason) => {
                substitute::heavy(self.strategy, reason);
                Ticket { pending: None }
            }
        }
    }
}

/// A heavy side that was begun by [`Barrier::begin`].
///
/// Once [`poll`](Self::poll) says yes or [`wait`](Self::wait) returns, every thread of this process
/// has passed a full fence since `begin`. A ticket that is dropped costs nothing.
///
/// Only `barrierd` works without the caller; with it, `begin` is a load for each CPU. Every other
/// strategy does all of its work in `begin`, whose ticket is complete: some 10 us where it
/// interrupts, and where the kernel waits for its own grace period
/// (`membarrier-global-unexpedited`) those 10 to 50 ms, because Linux has no call that would begin
/// one and return. A caller that must not block for so long asks [`Strategy::is_asynchronous`] and
/// [`Barrier::strategy`] first.
#[derive(Debug)]
#[must_use]
pub struct Ticket {
    /// Nothing when complete.
    pending: Option<interrupts::Ticket>,
}

impl Ticket {
    /// Whether the barrier is complete. Never waits, save where the daemon has gone since: then the
    /// heavy side is done here by other means.
    pub fn poll(&mut self) -> bool {
        let Some(interrupts::Ticket { client, ticket }) = &self.pending else { return true };
        let result = client.poll(ticket);
        self.settle(result)
    }

    /// Waits until it is complete.
    pub fn wait(mut self) {
        while !self.wait_before(None) {}
    }

    /// Waits until it is complete or the time has come; says whether it is complete.
    pub fn wait_until(&mut self, deadline: Instant) -> bool {
        self.wait_before(Some(deadline))
    }

    fn wait_before(&mut self, deadline: Option<Instant>) -> bool {
        let Some(interrupts::Ticket { client, ticket }) = &self.pending else { return true };
        let result = client.wait(ticket, deadline);
        self.settle(result)
    }

    /// What a look at the pending barrier means; where it failed, the heavy side is done here.
    fn settle(&mut self, result: Result<bool, Stale>) -> bool {
        match result {
            Ok(false) => return false,
            Ok(true) => {}
            Err(stale) => substitute::heavy(Strategy::Interrupts, Reason::Barrierd(stale)),
        }
        self.pending = None;
        // Acquire: the caller's next loads come after those that found it complete.
        core::sync::atomic::fence(Ordering::Acquire);
        true
    }
}

/// How the heavy side of a barrier reaches the other threads. In the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// `membarrier(2)`, private and expedited: an interrupt to each CPU that runs this process.
    PrivateExpedited,
    /// `membarrier(2)`, global and expedited: an interrupt to each CPU that runs a registered
    /// process. Never chosen, since Linux leaves some of them out: see
    /// [`Unsound::LeavesOutCpus`].
    GlobalExpedited,
    /// `mprotect(2)` of a page that is in use: the kernel interrupts the others to forget it. Sound
    /// on x86 only, and only where the CPU cannot do that without interrupts.
    Mprotect,
    /// The daemon `barrierd`: wait until every CPU was interrupted. x86 only.
    Interrupts,
    /// `membarrier(2)`, global: waits for the kernel's own grace period, some 10 to 50 ms.
    GlobalUnexpedited,
    /// A full fence on both sides.
    SeqCst,
}

impl Strategy {
    /// All of them, the best first.
    pub const ALL: [Strategy; 6] = [
        Strategy::PrivateExpedited,
        Strategy::GlobalExpedited,
        Strategy::Mprotect,
        Strategy::Interrupts,
        Strategy::GlobalUnexpedited,
        Strategy::SeqCst,
    ];

    /// From its place in [`Strategy::ALL`]. Written out, so that it needs no table.
    #[inline]
    const fn from_place(place: u8) -> Option<Strategy> {
        match place {
            0 => Some(Strategy::PrivateExpedited),
            1 => Some(Strategy::GlobalExpedited),
            2 => Some(Strategy::Mprotect),
            3 => Some(Strategy::Interrupts),
            4 => Some(Strategy::GlobalUnexpedited),
            5 => Some(Strategy::SeqCst),
            _ => None,
        }
    }

    /// Its name, for people and for configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::PrivateExpedited => "membarrier-private-expedited",
            Strategy::GlobalExpedited => "membarrier-global-expedited",
            Strategy::Mprotect => "mprotect",
            Strategy::Interrupts => "barrierd",
            Strategy::GlobalUnexpedited => "membarrier-global-unexpedited",
            Strategy::SeqCst => "seq-cst",
        }
    }

    /// Whether the light side is no instruction.
    pub const fn light_is_free(self) -> bool {
        !matches!(self, Strategy::SeqCst)
    }

    /// Whether a heavy side can be under way while its caller does something else.
    pub const fn is_asynchronous(self) -> bool {
        matches!(self, Strategy::Interrupts)
    }
}

impl core::fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What was chosen for a process, once, and what was refused.
///
/// Printed, it is one line for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The strategy in force.
    pub active: Strategy,
    /// The better ones, the best first, each with the reason why it is not.
    pub refused: Vec<Refused>,
}

impl core::fmt::Display for Choice {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "barrier: {}", self.active)?;
        for (place, refused) in self.refused.iter().enumerate() {
            let separator = if place == 0 { "; refused: " } else { ", " };
            write!(formatter, "{separator}{refused}")?;
        }
        Ok(())
    }
}

static CHOICE: Published<Choice> = Published::none();

/// The best strategy that can be made ready.
fn choose(prepare: impl Fn(Strategy) -> Result<(), Reason>) -> Choice {
    let mut refused = Vec::new();
    for strategy in Strategy::ALL {
        match prepare(strategy) {
            Ok(()) => return Choice { active: strategy, refused },
            Err(reason) => refused.push(Refused { strategy, reason }),
        }
    }
    Choice { active: Strategy::SeqCst, refused }
}

/// Makes a strategy ready, and does its heavy side once; not unless it is known to be a barrier.
fn prepare(strategy: Strategy) -> Result<(), Reason> {
    if !cfg!(any(loom, miri)) {
        soundness::check(strategy).map_err(Reason::Unsound)?;
    }
    prepare_unchecked(strategy)
}

/// The same, whether or not it is a barrier.
fn prepare_unchecked(strategy: Strategy) -> Result<(), Reason> {
    if strategy == Strategy::SeqCst {
        return Ok(());
    }
    if cfg!(any(loom, miri)) {
        return Err(Reason::Model);
    }
    fork::install()?;
    match strategy {
        Strategy::Mprotect => page::prepare(),
        Strategy::Interrupts => interrupts::prepare(),
        _ => membarrier::prepare(strategy),
    }?;
    fork::remember(strategy);
    Ok(())
}

/// A strategy that does not work here, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{strategy}: {reason}")]
pub struct Refused {
    /// Which.
    pub strategy: Strategy,
    /// Why.
    pub reason: Reason,
}

/// Why a strategy does not work here.
///
/// EPERM, EINVAL and ENOSYS of one system call mean the same: the next strategy. Kernels without
/// `membarrier(2)` answer ENOSYS, those with dedicated CPUs (`nohz_full`) answer EINVAL to its
/// unexpedited form, and filters of system calls in containers answer EPERM, as does the kernel to
/// a process that has not registered. The remedy for EPERM is to allow the call in the container's
/// profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The kernel answered with an error, or a filter of system calls did.
    #[error("{call}: {}", std::io::Error::from_raw_os_error(*errno))]
    Errno {
        /// What was called.
        call: &'static str,
        /// What it answered.
        errno: i32,
    },
    /// The kernel does not list the command among those that it has.
    #[error("this kernel does not offer it")]
    NotOffered,
    /// It would work, but may not be a barrier here.
    #[error("{0}")]
    Unsound(Unsound),
    /// Nothing tells when the CPUs were interrupted.
    #[error("no barrierd answers")]
    NoDaemon,
    /// A daemon is there, but the barrier does not come to its end by it.
    #[error("{0}")]
    Barrierd(Stale),
    /// The program runs in an interpreter or a model checker, which knows no system call for it.
    #[error("not under an interpreter or a model checker")]
    Model,
}

impl Reason {
    /// What the last system call of this thread answered, which was this one.
    fn of_last(call: &'static str) -> Reason {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        Reason::Errno { call, errno }
    }
}
