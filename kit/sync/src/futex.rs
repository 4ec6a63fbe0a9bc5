//! Sleeping in the kernel until a word changes: `futex(2)`, within one process.

#[cfg(not(loom))]
mod kernel;
#[cfg(loom)]
mod modelled;

#[cfg(not(loom))]
pub use kernel::{wait, wake_all};
#[cfg(loom)]
pub use modelled::{wait, wake_all};

/// Why a sleep ended. Each can happen without a wake-up, so the caller looks again in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awake {
    /// A wake-up, or a signal.
    Woken,
    /// The word was not the expected one, so there was no sleep.
    Changed,
    /// The time is over.
    TimedOut,
}
