//! The list of those who take part: records that are claimed, given back and claimed again, and
//! that anyone may walk over meanwhile; and what tells one list's owner from another's.

use crate::atomic::{AtomicBool, AtomicPtr, Ordering};
use core::sync::atomic::AtomicU64;

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

/// Two cache lines of its own, because the processor fetches them in pairs. For what many read
/// while its neighbours change.
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

/// A list that only grows while it lives. Each record has two cache lines of its own, because the
/// processor fetches them in pairs.
pub(crate) struct Registry<T> {
    head: AtomicPtr<Slot<T>>,
}

/// A record and who may use it.
#[repr(align(128))]
pub(crate) struct Slot<T> {
    value: T,
    /// Its place: those behind it in the list have smaller ones.
    number: usize,
    is_claimed: AtomicBool,
    next: *const Slot<T>,
}

// SAFETY: slots are shared by reference and dropped with the registry; `next` and `number` do not
// change once a slot is published, and the rest are atomics and `T`.
unsafe impl<T: Send + Sync> Send for Registry<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Registry<T> {}

impl<T> Registry<T> {
    pub(crate) fn new() -> Registry<T> {
        Registry { head: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// A record that nobody else claims until it is given back: an old one, or a new one.
    pub(crate) fn claim(&self, make: impl FnOnce() -> T) -> &Slot<T> {
        // Acquire: all that its last user did with it is over.
        let claim = |slot: &&Slot<T>| {
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            !slot.is_claimed.load(relaxed)
                && slot.is_claimed.compare_exchange(false, true, acquire, relaxed).is_ok()
        };
        match self.iter().find(claim) {
            Some(slot) => slot,
            None => self.push(make()),
        }
    }

    fn push(&self, value: T) -> &Slot<T> {
        let is_claimed = AtomicBool::new(true);
        let slot = Slot { value, number: 0, is_claimed, next: core::ptr::null() };
        let slot = Box::into_raw(Box::new(slot));
        // Acquire, here and on failure: the number of the head is read.
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            // SAFETY: the new slot is not published yet, so it is ours alone; a head that is not
            // null was published and lives as long as the registry.
            unsafe {
                (*slot).next = head;
                (*slot).number = head.as_ref().map_or(0, |head| head.number + 1);
            }
            // Release: who finds the slot sees what is in it.
            match self.head.compare_exchange(head, slot, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: it lives as long as the registry, which is borrowed.
                Ok(_) => return unsafe { &*slot },
                Err(now) => head = now,
            }
        }
    }

    /// All records, claimed or not, the newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot<T>> {
        // Acquire: see `push`.
        let mut next: *const Slot<T> = self.head.load(Ordering::Acquire);
        core::iter::from_fn(move || {
            // SAFETY: null, or published, and it lives as long as the registry, which is borrowed.
            let slot = unsafe { next.as_ref() }?;
            next = slot.next;
            Some(slot)
        })
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.iter().next().map_or(0, |newest| newest.number + 1)
    }
}

impl<T> Slot<T> {
    /// Its place in the list, counted from 0 in the order of registration.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Gives it back. The caller claimed it and does not use it any more.
    pub(crate) fn release(&self) {
        // Release: who claims it next finds all that was done with it done.
        self.is_claimed.store(false, Ordering::Release);
    }
}

impl<T> core::ops::Deref for Slot<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for Registry<T> {
    fn drop(&mut self) {
        // Relaxed: the registry is ours alone.
        let mut next: *const Slot<T> = self.head.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: it came from `Box::into_raw`, and nobody can refer to it any more.
            let slot = unsafe { Box::from_raw(next.cast_mut()) };
            next = slot.next;
        }
    }
}
