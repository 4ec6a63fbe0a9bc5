//! Prints which barrier this process has, which others would work here and why the rest would not,
//! and how long the heavy side of each takes: alone, and next to a thread that surely runs.
//!
//! The difference is the interrupt. A neighbour that merely exists may be waiting for a CPU, and
//! then there is no thread to interrupt: a sample counts only if the neighbour made progress within
//! 2 us before the call and within 2 us after it. That says nothing of strategies that wait (for
//! barrierd, or for the kernel's grace period): in a long wait the neighbour loses its CPU, so only
//! short waits would count. For them the second columns stay empty.
//!
//! Run it with `cargo run --release -p tiebreak-sync --example barriers`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tiebreak_sync::barrier::{Barrier, Reason, Refused, Strategy};
use tiebreak_sync::interrupts::CpuSet;

const SAMPLES_MAX: usize = 5000;
const TIME_MAX: Duration = Duration::from_secs(1);
const PROGRESS_WITHIN: Duration = Duration::from_micros(2);

fn main() {
    println!("{}\n", Barrier::choice());
    let cpus: Vec<usize> = CpuSet::of_thread().unwrap_or_default().iter().collect();
    run_on(cpus.first());
    println!("{:<30} {:>34} {:>34}", "", "alone", "next to a running thread");
    let columns = format!("{:>10} {:>12} {:>10}", "median, us", "p99, us", "samples");
    println!("{:<30} {columns} {columns}", "heavy side");
    for strategy in Strategy::ALL {
        // SAFETY: no memory depends on it; it is only timed.
        match unsafe { Barrier::trust(strategy) } {
            Ok(barrier) => {
                let alone = measure(barrier, None);
                let accompanied =
                    if waits(strategy) { NOT_MEASURED } else { beside_a_neighbour(barrier, &cpus) };
                println!("{:<30} {alone} {accompanied}", strategy.name());
            }
            Err(refused) => println!("{:<30} not here: {}", strategy.name(), refused.reason),
        }
        if let Err(Refused { reason: Reason::Unsound(unsound), .. }) = Barrier::with(strategy) {
            println!("{:<30} not offered: {unsound}", "");
        }
    }
    println!("\n-: not measured. Who waits keeps only samples that were short: see `alone`.");
}

/// Whether the heavy side waits for something that comes anyway and interrupts no thread.
fn waits(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::Interrupts | Strategy::GlobalUnexpedited)
}

/// This thread stays on that CPU. If the kernel refuses, samples are lost, not falsified.
fn run_on(cpu: Option<&usize>) {
    let _ = CpuSet::from_iter(cpu.copied()).bind_thread();
}

/// The times of a heavy side.
struct Times {
    sorted_ns: Vec<u64>,
    calls: usize,
}

const NOT_MEASURED: Times = Times { sorted_ns: Vec::new(), calls: 0 };

impl std::fmt::Display for Times {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.sorted_ns.len();
        let samples = match self.calls {
            0 => "-".to_string(),
            calls => format!("{kept}/{calls}"),
        };
        if kept == 0 {
            return write!(formatter, "{:>10} {:>12} {samples:>10}", "-", "-");
        }
        let at = |part: f64| self.sorted_ns[((kept - 1) as f64 * part) as usize] as f64 / 1000.0;
        write!(formatter, "{:>10.2} {:>12.2} {samples:>10}", at(0.5), at(0.99))
    }
}

/// On one CPU there are no samples: no other thread can run at the same time.
fn beside_a_neighbour(barrier: Barrier, cpus: &[usize]) -> Times {
    let progress = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            run_on(cpus.last());
            while !is_over.load(Relaxed) {
                progress.fetch_add(1, Relaxed);
            }
        });
        let times = measure(barrier, Some(&progress));
        is_over.store(true, Relaxed);
        times
    })
}

/// Next to a neighbour that counts up, if there is one.
fn measure(barrier: Barrier, neighbour: Option<&AtomicU64>) -> Times {
    let mut times = Times { sorted_ns: Vec::new(), calls: 0 };
    let begin = Instant::now();
    while times.sorted_ns.len() < SAMPLES_MAX && begin.elapsed() < TIME_MAX {
        let ran_before = neighbour.is_none_or(makes_progress);
        let start = Instant::now();
        barrier.heavy();
        let elapsed = start.elapsed();
        let ran_after = neighbour.is_none_or(makes_progress);
        times.calls += 1;
        if ran_before && ran_after {
            times.sorted_ns.push(elapsed.as_nanos() as u64);
        }
    }
    times.sorted_ns.sort_unstable();
    times
}

fn makes_progress(counter: &AtomicU64) -> bool {
    let before = counter.load(Relaxed);
    let begin = Instant::now();
    while counter.load(Relaxed) == before {
        if begin.elapsed() > PROGRESS_WITHIN {
            return false;
        }
        std::hint::spin_loop();
    }
    true
}
