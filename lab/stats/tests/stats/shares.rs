//! The test of a share: published numbers, identities, and what holds for any counts.

use proptest::prelude::*;
use proptest::sample::select;
use tiebreak_core::sample::Reading;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::share_test::{ShareTest, Trial};

/// Nothing is ever settled at this error.
const NEVER: f64 = 0.0;

fn after(good: f64, bad: f64, trials: u64, successes: u64, error: f64) -> ShareTest {
    let mut test = ShareTest::new(good, bad, 1, error);
    test.observe_many(trials, successes, 0);
    test
}

/// The evidence of a grid against each side of a bar, without who is certain.
fn of_grid(p: f64, trials: u64, successes: u64) -> (f64, f64) {
    let mut test = ShareTest::without_certainty(p, p, 1, NEVER);
    test.observe_many(trials, successes, 0);
    test.log_evidence()
}

#[track_caller]
fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() < tolerance, "{got}, not {expected}");
}

/// Computed with fifty digits by another program.
#[test]
fn evidence_of_the_grid() {
    for (n, s, p, above, below) in [
        (4000, 3972, 0.99, 1.318_566_400, -3.585_568_583),
        (4000, 3972, 0.98, 20.701_902_497, -7.915_571_653),
        (1000, 999, 0.99, 4.899_442_214, -2.951_471_219),
        (200, 190, 0.99, -2.103_392_944, 6.267_122_306),
        (20, 16, 0.5, 2.872_028_172, -2.784_544_909),
    ] {
        let got = of_grid(p, n, s);
        assert_close(got.0, above, 2e-9);
        assert_close(got.1, below, 2e-9);
        // Failures for successes at 1 - p: the same bets.
        let mirrored = of_grid(1.0 - p, n, n - s);
        assert_close(mirrored.0, below, 2e-9);
        assert_close(mirrored.1, above, 2e-9);
    }
}

/// A quarter of the money is on "never fails", or "never succeeds", where that is what is bet on;
/// the first miss takes it.
#[test]
fn certainty_lasts_until_the_first_miss() {
    for p in [0.5, 0.9, 0.99, 0.999] {
        for n in [1, 10, 500] {
            let certain = libm::exp(-(n as f64) * libm::log(p));
            let (grid, got) = (of_grid(p, n, n).0, after(p, p, n, n, NEVER).log_evidence().0);
            assert_close(got, libm::log(0.75 * libm::exp(grid) + 0.25 * certain), 1e-9);
            let mirrored = after(1.0 - p, 1.0 - p, n, 0, NEVER).log_evidence().1;
            assert_close(mirrored, got, 1e-9);
            let got = after(p, p, n + 1, n, NEVER).log_evidence().0;
            assert_close(got, of_grid(p, n + 1, n).0 + libm::log(0.75), 1e-9);
            // Rare hits: nobody is certain of them.
            if p > 0.5 {
                let rare = after(p, p, n, 0, NEVER).log_evidence().1;
                assert_close(rare, of_grid(p, n, 0).1, 1e-12);
            }
        }
    }
}

fn log_choose(n: u64, s: u64) -> f64 {
    (1..=s).map(|i| libm::log((n - s + i) as f64 / i as f64)).sum()
}

fn log_probability(n: u64, s: u64, p: f64) -> f64 {
    log_choose(n, s) + s as f64 * libm::log(p) + (n - s) as f64 * libm::log1p(-p)
}

/// The logarithms of the likelihoods of uniform mixtures of the shares above `p` and below it over
/// that of `p`: what no mixture without a preferred alternative beats by much.
fn truncated_mixture(n: u64, s: u64, p: f64) -> (f64, f64) {
    let log_mixture = -libm::log((n + 1) as f64) - log_probability(n, s, p);
    // I_p(s + 1, n - s + 1), the probability of more than s successes in n + 1 trials.
    let tail = |from: u64, to: u64| -> f64 {
        (from..=to).map(|k| libm::exp(log_probability(n + 1, k, p))).sum()
    };
    let (upper, lower) = (tail(s + 1, n + 1), tail(0, s));
    (
        log_mixture + libm::log(lower) - libm::log1p(-p),
        log_mixture + libm::log(upper) - libm::log(p),
    )
}

