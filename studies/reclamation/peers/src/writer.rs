//! The second thread of `read-write`: it replaces the object at a steady rate while a run lasts.

use crate::node::Node;
use crate::scheme::Scheme;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// From one replacement to the next.
const PERIOD: Duration = Duration::from_micros(5);
/// How long it stays awake between two runs of a batch.
const LINGER: Duration = Duration::from_micros(300);
/// The longest that a run waits for it to wake.
const WAKE_MAX: Duration = Duration::from_secs(1);

/// How the two threads agree.
#[derive(Default)]
struct Pace {
    /// Odd while a run lasts.
    phase: AtomicU64,
    is_asleep: AtomicBool,
    is_over: AtomicBool,
    replaced: AtomicU64,
}

pub struct Writer {
    pace: Arc<Pace>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start<S: Scheme>(shared: &'static S::Shared, key: u64) -> Option<Writer> {
        let pace = Arc::new(Pace::default());
        let theirs = Arc::clone(&pace);
        let reader_cpu = current_cpu();
        let work = move || {
            avoid(reader_cpu);
            write::<S>(shared, key, &theirs);
        };
        let thread = thread::Builder::new().spawn(work).ok()?;
        Some(Writer { pace, thread: Some(thread) })
    }

    /// A run begins. If the writer slept, it has replaced the object once when this returns.
    #[inline(always)]
    pub fn begin(&self) {
        // Sequentially consistent, like the writer's two accesses: either it sees the new phase, or
        // it is seen asleep here.
        self.pace.phase.fetch_add(1, Ordering::SeqCst);
        if self.pace.is_asleep.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// The run is over.
    #[inline(always)]
    pub fn end(&self) {
        // Relaxed: the writer only stops working, now or a little later.
        self.pace.phase.fetch_add(1, Ordering::Relaxed);
    }

    #[cold]
    fn wake(&self) {
        // Relaxed: a count.
        let before = self.pace.replaced.load(Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
        let start = Instant::now();
        while self.pace.replaced.load(Ordering::Relaxed) == before && start.elapsed() < WAKE_MAX {
            thread::yield_now();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Relaxed: unpark orders it before what the writer does once it is awake.
        self.pace.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic has aborted the process.
            let _ended = thread.join();
        }
    }
}

fn write<S: Scheme>(shared: &'static S::Shared, key: u64, pace: &Pace) {
    let mut local = S::register(shared);
    let mut number = 0_u64;
    let mut last_run = Instant::now();
    // Relaxed: see `drop`.
    while !pace.is_over.load(Ordering::Relaxed) {
        let phase = pace.phase.load(Ordering::Relaxed);
        if phase % 2 == 1 {
            last_run = Instant::now();
        } else if last_run.elapsed() > LINGER {
            sleep(pace, phase);
            last_run = Instant::now();
            continue;
        }
        number += 1;
        let next = Instant::now() + PERIOD;
        let read = S::replace(shared, &mut local, Node::new(key, number));
        // An object that is not whole here is not whole for anybody.
        if read != key {
            std::process::abort();
        }
        // Relaxed: a count, written by this thread alone.
        pace.replaced.store(number, Ordering::Relaxed);
        while Instant::now() < next {
            thread::yield_now();
        }
    }
}

fn sleep(pace: &Pace, phase: u64) {
    pace.is_asleep.store(true, Ordering::SeqCst);
    // Sequentially consistent: see `begin`.
    while pace.phase.load(Ordering::SeqCst) == phase && !pace.is_over.load(Ordering::Relaxed) {
        thread::park();
    }
    pace.is_asleep.store(false, Ordering::SeqCst);
}

fn current_cpu() -> usize {
    // SAFETY: no arguments.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

/// Runs this thread on any CPU but this one. Where there is no other it stays, and the two take
/// turns.
fn avoid(cpu: usize) {
    // SAFETY: a set of bits, for which zeros are a value; the index is below its size; the kernel
    // reads it and leaves out the CPUs that may not be used.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for index in (0..libc::CPU_SETSIZE as usize).filter(|index| *index != cpu) {
            libc::CPU_SET(index, &mut set);
        }
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}
