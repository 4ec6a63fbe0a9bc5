//! tiebreak-sync's hazard pointers; with `hazard-seqcst` on full fences.

use crate::node::{Current, Node};
use crate::scheme::Scheme;
use std::mem::ManuallyDrop;
use tiebreak_sync::hazard::{Domain, Handle, Hazard};

pub struct Chosen;

pub struct Shared {
    current: Current,
    domain: Domain,
}

/// A handle, and a slot of it that is kept.
pub struct Local {
    hazard: ManuallyDrop<Hazard<'static>>,
    handle: &'static Handle,
}

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: once, and before the handle that it borrows.
        unsafe { ManuallyDrop::drop(&mut self.hazard) };
        // SAFETY: it came from a box, and its only slot is gone.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(self.handle).cast_mut()) });
    }
}

#[cfg(not(feature = "hazard-seqcst"))]
fn domain() -> Domain {
    Domain::new()
}

#[cfg(feature = "hazard-seqcst")]
fn domain() -> Domain {
    Domain::with_barrier(tiebreak_sync::barrier::Barrier::seq_cst())
}

impl Scheme for Chosen {
    type Shared = Shared;
    type Local = Local;

    fn share(first: Box<Node>) -> Shared {
        Shared { current: Current::new(first), domain: domain() }
    }

    fn register(shared: &'static Shared) -> Local {
        let handle: &'static Handle = Box::leak(Box::new(shared.domain.register()));
        Local { hazard: ManuallyDrop::new(handle.hazard()), handle }
    }

    /// Takes a slot and gives it back.
    #[inline(always)]
    fn pin(shared: &'static Shared, local: &mut Local) -> u64 {
        let mut hazard = local.handle.hazard();
        // SAFETY: the source holds boxes that are retired in this domain once they are unlinked.
        unsafe { hazard.protect(&shared.current.0) }.map_or(0, Node::read)
    }

    #[inline(always)]
    fn protect(shared: &'static Shared, local: &mut Local) -> u64 {
        // SAFETY: as in `pin`.
        unsafe { local.hazard.protect(&shared.current.0) }.map_or(0, Node::read)
    }

    #[inline(always)]
    fn retire(shared: &'static Shared, local: &mut Local, next: Box<Node>) -> u64 {
        let old = shared.current.swap(next);
        // SAFETY: it came from a box, the swap unlinked it, and only this thread retires.
        unsafe {
            let read = (*old).read();
            local.handle.retire(old);
            read
        }
    }
}
