//! The test of a ratio of means: the formula, identities, and how often it is wrong.

use crate::common::rates::{Cell, Form};
use proptest::prelude::*;
use proptest::sample::select;
use tiebreak_core::claim::Relation;
use tiebreak_core::sample::Reading;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::mean_ratio_test::MeanRatioTest;

const NEVER: f64 = 0.0;
const INF: f64 = f64::INFINITY;
const CAP: f64 = 10.0;
const ALONE: Conditions = Conditions::UNKNOWN;

fn after(mut test: MeanRatioTest, rounds: &[(Reading, Reading)]) -> MeanRatioTest {
    rounds.iter().for_each(|(left, right)| {
        test.observe(*left, *right, &ALONE);
    });
    test
}

fn faster(factor: f64, error: f64) -> MeanRatioTest {
    MeanRatioTest::new(Relation::AtLeast { factor }, CAP, error, 0.0)
}

/// The mean over the stakes of `prod (1 + s (b / r - a) / cap)`, straight from the formula.
fn naive(rounds: impl Iterator<Item = (f64, f64)> + Clone, r: f64) -> f64 {
    let stake = |k: i32| 0.9 * f64::powi(0.5, k);
    let wealth = |s: f64| {
        rounds.clone().map(|(a, b)| 1.0 + s * (b.min(CAP) / r - a.min(CAP)) / CAP).product::<f64>()
    };
    (0..10).map(|k| 0.1 * wealth(stake(k))).sum()
}

#[test]
fn evidence_is_that_of_the_formula() {
    let round = |i: u32| (f64::from(i * 37 % 101) / 8.0, f64::from(i * 53 % 97) / 9.0);
    for (factor, n) in [(1.0, 150), (1.5, 40), (0.7, 90), (3.0, 5)] {
        let rounds = || (0..n).map(round);
        let readings: Vec<_> =
            rounds().map(|(a, b)| (Reading::exact(a), Reading::exact(b))).collect();
        let (above, below) = after(faster(factor, NEVER), &readings).evidence();
        let expected =
            (naive(rounds(), factor), naive(rounds().map(|(a, b)| (b, a)), 1.0 / factor));
        assert!((above / expected.0 - 1.0).abs() < 1e-9, "{above} {expected:?}");
        assert!((below / expected.1 - 1.0).abs() < 1e-9, "{below} {expected:?}");
    }
}

/// Whatever two values each has, at the true ratio the bets are worth exactly 1 on average.
#[test]
fn fair_bets_win_nothing_on_average() {
    let n = 8;
    for (a, b, factor) in [([1.0, 9.0], [4.0, 7.0], 1.1), ([0.0, 10.0], [2.0, 0.0], 0.2)] {
        let mut expectation = 0.0;
        for outcomes in 0..1u32 << (2 * n) {
            let drawn = |at: usize, of: [f64; 2]| Reading::exact(of[(outcomes >> at & 1) as usize]);
            let rounds: Vec<_> = (0..n).map(|i| (drawn(2 * i, a), drawn(2 * i + 1, b))).collect();
            expectation += after(faster(factor, NEVER), &rounds).evidence().0;
        }
        expectation /= f64::from(1u32 << (2 * n));
        assert!((expectation - 1.0).abs() < 1e-9, "{expectation}");
    }
}

/// Theorem 2 of rule A3, for means: a run that follows one of its own kind gains, the primer of the
/// second round is the other contestant, and a block of two rounds gains nothing.
#[test]
fn who_ran_last_gains_nothing_in_a_block() {
    let slots = [(3.0, 5.0), (7.0, 2.0)];
    for gains in [(1.5, 1.5), (0.3, 1.9), (-1.0, -2.5), (0.0, 2.0)] {
        let mut sums = (0.0, 0.0);
        for coins in 0..8u32 {
            let is = |coin: u32| coins >> coin & 1 == 1;
            let mut test = faster(1.0, NEVER);
            for (round, ((first, second), gain)) in
                slots.into_iter().zip([gains.0, gains.1]).enumerate()
            {
                let left_first = is(1 + round as u32);
                let left_primed = is(0) == (round == 0);
                let first = first - if left_first == left_primed { gain } else { 0.0 };
                let (a, b) = if left_first { (first, second) } else { (second, first) };
                let conditions = Conditions { goes_on: round == 0, ..ALONE };
                test.observe(Reading::exact(a), Reading::exact(b), &conditions);
            }
            let (above, below) = test.evidence();
            sums = (sums.0 + above / 8.0, sums.1 + below / 8.0);
        }
        assert!(sums.0 <= 1.0 + 1e-12 && sums.1 <= 1.0 + 1e-12, "{gains:?}: {sums:?}");
    }
}

#[test]
fn lost_attempts_and_unknown_values_cost_both_sides() {
    let fresh = faster(1.0, NEVER);
    let mut lost = fresh.clone();
    lost.lose_attempt();
    let stakes = (0..10).map(|k| 1.0 - 0.9 * f64::powi(0.5, k)).sum::<f64>() / 10.0;
    assert!((lost.evidence().0 - stakes).abs() < 1e-12, "{:?}", lost.evidence());
    assert_eq!((lost.evidence().0, lost.rounds()), (lost.evidence().1, 0));
    assert!(lost.is_charged() && !fresh.is_charged());
    let unknown = after(fresh, &[(Reading::UNKNOWN, Reading::UNKNOWN)]);
    assert_eq!(unknown.evidence(), lost.evidence());
}

