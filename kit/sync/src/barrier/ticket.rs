//! A heavy side that was begun, and may not be complete.

use core::sync::atomic::{Ordering, fence};
use core::time::Duration;
use std::time::Instant;

use super::{Strategy, interrupts, substitute};

/// The longest sleep between two looks: a fraction of the kernel's tick, for which it waits.
const SLEEP_MAX: Duration = Duration::from_millis(1);

/// A heavy side that was begun by [`Barrier::begin`](super::Barrier::begin).
///
/// Once [`poll`](Self::poll) says yes or [`wait`](Self::wait) returns, every thread of this process
/// has passed a full fence since `begin`. A ticket that is dropped costs nothing.
///
/// Only `barrierd` works without the caller; with it, `begin` is a few loads. Every other strategy
/// does all of its work in `begin`, whose ticket is complete: some 10 us where it interrupts, and
/// where the kernel waits for its own grace period (`membarrier-global-unexpedited`) those 10 to
/// 50 ms, because Linux has no call that would begin one and return. Whoever must not block for so
/// long asks [`Strategy::is_asynchronous`] and [`Barrier::strategy`](super::Barrier::strategy)
/// first.
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
        let Some(pending) = &mut self.pending else { return true };
        match interrupts::poll(pending) {
            Ok(false) => return false,
            Ok(true) => {}
            Err(reason) => substitute::heavy(Strategy::Interrupts, reason),
        }
        self.pending = None;
        // Acquire: the caller's next loads come after those that found it complete.
        fence(Ordering::Acquire);
        true
    }

    /// Waits until it is complete.
    pub fn wait(mut self) {
        const A_WHILE: Duration = Duration::from_secs(60);
        while !self.wait_until(Instant::now() + A_WHILE) {}
    }

    /// Waits until it is complete or the time has come; says whether it is complete.
    pub fn wait_until(&mut self, deadline: Instant) -> bool {
        let mut sleep = Duration::from_micros(50);
        loop {
            if self.poll() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(sleep.min(left));
            sleep = (sleep * 2).min(SLEEP_MAX);
        }
    }
}