#[test]
fn the_grid_is_as_good_as_a_mixture_of_all_alternatives() {
    for (n, s, p, above, below) in [
        (9, 9, 0.5, 4.627_909_673, -std::f64::consts::LN_10),
        (20, 16, 0.5, 3.022_260_649, -2.601_319_550),
        (100, 65, 0.5, 3.130_803_746, -3.492_783_618),
        (4000, 3972, 0.99, 0.897_541_704, -7.220_058_253),
        (4000, 3972, 0.98, 21.150_591_538, -7.873_209_403),
        (1000, 999, 0.99, 5.433_640_835, -6.813_444_600),
        (687, 687, 0.99, 4.974_968_438, -6.533_788_838),
        (200, 190, 0.99, -2.226_416_371, 5.017_892_142),
    ] {
        let oracle = truncated_mixture(n, s, p);
        assert_close(oracle.0, above, 1e-8);
        assert_close(oracle.1, below, 1e-8);
        // On the side on which there is something to win.
        let grid = of_grid(p, n, s);
        let (grid, oracle) =
            if oracle.0 > oracle.1 { (grid.0, oracle.0) } else { (grid.1, oracle.1) };
        assert!(grid > oracle - 0.8, "{n} {s} {p}: {grid}, mixture {oracle}");
    }
}

/// Under the bar itself the evidence is worth exactly 1 on average.
#[test]
fn fair_bets_win_nothing_on_average() {
    for (good, bad) in
        [(0.99, 0.99), (0.99, 0.98), (0.5, 0.5), (0.2, 0.1), (0.05, 0.05), (0.9, 0.1)]
    {
        for n in [1, 2, 7, 40, 300] {
            let expectation = |p: f64, side: fn((f64, f64)) -> f64| -> f64 {
                let log = |s| side(after(good, bad, n, s, NEVER).log_evidence());
                (0..=n).map(|s| libm::exp(log_probability(n, s, p) + log(s))).sum()
            };
            let above = expectation(bad, |sides| sides.0);
            let below = expectation(good, |sides| sides.1);
            assert_close(above, 1.0, 2e-11);
            assert_close(below, 1.0, 2e-11);
            // Rounded down, but for the rounding of the probabilities here.
            assert!(above < 1.0 + 1e-12 && below < 1.0 + 1e-12, "{above} {below}");
            // And less where the truth lies further on the other side.
            assert!(expectation(bad * 0.97, |sides| sides.0) < 1.0);
            let better = 1.0 - (1.0 - good) * 0.97;
            assert!(expectation(better, |sides| sides.1) < 1.0);
        }
    }
}

/// All successes, or all failures: the claim is settled by exactly the trials that were foretold.
#[test]
fn the_least_trials_are_just_enough() {
    let cases =
        [(0.99, 0.99, 1), (0.98, 0.96, 1), (0.1, 0.05, 1), (0.9, 0.9, 10), (0.99, 0.98, 100)];
    for (good, bad, block) in cases {
        for error in [0.01, 0.001] {
            let test = ShareTest::new(good, bad, block, error);
            let (to_hold, to_refute) = test.least_trials();
            for (trial, least, verdict) in [
                (Trial::Success, to_hold, Verdict::Holds),
                (Trial::Failure, to_refute, Verdict::Refuted),
            ] {
                let trials = std::iter::repeat_n(trial, 1_000_000);
                let (settled, trials) =
                    crate::common::trials::settle(test.clone(), trials).unwrap();
                assert_eq!((settled.verdict, trials), (verdict, least), "{good} {bad} {block}");
            }
        }
    }
    // No test at all can hold at 99% with fewer than 299, 459 and 688 successes.
    for (error, any_test, grid, ours) in
        [(0.05, 299, 530, 401), (0.01, 459, 737, 573), (0.001, 688, 1012, 811)]
    {
        let least = |test: ShareTest| test.least_trials().0;
        assert_eq!(least(ShareTest::without_certainty(0.99, 0.99, 1, error)), grid);
        assert_eq!(least(ShareTest::new(0.99, 0.99, 1, error)), ours);
        assert!(any_test < ours);
    }
}

#[test]
fn unknown_trials_and_lost_attempts_count_against_both_sides() {
    let mut test = ShareTest::new(0.9, 0.8, 1, NEVER);
    let fresh = test.log_evidence();
    test.observe(Trial::Unknown);
    let unknown = test.log_evidence();
    assert!(unknown.0 < fresh.0 && unknown.1 < fresh.1);
    assert_eq!((test.rounds(), test.successes), (1, 0));
    let mut lost = ShareTest::new(0.9, 0.8, 1, NEVER);
    lost.lose_attempt();
    assert_eq!(lost.log_evidence(), unknown);
    assert_eq!((lost.rounds(), lost.summary().lost, lost.summary().rounds), (0, 1, 0));
    let mut blocks = ShareTest::new(0.9, 0.8, 3, NEVER);
    blocks.lose_attempt();
    assert_eq!((blocks.left_over(), blocks.rounds()), (0, 0));
    blocks.observe(Trial::Success);
    assert_eq!((blocks.left_over(), blocks.rounds()), (1, 1));
    let before = blocks.log_evidence();
    blocks.observe(Trial::Success);
    assert_eq!((blocks.left_over(), blocks.rounds()), (0, 2));
    let after = blocks.log_evidence();
    assert!(after.0 < before.0 && after.1 < before.1, "a third is below 0.8, and below 0.9");
}

