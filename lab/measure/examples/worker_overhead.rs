//! What the laboratory costs where functions are concerned, turn and turn about with what it is
//! held against:
//!
//! - a call of an empty contestant in a worker's timed loop, against a loop written by hand in C;
//! - a round in a worker that stays, without its timed batches: asking, untimed calls, meters,
//!   answering, and judging checksums;
//! - a unit with a process of its own, in addition to its rounds.
//!
//! `cargo run --release -p tiebreak-measure --example worker_overhead`. Fails if a call costs a
//! nanosecond more than by hand, or a round 100 us.

use std::process::ExitCode;
use std::time::Instant;
use study::{BatchCalls, NEVER, RIGHT, Source, Study, claim, coins, compile, run};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{PlannedClaim, Scope};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_measure::worker;
use tiebreak_measure::workers::{Clock, WorkerProgram, Workers};

#[path = "../tests/common/mod.rs"]
mod common;
#[expect(dead_code, reason = "the tests of the worker use more of it than this example")]
#[path = "../tests/worker/study.rs"]
mod study;

const CALLS: u64 = 100_000;
const ROUNDS: usize = 400;
const UNITS: usize = 30;
const CALL_LIMIT_NS: f64 = 1.0;
const ROUND_LIMIT_US: f64 = 100.0;

/// The loop as one would write it, around the same empty function from another library.
const BY_HAND: &str = r#"
#include <time.h>
uint64_t by_hand(uint64_t (*volatile function)(void *), void *state, uint64_t calls) {
  struct timespec start, end;
  uint64_t (*run)(void *) = function, sum = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (uint64_t i = 0; i < calls; i++) sum += run(state);
  clock_gettime(CLOCK_MONOTONIC, &end);
  tiebreak_keep(sum);
  return (end.tv_sec - start.tv_sec) * 1000000000ull + end.tv_nsec - start.tv_nsec;
}
"#;

type ByHand = unsafe extern "C" fn(Run, *mut libc::c_void, u64) -> u64;
type Run = unsafe extern "C" fn(*mut libc::c_void) -> u64;

fn program() -> WorkerProgram {
    WorkerProgram::this()
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("__worker") {
        return worker::main().into();
    }
    let clock = Clock::measure();
    println!(
        "clock: a step of {:.0} ns, {:.0} ns for two reads; a batch takes {:.0} us at least",
        clock.step_ns,
        clock.cost_ns,
        clock.shortest_batch_ns() / 1e3
    );
    let call = calls();
    let round = rounds("", &[]);
    rounds(" with counters", &[claim(Metric::Cycles)]);
    units();
    let is_good = call <= CALL_LIMIT_NS && round <= ROUND_LIMIT_US;
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An empty contestant: its checksum is that of an empty input.
const EMPTY: Source<'static> = Source { run: "return 0;", ..RIGHT };

fn empty(scope: Scope, calls_a_batch: u64) -> Study {
    let mut study = Study::new(&[EMPTY, EMPTY]);
    study.plan.scope = scope;
    let cpu = tiebreak_machine::cpus::allowed().last().copied();
    let functions = study.functions();
    functions.workload.size = 0;
    functions.calls_a_batch = BatchCalls::Alike(calls_a_batch);
    functions.cpu = cpu;
    study
}

/// The cost of a call and what it costs by hand, in nanoseconds.
fn calls() -> f64 {
    let study = empty(Scope::Code, CALLS);
    let by_hand = compile(study.path(), "by_hand", BY_HAND, &["-shared", "-O2"]);
    let nothing = "uint64_t nothing(void *state) { (void)state; return 0; }";
    let nothing = compile(study.path(), "nothing", nothing, &["-shared"]);
    // SAFETY: the libraries were just compiled from the sources above, which have these functions.
    let (_libraries, by_hand, nothing) = unsafe {
        let [a, b] = [by_hand, nothing].map(|path| libloading::Library::new(path).expect("one"));
        let by_hand: ByHand = *a.get(b"by_hand").expect("a function");
        let nothing: Run = *b.get(b"nothing").expect("a function");
        ([a, b], by_hand, nothing)
    };
    let mut workers = study.workers_until(&NEVER);
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..UNITS {
        let ran = run(&mut workers, &coins(&[0, 1]), &vec![vec![0, 1]; 20]).expect("a unit");
        let all = ran.batches.iter().flatten();
        ours.extend(all.map(|time| time.low_ns as f64 / CALLS as f64));
        for _ in 0..40 {
            // SAFETY: the function takes any state, and calls the other one with it.
            let wall_ns = unsafe { by_hand(nothing, std::ptr::null_mut(), CALLS) };
            theirs.push(wall_ns as f64 / CALLS as f64);
        }
    }
    let (theirs, ours) = (median(theirs), median(ours));
    println!("an empty call by hand       {theirs:7.2} ns");
    println!("the same in a worker        {ours:7.2} ns  {:+.2} ns", ours - theirs);
    ours - theirs
}

/// What a round in a process that stays costs in addition to its batches, in microseconds.
fn rounds(how: &str, claims: &[PlannedClaim]) -> f64 {
    let mut study = empty(Scope::Layout, 50_000);
    study.plan.claims = claims.to_vec();
    let mut workers = study.workers_until(&NEVER);
    let first = coins(&[0, 1]);
    run(&mut workers, &first, &[vec![0, 1]]).expect("a unit");
    let next = RoundCoins { unit: None, ..first };
    let mut beside = Vec::new();
    for _ in 0..ROUNDS {
        beside.push(beside_ns(&mut workers, &next, 1) / 1e3);
    }
    let beside = median(beside);
    println!("a round beside its batches  {beside:7.1} us{how}");
    beside
}

/// What a unit with a process of its own costs in addition to its rounds.
fn units() {
    let study = empty(Scope::Code, 50_000);
    let mut workers = study.workers_until(&NEVER);
    let (mut links, mut beside) = (Vec::new(), Vec::new());
    let coming = vec![coins(&[0, 1]); 2];
    for _ in 0..UNITS {
        let start = Instant::now();
        tiebreak_core::sampler::FunctionSampler::expect(&mut workers, &coming);
        links.push(start.elapsed().as_nanos() as f64 / 1e6);
        beside.push(beside_ns(&mut workers, &coming[0], 4) / 1e6);
    }
    println!(
        "a unit beside its batches   {:7.2} ms, its two links before {:.1} ms",
        median(beside),
        median(links)
    );
}

/// Runs so many rounds, and returns what they cost in addition to their batches, in nanoseconds.
fn beside_ns(workers: &mut Workers, coins: &RoundCoins, rounds: usize) -> f64 {
    let orders = vec![vec![0, 1]; rounds];
    let start = Instant::now();
    let ran = run(workers, coins, &orders).expect("a unit");
    let whole_ns = start.elapsed().as_nanos() as f64;
    let timed_ns: u64 = ran.samples.iter().map(|sample| sample.wall_ns).sum();
    whole_ns - timed_ns as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
