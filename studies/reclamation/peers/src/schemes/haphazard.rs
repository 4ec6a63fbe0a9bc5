//! haphazard: hazard pointers of its global domain.

use crate::node::Node;
use crate::scheme::Scheme;
use haphazard::{AtomicPtr, HazardPointer};
use std::ptr::NonNull;

pub struct Chosen;

pub struct Shared(AtomicPtr<Node>);

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and no other thread has the pointer any more.
        drop(unsafe { Box::from_raw(*self.0.get_mut()) });
    }
}

impl Scheme for Chosen {
    type Shared = Shared;
    type Local = HazardPointer<'static>;

    fn share(first: Box<Node>) -> Shared {
        Shared(AtomicPtr::from(first))
    }

    fn register(_: &'static Shared) -> HazardPointer<'static> {
        HazardPointer::new()
    }

    /// Takes a hazard pointer and gives it back.
    #[inline(always)]
    fn pin(shared: &'static Shared, _: &mut HazardPointer<'static>) -> u64 {
        let mut hazard = HazardPointer::new();
        shared.0.safe_load(&mut hazard).map_or(0, Node::read)
    }

    #[inline(always)]
    fn protect(shared: &'static Shared, hazard: &mut HazardPointer<'static>) -> u64 {
        shared.0.safe_load(hazard).map_or(0, Node::read)
    }

    #[inline(always)]
    fn retire(shared: &'static Shared, _: &mut HazardPointer<'static>, next: Box<Node>) -> u64 {
        let Some(old) = shared.0.swap(next) else { return 0 };
        // SAFETY: it is retired below, and not before; only this thread retires.
        let read = Node::read(unsafe { NonNull::as_ref(&old) });
        // SAFETY: the swap unlinked it, and readers protect in the global domain.
        unsafe { old.retire() };
        read
    }
}