/// Rates that people ask for, their bars closer or further apart, or one.
fn bars() -> impl Strategy<Value = (f64, f64)> {
    select(vec![
        (0.5, 0.5),
        (0.98, 0.96),
        (0.99, 0.99),
        (0.999, 0.99),
        (0.3, 0.1),
        (0.02, 0.02),
        (0.9, 0.9f64.next_down()),
        (0.99, 0.01),
    ])
}

fn trial() -> impl Strategy<Value = Trial> {
    prop_oneof![6 => Just(Trial::Success), 3 => Just(Trial::Failure), 1 => Just(Trial::Unknown)]
}

/// Verdict, limits and evidence say the same.
fn check_agreement(test: &ShareTest, good: f64, bad: f64) -> Result<(), TestCaseError> {
    let (limits, needed) = (test.limits(), -libm::log(test.error()));
    let (above, below) = test.log_evidence();
    let holds = limits.low.is_some_and(|low| low > bad);
    let refuted = limits.high.is_some_and(|high| high < good);
    prop_assert_eq!(holds, above >= needed);
    prop_assert_eq!(refuted, below >= needed);
    let settled = test.settled().map(|settled| settled.verdict);
    match settled {
        None => prop_assert!(!holds && !refuted),
        Some(Verdict::Holds) => prop_assert!(holds),
        Some(_) => prop_assert!(refuted),
    }
    if let Some(low) = limits.low {
        prop_assert!(low > 0.0 && low < 1.0);
    }
    if let (Some(low), Some(high)) = (limits.low, limits.high) {
        prop_assert!(low < high, "{low} {high}");
    }
    Ok(())
}

