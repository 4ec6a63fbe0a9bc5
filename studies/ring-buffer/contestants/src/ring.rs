//! The ring: one thread writes, one reads, and each keeps its own position.

use events::event::Event;
use events::waiter::until;
use std::sync::atomic::{AtomicU64, Ordering};
use tiebreak_abi::launder;

/// Slots of the ring: 8 KiB.
pub const SLOTS: u64 = 1024;

/// What stands between the two threads, each word on lines of its own.
#[repr(C, align(128))]
pub struct Ring<E> {
    /// The write position, which can be waited for.
    pub written: E,
    read: Padded,
    slots: [AtomicU64; SLOTS as usize],
}

#[repr(align(128))]
struct Padded(AtomicU64);

impl<E: Event> Ring<E> {
    pub fn new() -> Ring<E> {
        Ring {
            written: E::new(),
            read: Padded(AtomicU64::new(0)),
            slots: [const { AtomicU64::new(0) }; SLOTS as usize],
        }
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &AtomicU64 {
        &self.slots[(position % SLOTS) as usize]
    }

    /// The item there. The reader has seen that it was written.
    #[inline(always)]
    pub fn item(&self, position: u64) -> u64 {
        // Relaxed: the positions order the items.
        self.slot(position).load(Ordering::Relaxed)
    }

    /// Everything before this position is read.
    #[inline(always)]
    pub fn set_read(&self, position: u64) {
        // Release: the slots are written again only after they were read.
        self.read.0.store(position, Ordering::Release);
    }

    /// Waits for a free slot; gives the position at which the next look is due.
    #[cold]
    fn wait_for_room(&self, position: u64) -> u64 {
        // Acquire: pairs with the release of `set_read`.
        let full = || self.read.0.load(Ordering::Acquire) + SLOTS;
        until(|| full() > position);
        full().max(position + 1)
    }
}

/// The writing side.
pub struct Writer<'r, E: Event> {
    ring: &'r Ring<E>,
    pub producer: E::Producer,
    pub position: u64,
    /// The ring is full there, as far as is known.
    full: u64,
}

impl<'r, E: Event> Writer<'r, E> {
    pub fn new(ring: &'r Ring<E>, producer: E::Producer, position: u64) -> Self {
        Writer { ring, producer, position, full: position }
    }

    #[inline(always)]
    pub fn push(&mut self, item: u64) {
        if self.position == self.full {
            self.full = self.ring.wait_for_room(self.position);
        }
        let ring = launder(self.ring);
        // Relaxed: the position that follows has the release.
        ring.slot(self.position).store(item, Ordering::Relaxed);
        self.position += 1;
        ring.written.publish(&mut self.producer, self.position);
    }
}
