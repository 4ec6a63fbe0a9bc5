//! The futex of the model checker: a lock, a condition variable, and the two promises of the
//! kernel: comparing and going to sleep are one step, and a sleeper may be woken for nothing.

use core::time::Duration;

use loom::sync::{Condvar, Mutex};

use super::Awake;
use crate::atomic::{AtomicU32, Ordering};

/// All words share one queue, so a wake-up of another word is one for nothing.
struct Queue {
    wakes: Mutex<u32>,
    is_woken: Condvar,
}

loom::lazy_static! {
    static ref QUEUE: Queue = Queue { wakes: Mutex::new(0), is_woken: Condvar::new() };
}

/// A model has no clock: a limit is never reached.
pub(crate) fn wait(word: &AtomicU32, expected: u32, _limit: Option<Duration>) -> Awake {
    let mut wakes = QUEUE.wakes.lock().unwrap();
    // The lock orders it against the change before `wake_all`, as the kernel's does.
    if word.load(Ordering::Relaxed) != expected {
        return Awake::Changed;
    }
    let before = *wakes;
    while *wakes == before {
        wakes = QUEUE.is_woken.wait(wakes).unwrap();
    }
    Awake::Woken
}

pub(crate) fn wake_all(_word: &AtomicU32) {
    *QUEUE.wakes.lock().unwrap() += 1;
    QUEUE.is_woken.notify_all();
}
