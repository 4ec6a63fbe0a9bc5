//! How many rounds a verdict takes by version 2 of the engine, of which that was published.

use crate::common::noise::{Noise, SCENARIOS};
use crate::common::race::Race;
use crate::common::rates::count;
use crate::common::settle;
use std::sync::Mutex;
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_stats::coins::Seed;
use tiebreak_stats::ratio_test::RatioTest;

/// B's time over A's, and the median rounds to "A is faster" at an error of 1% in each scenario, as
/// an independent program found them (those at 1.005 with the hyperbolic tangent as score).
const PUBLISHED: [(f64, [u64; 4]); 4] = [
    (1.005, [228, 289, 231, 189]),
    (1.01, [60, 76, 67, 52]),
    (1.02, [20, 25, 31, 18]),
    (1.05, [9, 9, 13, 9]),
];

/// The most rounds of a stream.
const ROUNDS_MAX: usize = 5000;

fn median_rounds(noise: Noise, ratio: f64, streams: u64) -> u64 {
    let seed = Seed::from_text(&format!("speed/{}/{ratio}", noise.name));
    let race = Race::new(noise, libm::log(ratio));
    let all = Mutex::new(Vec::new());
    let faster = Relation::AtLeast { factor: 1.0 };
    count(0..streams, |stream| {
        let test = RatioTest::by_version(2, faster, Centre::Factor, 0.01, 0.0, Adjust::NONE);
        let settled = settle(test, race.rounds(seed, stream).take(ROUNDS_MAX));
        all.lock().unwrap().push(settled.map_or(u64::MAX, |(_, rounds)| rounds));
        true
    });
    let mut rounds = all.into_inner().unwrap();
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}

fn check(streams: u64, tolerance: f64) {
    for (ratio, published) in PUBLISHED {
        for (noise, published) in SCENARIOS.into_iter().zip(published) {
            let rounds = median_rounds(noise, ratio, streams);
            println!("{ratio:<6} {:<9} {rounds:>4} rounds, published {published}", noise.name);
            let off = (rounds as f64 / published as f64 - 1.0).abs();
            assert!(off <= tolerance, "{} at {ratio}: {rounds}, not {published}", noise.name);
        }
    }
}

#[test]
fn verdicts_take_about_as_long_as_published() {
    check(300, 0.3);
}

#[test]
#[ignore = "full: 2 000 streams, run by make full"]
fn verdicts_take_as_long_as_published() {
    check(2000, 0.15);
}
