//! The strategy that waits for the interrupts that come anyway, as `barrierd` tells them.

use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

use super::Reason;
use crate::interrupts::{self, Client};

/// How long the first barrier may take: many times what a live daemon needs.
const FIRST_MAX: Duration = Duration::from_millis(500);

/// The connection of this process, never freed. No `OnceLock`: a child that is forked while one is
/// being filled would wait for ever.
static CLIENT: AtomicPtr<Client> = AtomicPtr::new(core::ptr::null_mut());

/// A wait that was begun.
#[derive(Debug)]
pub(super) struct Ticket {
    client: &'static Client,
    ticket: interrupts::Ticket,
}

/// Connects to the daemon, and waits for one whole barrier: a substitute counts on that.
pub(super) fn prepare() -> Result<(), Reason> {
    if client().is_ok_and(|client| !client.has_ended()) {
        return Ok(());
    }
    let client = Box::new(Client::connect().map_err(|_| Reason::NoDaemon)?);
    let first = client.begin();
    match client.wait(&first, Some(Instant::now() + FIRST_MAX)) {
        Ok(true) => {}
        Ok(false) => return Err(Reason::NoDaemon),
        Err(stale) => return Err(Reason::Barrierd(stale)),
    }
    // Release: whoever takes the pointer sees the client. One that was there before stays, as
    // tickets may still hold it; that happens once for each daemon that has ended.
    CLIENT.store(Box::into_raw(client), Release);
    Ok(())
}

/// Begins to wait for an interrupt of every CPU.
pub(super) fn begin() -> Result<Ticket, Reason> {
    let client = client()?;
    Ok(Ticket { client, ticket: client.begin() })
}

/// Whether every CPU was interrupted since; or that the daemon no longer tells.
pub(super) fn poll(ticket: &mut Ticket) -> Result<bool, Reason> {
    ticket.client.poll(&ticket.ticket).map_err(Reason::Barrierd)
}

fn client() -> Result<&'static Client, Reason> {
    // Acquire: pairs with the store's Release.
    // SAFETY: what is not null came from `Box::into_raw`, and nobody frees or changes it.
    unsafe { CLIENT.load(Acquire).as_ref() }.ok_or(Reason::NoDaemon)
}
