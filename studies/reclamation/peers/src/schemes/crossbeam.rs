//! crossbeam-epoch by a `LocalHandle`.

use crate::node::Node;
use crate::scheme::Scheme;
use crossbeam_epoch::{Atomic, Collector, LocalHandle, Owned};
use std::sync::atomic::Ordering;

pub struct Chosen;

pub struct Shared {
    current: Atomic<Node>,
    collector: Collector,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: no other thread has the pointer any more.
        drop(unsafe { std::mem::take(&mut self.current).into_owned() });
    }
}

impl Scheme for Chosen {
    type Shared = Shared;
    type Local = LocalHandle;

    fn share(first: Box<Node>) -> Shared {
        Shared { current: Atomic::from(first), collector: Collector::new() }
    }

    fn register(shared: &'static Shared) -> LocalHandle {
        shared.collector.register()
    }

    #[inline(always)]
    fn pin(shared: &'static Shared, handle: &mut LocalHandle) -> u64 {
        let guard = handle.pin();
        // SAFETY: what is unlinked is deferred in this collector, which is pinned.
        unsafe { shared.current.load(Ordering::Acquire, &guard).deref().read() }
    }

    #[inline(always)]
    fn retire(shared: &'static Shared, handle: &mut LocalHandle, next: Box<Node>) -> u64 {
        let guard = handle.pin();
        let old = shared.current.swap(Owned::from(next), Ordering::AcqRel, &guard);
        // SAFETY: the swap unlinked it, and this thread is pinned.
        unsafe {
            let read = old.deref().read();
            guard.defer_destroy(old);
            read
        }
    }
}
