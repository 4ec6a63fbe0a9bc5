//! The strategies that interrupt do so, every time: counted by the kernel, where it does that.
//!
//! The litmus is too blunt for some faults. A system call of a few microseconds drains the store
//! buffers of most CPUs whether or not it interrupts them; `mprotect` of a page that was not
//! touched is such a call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tiebreak_sync::barrier::{Barrier, Strategy};

use crate::affinity::keep_to;
use crate::alone;
use crate::litmus::two_cpus;

const CALLS: u64 = 1000;
const TIME_MAX: Duration = Duration::from_millis(500);

/// The interrupts of a CPU by which another made it run a function or forget a translation, of
/// x86-64's `/proc/interrupts`.
fn interrupts_of(cpu: usize) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/interrupts").ok()?;
    let header: Vec<&str> = text.lines().next()?.split_whitespace().collect();
    let column = header.iter().position(|name| *name == format!("CPU{cpu}"))?;
    let count = |row: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(row))?;
        line.split_whitespace().nth(column)?.parse().ok()
    };
    Some(count("CAL:")? + count("TLB:")?)
}

/// Whether the counter went up within two microseconds: its thread is on a CPU.
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

/// How many heavy sides were called next to a thread that ran, of at most [`CALLS`].
fn call_beside(progress: &AtomicU64, barrier: Barrier) -> u64 {
    let begin = Instant::now();
    let mut calls = 0;
    while calls < CALLS && begin.elapsed() < TIME_MAX {
        let ran_before = is_running(progress);
        barrier.heavy();
        if ran_before && is_running(progress) {
            calls += 1;
        }
    }
    calls
}

#[test]
fn a_running_thread_is_interrupted_by_every_heavy_side() {
    let _alone = alone();
    let cpus = match two_cpus() {
        Ok(cpus) => cpus,
        Err(reason) => return println!("skipped: {reason}"),
    };
    if interrupts_of(cpus[1]).is_none() {
        return println!("skipped: this kernel does not tell how often a CPU was interrupted");
    }
    for strategy in [Strategy::PrivateExpedited, Strategy::Mprotect] {
        match Barrier::with(strategy) {
            Ok(barrier) => check(barrier, cpus),
            Err(refused) => println!("skipped: {refused}"),
        }
    }
}

fn check(barrier: Barrier, cpus: [usize; 2]) {
    let progress = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let (calls, interrupts) = std::thread::scope(|scope| {
        scope.spawn(|| {
            keep_to(&[cpus[1]]);
            while !is_over.load(Relaxed) {
                progress.fetch_add(1, Relaxed);
            }
        });
        let caller = scope.spawn(|| {
            keep_to(&[cpus[0]]);
            let before = interrupts_of(cpus[1]).unwrap_or(0);
            let calls = call_beside(&progress, barrier);
            (calls, interrupts_of(cpus[1]).unwrap_or(0) - before)
        });
        let counts = caller.join().unwrap();
        is_over.store(true, Relaxed);
        counts
    });
    println!("{}: {calls} calls, {interrupts} interrupts", barrier.strategy());
    // Between the two looks around a call the thread may rarely have been off its CPU.
    assert!(interrupts * 10 >= calls * 9, "{}", barrier.strategy());
}
