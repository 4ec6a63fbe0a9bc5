//! crossbeam-epoch by the thread-local `pin()`.

use crate::node::Node;
use crate::scheme::Scheme;
use crossbeam_epoch::{Atomic, Owned, pin};
use std::sync::atomic::Ordering;

pub struct Chosen;

pub struct Shared(Atomic<Node>);

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: no other thread has the pointer any more.
        drop(unsafe { std::mem::take(&mut self.0).into_owned() });
    }
}

impl Scheme for Chosen {
    type Shared = Shared;
    type Local = ();

    fn share(first: Box<Node>) -> Shared {
        Shared(Atomic::from(first))
    }

    fn register(_: &'static Shared) {}

    #[inline(always)]
    fn pin(shared: &'static Shared, (): &mut ()) -> u64 {
        let guard = pin();
        // SAFETY: what is unlinked is deferred in the process's collector, which is pinned.
        unsafe { shared.0.load(Ordering::Acquire, &guard).deref().read() }
    }

    #[inline(always)]
    fn retire(shared: &'static Shared, (): &mut (), next: Box<Node>) -> u64 {
        let guard = pin();
        let old = shared.0.swap(Owned::from(next), Ordering::AcqRel, &guard);
        // SAFETY: the swap unlinked it, and this thread is pinned.
        unsafe {
            let read = old.deref().read();
            guard.defer_destroy(old);
            read
        }
    }
}
