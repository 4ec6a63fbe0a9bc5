//! The strategy that waits for the interrupts that come anyway, as `barrierd` tells them.
//!
//! By counts, not by the clock: nothing is then assumed of the machine's clocks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Reason;
use super::fork::Lock;
use crate::interrupts::{self, Client, Unavailable};

/// How long a barrier that others count on may take: many times what a live daemon needs.
const WHOLE_MAX: Duration = Duration::from_millis(500);

/// A wait that was begun.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) client: Arc<Client>,
    pub(super) ticket: interrupts::Ticket,
}

/// Where the client is. Tickets hold it too; it goes with the last of them once its daemon has
/// ended and another took its place.
type Place = Lock<Option<Arc<Client>>>;

/// The connection of this process.
pub(super) static CONNECTED: Place = Place::new(None);

/// Connects to the daemon where that is not done, and does a whole barrier, each time: a substitute
/// counts on that.
pub(super) fn prepare() -> Result<(), Reason> {
    CONNECTED.whole_barrier(WHOLE_MAX, Client::connect)
}

/// Begins to wait for an interrupt of every CPU.
pub(super) fn begin() -> Result<Ticket, Reason> {
    let client = CONNECTED.hold(|client| client.clone()).ok_or(Reason::NoDaemon)?;
    let ticket = client.begin_by_counts();
    Ok(Ticket { client, ticket })
}

impl Place {
    /// Puts a client where `before` was. If another thread was faster, `new` is dropped.
    fn replace(&self, before: Option<&Arc<Client>>, new: Arc<Client>) {
        let old = self.hold(|client| {
            let is_same = client.as_ref().map(Arc::as_ptr) == before.map(Arc::as_ptr);
            if is_same { client.replace(new) } else { Some(new) }
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
        let before = self.hold(|client| client.clone());
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

#[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
mod tests;
