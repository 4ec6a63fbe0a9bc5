//! A position and the crate event-listener.

use crate::event::Event;
use event_listener::{Event as Listeners, Listener};
use std::sync::atomic::{AtomicU64, Ordering};

#[repr(align(128))]
pub struct Listened {
    count: AtomicU64,
    changed: Listeners,
}

impl Event for Listened {
    /// The position of a writer that is alone: no atomic add is needed.
    type Producer = u64;

    fn new() -> Listened {
        Listened { count: AtomicU64::new(0), changed: Listeners::new() }
    }

    fn producer(&'static self) -> u64 {
        0
    }

    #[inline(always)]
    fn increment(&self, position: &mut u64) {
        *position += 1;
        // Release: who sees the count sees what was written before it. `notify` has a full fence.
        self.count.store(*position, Ordering::Release);
        self.changed.notify(usize::MAX);
    }

    fn value(&self) -> u64 {
        // Acquire: pairs with the release above.
        self.count.load(Ordering::Acquire)
    }

    fn wait(&self, seen: u64) {
        while self.value() == seen {
            let listener = self.changed.listen();
            if self.value() == seen {
                listener.wait();
            }
        }
    }
}
