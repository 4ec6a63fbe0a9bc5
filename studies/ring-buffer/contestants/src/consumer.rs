//! The thread that reads.

use crate::input::Sum;
use crate::ring::Ring;
use events::event::Event;
use events::system::{current_cpu, leave_cpu};
use events::waiter::until;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// What both threads say to each other in addition to the ring.
#[derive(Default)]
#[repr(align(128))]
struct Words {
    /// How far the thread shall read.
    goal: AtomicU64,
    ends: AtomicBool,
    /// The goal that the thread has begun to read for, and the one that it has reached.
    begun: AtomicU64,
    reached: AtomicU64,
    /// What came of the last one.
    sum: AtomicU64,
}

pub struct Consumer {
    words: Arc<Words>,
    thread: Option<JoinHandle<()>>,
}

impl Consumer {
    /// Starts the thread, on another CPU than this thread's if there is one.
    pub fn start<E: Event>(ring: &'static Ring<E>) -> Option<Consumer> {
        let words = Arc::new(Words::default());
        let (cpu, said) = (current_cpu(), Arc::clone(&words));
        let body = move || {
            leave_cpu(cpu);
            ring.written.enter();
            follow(ring, &said);
        };
        let thread = thread::Builder::new().name("consumer".into()).spawn(body).ok()?;
        Some(Consumer { words, thread: Some(thread) })
    }

    /// Lets the thread read until there, and waits until it does.
    pub fn begin(&self, goal: u64) -> bool {
        // Every word here: what was done before it was said has happened.
        self.words.goal.store(goal, Ordering::Release);
        self.unpark();
        until(|| self.words.begun.load(Ordering::Acquire) == goal)
    }

    /// Waits until the thread is there; gives the sum of what it has read for this goal.
    pub fn end(&self, goal: u64) -> Option<u64> {
        let is_there = until(|| self.words.reached.load(Ordering::Acquire) == goal);
        is_there.then(|| self.words.sum.load(Ordering::Relaxed))
    }

    fn unpark(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// Whether the thread, which has reached its goal, has ended.
    pub fn stop(&mut self) -> bool {
        self.words.ends.store(true, Ordering::Release);
        self.unpark();
        let Some(thread) = self.thread.take() else { return true };
        until(|| thread.is_finished()) && thread.join().is_ok()
    }
}

/// Reads up to the position that it is given, again and again.
fn follow<E: Event>(ring: &Ring<E>, words: &Words) {
    let mut position = 0;
    while !words.ends.load(Ordering::Acquire) {
        let goal = words.goal.load(Ordering::Acquire);
        if goal == words.begun.load(Ordering::Relaxed) {
            thread::park();
            continue;
        }
        words.begun.store(goal, Ordering::Release);
        let sum = read(ring, &mut position, goal);
        words.sum.store(sum.value(), Ordering::Relaxed);
        words.reached.store(goal, Ordering::Release);
    }
}

#[inline(never)]
fn read<E: Event>(ring: &Ring<E>, position: &mut u64, goal: u64) -> Sum {
    let mut sum = Sum::default();
    while *position != goal {
        let written = ring.written.value();
        let unread = written.wrapping_sub(*position) & E::MASK;
        if unread == 0 {
            ring.written.wait(written);
            continue;
        }
        for at in *position..*position + unread {
            sum.add(ring.item(at));
        }
        *position += unread;
        ring.set_read(*position);
    }
    sum
}
