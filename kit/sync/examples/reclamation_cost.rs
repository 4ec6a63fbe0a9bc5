//! What reading and retiring cost on this machine: the median, in ns, over batches of each.
//!
//! `cargo run --release -p tiebreak-sync --example reclamation_cost`

use std::hint::black_box;
use std::sync::atomic::AtomicPtr;
use std::time::Instant;
use tiebreak_sync::barrier::Barrier;
use tiebreak_sync::{collections, epoch, hazard};

const BATCH: u32 = 4096;
const BATCHES: usize = 1000;

/// The median over the batches of the time that one call takes.
fn median_ns(mut call: impl FnMut()) -> f64 {
    let mut batch = || {
        let start = Instant::now();
        (0..BATCH).for_each(|_| call());
        start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH)
    };
    let mut times: Vec<f64> = (0..BATCHES).map(|_| batch()).collect();
    times.sort_by(f64::total_cmp);
    times[BATCHES / 2]
}

fn say(what: &str, ns: f64) {
    println!("{what:<36}{ns:>8.2}");
}

fn epochs(barrier: Barrier) {
    let collector = epoch::Collector::with_barrier(barrier);
    let handle = collector.register();
    say("epoch: pin and unpin, handle", median_ns(|| drop(black_box(handle.pin()))));
    let outer = handle.pin();
    say("epoch: the same inside a pin", median_ns(|| drop(black_box(handle.pin()))));
    drop(outer);
    say("epoch: allocate, pin, retire", {
        median_ns(|| {
            let object = Box::into_raw(Box::new(1_u64));
            // SAFETY: it came from a box and was never shared.
            unsafe { handle.pin().retire(black_box(object)) };
        })
    });
    let stack = collections::Stack::new(&collector);
    say("epoch: stack push and pop", {
        median_ns(|| {
            stack.push(1_u64);
            black_box(stack.pop(&handle));
        })
    });
    let queue = collections::Queue::new(&collector);
    say("epoch: queue push and pop", {
        median_ns(|| {
            queue.push(1_u64, &handle);
            black_box(queue.pop(&handle));
        })
    });
}

fn hazards(barrier: Barrier) {
    let domain = hazard::Domain::with_barrier(barrier);
    let handle = domain.register();
    let mut value = 1_u64;
    let source = AtomicPtr::new(&raw mut value);
    let mut hazard = handle.hazard();
    say("hazard: protect, slot kept", {
        median_ns(|| {
            // SAFETY: it points to `value`, which is never retired.
            black_box(unsafe { hazard.protect(black_box(&source)) });
        })
    });
    say("hazard: take a slot, protect, give back", {
        median_ns(|| {
            let mut hazard = handle.hazard();
            // SAFETY: as above.
            black_box(unsafe { hazard.protect(black_box(&source)) });
        })
    });
    say("hazard: allocate, retire", {
        median_ns(|| {
            let object = Box::into_raw(Box::new(1_u64));
            // SAFETY: it came from a box and was never shared.
            unsafe { handle.retire(black_box(object)) };
        })
    });
    let stack = collections::Stack::new(&domain);
    say("hazard: stack push and pop", {
        median_ns(|| {
            stack.push(1_u64);
            black_box(stack.pop(&handle));
        })
    });
    let queue = collections::Queue::new(&domain);
    say("hazard: queue push and pop", {
        median_ns(|| {
            queue.push(1_u64, &handle);
            black_box(queue.pop(&handle));
        })
    });
}

fn main() {
    say("allocate and free, for comparison", {
        median_ns(|| drop(black_box(Box::new(black_box(1_u64)))))
    });
    say("epoch: pin and unpin, thread-local", median_ns(|| drop(black_box(epoch::pin()))));
    for barrier in [Barrier::process(), Barrier::seq_cst()] {
        println!("with {}:", barrier.strategy());
        epochs(barrier);
        hazards(barrier);
    }
}
