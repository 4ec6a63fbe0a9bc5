//! The processor of this machine against what the explorer takes it to be: outcomes that x86-TSO
//! forbids must not be seen. That proves something only if the threads really meet, so store
//! buffering without a fence is the control: its reordering must be seen often in the same run.
//!
//! `cargo test -p tiebreak-sync --test litmus -- --nocapture` prints the outcomes. With
//! TIEBREAK_FULL=1 it takes some minutes.
#![cfg(all(target_arch = "x86_64", not(any(loom, miri))))]

#[path = "../common/affinity.rs"]
mod affinity;
mod harness;
#[path = "../common/length.rs"]
mod length;
#[path = "../common/pace.rs"]
mod pace;

use std::sync::atomic::{Ordering, compiler_fence, fence};
use std::time::Duration;

use affinity::allowed_cpus;
use harness::{Litmus, Outcomes, Registers, Words, run};
use length::is_full;
use pace::{CONTROL_MIN, Word};

// A release store and an acquire load are plain `mov`s here, and the compiler keeps their order
// where the fence for the compiler stands between.

fn store(word: &Word, value: u64) {
    word.0.store(value, Ordering::Release);
    compiler_fence(Ordering::SeqCst);
}

fn load(word: &Word) -> u64 {
    let value = word.0.load(Ordering::Acquire);
    compiler_fence(Ordering::SeqCst);
    value
}

/// The words in the order in which a thread takes them: the second one the other way round.
fn ordered(thread: usize, words: &Words) -> (&Word, &Word) {
    if thread.is_multiple_of(2) { (&words.x, &words.y) } else { (&words.y, &words.x) }
}

fn store_buffering(thread: usize, words: &Words) -> Registers {
    let (own, other) = ordered(thread, words);
    store(own, 1);
    [load(other), 0]
}

fn store_buffering_fenced(thread: usize, words: &Words) -> Registers {
    let (own, other) = ordered(thread, words);
    store(own, 1);
    // The full fence is what is tested.
    fence(Ordering::SeqCst);
    [load(other), 0]
}

fn store_buffering_exchanged(thread: usize, words: &Words) -> Registers {
    let (own, other) = ordered(thread, words);
    // `xchg`, a locked instruction.
    own.0.swap(1, Ordering::SeqCst);
    compiler_fence(Ordering::SeqCst);
    [load(other), 0]
}

fn message_passing(thread: usize, words: &Words) -> Registers {
    if thread == 0 {
        store(&words.x, 1);
        store(&words.y, 1);
        [0, 0]
    } else {
        [load(&words.y), load(&words.x)]
    }
}

fn load_buffering(thread: usize, words: &Words) -> Registers {
    let (own, other) = ordered(thread, words);
    let read = load(own);
    store(other, 1);
    [read, 0]
}

fn two_writers(thread: usize, words: &Words) -> Registers {
    let (first, second) = ordered(thread, words);
    store(first, 1);
    store(second, 2);
    [0, 0]
}

fn independent_reads(thread: usize, words: &Words) -> Registers {
    let (first, second) = ordered(thread, words);
    if thread < 2 {
        store(first, 1);
        return [0, 0];
    }
    [load(first), load(second)]
}

fn each_first(read: &[Registers], _: &Words) -> String {
    format!("a={} b={}", read[0][0], read[1][0])
}

fn of_the_reader(read: &[Registers], _: &Words) -> String {
    format!("y={} x={}", read[1][0], read[1][1])
}

fn final_words(_: &[Registers], words: &Words) -> String {
    format!("x={} y={}", load(&words.x), load(&words.y))
}

fn of_both_readers(read: &[Registers], _: &Words) -> String {
    format!("x={} y={}, y={} x={}", read[2][0], read[2][1], read[3][0], read[3][1])
}

const CONTROL: Litmus = Litmus {
    name: "SB, no fence (the control)",
    thread_count: 2,
    body: store_buffering,
    outcome: each_first,
    rare: "a=0 b=0",
};

/// What x86-TSO forbids.
const FORBIDDEN: [Litmus; 6] = [
    Litmus { name: "SB, fences", body: store_buffering_fenced, ..CONTROL },
    Litmus { name: "SB, exchanges", body: store_buffering_exchanged, ..CONTROL },
    Litmus {
        name: "MP",
        body: message_passing,
        outcome: of_the_reader,
        rare: "y=1 x=0",
        ..CONTROL
    },
    Litmus { name: "LB", body: load_buffering, rare: "a=1 b=1", ..CONTROL },
    Litmus { name: "2+2W", body: two_writers, outcome: final_words, rare: "x=1 y=1", ..CONTROL },
    Litmus {
        name: "IRIW",
        thread_count: 4,
        body: independent_reads,
        outcome: of_both_readers,
        rare: "x=1 y=0, y=1 x=0",
    },
];

fn print(litmus: &Litmus, outcomes: &Outcomes) {
    println!("{}: {} rounds", litmus.name, outcomes.round_count);
    for (outcome, count) in &outcomes.counts {
        let mark = if outcome == litmus.rare { "  <- looked for" } else { "" };
        println!("    {outcome:<20} {count:>10}{mark}");
    }
    if outcomes.of(litmus.rare) == 0 {
        println!("    {:<20} {:>10}  <- looked for", litmus.rare, 0);
    }
}

#[test]
fn the_processor_shows_nothing_that_x86_forbids() {
    let (round_count, time) = if is_full() { (20_000_000, 30_000) } else { (100_000, 250) };
    let time = Duration::from_millis(time);
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("not run: it needs two CPUs, and this process may use {}", cpus.len());
        return;
    }
    let control = run(&CONTROL, &cpus, round_count, time);
    print(&CONTROL, &control);
    let seen = control.of(CONTROL.rare);
    if seen < CONTROL_MIN {
        println!("this run proves nothing: the control was reordered {seen} times only");
    }
    for litmus in &FORBIDDEN {
        if cpus.len() < litmus.thread_count {
            let needed = litmus.thread_count;
            println!("{}: not run: it needs {needed} CPUs, here are {}", litmus.name, cpus.len());
            continue;
        }
        let outcomes = run(litmus, &cpus, round_count, time);
        print(litmus, &outcomes);
        assert_eq!(outcomes.of(litmus.rare), 0, "{}: {}", litmus.name, litmus.rare);
    }
}
