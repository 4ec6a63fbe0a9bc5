//! How often verdicts about a share are wrong where they most easily are, and how soon they come.

use crate::common::rates::{Cell, FULL, Form, SHORT, count};
use crate::common::trials::{Service, settle};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::share_test::{ShareTest, Trial};

/// Bars as people ask for them.
const BARS: [(f64, f64); 6] =
    [(0.99, 0.98), (0.98, 0.96), (0.99, 0.99), (0.9, 0.8), (0.5, 0.5), (0.1, 0.05)];

/// A verdict at a truth; of `holds` the bad share, of `refuted` the good one is its edge.
fn verdict(good: f64, bad: f64, truth: f64, wrong: Verdict) -> Cell {
    let what = format!("'{good} or {bad}' {wrong} at {truth}");
    Cell::new(what, "independent", "half", move |form: Form, seed, stream| {
        let test = ShareTest::new(good, bad, 1, form.error);
        let trials = Service::independent(truth).trials(seed, stream).take(form.rounds);
        settle(test, trials).is_some_and(|(settled, _)| settled.verdict == wrong)
    })
}

fn at_the_edges() -> Vec<Cell> {
    let cells = BARS.map(|(good, bad)| {
        [verdict(good, bad, bad, Verdict::Holds), verdict(good, bad, good, Verdict::Refuted)]
    });
    cells.into_iter().flatten().collect()
}

/// Either limit, looked at more and more rarely, is on the wrong side of the truth.
fn limits(good: f64, bad: f64, truth: f64) -> Cell {
    let what = format!("limits of '{good} or {bad}' miss {truth}");
    Cell::new(what, "independent", "half", move |form: Form, seed, stream| {
        // Half of the error for either limit; a stream ends at its verdict, as a run does.
        let mut test = ShareTest::new(good, bad, 1, form.error / 2.0);
        let mut look_at = 8;
        for trial in Service::independent(truth).trials(seed, stream).take(form.rounds) {
            let is_over = test.observe(trial).is_some();
            if is_over || test.rounds() >= look_at {
                look_at += look_at / 4;
                let limits = test.limits();
                let misses = limits.low.is_some_and(|low| low > truth)
                    || limits.high.is_some_and(|high| high < truth);
                if misses || is_over {
                    return misses;
                }
            }
        }
        false
    })
}

/// Where truths lie beyond a bar, between the bars and far off.
fn limit_misses() -> Vec<Cell> {
    [(0.98, 0.96, 0.99), (0.98, 0.96, 0.97), (0.98, 0.96, 0.93), (0.99, 0.99, 0.991)]
        .map(|(good, bad, truth)| limits(good, bad, truth))
        .into()
}

#[test]
fn verdicts_at_the_edges_are_rarely_wrong() {
    let form = Form { rounds: 4000, ..SHORT };
    for cell in at_the_edges() {
        cell.check(form);
    }
}

#[test]
fn limits_rarely_miss() {
    let form = Form { streams: 600, rounds: 3000, ..SHORT };
    for cell in limit_misses() {
        cell.check(form);
    }
}

/// Everything above at 1%, in twenty thousand streams a row.
#[test]
#[ignore = "full: 20 000 streams, run by make full"]
fn every_rate_in_full() {
    let form = Form { rounds: 20_000, ..FULL };
    for cell in at_the_edges().into_iter().chain(limit_misses()) {
        let rate = cell.prove(form);
        assert!(!rate.is_proven_above(form.error), "{}", rate.line());
        assert!(rate.is_proven_fine(), "{}", rate.line());
    }
}

/// Trials to the verdict of the published driver and of our test, on the same stream.
fn trials_to_verdict(good: f64, bad: f64, truth: f64, error: f64, stream: u64) -> (u64, u64) {
    let seed = Seed::from_text("shares: sooner");
    let alpha_hi = (good != bad).then_some(good);
    let options =
        DriverOptions { alpha: bad, alpha_hi, eps: error, min_count: 0, max_count: Some(100_000) };
    let trials = || Service::independent(truth).trials(seed, stream);
    let outcomes = trials().map(|trial| trial == Trial::Success);
    let classic = Driver::new(&options).unwrap().run(outcomes, |_| ());
    let ours = settle(ShareTest::new(good, bad, 1, error), trials().take(100_000));
    (classic.n, ours.map_or(100_000, |(_, trials)| trials))
}

/// Fewer trials than the driver with the same error, and at a known distance fewer by far.
#[test]
fn verdicts_come_sooner_than_those_of_the_classic_driver() {
    for (good, bad, truth, most) in [
        (0.99, 0.98, 0.97, 0.85),
        (0.99, 0.98, 0.98, 0.70),
        (0.99, 0.98, 0.985, 0.70),
        (0.99, 0.98, 0.99, 0.70),
        (0.98, 0.96, 0.999, 0.90),
        (0.99, 0.99, 0.98, 0.80),
        (0.99, 0.99, 0.999, 0.75),
    ] {
        let streams = 150;
        let pairs = (0..streams).map(|i| trials_to_verdict(good, bad, truth, 1e-3, i));
        let sums = pairs.fold((0, 0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
        let share = sums.1 as f64 / sums.0 as f64;
        println!("{good} {bad} {truth}: {} to {}, {share:.3}", sums.0 / streams, sums.1 / streams);
        assert!(share < most, "{good} {bad} {truth}: {share}");
    }
}

/// With room between the bars a run ends surely, wherever the truth lies.
#[test]
fn a_zone_ends_every_run() {
    let seed = Seed::from_text("shares: a zone");
    for truth in [0.96, 0.965, 0.97, 0.975, 0.98] {
        let open = count(0..300, |stream| {
            let test = ShareTest::new(0.98, 0.96, 1, 0.01);
            let trials = Service::independent(truth).trials(seed, stream).take(20_000);
            settle(test, trials).is_none()
        });
        assert_eq!(open, 0, "at {truth}");
    }
}

/// A stream of long draws is not needed where counts are known: a batch is one look.
#[test]
fn batches_settle_like_their_sum() {
    let mut chance = Stream::new(Seed::from_text("batches"), Purpose::Simulation, 0, 0);
    let mut batches = ShareTest::new(0.9, 0.8, 1, 0.01);
    let mut sum = (0, 0);
    while batches.settled().is_none() {
        let trials = 1 + chance.below(20);
        let successes = (0..trials).filter(|_| chance.unit() < 0.95).count() as u64;
        batches.observe_many(trials, successes, 0);
        sum = (sum.0 + trials, sum.1 + successes);
    }
    let mut at_once = ShareTest::new(0.9, 0.8, 1, 0.01);
    let settled = at_once.observe_many(sum.0, sum.1, 0);
    assert_eq!((settled, at_once.evidence()), (batches.settled(), batches.evidence()));
    assert_eq!(settled.unwrap().verdict, Verdict::Holds);
}
