//! Streams that are chains: the error at the bar, whatever the length of bursts, and what it costs.

use crate::common::rates::{Cell, Form};
use crate::common::trials::{Hidden, Service};
use tiebreak_core::transitions::{ByAge, Walk};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::share_test::{ShareTest, Trial};

const FORM: Form = Form { streams: 300, rounds: 100_000, error: 0.05 };
/// Lines that are handed over at once, as the journal's batches are.
const BATCH: usize = 50;

/// The verdict and the lines that it took.
fn judge(bar: f64, error: f64, trials: impl Iterator<Item = Trial>) -> Option<(Verdict, u64)> {
    let test = read(bar, error, trials);
    test.settled().map(|settled| (settled.verdict, test.rounds()))
}

/// Reads a stream in batches until the claim is settled.
fn read(bar: f64, error: f64, trials: impl Iterator<Item = Trial>) -> ShareTest {
    let mut test = ShareTest::chain(bar, bar, error);
    let mut trials = trials.map(|trial| trial != Trial::Success).peekable();
    let mut walk = Walk::default();
    while trials.peek().is_some() && test.settled().is_none() {
        let (mut lines, mut successes, mut by_age) = (0, 0, ByAge::default());
        for has_failed in trials.by_ref().take(BATCH) {
            lines += 1;
            successes += u64::from(!has_failed);
            walk.step(has_failed, &mut by_age);
        }
        test.observe_lines(lines, successes, 0, &by_age.sum(), &by_age);
    }
    test
}

/// Exactly 99% succeed in the long run, which is the bar.
#[test]
fn chains_keep_the_error_at_every_length_of_bursts() {
    for mean_burst in [1.0, 3.0, 30.0, 300.0, 1000.0] {
        for wrong in [Verdict::Holds, Verdict::Refuted] {
            let what = format!("{wrong} at 99%");
            let cell = Cell::new(what, format!("bursts of {mean_burst}"), "chain", {
                move |form: Form, seed: Seed, stream| {
                    let service = Service { share: 0.99, mean_burst };
                    let trials = service.trials(seed, stream).take(form.rounds);
                    judge(0.99, form.error, trials).is_some_and(|(verdict, _)| verdict == wrong)
                }
            });
            cell.check(FORM);
        }
    }
}

/// Lines that it takes to hold at 99%, at an error of 1%: the median of some streams.
#[test]
fn chains_take_far_fewer_lines_than_blocks() {
    for (share, mean_burst, most) in
        [(0.999, 1.0, 12_000), (0.999, 3.0, 40_000), (0.999, 30.0, 800_000), (0.98, 30.0, 400_000)]
    {
        let expected = if share > 0.99 { Verdict::Holds } else { Verdict::Refuted };
        let mut lines: Vec<u64> = (0..15)
            .map(|stream| {
                let seed = Seed::from_text("chains");
                let trials = Service { share, mean_burst }.trials(seed, stream).take(2_000_000);
                let (verdict, lines) = judge(0.99, 0.01, trials).unwrap();
                assert_eq!(verdict, expected);
                lines
            })
            .collect();
        lines.sort_unstable();
        println!("{share} in bursts of {mean_burst}: {} lines", lines[7]);
        assert!(lines[7] <= most, "{share} {mean_burst}: {}", lines[7]);
    }
    // In blocks of 1000 not even nothing but successes does it before 521 000 lines.
    assert_eq!(ShareTest::new(0.99, 0.99, 1000, 0.01).least_trials().0, 521_000);
    assert_eq!(ShareTest::without_certainty(0.99, 0.99, 1000, 0.01).least_trials().0, 759_000);
    let (hold, refute) = ShareTest::chain(0.99, 0.99, 0.01).least_trials();
    assert!((459..6000).contains(&hold) && refute < 400, "{hold} {refute}");
}

/// Line by line and in batches, and an interruption in between, make the same evidence.
#[test]
fn batches_are_what_their_lines_are() {
    let text = "1110010111110111111000011111";
    let mut one = ShareTest::chain(0.9, 0.8, 0.01);
    let mut many = one.clone();
    let (mut walk, mut by_age) = (Walk::default(), ByAge::default());
    let failed: Vec<bool> = text.bytes().map(|byte| byte == b'0').collect();
    failed.iter().for_each(|has_failed| walk.step(*has_failed, &mut by_age));
    for has_failed in &failed {
        one.observe(if *has_failed { Trial::Failure } else { Trial::Success });
    }
    let successes = failed.iter().filter(|failed| !**failed).count() as u64;
    many.observe_lines(failed.len() as u64, successes, 4, &by_age.sum(), &by_age);
    assert_eq!(one.log_evidence(), many.log_evidence());
    assert!(!one.is_bursty() && one.is_chain);
}

/// No false verdict keeps its promise where all failures come from the hidden state. What has not
/// come when the verdict does, nothing sees.
#[test]
fn memory_beyond_one_line_takes_the_promise_away() {
    let form = Form { streams: 240, rounds: 60_000, error: 0.05 };
    for (fails, bad_lines, is_seen) in
        [([0.5, 0.0], 1000.0, true), ([0.5, 0.0], 100.0, true), ([0.2, 0.001], 1000.0, false)]
    {
        let [of_bad, of_good] = fails;
        let share = 1.0 - 0.03 * of_bad - 0.97 * of_good;
        let world = format!("{of_bad} or {of_good} fail, {bad_lines} lines");
        let judged = |what: &str, counts: fn(&ShareTest) -> bool| {
            Cell::new(what, world.clone(), "chain", move |form: Form, _, stream| {
                let seed = Seed::from_text("hidden");
                let service = Hidden { fails, bad_share: 0.03, bad_lines };
                let trials = service.trials(seed, stream).take(form.rounds);
                // Half of the failures more than are claimed.
                let test = read(1.0 - (1.0 - share) / 1.5, form.error, trials);
                test.settled().is_some_and(|settled| settled.verdict == Verdict::Holds)
                    && counts(&test)
            })
        };
        let is_false = judged("false", |_| true).measure(form);
        let promised = judged("promised", |test| !test.is_bursty()).measure(form);
        assert!(is_false.is_proven_above(2.0 * form.error), "{}", is_false.line());
        // Where good lines fail too, most verdicts come before the first bad ones do.
        assert_eq!(promised.happened == 0, is_seen, "{}", promised.line());
    }
}

/// A chain is said to be none in at most 1% of streams.
#[test]
fn chains_are_hardly_ever_called_none() {
    for (share, mean_burst) in [(0.99, 1.0), (0.9, 1.0), (0.99, 3.0), (0.99, 300.0), (0.5, 8.0)] {
        let cell = Cell::new("no chain", format!("{share} bursts {mean_burst}"), "chain", {
            move |form: Form, seed: Seed, stream| {
                let service = Service { share, mean_burst };
                let trials = service.trials(seed, stream).take(form.rounds);
                read(share, 1e-9, trials).is_bursty()
            }
        });
        cell.check(Form { streams: 400, rounds: 30_000, error: 0.01 });
    }
}
