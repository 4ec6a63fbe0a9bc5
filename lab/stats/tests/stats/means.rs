//! The test of a mean: published numbers, identities, and how often it is wrong.

use crate::common::rates::{Cell, FULL, Form, SHORT};
use proptest::prelude::*;
use proptest::sample::select;
use tiebreak_core::sample::Reading;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::decide::{SequentialTest, Settled};
use tiebreak_stats::mean_test::MeanTest;

const NEVER: f64 = 0.0;
const INF: f64 = f64::INFINITY;

fn after(mut test: MeanTest, readings: &[Reading]) -> MeanTest {
    readings.iter().for_each(|reading| {
        test.observe(*reading);
    });
    test
}

fn exact(values: &[f64]) -> Vec<Reading> {
    values.iter().map(|value| Reading::exact(*value)).collect()
}

/// The sum over the bettors of `0.1 prod (1 - phi + phi v / m)`, straight from the formula.
fn naive(values: impl Iterator<Item = f64> + Clone, mean: f64) -> f64 {
    let phi = |k: i32| 0.9 * f64::powi(0.5, k);
    let wealth = |phi: f64| values.clone().map(|v| 1.0 - phi + phi * v / mean).product::<f64>();
    (0..10).map(|k| 0.1 * wealth(phi(k))).sum()
}

#[test]
fn evidence_is_that_of_the_formula() {
    let values: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 101) / 10.0).collect();
    for (bar, cap, n) in [(5.0, 10.0, 200), (4.0, 12.0, 50), (1.0, 50.0, 7), (9.0, 9.5, 100)] {
        let test = after(MeanTest::new(bar, true, Some(cap), 1, NEVER), &exact(&values[..n]));
        let (below, above) = test.evidence();
        let capped = || values[..n].iter().map(|v| v.min(cap));
        let expected_above = naive(capped(), bar);
        let expected_below = naive(capped().map(|v| cap - v), cap - bar);
        assert!((above / expected_above - 1.0).abs() < 1e-11, "{above} {expected_above}");
        assert!((below / expected_below - 1.0).abs() < 1e-11, "{below} {expected_below}");
    }
}

/// Whatever two values a variable has, at the bar its bets are worth exactly 1 on average.
#[test]
fn fair_bets_win_nothing_on_average() {
    let (cap, n) = (20.0, 10);
    for (low, high, chance) in [(1.0f64, 9.0f64, 0.5f64), (0.0, 20.0, 0.25), (3.0, 4.0, 0.1)] {
        let bar = low * (1.0 - chance) + high * chance;
        let mut expectations = (0.0, 0.0);
        for outcomes in 0..1u32 << n {
            let mut test = MeanTest::new(bar, false, Some(cap), 1, NEVER);
            let mut probability = 1.0;
            for i in 0..n {
                let is_high = outcomes >> i & 1 == 1;
                test.observe(Reading::exact(if is_high { high } else { low }));
                probability *= if is_high { chance } else { 1.0 - chance };
            }
            let (above, below) = test.evidence();
            expectations.0 += probability * above;
            expectations.1 += probability * below;
        }
        let (above, below) = expectations;
        assert!((above - 1.0).abs() < 1e-11 && above < 1.0 + 1e-13, "{above}");
        assert!((below - 1.0).abs() < 1e-11 && below < 1.0 + 1e-13, "{below}");
    }
}

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![
        8 => (0.0..10.0f64).prop_map(Reading::exact),
        1 => (0.0..10.0f64, 0.0..5.0f64).prop_map(|(low, w)| Reading { low, high: low + w }),
        1 => (0.0..30.0f64).prop_map(|low| Reading { low, high: INF }),
        1 => Just(Reading::UNKNOWN),
        1 => Just(Reading::exact(0.0)),
    ]
}

/// Numbers that no clock should give.
fn odd_reading() -> impl Strategy<Value = Reading> {
    let number = || select(vec![0.0, -1.0, f64::NAN, INF, -INF, f64::MAX, f64::MIN_POSITIVE, 1.0]);
    (number(), number()).prop_map(|(low, high)| Reading { low, high })
}

