//! tiebreak-sync's epochs by a registered handle; with `epoch-seqcst` on full fences.

use crate::node::{Current, Node};
use crate::scheme::Scheme;
use std::sync::atomic::Ordering;
use tiebreak_sync::epoch::{Collector, Handle};

pub struct Chosen;

pub struct Shared {
    current: Current,
    collector: Collector,
}

#[cfg(not(feature = "epoch-seqcst"))]
fn collector() -> Collector {
    Collector::new()
}

#[cfg(feature = "epoch-seqcst")]
fn collector() -> Collector {
    Collector::with_barrier(tiebreak_sync::barrier::Barrier::seq_cst())
}

impl Scheme for Chosen {
    type Shared = Shared;
    type Local = Handle;

    fn share(first: Box<Node>) -> Shared {
        Shared { current: Current::new(first), collector: collector() }
    }

    fn register(shared: &'static Shared) -> Handle {
        shared.collector.register()
    }

    #[inline(always)]
    fn pin(shared: &'static Shared, handle: &mut Handle) -> u64 {
        let _guard = handle.pin();
        // SAFETY: what is unlinked is retired in this collector, which is pinned.
        unsafe { (*shared.current.0.load(Ordering::Acquire)).read() }
    }

    #[inline(always)]
    fn retire(shared: &'static Shared, handle: &mut Handle, next: Box<Node>) -> u64 {
        let guard = handle.pin();
        let old = shared.current.swap(next);
        // SAFETY: it came from a box, the swap unlinked it, and this thread is pinned.
        unsafe {
            let read = (*old).read();
            guard.retire(old);
            read
        }
    }
}