proptest! {
    /// Limits beyond what one bar needs: they are those of a claim at that bar.
    #[test]
    fn limits_never_contradict(
        (good, bad) in bars(),
        trials in prop::collection::vec(trial(), 0..400),
        block in select(vec![1u64, 1, 2, 7]),
        error in select(vec![0.3, 0.01, 1e-6]),
    ) {
        let mut test = ShareTest::new(good, bad, block, error);
        for (at, trial) in trials.iter().enumerate() {
            test.observe(*trial);
            if at % 20 == 0 || test.settled().is_some() {
                check_agreement(&test, good, bad)?;
            }
            prop_assert_eq!(test.settled(), test.settled_at(error));
        }
        prop_assert_eq!(test.left_over() == 0, test.rounds().is_multiple_of(block));
    }

    /// The evidence for "more than p" falls with p and that for "less than p" rises, also where the
    /// grid changes its form.
    #[test]
    fn evidence_is_monotone_in_the_bar(
        successes in 0u64..2000,
        failures in 0u64..2000,
        shift in -12f64..12.0,
        step in 1e-6f64..2.0,
    ) {
        let rate = |logit: f64| 1.0 / (1.0 + libm::exp(-logit));
        let (low, high) = (rate(shift), rate((shift + step).min(13.0)));
        // On which side somebody is certain, changes at one half.
        let is_certain = low > 0.5 || high < 0.5;
        let at = |p: f64| {
            if !is_certain {
                return of_grid(p, successes + failures, successes);
            }
            after(p, p, successes + failures, successes, NEVER).log_evidence()
        };
        let (low, high) = (at(low), at(high));
        let slack = |log: f64| 1e-11 + 1e-13 * log.abs();
        prop_assert!(low.0 >= high.0 - slack(high.0), "{low:?} {high:?}");
        prop_assert!(low.1 <= high.1 + slack(high.1), "{low:?} {high:?}");
    }

    /// Counts are all that matters, and the looks that are left out miss nothing.
    #[test]
    fn trials_may_come_in_any_order_or_at_once(
        (good, bad) in bars(),
        trials in prop::collection::vec(trial(), 1..300),
    ) {
        let known: Vec<_> = trials.into_iter().filter(|t| *t != Trial::Unknown).collect();
        let feed = |trials: &mut dyn Iterator<Item = &Trial>| {
            let mut test = ShareTest::new(good, bad, 1, NEVER);
            trials.for_each(|trial| { test.observe(*trial); });
            test
        };
        let (there, back) = (feed(&mut known.iter()), feed(&mut known.iter().rev()));
        prop_assert_eq!(there.evidence(), back.evidence());
        let n = known.len() as u64;
        let at_once = after(good, bad, n, there.successes, NEVER);
        prop_assert_eq!(there.evidence(), at_once.evidence());
        let mut test = ShareTest::new(good, bad, 1, 0.01);
        let mut counts = (0, 0);
        for trial in &known {
            counts = (counts.0 + 1, counts.1 + u64::from(*trial == Trial::Success));
            let now = after(good, bad, counts.0, counts.1, NEVER).settled_at(0.01);
            prop_assert_eq!(test.observe(*trial), now);
            if now.is_some() { break; }
        }
    }

    /// Failures for successes: the other verdict, and limits from the other end.
    #[test]
    fn swapping_successes_and_failures_mirrors(
        (good, bad) in bars(),
        trials in 1u64..3000,
        share in 0.0..1.0f64,
    ) {
        let successes = (trials as f64 * share) as u64;
        let test = after(good, bad, trials, successes, 0.01);
        let mirror = after(1.0 - bad, 1.0 - good, trials, trials - successes, 0.01);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        let (evidence, mirrored) = (test.log_evidence(), mirror.log_evidence());
        let unequal = good != bad && good - bad < 1e-12;
        prop_assert!(unequal || close(evidence.0, mirrored.1) );
        prop_assert!(unequal || close(evidence.1, mirrored.0) );
        let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a + b - 1.0).abs() < 1e-9,
            (a, b) => a.is_none() && b.is_none(),
        };
        prop_assert!(unequal || near(test.limits().low, mirror.limits().high));
        prop_assert!(unequal || near(test.limits().high, mirror.limits().low));
    }

    /// A quantile's limits are where the share test changes its mind.
    #[test]
    fn quantile_limits_agree_with_the_share_test(
        values in prop::collection::vec((0u32..40, 0u32..3, 0u32..20), 0..300),
        (good, bad) in bars(),
        block in select(vec![1u64, 1, 5]),
        bar in 0u32..45,
    ) {
        let reading = |(low, width, open): (u32, u32, u32)| Reading {
            low: f64::from(low),
            high: if open == 0 { f64::INFINITY } else { f64::from(low + width * (open % 2)) },
        };
        let readings: Vec<_> = values.into_iter().map(reading).collect();
        let error = 0.01;
        let limits = ShareTest::new(good, bad, block, error).quantile_limits(&readings);
        for bar in [f64::from(bar), f64::from(bar) + 0.5] {
            let mut test = ShareTest::new(good, bad, block, NEVER);
            for reading in &readings {
                test.observe(match reading {
                    reading if reading.high <= bar => Trial::Success,
                    reading if reading.low > bar => Trial::Failure,
                    _ => Trial::Unknown,
                });
            }
            let needed = -libm::log(error);
            let (above, below) = test.log_evidence();
            prop_assert_eq!(limits.high.is_some_and(|high| high <= bar), above >= needed);
            prop_assert_eq!(limits.low.is_some_and(|low| bar < low), below >= needed);
        }
    }
}

#[test]
fn a_summary_holds_what_the_test_knows() {
    let test = after(0.98, 0.96, 200, 199, 0.001);
    let summary = test.summary();
    assert_eq!((summary.rounds, summary.lost), (200, 0));
    assert_eq!(summary.estimate, Some(0.995));
    assert_eq!((summary.low, summary.high), (test.limits().low, test.limits().high));
    assert_eq!(summary.confidence, 0.998);
    assert_eq!(summary.evidence_needed, 1000.0);
    let empty = ShareTest::new(0.98, 0.96, 1, 0.01);
    assert_eq!((empty.limits().low, empty.limits().high), (None, None));
    assert_eq!(empty.summary().estimate, None);
    let (above, below) = empty.evidence();
    assert!(above <= 1.0 && above > 0.999_999 && below == above);
    // More than any number.
    let certain = after(0.02, 0.01, 1_000_000, 1_000_000, 0.01);
    assert_eq!(certain.evidence().0, f64::INFINITY);
    assert!(certain.limits().low.unwrap() > 0.9999);
}

#[test]
fn later_errors_see_the_evidence_as_it_is() {
    let mut test = ShareTest::new(0.9, 0.8, 1, 1e-9);
    (0..60).for_each(|_| {
        test.observe(Trial::Success);
    });
    assert_eq!(test.settled(), None);
    let at = |error| test.settled_at(error).map(|settled| settled.verdict);
    assert_eq!((at(0.01), at(1e-9)), (Some(Verdict::Holds), None));
    assert_eq!(at(0.99 / test.evidence().0), None);
    assert_eq!(at(1.01 / test.evidence().0), Some(Verdict::Holds));
}
