//! What an update and an interval cost: `cargo bench -p tiebreak-stats`.
//!
//! At 1 000 rounds, the aim is under 200 ns for an update and under 2 ms for an interval; with
//! learners, 2 us and 10 ms. A million rounds with their interval, the draws of the simulation
//! included, take at most 5 s. The noise is so large that nothing is settled while it is timed.

use std::hint::black_box;
use std::time::Instant;
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

/// Repetitions of a measurement; the median is printed.
const REPETITIONS: usize = 21;
/// Rounds that one timing of updates takes; the number of rounds grows by so many meanwhile.
const UPDATES: usize = 100;
/// The engines, each with the centre that it estimates.
const ENGINES: [(&str, Centre); 2] = [("M4", Centre::Factor), ("S2", Centre::Median)];

fn main() {
    println!("engine  rounds  ns an update  ms an interval");
    for (name, centre) in ENGINES {
        for rounds in [10, 100, 1_000, 10_000] {
            let (test, next) = after(rounds, centre);
            let update_ns = median(|| update_ns(&test, &next));
            let interval_ms = median(|| interval_ms(&test));
            println!("{name:<6}  {rounds:>6}  {update_ns:>12.1}  {interval_ms:>14.4}");
        }
    }
    println!("engine   rounds  s for all of them and their interval");
    for (name, centre) in ENGINES {
        for rounds in [100_000, 1_000_000] {
            let start = Instant::now();
            let (test, _) = after(rounds, centre);
            black_box(test.limits());
            assert!(test.settled().is_none(), "a settled question costs nothing");
            println!("{name:<6} {rounds:>8}  {:.2}", start.elapsed().as_secs_f64());
        }
    }
}

/// A question after so many rounds, and the rounds that come next.
fn after(rounds: usize, centre: Centre) -> (RatioTest, Vec<LogRatio>) {
    let mut stream = Stream::new(Seed::from_text("bench"), Purpose::Simulation, 0, 0);
    let mut round = || LogRatio::exact(0.5 * stream.normal());
    let mut test = RatioTest::new(Relation::Order, centre, 0.01, 0.0, Adjust::NONE);
    for _ in 0..rounds {
        test.observe(round(), &Conditions::UNKNOWN);
    }
    (test, (0..UPDATES).map(|_| round()).collect())
}

fn update_ns(test: &RatioTest, next: &[LogRatio]) -> f64 {
    let mut test = test.clone();
    let start = Instant::now();
    for d in next {
        black_box(test.observe(*d, &Conditions::UNKNOWN));
    }
    let elapsed_ns = start.elapsed().as_nanos() as f64;
    assert!(test.settled().is_none(), "a settled question costs nothing");
    elapsed_ns / next.len() as f64
}

fn interval_ms(test: &RatioTest) -> f64 {
    let start = Instant::now();
    black_box(test.limits());
    start.elapsed().as_nanos() as f64 / 1e6
}

fn median(measure: impl FnMut() -> f64) -> f64 {
    let mut values: Vec<f64> = std::iter::repeat_with(measure).take(REPETITIONS).collect();
    values.sort_by(f64::total_cmp);
    values[REPETITIONS / 2]
}
