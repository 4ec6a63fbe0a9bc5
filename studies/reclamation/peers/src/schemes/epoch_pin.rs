//! tiebreak-sync's epochs by the thread-local `pin()`.

use crate::node::{Current, Node};
use crate::scheme::Scheme;
use std::sync::atomic::Ordering;
use tiebreak_sync::epoch;

pub struct Chosen;

impl Scheme for Chosen {
    type Shared = Current;
    type Local = ();

    fn share(first: Box<Node>) -> Current {
        Current::new(first)
    }

    fn register(_: &'static Current) {}

    #[inline(always)]
    fn pin(current: &'static Current, (): &mut ()) -> u64 {
        let _guard = epoch::pin();
        // SAFETY: what is unlinked is retired in the collector of the process, which is pinned.
        unsafe { (*current.0.load(Ordering::Acquire)).read() }
    }

    #[inline(always)]
    fn retire(current: &'static Current, (): &mut (), next: Box<Node>) -> u64 {
        let guard = epoch::pin();
        let old = current.swap(next);
        // SAFETY: it came from a box, the swap unlinked it, and this thread is pinned.
        unsafe {
            let read = (*old).read();
            guard.retire(old);
            read
        }
    }
}
