//! A position and `unpark` of the one thread that waits.

use crate::event::Event;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};

#[repr(align(128))]
pub struct Parked {
    count: AtomicU64,
    waits: OnceLock<Thread>,
}

impl Event for Parked {
    /// The position of a writer that is alone: no atomic add is needed.
    type Producer = u64;

    fn new() -> Parked {
        Parked { count: AtomicU64::new(0), waits: OnceLock::new() }
    }

    fn producer(&'static self) -> u64 {
        0
    }

    #[inline(always)]
    fn increment(&self, position: &mut u64) {
        *position += 1;
        // Release: who sees the count sees what was written before it.
        self.count.store(*position, Ordering::Release);
        // Where no thread waits, the one that is unparked is one that is awake: this one.
        self.waits.get_or_init(thread::current).unpark();
    }

    fn value(&self) -> u64 {
        // Acquire: pairs with the release above.
        self.count.load(Ordering::Acquire)
    }

    fn wait(&self, seen: u64) {
        while self.value() == seen {
            thread::park();
        }
    }

    fn enter(&self) {
        self.waits.get_or_init(thread::current);
    }
}
