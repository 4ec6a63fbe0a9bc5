//! What a registered thread has in the list: slots, and how much it has retired.

use crate::atomic::{AtomicPtr, AtomicUsize, Ordering};
use core::ptr::null_mut;

/// How many slots a record has. A handle that needs more claims further records.
#[cfg(not(loom))]
pub(super) const SLOTS: usize = 8;
/// A model reads each slot, so it has few of them.
#[cfg(loom)]
pub(super) const SLOTS: usize = 1;

/// One of the list. Only who claimed it writes into it.
pub(super) struct Record {
    /// What is protected, or null.
    pub(super) slots: [AtomicPtr<()>; SLOTS],
    /// How many objects its handle has retired that are not freed.
    pub(super) retired: AtomicUsize,
}

impl Record {
    pub(super) fn new() -> Record {
        let slots = core::array::from_fn(|_| AtomicPtr::new(null_mut()));
        Record { slots, retired: AtomicUsize::new(0) }
    }

    /// What is protected.
    pub(super) fn protected(&self) -> impl Iterator<Item = *mut ()> {
        // Acquire: what was read under what the slot held earlier is over.
        let pointers = self.slots.iter().map(|slot| slot.load(Ordering::Acquire));
        pointers.filter(|pointer| !pointer.is_null())
    }

    /// Protects nothing from now on.
    pub(super) fn clear(&self) {
        for slot in &self.slots {
            // Release: see `protected`.
            slot.store(null_mut(), Ordering::Release);
        }
    }
}
