//! Failures that come in bursts: blocks keep the error, single trials do not.

use crate::common::rates::{Cell, Form};
use crate::common::trials::{Service, settle};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::share_test::{ShareTest, Trial};

const BURSTS: [f64; 3] = [3.0, 10.0, 30.0];

/// Fewer streams than elsewhere: each is long.
const FORM: Form = Form { streams: 300, rounds: 200_000, error: 0.01 };

/// A verdict against one bar that is exactly the truth.
fn verdict(share: f64, mean_burst: f64, block: u64, wrong: Verdict) -> Cell {
    let what = format!("{wrong} at {share}, block {block}");
    Cell::new(what, format!("bursts of {mean_burst}"), "grid", move |form: Form, seed, stream| {
        let test = ShareTest::new(share, share, block, form.error);
        let trials = Service { share, mean_burst }.trials(seed, stream).take(form.rounds);
        settle(test, trials).is_some_and(|(settled, _)| settled.verdict == wrong)
    })
}

const BOTH: [Verdict; 2] = [Verdict::Holds, Verdict::Refuted];

/// At 90% both verdicts are possible within the streams; at 99% only `refuted` is.
fn in_blocks() -> Vec<Cell> {
    let mut cells = Vec::new();
    for share in [0.9, 0.99] {
        for burst in BURSTS {
            cells.extend(BOTH.map(|wrong| verdict(share, burst, 1000, wrong)));
        }
    }
    cells
}

#[test]
fn blocks_of_many_bursts_keep_the_error() {
    for cell in in_blocks() {
        cell.check(Form { streams: 100, ..FORM });
    }
}

#[test]
#[ignore = "full: 4 000 streams of 200 000 trials, run by make full"]
fn blocks_of_many_bursts_keep_the_error_in_full() {
    let form = Form { streams: 4000, ..FORM };
    for cell in in_blocks() {
        let rate = cell.prove(form);
        assert!(!rate.is_proven_above(form.error), "{}", rate.line());
        assert!(rate.is_proven_fine(), "{}", rate.line());
    }
}

/// The negative control: taken one by one, trials in bursts prove falsehoods.
#[test]
fn single_trials_in_bursts_fail() {
    for burst in BURSTS {
        for wrong in BOTH {
            let rate = verdict(0.99, burst, 1, wrong).measure(FORM);
            assert!(rate.is_proven_above(5.0 * FORM.error), "should fail: {}", rate.line());
        }
    }
    let independent = verdict(0.99, 1.0, 1, Verdict::Holds).measure(FORM);
    assert!(!independent.is_proven_above(FORM.error), "{}", independent.line());
}

/// And the diagnosis finds every such stream, and hardly any of independent trials.
#[test]
fn bursts_are_diagnosed() {
    let is_bursty = |share: f64, mean_burst: f64, trials: usize| {
        Cell::new(
            format!("bursty at {share} after {trials}"),
            format!("bursts of {mean_burst}"),
            "-",
            move |_, seed: Seed, stream| {
                let mut test = ShareTest::new(share, share, 1, 0.0);
                for trial in (Service { share, mean_burst }).trials(seed, stream).take(trials) {
                    test.observe(trial);
                }
                test.dependence().is_bursty
            },
        )
    };
    let form = Form { streams: 400, ..FORM };
    for burst in BURSTS {
        let rate = is_bursty(0.99, burst, 20_000).measure(form);
        assert!(rate.is_proven_above(0.9), "{}", rate.line());
    }
    for (share, trials) in [(0.99, 300), (0.99, 5000), (0.9, 2000), (0.5, 1000), (0.05, 1000)] {
        is_bursty(share, 1.0, trials).check(form);
    }
}

/// Of verdicts that are wrong because bursts are long for the block, hardly any keeps its promise;
/// and blocks that are long enough keep theirs.
#[test]
fn bursts_that_are_long_for_the_block_take_the_promise_away() {
    let judged = |mean_burst: f64, counts: fn(&ShareTest) -> bool| {
        Cell::new("false refutation", format!("bursts of {mean_burst}"), "blocks", {
            move |form: Form, seed: Seed, stream| {
                let mut test = ShareTest::new(0.99, 0.99, 1000, form.error);
                let service = Service { share: 0.99, mean_burst };
                let mut trials = service.trials(seed, stream).take(form.rounds);
                trials.any(|trial| test.observe(trial).is_some());
                counts(&test)
            }
        })
    };
    let form = Form { streams: 100, ..FORM };
    let is_wrong = |test: &ShareTest| test.settled().is_some();
    let more = Form { streams: 250, ..FORM };
    assert!(judged(1000.0, is_wrong).measure(more).is_proven_above(form.error));
    for mean_burst in [100.0, 300.0, 1000.0] {
        let promised = judged(mean_burst, |test| test.settled().is_some() && !test.is_bursty());
        let rate = promised.measure(form);
        assert!(rate.happened == 0, "{}", rate.line());
    }
    for mean_burst in [1.0, 3.0, 10.0] {
        judged(mean_burst, ShareTest::is_bursty).check(form);
    }
}

/// A summary of many trials has the mean burst that was handed over.
#[test]
fn batches_know_their_runs() {
    let mut test = ShareTest::new(0.9, 0.8, 1, 0.0);
    test.observe_many(100, 90, 2);
    test.observe(Trial::Failure);
    assert_eq!(test.dependence().mean_burst, Some(11.0 / 3.0));
    assert!(test.dependence().is_bursty);
}
