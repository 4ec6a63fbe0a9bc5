//! seize, with its feature `fast-barrier`.

use crate::node::{Current, Node};
use crate::scheme::Scheme;
use seize::{Collector, Guard, reclaim};
use std::sync::atomic::Ordering;

pub struct Chosen;

pub struct Shared {
    /// Frees what is left before the last object goes.
    collector: Collector,
    current: Current,
}

impl Scheme for Chosen {
    type Shared = Shared;
    type Local = ();

    fn share(first: Box<Node>) -> Shared {
        Shared { collector: Collector::new(), current: Current::new(first) }
    }

    fn register(_: &'static Shared) {}

    #[inline(always)]
    fn pin(shared: &'static Shared, (): &mut ()) -> u64 {
        let guard = shared.collector.enter();
        // SAFETY: what is unlinked is retired in this collector, which was entered.
        unsafe { (*guard.protect(&shared.current.0, Ordering::Acquire)).read() }
    }

    #[inline(always)]
    fn retire(shared: &'static Shared, (): &mut (), next: Box<Node>) -> u64 {
        let guard = shared.collector.enter();
        let old = guard.swap(&shared.current.0, Box::into_raw(next), Ordering::AcqRel);
        // SAFETY: it came from a box, and the swap unlinked it.
        unsafe {
            let read = (*old).read();
            guard.defer_retire(old, reclaim::boxed);
            read
        }
    }
}
