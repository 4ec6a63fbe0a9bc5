//! Reclamation by hazard pointers.
//!
//! A reader publishes which object it is about to use; a writer that has unlinked an object
//! *retires* it, and it is freed once nobody publishes it. Publishing is a store, and a second look
//! at where the pointer came from; no fence: the [`Barrier`](crate::barrier) of the domain lets the
//! thread that frees pay for all. What is retired and not freed is bounded, whatever readers do.
//!
//! ```
//! use tiebreak_sync::hazard::{Atomic, Domain};
//!
//! let domain = Domain::new();
//! let limits = Atomic::new(&domain, Box::new([10, 20]));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let handle = domain.register();
//!         let mut hazard = handle.hazard();
//!         let seen = limits.load(&mut hazard).unwrap();
//!         assert!(*seen == [10, 20] || *seen == [30, 40]);
//!     });
//!     scope.spawn(|| limits.store(Some(Box::new([30, 40])), &domain.register()));
//! });
//! ```
//!
//! # How it works
//!
//! ```text
//! protect  pointer = load(source)               retire   put the object into a list of one's own
//!          loop
//!              slot = pointer                   reclaim, each for itself, once for 1024 objects:
//!              light()                            1  take the list
//!              again = load(source)               2  heavy()
//!              if again = pointer: done           3  read all slots
//!              pointer = again                    4  free what is in none of them
//! ```
//!
//! # Why it is right
//!
//! Let `X` be an object of the list of step 1, and a reader one that has protected `X`: it
//! published `X`, then its light side, then found `X` in the source. Show that step 4 does not free
//! `X` before the reader is done with it. The theorem of [`Barrier`](crate::barrier::Barrier) says
//! that one of these is true:
//!
//! - The reader's second look sees every store that happened before step 2. `X` was unlinked before
//!   it was retired, so that look does not find it, unless someone linked it again: but then it was
//!   not unlinked.
//! - Step 3 sees that the slot holds `X`, and `X` stays; or something newer in that slot. Then the
//!   reader is done with `X`, and the newer store is a release, made after its last read of `X`,
//!   which step 3 reads with acquire: the read happened before step 4.
//!
//! An address that was freed and is in use again is another object: a reader that finds it in the
//! source has protected that one.
//!
//! # The bound
//!
//! With `N` handles and `H` slots (8 a handle, and 8 more each time it needs more), at most `(N +
//! 1) * (R + 1024) + H` objects are retired and not freed: each handle has at most `R` that it has
//! not looked at, at most `H` are protected, and at most 1024 left by handles that are gone wait
//! for someone to take them. `R` is 1024 if a heavy side that was begun is done
//! ([`Ticket`](crate::barrier::Ticket)): then the call of `retire` or `flush` that reclaims takes
//! as long as one, some 10 us, or 10 to 50 ms with `membarrier-global-unexpedited`. `R` is 16384
//! with `barrierd`: `retire` goes on meanwhile, and waits only if half of that has come together.
//! Objects count for more than one if they are larger than 1 KiB, so there are fewer. What freeing
//! itself retires comes on top while it lasts.
//! [`Domain::bound`] has the figure, [`Domain::pending`] how many there are.
//!
//! # Who must hold what
//!
//! - Who calls [`Handle::retire`] promises that the object is unlinked: nobody who looks into the
//!   sources from now on finds it.
//! - Who calls [`Hazard::protect`] promises that the source is one of those: what it holds is valid
//!   until it is unlinked and retired in the same domain. A path of several steps needs a second
//!   look at the first: that a node still has its successor does not say that the node is linked.
//!
//! # Panics, leaks and forks
//!
//! If freeing panics, the rest is freed nevertheless, and the panic then goes on to the call of
//! `retire` or `flush` that reclaimed, or to the drop of the handle or domain. It does not go on
//! from the thread-local handle ([`with`]) of a thread that ends. A [`Hazard`] that is forgotten
//! keeps one object until its handle is dropped.
//!
//! After `fork`, the child has the slots of its parent's other threads, as they stood: what they
//! protect is never freed in the child, and what they had retired is not either. Everything works.

mod atomic;
mod domain;
mod handle;
mod record;
mod retired;
#[cfg(not(loom))]
mod thread;

#[cfg(all(test, not(loom)))]
mod tests;

pub use atomic::Atomic;
pub use domain::Domain;
pub use handle::{Handle, Hazard};
#[cfg(not(loom))]
pub use thread::{domain, with};