#[test]
fn rounds_in_which_bets_rest_and_open_blocks_are_no_evidence() {
    let mut test = faster(1.0, 0.05);
    let (left, right) = (Reading::exact(1.0), Reading::exact(9.0));
    for conditions in [Conditions { rests: true, ..ALONE }, Conditions { goes_on: true, ..ALONE }] {
        (0..100).for_each(|_| assert_eq!(test.observe(left, right, &conditions), None));
    }
    assert_eq!((test.rounds(), test.evidence()), (100, faster(1.0, 0.05).evidence()));
    let settled = test.observe(left, right, &ALONE).unwrap();
    assert_eq!(settled.verdict, Verdict::Holds);
}

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![
        8 => (0.0..10.0f64).prop_map(Reading::exact),
        2 => (0.0..3.0f64).prop_map(Reading::exact),
        1 => (0.0..10.0f64, 0.0..5.0f64).prop_map(|(low, w)| Reading { low, high: low + w }),
        1 => (0.0..30.0f64).prop_map(|low| Reading { low, high: INF }),
        1 => Just(Reading::UNKNOWN),
        1 => Just(Reading::exact(0.0)),
    ]
}

fn relation() -> impl Strategy<Value = Relation> {
    select(vec![
        Relation::Order,
        Relation::AtLeast { factor: 1.2 },
        Relation::NoMoreThan { fraction: 0.1 },
        Relation::Within { fraction: 0.3 },
        Relation::Measure { precision: 0.5 },
    ])
}

proptest! {
    /// A verdict stands on limits that lie beyond its bars, and swapping the two mirrors all.
    #[test]
    fn limits_never_contradict(
        rounds in prop::collection::vec((reading(), reading()), 0..250),
        relation in relation(),
        scale in select(vec![0.3, 1.0]),
    ) {
        let smaller = |r: Reading| Reading { low: r.low * scale, high: r.high * scale };
        let rounds: Vec<_> = rounds.into_iter().map(|(a, b)| (smaller(a), b)).collect();
        let test = after(MeanRatioTest::new(relation, CAP, 0.1, 0.05), &rounds);
        let limits = test.limits();
        let estimate = test.summary().estimate;
        for (low, high) in [(limits.low, estimate), (estimate, limits.high)] {
            prop_assert!(low.zip(high).is_none_or(|(low, high)| low <= high));
        }
        let beyond = |bar: f64| {
            (limits.low.is_some_and(|low| low > bar), limits.high.is_some_and(|high| high < bar))
        };
        match (relation, test.settled().map(|settled| (settled.verdict, settled.left_wins))) {
            (_, None) => {}
            (Relation::Order, Some((Verdict::Holds, left_wins))) => {
                prop_assert_eq!(beyond(0.0), (left_wins == Some(true), left_wins == Some(false)));
            }
            (Relation::AtLeast { factor }, Some((Verdict::Holds, _))) => {
                prop_assert!(beyond(factor.ln()).0);
            }
            (Relation::AtLeast { factor }, Some((Verdict::Refuted, _))) => {
                prop_assert!(beyond(factor.ln()).1);
            }
            (Relation::Within { fraction }, Some((Verdict::Holds, _))) => {
                prop_assert!(beyond(-fraction.ln_1p()).0 && beyond(fraction.ln_1p()).1);
            }
            (_, Some((Verdict::TooClose, _))) => {
                prop_assert!(limits.width().is_some_and(|width| width < 0.1));
            }
            _ => {}
        }
        if matches!(relation, Relation::Order | Relation::Within { .. }) {
            let swapped: Vec<_> = rounds.iter().map(|(a, b)| (*b, *a)).collect();
            let mirror = after(MeanRatioTest::new(relation, CAP, 0.1, 0.05), &swapped);
            prop_assert_eq!(mirror.rounds(), test.rounds());
            prop_assert_eq!(mirror.limits().low, limits.high.map(|high| 0.0 - high));
            prop_assert_eq!(mirror.settled().map(|s| s.verdict), test.settled().map(|s| s.verdict));
        }
    }
}

/// Runs with a long tail, of which the right contestant's are `factor` times as long up to the cap.
fn tailed(form: Form, seed: Seed, stream: u64, factor: f64) -> impl Iterator<Item = [Reading; 2]> {
    let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
    let next = move || {
        let mut run = || (0.5 / (1.0 - chance.unit()).sqrt()).min(CAP / 1.5);
        let [a, b] = [run(), run()];
        [Reading::exact(a), Reading::exact(b * factor)]
    };
    std::iter::repeat_with(next).take(form.rounds)
}

/// How often a claim gets a verdict.
fn gets(bar: f64, truth: f64, verdict: Verdict) -> Cell {
    let what = format!("mean at least {bar} times, {truth} is so: {verdict}");
    Cell::new(what, "long tail", "mean", move |form: Form, seed, stream| {
        let mut test = faster(bar, form.error);
        let mut rounds = tailed(form, seed, stream, truth);
        let settled = rounds.find_map(|[left, right]| test.observe(left, right, &ALONE));
        settled.is_some_and(|settled| settled.verdict == verdict)
    })
}

#[test]
fn verdicts_at_the_bar_are_rarely_wrong() {
    let form = Form { streams: 1000, rounds: 400, error: 0.05 };
    for (factor, verdict) in [
        (1.0, Verdict::Holds),
        (1.0, Verdict::Refuted),
        (1.3, Verdict::Holds),
        (1.3, Verdict::Refuted),
    ] {
        gets(factor, factor, verdict).check(form);
    }
    // Who never says anything is never wrong.
    for (bar, truth, verdict) in [(1.0, 1.3, Verdict::Holds), (1.3, 1.0, Verdict::Refuted)] {
        let rate = gets(bar, truth, verdict).measure(form);
        println!("{}", rate.line());
        assert!(rate.is_proven_above(0.5), "{}", rate.line());
    }
}
