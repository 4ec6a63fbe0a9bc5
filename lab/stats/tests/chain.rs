//! Streams that are chains: the error at the bar, whatever the length of bursts, and what it costs.

mod common;

use common::rates::{Cell, Form};
use common::trials::Service;
use tiebreak_core::transitions::Transitions;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::share_test::{ShareTest, Trial};

const FORM: Form = Form { streams: 300, rounds: 100_000, error: 0.05 };
/// Lines that are handed over at once, as the journal's batches are.
const BATCH: usize = 50;

/// Reads a stream in batches until the claim is settled: the verdict and the lines that it took.
fn judge(bar: f64, error: f64, trials: impl Iterator<Item = Trial>) -> Option<(Verdict, u64)> {
    let mut test = ShareTest::chain(bar, bar, error);
    let mut trials = trials.map(|trial| trial != Trial::Success).peekable();
    let mut last = None;
    while trials.peek().is_some() {
        let (mut lines, mut successes, mut transitions) = (0, 0, Transitions::default());
        for has_failed in trials.by_ref().take(BATCH) {
            lines += 1;
            successes += u64::from(!has_failed);
            if let Some(before) = last.replace(has_failed) {
                transitions.count(before, has_failed);
            }
        }
        if let Some(settled) = test.observe_lines(lines, successes, 0, &transitions) {
            return Some((settled.verdict, test.trials()));
        }
    }
    None
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
            let rate = cell.measure(FORM);
            assert!(!rate.is_proven_above(FORM.error), "{}", rate.line());
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
    // In blocks of 1000 not even nothing but successes does it before 759 000 lines.
    assert_eq!(ShareTest::new(0.99, 0.99, 1000, 0.01).least_trials().0, 759_000);
    let (hold, refute) = ShareTest::chain(0.99, 0.99, 0.01).least_trials();
    assert!((459..6000).contains(&hold) && refute < 400, "{hold} {refute}");
}

/// Line by line and in batches, and an interruption in between, make the same evidence.
#[test]
fn batches_are_what_their_lines_are() {
    let text = "1110010111110111111000011111";
    let mut one = ShareTest::chain(0.9, 0.8, 0.01);
    let mut many = one.clone();
    let mut transitions = Transitions::default();
    let failed: Vec<bool> = text.bytes().map(|byte| byte == b'0').collect();
    failed.windows(2).for_each(|two| transitions.count(two[0], two[1]));
    for has_failed in &failed {
        one.observe(if *has_failed { Trial::Failure } else { Trial::Success });
    }
    let successes = failed.iter().filter(|failed| !**failed).count() as u64;
    many.observe_lines(failed.len() as u64, successes, 4, &transitions);
    assert_eq!(one.log_evidence(), many.log_evidence());
    assert!(!one.is_bursty() && one.is_chain());
}
