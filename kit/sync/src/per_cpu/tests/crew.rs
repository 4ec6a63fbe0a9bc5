//! Threads that get into each other's way.

use super::ABORTS;
use crate::test_affinity::{allowed_cpus, keep_to};
use crate::test_length::is_full;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

const THREADS: usize = 6;
const CPUS: usize = 2;

/// When a crew may stop.
pub struct Until {
    pub aborts: u64,
    pub seconds: f64,
}

impl Until {
    /// The short form is long enough for some hundred interrupts on a quiet machine.
    pub fn of_a_run() -> Until {
        if is_full() {
            Until { aborts: 20_000, seconds: 20.0 }
        } else {
            Until { aborts: 40, seconds: 1.0 }
        }
    }
}

/// Runs `work` on six threads, all on the same two CPUs, again and again until there were enough
/// aborts or the time is over. It does a bit of work. Gives what each thread's `work` has made of
/// its `T`, and all aborts.
pub fn crew<T: Send + Default>(until: Until, work: impl Fn(&mut T) + Sync) -> (Vec<T>, u64) {
    let (aborts, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let start = Instant::now();
    let one = || {
        share_cpus();
        let mut made = T::default();
        while !stop.load(Ordering::Relaxed) {
            work(&mut made);
            let sum = aborts.fetch_add(ABORTS.take(), Ordering::Relaxed);
            if sum >= until.aborts || start.elapsed().as_secs_f64() >= until.seconds {
                stop.store(true, Ordering::Relaxed);
            }
        }
        made
    };
    let made = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    (made, aborts.into_inner())
}

/// Says how often sections were interrupted.
pub fn report(what: &str, done: u64, aborts: u64) {
    println!("{what}: {done} sections, {aborts} aborts");
}

/// For what is chance in the short form, and must be so in the long one: says, or fails, that
/// without it a run proves nothing.
pub fn prove(is_so: bool, what: &str) {
    if !is_so {
        println!("{what}: this run proves nothing");
    }
    assert!(is_so || !is_full(), "{what}, in the long form");
}

/// Keeps this thread on the first two of its CPUs: on more of them no thread would have to wait.
pub fn share_cpus() {
    let mut cpus = allowed_cpus();
    cpus.truncate(CPUS);
    // Where it is refused, the threads have more room and fewer aborts, which is reported.
    keep_to(&cpus);
}
