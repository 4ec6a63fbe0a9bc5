//! Reclamation by epochs.
//!
//! A reader *pins* while it looks at shared objects; a writer that has unlinked an object *retires*
//! it, and it is freed once nobody is pinned who could have seen it. Pinning and unpinning are two
//! stores of a record that no other thread writes, and no fence: the [`Barrier`](crate::barrier) of
//! the collector lets the thread that frees pay for all.
//!
//! ```
//! use tiebreak_sync::epoch::{Atomic, Collector};
//!
//! let collector = Collector::new();
//! let limits = Atomic::new(&collector, Box::new([10, 20]));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let handle = collector.register();
//!         let guard = handle.pin();
//!         let seen = limits.load(&guard).unwrap();
//!         assert!(*seen == [10, 20] || *seen == [30, 40]);
//!     });
//!     scope.spawn(|| {
//!         let handle = collector.register();
//!         limits.store(Some(Box::new([30, 40])), &handle.pin());
//!     });
//! });
//! ```
//!
//! # How it works
//!
//! ```text
//! pin      record = epoch; light()              retire   put the object into a bag
//! unpin    record = 0
//!
//! collect, one thread at a time:
//!   1  take all bags                            3  heavy()
//!   2  epoch = epoch + 1, call it E             4  wait until every record is 0 or at least E
//!                                               5  free what was taken
//! ```
//!
//! Nobody waits in 4: the scan stops at the first reader that is in the way and goes on there the
//! next time that someone collects. In 3, it depends on the barrier
//! ([`Ticket`](crate::barrier::Ticket)). With `barrierd` nobody waits: the barrier is begun, and
//! asked again later. With all others the thread that collects does the whole heavy side in the
//! middle of its own `retire`, `defer` or `flush`: some 10 us, and with
//! `membarrier-global-unexpedited` 10 to 50 ms. Those who retire while another thread collects
//! leave it their bags and go on.
//!
//! # Why it is right
//!
//! Let `X` be an object taken in step 1, and `R` a reader: a stretch of one thread from a pin to
//! its unpin. Show that `R` cannot touch `X` after step 5 began. The theorem of
//! [`Barrier`](crate::barrier::Barrier) says that `R`'s light side and the heavy side of step 3 do
//! not miss each other: if only one of the stores before step 3 is missed by `R`, step 4 sees `R`'s
//! store. (Stores of other threads that happened before step 3 count as its own, because a full
//! fence orders them too.) So one of these is true:
//!
//! - `R` sees every store that happened before step 3. `X` was unlinked before it was retired, and
//!   its bag was taken after that, so all stores that unlinked it are among them: `R` finds no way
//!   to `X`.
//! - Step 4 sees that `R` wrote its record, or something newer in that record. Then it sees one of:
//!   - a value below `E`: it waits;
//!   - 0, or a later pin: `R` is over. Both are release stores, made after `R`'s last read, and
//!     step 4 reads with acquire: these reads happened before step 5;
//!   - `R`'s own pin, at `E` or more: `R` read the epoch with acquire from step 2 of this or of a
//!     later collection, which is a release store after step 1. So `R` sees every store that
//!     unlinked `X`, as in the first case.
//!
//! So one epoch is enough where other schemes need two or three: there, each thread stamps its own
//! garbage with an epoch that it read, and that may be an old one. Here only the thread that
//! advances the epoch stamps. And a pin need not read the epoch a second time: a pin with an old
//! epoch is waited for longer than needed, which does no harm.
//!
//! A record that is registered during step 4 belongs to the first case: had it been pinned before
//! the heavy side, the scan would have found it in the list.
//!
//! # Who must hold what
//!
//! - Who calls [`Guard::retire`] promises that the object is unlinked: a thread that pins from now
//!   on finds no way to it. Whoever reads it pins the same collector first.
//! - A reader that stays pinned keeps back all that is retired after it pinned, without a bound;
//!   [`Collector::oldest_pin`] says who, and how long at least. Where that must not be, use
//!   [`hazard`](crate::hazard).
//! - Collecting is done by those who retire, once for each 1024 objects (or 64, once a
//!   millisecond), and by `flush`. If nobody retires, what was retired last stays until the
//!   collector is dropped.
//!
//! # Panics, leaks and forks
//!
//! If freeing panics, the rest is freed nevertheless, and the panic then goes on to the call of
//! `retire`, `defer` or `flush` that collected, or to the drop of the handle or collector. It does
//! not go on from the thread-local handle ([`pin`]) of a thread that ends. A [`Guard`] that is
//! forgotten leaves its thread pinned until its handle is dropped, so it leaks and does nothing
//! worse; one of the thread-local handle ([`pin`]) does so for ever.
//!
//! After `fork`, the child has the records of its parent's other threads, as they stood. It may
//! pin, register, retire and exit. If one of those threads was pinned or collecting at the fork,
//! nothing that the child retires is ever freed, and in the second case [`Collector::oldest_pin`]
//! would wait for ever: a child that needs to reclaim makes a collector of its own.

mod atomic;
mod collector;
mod cycle;
mod handle;
mod record;
#[cfg(not(loom))]
mod thread;

#[cfg(all(test, not(loom)))]
mod tests;

pub use atomic::Atomic;
pub use collector::{Collector, OldestPin};
pub use handle::{Guard, Handle};
#[cfg(not(loom))]
pub use thread::{collector, pin};
