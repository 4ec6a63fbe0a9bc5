//! A number under a mutex, and a condition variable.

use crate::event::Event;

#[cfg(feature = "parking_lot")]
use parking_lot::{Condvar, Mutex, MutexGuard};
#[cfg(not(feature = "parking_lot"))]
use std::sync::{Condvar, Mutex, MutexGuard};

#[repr(align(128))]
pub struct Guarded {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Guarded {
    #[cfg(feature = "parking_lot")]
    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, u64> {
        self.count.lock()
    }

    #[cfg(not(feature = "parking_lot"))]
    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, u64> {
        // Nothing panics under the lock, and the number is right whatever happens.
        self.count.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    #[cfg(feature = "parking_lot")]
    fn sleep<'g>(&self, mut guard: MutexGuard<'g, u64>) -> MutexGuard<'g, u64> {
        self.changed.wait(&mut guard);
        guard
    }

    #[cfg(not(feature = "parking_lot"))]
    fn sleep<'g>(&self, guard: MutexGuard<'g, u64>) -> MutexGuard<'g, u64> {
        self.changed.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Event for Guarded {
    type Producer = ();

    fn new() -> Guarded {
        Guarded { count: Mutex::new(0), changed: Condvar::new() }
    }

    fn producer(&'static self) {}

    #[inline(always)]
    fn increment(&self, (): &mut ()) {
        *self.lock() += 1;
        self.changed.notify_all();
    }

    fn value(&self) -> u64 {
        *self.lock()
    }

    fn wait(&self, seen: u64) {
        let mut count = self.lock();
        while *count == seen {
            count = self.sleep(count);
        }
    }
}
