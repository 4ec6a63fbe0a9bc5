//! A word and the futex system calls: what a store costs, or an atomic add, with a wake-up always,
//! or only where the caller happens to know that a thread waits.

use crate::event::Event;
use std::sync::atomic::{AtomicU32, Ordering};

#[repr(align(128))]
pub struct Word(AtomicU32);

const IS_ATOMIC: bool = cfg!(feature = "lock-add");
const WAKES_ALWAYS: bool = cfg!(feature = "futex");

impl Word {
    #[inline(always)]
    fn add(&self, position: &mut u32) {
        // Release: who sees the count sees what was written before it.
        if IS_ATOMIC {
            self.0.fetch_add(1, Ordering::Release);
        } else {
            *position = position.wrapping_add(1);
            self.0.store(*position, Ordering::Release);
        }
    }
}

impl Event for Word {
    /// The position of a writer that is alone.
    type Producer = u32;
    const MASK: u64 = u32::MAX as u64;

    fn new() -> Word {
        Word(AtomicU32::new(0))
    }

    fn producer(&'static self) -> u32 {
        0
    }

    #[inline(always)]
    fn increment(&self, position: &mut u32) {
        self.add(position);
        futex_wake(&self.0);
    }

    #[inline(always)]
    fn increment_alone(&self, position: &mut u32) {
        self.add(position);
        if WAKES_ALWAYS {
            futex_wake(&self.0);
        }
    }

    fn value(&self) -> u64 {
        // Acquire: pairs with the release of `add`.
        u64::from(self.0.load(Ordering::Acquire))
    }

    fn wait(&self, seen: u64) {
        while self.value() == seen {
            futex_wait(&self.0, seen as u32);
        }
    }
}

/// Sleeps while the word is `seen`, or returns early.
fn futex_wait(word: &AtomicU32, seen: u32) {
    let flags = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    let forever = std::ptr::null::<libc::timespec>();
    // SAFETY: the word lives for the call, and a wait writes nothing.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), flags, seen, forever) };
}

/// Wakes all that sleep on the word.
fn futex_wake(word: &AtomicU32) {
    let flags = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word lives for the call; the kernel only takes its address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), flags, i32::MAX) };
}
