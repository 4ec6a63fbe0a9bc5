//! The thread that waits.

use crate::event::Event;
use crate::system::{Status, current_cpu, leave_cpu, thread_id};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Nothing here takes longer, or it is given up.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Looks between two readings of the clock, and the first yield.
const LOOKS: u32 = 2000;
/// How long the thread has slept before it is woken: longer than an idle virtual CPU polls before
/// it halts, so that each is woken from the same depth.
const DEPTH: Duration = Duration::from_micros(250);

/// What the waiting thread says, on lines of its own.
#[repr(align(128))]
struct Word {
    /// The last count that it has seen.
    seen: AtomicU64,
    ends: AtomicBool,
}

pub struct Waiter {
    word: Arc<Word>,
    status: Status,
    thread: Option<JoinHandle<()>>,
}

impl Waiter {
    /// Starts the thread, on another CPU than this thread's if there is one.
    pub fn start<E: Event>(event: &'static E) -> Option<Waiter> {
        let word = Arc::new(Word { seen: AtomicU64::new(0), ends: AtomicBool::new(false) });
        let (cpu, says, (sender, receiver)) = (current_cpu(), Arc::clone(&word), mpsc::channel());
        let body = move || {
            leave_cpu(cpu);
            event.enter();
            if sender.send(thread_id()).is_ok() {
                follow(event, &says);
            }
        };
        let thread = thread::Builder::new().name("waiter".into()).spawn(body).ok()?;
        let thread_id = receiver.recv_timeout(PATIENCE).ok()?;
        Some(Waiter { word, status: Status::of(thread_id)?, thread: Some(thread) })
    }

    /// Waits until the thread has seen this count and sleeps again, as deep as it will.
    pub fn settle(&self, count: u64) -> bool {
        let is_asleep = until(|| self.seen() == count && self.status.is_asleep());
        let since = Instant::now();
        while is_asleep && since.elapsed() < DEPTH {
            spin_loop();
        }
        is_asleep
    }

    /// Waits until the thread has said that it has seen this count. No clock is read if that comes
    /// soon.
    #[inline]
    pub fn wait_until_seen(&self, count: u64) -> bool {
        until(|| self.seen() == count)
    }

    /// What the thread has seen last.
    #[inline]
    pub fn seen(&self) -> u64 {
        // Acquire: what the thread did before it said so has happened.
        self.word.seen.load(Ordering::Acquire)
    }

    /// Whether the thread has ended, given that one more increment follows.
    pub fn end(&mut self, increment: impl FnOnce()) -> bool {
        self.word.ends.store(true, Ordering::Release);
        increment();
        let Some(thread) = self.thread.take() else { return true };
        until(|| thread.is_finished()) && thread.join().is_ok()
    }
}

/// Waits again and again, and says what it saw.
fn follow<E: Event>(event: &E, word: &Word) {
    let mut seen = 0;
    // Acquire: the end is stored before the increment that wakes this thread for it.
    while !word.ends.load(Ordering::Acquire) {
        event.wait(seen);
        seen = event.value();
        // Release: a thread that reads it knows that the wait is over.
        word.seen.store(seen, Ordering::Release);
    }
}

/// Looks until it is so; yields, and in the end gives up.
#[inline]
pub fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let mut since = None;
    loop {
        for _ in 0..LOOKS {
            if is_so() {
                return true;
            }
            spin_loop();
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return false;
        }
        thread::yield_now();
    }
}
