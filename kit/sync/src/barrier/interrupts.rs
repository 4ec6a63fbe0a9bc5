//! The strategy that waits for the interrupts that come anyway, as `barrierd` tells them.

use super::Reason;

/// A wait that was begun.
#[derive(Debug)]
pub(super) enum Ticket {}

/// Connects to the daemon, and waits for one whole barrier: a substitute counts on that.
pub(super) fn prepare() -> Result<(), Reason> {
    Err(Reason::NoDaemon)
}

/// Begins to wait for an interrupt of every CPU.
pub(super) fn begin() -> Result<Ticket, Reason> {
    Err(Reason::NoDaemon)
}

/// Whether every CPU was interrupted since; or that the daemon no longer tells.
pub(super) fn poll(ticket: &mut Ticket) -> Result<bool, Reason> {
    match *ticket {}
}
