//! Which collector or domain something belongs to.

use core::sync::atomic::{AtomicU64, Ordering};

/// Tells a collector or domain from every other of the process. What belongs to one has this and
/// not an `Arc`: it may be retired there itself, and then the two would keep each other for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u64);

impl Identity {
    /// One that nothing had before.
    pub(crate) fn new() -> Identity {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: each value is given out once, whatever the order. 2^64 do not run out.
        Identity(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
