//! A heavy side that was begun, and may not be complete.

use core::sync::atomic::{Ordering, fence};
use std::time::Instant;

use super::{Reason, Strategy, interrupts, substitute};

/// A heavy side that was begun by [`Barrier::begin`](super::Barrier::begin).
///
/// Once [`poll`](Self::poll) says yes or [`wait`](Self::wait) returns, every thread of this process
/// has passed a full fence since `begin`. A ticket that is dropped costs nothing.
///
/// Only `barrierd` works without the caller; with it, `begin` is a load for each CPU. Every other
/// strategy does all of its work in `begin`, whose ticket is complete: some 10 us where it
/// interrupts, and where the kernel waits for its own grace period
/// (`membarrier-global-unexpedited`) those 10 to 50 ms, because Linux has no call that would begin
/// one and return. Whoever must not block for so long asks [`Strategy::is_asynchronous`] and
/// [`Barrier::strategy`](super::Barrier::strategy) first.
#[derive(Debug)]
#[must_use]
pub struct Ticket {
    /// Nothing when complete.
    pending: Option<interrupts::Ticket>,
}

impl Ticket {
    pub(super) const COMPLETE: Ticket = Ticket { pending: None };

    pub(super) const fn of(pending: interrupts::Ticket) -> Ticket {
        Ticket { pending: Some(pending) }
    }

    /// Whether the barrier is complete. Never waits, save where the daemon has gone since: then the
    /// heavy side is done here by other means.
    pub fn poll(&mut self) -> bool {
        let Some(pending) = &self.pending else { return true };
        let result = interrupts::poll(pending);
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
        let Some(pending) = &self.pending else { return true };
        let result = interrupts::wait(pending, deadline);
        self.settle(result)
    }

    /// What a look at the pending barrier means; where it failed, the heavy side is done here.
    fn settle(&mut self, result: Result<bool, Reason>) -> bool {
        match result {
            Ok(false) => return false,
            Ok(true) => {}
            Err(reason) => substitute::heavy(Strategy::Interrupts, reason),
        }
        self.pending = None;
        // Acquire: the caller's next loads come after those that found it complete.
        fence(Ordering::Acquire);
        true
    }
}