proptest! {
    #[test]
    fn limits_never_contradict(
        readings in prop::collection::vec(reading(), 0..200),
        bar in select(vec![0.5, 3.0, 5.0, 5.5, 9.0]),
        cap in select(vec![None, Some(10.0), Some(40.0)]),
        is_below in any::<bool>(),
        block in select(vec![1u64, 1, 4]),
        error in select(vec![0.2, 0.01]),
    ) {
        let mut test = MeanTest::new(bar, is_below, cap, block, error);
        for (at, reading) in readings.iter().enumerate() {
            let settled = test.observe(*reading);
            if settled.is_none() && at % 16 != 0 {
                continue;
            }
            let limits = test.limits();
            let (for_claim, against) = test.log_evidence();
            let (below, above) = if is_below { (for_claim, against) } else { (against, for_claim) };
            let needed = -libm::log(error);
            prop_assert_eq!(limits.low.is_some_and(|low| low > bar), above >= needed);
            prop_assert_eq!(limits.high.is_some_and(|high| high < bar), below >= needed);
            prop_assert_eq!(settled.is_some(), above.max(below) >= needed);
            prop_assert!(cap.is_some() || limits.high.is_none());
            if let Some(settled) = settled {
                let is_proven_below = below > above;
                let holds = settled.verdict == Verdict::Holds;
                prop_assert_eq!(holds, is_proven_below == is_below);
                break;
            }
        }
    }

    /// The limits are where a test at that bar, on the same values, would change its mind.
    #[test]
    fn limits_are_those_of_a_claim_at_each_bar(
        readings in prop::collection::vec(reading(), 1..150),
        own in 0.5..9.5f64,
        bar in 0.5..9.5f64,
    ) {
        let error = 0.05;
        let test = after(MeanTest::new(own, false, Some(15.0), 1, error), &readings);
        let seen = &readings[..test.rounds() as usize];
        let other = after(MeanTest::new(bar, false, Some(15.0), 1, NEVER), seen);
        let ((above, below), needed) = (other.log_evidence(), -libm::log(error));
        let (low, high) = (test.limits().low.unwrap_or(0.0), test.limits().high.unwrap_or(15.0));
        prop_assert!((low > bar) == (above >= needed) || (low - bar).abs() < 1e-9);
        prop_assert!((high < bar) == (below >= needed) || (high - bar).abs() < 1e-9);
    }

    #[test]
    fn odd_numbers_do_no_harm(
        readings in prop::collection::vec(odd_reading(), 0..80),
        bar in select(vec![1.0, 1e-300, 1e300]),
        cap in select(vec![None, Some(2.0), Some(0.5), Some(1e301)]),
    ) {
        let test = after(MeanTest::new(bar, true, cap, 1, NEVER), &readings);
        let (for_claim, against) = test.log_evidence();
        prop_assert!(!for_claim.is_nan() && !against.is_nan());
        let limits = after(MeanTest::new(bar, true, cap, 1, 0.01), &readings).limits();
        prop_assert!(limits.low.is_none_or(|low| !low.is_nan()));
        prop_assert!(limits.high.is_none_or(|high| !high.is_nan()));
    }
}

#[test]
fn without_a_cap_no_mean_is_proven_to_be_below() {
    let test = after(MeanTest::new(5.0, true, None, 1, 0.01), &exact(&[0.0; 5000]));
    assert_eq!((test.settled(), test.limits().high), (None, None));
    assert_eq!(test.evidence().0, 1.0);
    let capped = after(MeanTest::new(5.0, true, Some(50.0), 1, 0.01), &exact(&[4.0; 500]));
    assert_eq!(capped.settled().unwrap().verdict, Verdict::Holds);
    // About ln(1/error) (cap - bar) / (bar - mean) values, and the price of ten bettors.
    assert!((207..400).contains(&capped.rounds()), "{}", capped.rounds());
    let above = after(MeanTest::new(5.0, true, None, 1, 0.01), &exact(&[9.0; 500]));
    assert_eq!(above.settled().unwrap().verdict, Verdict::Refuted);
}

#[test]
fn lost_attempts_and_unknown_values_cost_both_sides() {
    let mut test = MeanTest::new(5.0, true, Some(10.0), 1, 0.01);
    let fresh = test.log_evidence();
    test.lose_attempt();
    let lost = test.log_evidence();
    assert!(lost.0 < fresh.0 && lost.1 < fresh.1);
    assert_eq!((test.rounds(), test.summary().lost), (0, 1));
    let mut unknown = MeanTest::new(5.0, true, Some(10.0), 1, 0.01);
    unknown.observe(Reading::UNKNOWN);
    assert_eq!((unknown.log_evidence(), unknown.rounds()), (lost, 1));
    let mut block = MeanTest::new(5.0, true, Some(10.0), 3, 0.01);
    block.observe(Reading::exact(1.0));
    block.observe(Reading { low: 30.0, high: INF });
    assert_eq!((block.log_evidence(), block.spells(false).left_over), (fresh, 2));
    assert_eq!(block.summary().estimate, Some(5.5));
    block.observe(Reading::exact(4.0));
    assert_eq!((block.summary().estimate, block.spells(false).left_over), (Some(5.0), 0));
    assert!((block.evidence().0 - 1.0).abs() < 1e-12, "a mean of 5 says nothing of 5");
}

/// Values with a long tail whose capped mean is known: 1 with probability 0.9, else up to 91.
fn tailed(form: Form, seed: Seed, stream: u64) -> impl Iterator<Item = f64> {
    let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
    let next = move || if chance.unit() < 0.9 { 1.0 } else { 1.0 + 90.0 * chance.unit() };
    std::iter::repeat_with(next).take(form.rounds)
}

