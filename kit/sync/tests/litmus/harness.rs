//! Runs the threads of a litmus test against each other, many times, and counts the outcomes.
//!
//! A round has words of its own, so that each begins with lines that the CPUs do not hold alike.
//! The threads meet before each round and then wait a random while each. What they did is looked at
//! when a batch of rounds is over.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::affinity::keep_to;
use crate::pace::{Random, Word, spin_until, wait_steps};

/// Rounds between two looks at the clock.
const BATCH: usize = 256;
/// Registers that a thread may give back.
pub const REGISTER_COUNT: usize = 2;
/// The random wait before a round is shorter than this many steps.
const DELAY_STEPS: u64 = 64;

/// The memory of a round.
#[derive(Default)]
pub struct Words {
    pub x: Word,
    pub y: Word,
}

pub type Registers = [u64; REGISTER_COUNT];

/// A litmus test.
pub struct Litmus {
    pub name: &'static str,
    pub thread_count: usize,
    /// What a thread does in a round, and what it has read then.
    pub body: fn(usize, &Words) -> Registers,
    /// What a finished round shows, from all registers and the words.
    pub outcome: fn(&[Registers], &Words) -> String,
    /// The outcome that is looked for.
    pub rare: &'static str,
}

/// How often each outcome was seen.
pub struct Outcomes {
    pub counts: BTreeMap<String, u64>,
    pub round_count: u64,
}

impl Outcomes {
    pub fn of(&self, outcome: &str) -> u64 {
        self.counts.get(outcome).copied().unwrap_or(0)
    }
}

#[derive(Default)]
struct Round {
    words: Words,
    /// Of each thread, its registers.
    read: [[AtomicU64; REGISTER_COUNT]; 4],
}

/// Rounds until `round_count` or the time is up, a thread on each of the first of `cpus`.
pub fn run(litmus: &Litmus, cpus: &[usize], round_count: u64, time: Duration) -> Outcomes {
    let deadline = Instant::now() + time;
    let batch = Batch {
        litmus,
        rounds: (0..BATCH).map(|_| Round::default()).collect(),
        arrived: AtomicUsize::new(0),
        gate: Barrier::new(litmus.thread_count + 1),
        is_over: AtomicBool::new(false),
    };
    let mut outcomes = Outcomes { counts: BTreeMap::new(), round_count: 0 };
    std::thread::scope(|scope| {
        for (thread, cpu) in cpus.iter().take(litmus.thread_count).enumerate() {
            let batch = &batch;
            scope.spawn(move || {
                keep_to(&[*cpu]);
                batch.take_part(thread);
            });
        }
        loop {
            let is_over = outcomes.round_count >= round_count || Instant::now() >= deadline;
            batch.is_over.store(is_over, Ordering::Relaxed);
            batch.arrived.store(0, Ordering::Relaxed);
            // The gate orders all that was stored before it, on both sides.
            batch.gate.wait();
            if is_over {
                break;
            }
            batch.gate.wait();
            batch.count(&mut outcomes);
        }
    });
    outcomes
}

struct Batch<'a> {
    litmus: &'a Litmus,
    rounds: Vec<Round>,
    /// Arrivals at rounds, of all threads, in this batch.
    arrived: AtomicUsize,
    gate: Barrier,
    is_over: AtomicBool,
}

impl Batch<'_> {
    fn take_part(&self, thread: usize) {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(thread as u64 + 1));
        loop {
            self.gate.wait();
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            for (number, round) in self.rounds.iter().enumerate() {
                self.meet(number);
                wait_steps(random.below(DELAY_STEPS));
                let registers = (self.litmus.body)(thread, &round.words);
                for (slot, value) in round.read[thread].iter().zip(registers) {
                    slot.store(value, Ordering::Relaxed);
                }
            }
            self.gate.wait();
        }
    }

    /// Waits until all threads have come to this round.
    fn meet(&self, round: usize) {
        let all = (round + 1) * self.litmus.thread_count;
        self.arrived.fetch_add(1, Ordering::Relaxed);
        // What orders the rounds is not looked at until the gate, so nothing need be acquired.
        spin_until(|| self.arrived.load(Ordering::Relaxed) >= all);
    }

    /// Between two batches, when the threads wait at the gate.
    fn count(&self, outcomes: &mut Outcomes) {
        for round in &self.rounds {
            let read: Vec<Registers> = round.read[..self.litmus.thread_count]
                .iter()
                .map(|registers| registers.each_ref().map(|r| r.load(Ordering::Relaxed)))
                .collect();
            *outcomes.counts.entry((self.litmus.outcome)(&read, &round.words)).or_default() += 1;
            round.words.x.0.store(0, Ordering::Relaxed);
            round.words.y.0.store(0, Ordering::Relaxed);
        }
        outcomes.round_count += self.rounds.len() as u64;
    }
}
