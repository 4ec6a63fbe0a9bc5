//! Threads that get into each other's way.

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
    /// Long enough for some hundred interrupts on a quiet machine.
    pub fn short() -> Until {
        let is_full = std::env::var_os("TIEBREAK_FULL").is_some();
        Until {
            aborts: if is_full { 20_000 } else { 40 },
            seconds: if is_full { 20.0 } else { 1.0 },
        }
    }
}

/// Runs `work` on six threads, all on the same two CPUs, again and again until there were enough
/// aborts or the time is over. It does a bit of work and gives how many aborts there were. Gives
/// what each thread's `work` has made of its `T`, and all aborts.
pub fn crew<T: Send + Default>(until: Until, work: impl Fn(&mut T) -> u64 + Sync) -> (Vec<T>, u64) {
    let (aborts, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let start = Instant::now();
    let one = || {
        share_cpus();
        let mut made = T::default();
        while !stop.load(Ordering::Relaxed) {
            let sum = aborts.fetch_add(work(&mut made), Ordering::Relaxed);
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

/// Says what a run without aborts is worth.
pub fn report(what: &str, done: u64, aborts: u64) {
    let worth = if aborts == 0 { "; none was interrupted, so this proves nothing" } else { "" };
    println!("{what}: {done} sections, {aborts} aborts{worth}");
}

/// Keeps this thread on the first two of its CPUs: on more of them nobody would have to wait.
pub fn share_cpus() {
    // SAFETY: sets of CPUs are plain numbers; both calls get the size of the one that they get.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let bytes = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, bytes, &raw mut allowed) != 0 {
            return;
        }
        let mut two: libc::cpu_set_t = std::mem::zeroed();
        let cpus = (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &allowed));
        cpus.take(CPUS).for_each(|cpu| libc::CPU_SET(cpu, &mut two));
        // Where it is refused, the threads have more room and fewer aborts, which is reported.
        libc::sched_setaffinity(0, bytes, &raw const two);
    }
}
