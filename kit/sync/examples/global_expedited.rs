//! Shows why the globally expedited `membarrier(2)` is never chosen: on Linux since 5.11 it leaves
//! out a CPU on which a thread of the process has ended, as long as the next to run there is of the
//! same process.
//!
//! In each round one thread ends on the last CPU while another waits there to run. Then each form
//! is called while that other thread runs, which surely runs: it made progress within 2 us before
//! the call and within 2 us after it. A call that interrupts a CPU takes microseconds.
//!
//! Run it with `cargo run --release -p tiebreak-sync --example global_expedited`, on a quiet
//! machine: a thread of another process that runs on that CPU in between hides the fault.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tiebreak_sync::barrier::{Barrier, Strategy};
use tiebreak_sync::interrupts::CpuSet;

const ROUNDS: usize = 20;
const CALLS: usize = 300;

fn main() {
    let cpus = CpuSet::of_thread().unwrap_or_default();
    let last = cpus.iter().last();
    run_on(cpus.iter().next());
    println!("{:<8} {:>24} {:>24}", "", "global expedited, us", "private expedited, us");
    for round in 1..=ROUNDS {
        let progress = AtomicU64::new(0);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                run_on(last);
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(2) {}
            });
            scope.spawn(|| {
                run_on(last);
                while !is_over.load(Relaxed) {
                    progress.fetch_add(1, Relaxed);
                }
            });
            std::thread::sleep(Duration::from_millis(4));
            let global = median_us(Strategy::GlobalExpedited, &progress);
            let private = median_us(Strategy::PrivateExpedited, &progress);
            println!("{round:<8} {global:>24} {private:>24}");
            is_over.store(true, Relaxed);
        });
    }
}

/// The median of the calls next to a running thread, and how many those were.
fn median_us(strategy: Strategy, progress: &AtomicU64) -> String {
    // SAFETY: no memory depends on it; it is only timed.
    let barrier = match unsafe { Barrier::trust(strategy) } {
        Ok(barrier) => barrier,
        Err(refused) => return refused.reason.to_string(),
    };
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let ran_before = is_running(progress);
        let begin = Instant::now();
        barrier.heavy();
        let elapsed = begin.elapsed();
        if ran_before && is_running(progress) {
            times.push(elapsed);
        }
    }
    times.sort_unstable();
    match times.get(times.len() / 2) {
        Some(median) => format!("{:.2} ({})", median.as_nanos() as f64 / 1000.0, times.len()),
        None => "- (0)".into(),
    }
}

fn is_running(progress: &AtomicU64) -> bool {
    let before = progress.load(Relaxed);
    let begin = Instant::now();
    while progress.load(Relaxed) == before {
        if begin.elapsed() > Duration::from_micros(2) {
            return false;
        }
    }
    true
}

/// If the kernel refuses, the round shows nothing.
fn run_on(cpu: Option<usize>) {
    let _ = CpuSet::from_iter(cpu).bind_thread();
}
