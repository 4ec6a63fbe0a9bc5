//! The strategy that waits for the interrupts that come anyway, as `barrierd` tells them.
//!
//! By counts, not by the clock: nothing is then assumed of the machine's clocks.

use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Reason;
use super::lock::Lock;
use crate::interrupts::{self, Client, Unavailable};

/// How long a barrier that others count on may take: many times what a live daemon needs.
const WHOLE_MAX: Duration = Duration::from_millis(500);

/// A wait that was begun.
#[derive(Debug)]
pub(super) struct Ticket {
    client: Arc<Client>,
    ticket: interrupts::Ticket,
}

/// The connection of this process.
static CONNECTED: Place = Place::new();

/// Connects to the daemon where that is not done, and does a whole barrier, each time: a substitute
/// counts on that.
pub(super) fn prepare() -> Result<(), Reason> {
    CONNECTED.whole_barrier(WHOLE_MAX, Client::connect)
}

/// Begins to wait for an interrupt of every CPU.
pub(super) fn begin() -> Result<Ticket, Reason> {
    let client = CONNECTED.client().ok_or(Reason::NoDaemon)?;
    let ticket = client.begin_by_counts();
    Ok(Ticket { client, ticket })
}

/// Whether every CPU was interrupted since; or that the daemon no longer tells.
pub(super) fn poll(ticket: &Ticket) -> Result<bool, Reason> {
    ticket.client.poll(&ticket.ticket).map_err(Reason::Barrierd)
}

/// Waits for it, asleep, woken by the daemon: `Ok(false)` if the deadline came first.
pub(super) fn wait(ticket: &Ticket, deadline: Option<Instant>) -> Result<bool, Reason> {
    ticket.client.wait(&ticket.ticket, deadline).map_err(Reason::Barrierd)
}

/// Before a fork: nobody is in the middle of taking the client.
pub(super) fn before_fork() {
    CONNECTED.lock.lock();
}

/// After a fork, in either process.
pub(super) fn after_fork() {
    CONNECTED.lock.unlock();
}

/// Where the client is. Tickets hold it too; it goes with the last of them once its daemon has
/// ended and another took its place.
#[derive(Debug)]
struct Place {
    lock: Lock,
    /// From [`Arc::into_raw`], or null. Touched only under the lock, hence Relaxed.
    client: AtomicPtr<Client>,
}

impl Place {
    const fn new() -> Place {
        Place { lock: Lock::new(), client: AtomicPtr::new(core::ptr::null_mut()) }
    }

    fn client(&self) -> Option<Arc<Client>> {
        self.lock.hold(|| {
            let client = self.client.load(Relaxed);
            // SAFETY: what is not null came from `Arc::into_raw`, and the place's own reference to
            // it is given up only under the lock, which is held.
            (!client.is_null()).then(|| unsafe {
                Arc::increment_strong_count(client);
                Arc::from_raw(client)
            })
        })
    }

    /// Puts a client where `before` was. If another thread was faster, `new` is dropped.
    fn replace(&self, before: Option<&Arc<Client>>, new: Arc<Client>) {
        let before = before.map_or(core::ptr::null(), Arc::as_ptr);
        let old = self.lock.hold(|| {
            let old = self.client.load(Relaxed);
            if old.cast_const() != before {
                return Some(new);
            }
            self.client.store(Arc::into_raw(new).cast_mut(), Relaxed);
            // SAFETY: as in `client`; the place gives up its reference.
            (!old.is_null()).then(|| unsafe { Arc::from_raw(old) })
        });
        // Outside of the lock: to close descriptors takes a while.
        drop(old);
    }

    /// Begins a barrier and waits for its end: when this is `Ok`, it is a whole heavy side.
    fn whole_barrier(
        &self,
        at_most: Duration,
        connect: impl FnOnce() -> Result<Client, Unavailable>,
    ) -> Result<(), Reason> {
        let before = self.client();
        let live = before.clone().filter(|client| !client.has_ended());
        let is_new = live.is_none();
        let client = match live {
            Some(client) => client,
            None => Arc::new(connect().map_err(|_| Reason::NoDaemon)?),
        };
        let deadline = Some(Instant::now() + at_most);
        match client.wait(&client.begin_by_counts(), deadline) {
            Ok(true) => {}
            Ok(false) => return Err(Reason::NoDaemon),
            Err(stale) => return Err(Reason::Barrierd(stale)),
        }
        if is_new {
            self.replace(before.as_ref(), client);
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let client = *self.client.get_mut();
        if !client.is_null() {
            // SAFETY: as in `replace`; nobody else has the place any more.
            drop(unsafe { Arc::from_raw(client) });
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
mod tests;