fn wrong(is_below: bool, verdict: Verdict) -> Cell {
    let bar = 0.9 + 0.1 * 46.0;
    let what = format!("mean {} the truth {verdict}", if is_below { "below" } else { "above" });
    Cell::new(what, "long tail", "mean", move |form: Form, seed, stream| {
        let mut test = MeanTest::new(bar, is_below, Some(91.0), 1, form.error);
        let settled = tailed(form, seed, stream).find_map(|v| test.observe(Reading::exact(v)));
        settled.is_some_and(|settled| settled.verdict == verdict)
    })
}

fn cells() -> [Cell; 2] {
    [wrong(true, Verdict::Holds), wrong(true, Verdict::Refuted)]
}

#[test]
fn verdicts_at_the_bar_are_rarely_wrong() {
    for cell in cells() {
        cell.check(SHORT);
    }
}

#[test]
#[ignore = "full: 20 000 streams, run by make full"]
fn every_rate_in_full() {
    for cell in cells() {
        let rate = cell.prove(FULL);
        assert!(!rate.is_proven_above(FULL.error) && rate.is_proven_fine(), "{}", rate.line());
    }
}

/// A service that takes 3 to 4 ms, and in spells of this mean length 18 ms: 4.8 ms in the long run.
fn in_spells(mean_spell: f64, seed: Seed, stream: u64) -> impl Iterator<Item = f64> {
    let slow = 1.3 / 14.5;
    let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
    let mut is_slow = chance.unit() < slow;
    std::iter::from_fn(move || {
        let value = if is_slow { 18.0 } else { 3.0 + chance.unit() };
        let becomes_slow = if mean_spell > 1.0 {
            if is_slow { 1.0 - 1.0 / mean_spell } else { slow / (1.0 - slow) / mean_spell }
        } else {
            slow
        };
        is_slow = chance.unit() < becomes_slow;
        Some(value)
    })
}

/// Slow spells that are long for an observation: false verdicts that saw ten lines or more of
/// either kind do not keep their promise. The sentences of others say that little is known of
/// spells.
#[test]
fn slow_spells_take_the_promise_away() {
    let form = Form { streams: 240, rounds: 40_000, error: 0.01 };
    for (bar, wrong) in [(4.2, Verdict::Holds), (5.4, Verdict::Refuted)] {
        for block in [1, 10] {
            let judged = |what: &str, counts: fn(&MeanTest) -> bool| {
                let cell = Cell::new(what, format!("{wrong} block {block}"), "mean", {
                    move |form: Form, _, stream| {
                        let mut test = MeanTest::new(bar, true, Some(20.0), block, form.error);
                        let seed = Seed::from_text("slow spells");
                        let mut values = in_spells(300.0, seed, stream).take(form.rounds);
                        values.any(|value| test.observe(Reading::exact(value)).is_some());
                        let is_wrong = |settled: Settled| settled.verdict == wrong;
                        test.settled().is_some_and(is_wrong) && counts(&test)
                    }
                });
                cell.measure(form)
            };
            let is_false = judged("false", |_| true);
            assert!(is_false.is_proven_above(form.error), "{}", is_false.line());
            let flat = judged("flatly", |test| {
                !test.spells(false).is_dependent && test.spells(false).rarer >= 10
            });
            assert!(!flat.is_proven_above(form.error), "{}", flat.line());
            judged("promised", |test| !test.spells(false).is_dependent);
        }
    }
}

/// Lines that are independent are hardly ever said to depend on each other.
#[test]
fn independent_lines_keep_their_promise() {
    type World = fn(&mut Stream) -> f64;
    let worlds: [(&str, f64, World); 4] =
        [
            ("slow lines", 4.8, |chance| {
                if chance.unit() < 1.3 / 14.5 { 18.0 } else { 3.0 + chance.unit() }
            }),
            ("even", 0.5, Stream::unit),
            ("long tail", 1.5, |chance| libm::exp(chance.normal())),
            ("two values", 1.02, |chance| if chance.unit() < 0.02 { 2.0 } else { 1.0 }),
        ];
    for (name, bar, world) in worlds {
        for (block, lines) in [(1, 40), (1, 400), (1, 4000), (10, 4000), (100, 20_000)] {
            let cell = Cell::new(format!("dependent, {lines} lines in {block}"), name, "mean", {
                move |_, seed: Seed, stream| {
                    let mut test = MeanTest::new(bar, true, Some(30.0), block, NEVER);
                    let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
                    for _ in 0..lines {
                        test.observe(Reading::exact(world(&mut chance)));
                    }
                    test.spells(false).is_dependent
                }
            });
            let rate = cell.measure(Form { streams: 400, rounds: lines, error: 0.01 });
            assert!(!rate.is_proven_above(0.002), "{}", rate.line());
        }
    }
}
