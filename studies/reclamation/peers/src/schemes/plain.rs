//! No protection: what any other way costs comes on top of this.

use crate::node::{Current, Node};
use crate::scheme::Scheme;
use std::sync::atomic::Ordering;

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
        // SAFETY: no thread frees an object while another reads: see `replace`.
        unsafe { (*current.0.load(Ordering::Acquire)).read() }
    }

    /// Frees at once: there is no other reader.
    #[inline(always)]
    fn retire(current: &'static Current, (): &mut (), next: Box<Node>) -> u64 {
        // SAFETY: it came from a box, and no other thread has it.
        unsafe { Box::from_raw(current.swap(next)) }.read()
    }

    /// Never frees: without protection it is not known when.
    #[inline(always)]
    fn replace(current: &'static Current, (): &mut (), next: Box<Node>) -> u64 {
        // SAFETY: it is never freed.
        unsafe { (*current.swap(next)).read() }
    }
}
