//! A write position that is a plain word: who waits for it looks again and again.

use events::event::Event;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Looks between two yields.
const LOOKS: u32 = 1000;

#[repr(align(128))]
pub struct Bare(AtomicU64);

impl Event for Bare {
    type Producer = ();

    fn new() -> Bare {
        Bare(AtomicU64::new(0))
    }

    fn producer(&'static self) {}

    #[inline(always)]
    fn increment(&self, (): &mut ()) {
        // One thread writes it alone, so it reads what it wrote; release as in `publish`.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    #[inline(always)]
    fn publish(&self, (): &mut (), position: u64) {
        // Release: who sees the position sees the items before it.
        self.0.store(position, Ordering::Release);
    }

    fn value(&self) -> u64 {
        // Acquire: pairs with the release above.
        self.0.load(Ordering::Acquire)
    }

    fn wait(&self, seen: u64) {
        loop {
            for _ in 0..LOOKS {
                if self.value() != seen {
                    return;
                }
                spin_loop();
            }
            thread::yield_now();
        }
    }
}
