//! What holds for any rounds and any readings at all.

use crate::common::history;
use proptest::prelude::*;
use proptest::sample::select;
use tiebreak_core::claim::Relation;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_core::sample::Reading;
use tiebreak_stats::bettor::{M3R, M4, S, S2, Table};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::{SequentialTest, Settled};
use tiebreak_stats::limits::{LIMIT_WIDTH, Limits};
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

const INF: f64 = f64::INFINITY;

/// Log ratios: ordinary ones, ties, outliers, and intervals that are open on a side or both.
fn log_ratio() -> impl Strategy<Value = LogRatio> {
    let closed = |d: f64, width: f64| LogRatio { low: d, high: d + width };
    prop_oneof![
        8 => (-0.1..0.1f64).prop_map(LogRatio::exact),
        2 => (-3i32..=3).prop_map(|step| LogRatio::exact(f64::from(step) * 0.01)),
        1 => (-40.0..40.0f64).prop_map(LogRatio::exact),
        1 => (-0.1..0.1f64, 0.0..0.05f64).prop_map(move |(d, width)| closed(d, width)),
        1 => (-0.1..0.1f64).prop_map(move |d| LogRatio { low: d, high: INF }),
        1 => (-0.1..0.1f64).prop_map(move |d| LogRatio { low: -INF, high: d }),
        1 => Just(LogRatio { low: -INF, high: INF }),
    ]
}

fn log_ratios() -> impl Strategy<Value = Vec<LogRatio>> {
    prop::collection::vec(log_ratio(), 0..120)
}

fn engine() -> impl Strategy<Value = &'static Table> {
    select(vec![&M3R, &M4, &S, &S2])
}

/// The engines without learners: their evidence never rises with the bar.
fn monotone_engine() -> impl Strategy<Value = &'static Table> {
    select(vec![&M3R, &S, &S2])
}

fn centre() -> impl Strategy<Value = Centre> {
    select(vec![Centre::Factor, Centre::Median])
}

fn relation() -> impl Strategy<Value = Relation> {
    select(vec![
        Relation::Order,
        Relation::AtLeast { factor: 1.0 },
        Relation::AtLeast { factor: 1.03 },
        Relation::NoMoreThan { fraction: 0.02 },
        Relation::Within { fraction: 0.03 },
    ])
}

/// Times that a clock of whole nanoseconds may give.
fn times() -> impl Strategy<Value = Vec<(u32, u32)>> {
    let pair = (1_000u32..2_000, 1_000u32..2_000);
    prop::collection::vec(pair, 1..80)
}

/// Numbers that no clock should give, and some that it may.
fn any_bound() -> impl Strategy<Value = f64> {
    prop_oneof![
        select(vec![0.0, 5e-324, 1e-300, 1.0, 1e300, f64::MAX, INF, f64::NAN, -1.0]),
        0.0..1e12f64,
    ]
}

fn any_reading() -> impl Strategy<Value = Reading> {
    (any_bound(), any_bound()).prop_map(|(low, high)| Reading { low, high })
}

fn observe_all(test: &mut RatioTest, rounds: &[LogRatio]) -> Vec<Option<Settled>> {
    rounds.iter().map(|d| test.observe(*d, &Conditions::UNKNOWN)).collect()
}

/// Everything that a test says of itself, and what it said after each round.
fn all_of(mut test: RatioTest, rounds: &[LogRatio]) -> (Vec<Option<Settled>>, Evidence, Limits) {
    let settled = observe_all(&mut test, rounds);
    (settled, test.summary(), test.limits())
}

/// Failures are printed with what reproduces them; nothing is written next to the sources.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn evidence_is_a_finite_number_and_never_negative(
        table in engine(), rounds in log_ratios(), theta in -1.0..1.0f64, charges in 0..5u64,
    ) {
        let history = history(table, &rounds);
        let above = history.evidence_above(theta, charges);
        for value in [above, history.evidence_below(theta, charges)] {
            prop_assert!(value.is_finite() && value >= 0.0, "{value}");
        }
    }

    #[test]
    fn evidence_is_monotone_in_the_bar(
        table in monotone_engine(), rounds in log_ratios(), theta in -0.2..0.2f64,
        step in 0.0..0.2f64,
    ) {
        let history = history(table, &rounds);
        let (low, high) = (theta, theta + step);
        let above = (history.evidence_above(low, 0), history.evidence_above(high, 0));
        let below = (history.evidence_below(low, 0), history.evidence_below(high, 0));
        prop_assert!(above.1 <= above.0 * (1.0 + 1e-12), "{above:?}");
        prop_assert!(below.0 <= below.1 * (1.0 + 1e-12), "{below:?}");
    }

    #[test]
    fn swapping_the_contestants_mirrors_evidence_and_limits(
        table in engine(), rounds in log_ratios(), theta in -0.2..0.2f64, error in 0.001..0.4f64,
    ) {
        let mirrored: Vec<_> = rounds.iter().map(|d| d.mirrored()).collect();
        let (a, b) = (history(table, &rounds), history(table, &mirrored));
        prop_assert_eq!(a.evidence_above(theta, 1), b.evidence_below(-theta, 1));
        let (a, b) = (a.limits(error, 0, &[]), b.limits(error, 0, &[]));
        prop_assert_eq!(a.low, b.high.map(|limit| -limit));
        prop_assert_eq!(a.high, b.low.map(|limit| -limit));
    }

    #[test]
    fn swapping_the_contestants_mirrors_the_answer(centre in centre(), times in times()) {
        let question = || RatioTest::new(Relation::Order, centre, 0.1, 0.01, Adjust::NONE);
        let (mut a, mut b) = (question(), question());
        for (left, right) in times {
            let (left, right) = (Reading::exact(left.into()), Reading::exact(right.into()));
            let one = a.observe(LogRatio::between(left, right, 1.0, 0.01), &Conditions::UNKNOWN);
            let other = b.observe(LogRatio::between(right, left, 1.0, 0.01), &Conditions::UNKNOWN);
            prop_assert_eq!(one.map(|s| s.verdict), other.map(|s| s.verdict));
            let wins = other.and_then(|s| s.left_wins);
            prop_assert_eq!(one.and_then(|s| s.left_wins), wins.map(|wins| !wins));
        }
        let (for_a, against_a) = a.evidence();
        prop_assert_eq!((against_a, for_a), b.evidence());
    }

    #[test]
    fn scaling_all_times_by_a_power_of_two_changes_nothing(
        centre in centre(), relation in relation(), times in times(), exponent in -20..20i32,
        step in select(vec![0.0, 1.0, 40.0]),
    ) {
        let scaled = |scale: f64| -> Vec<LogRatio> {
            let reading = |time: u32| Reading::exact(f64::from(time) * scale);
            let ratio = |(a, b): &(u32, u32)| {
                LogRatio::between(reading(*a), reading(*b), step * scale, 0.01)
            };
            times.iter().map(ratio).collect()
        };
        let test = RatioTest::new(relation, centre, 0.05, 0.01, Adjust::NONE);
        let scale = f64::from(exponent).exp2();
        prop_assert_eq!(all_of(test.clone(), &scaled(1.0)), all_of(test, &scaled(scale)));
    }

    #[test]
    fn a_test_goes_on_from_a_copy_as_if_nothing_had_happened(
        centre in centre(), relation in relation(), rounds in log_ratios(), at in 0..120usize,
        lost in 0..8u32,
    ) {
        let mut test = RatioTest::new(relation, centre, 0.05, 0.01, Adjust::NONE);
        (0..lost).for_each(|_| test.lose_attempt());
        let whole = all_of(test.clone(), &rounds);
        let (before, after) = rounds.split_at(at.min(rounds.len()));
        let mut settled = observe_all(&mut test, before);
        let resumed = all_of(test.clone(), after);
        settled.extend(resumed.0);
        prop_assert_eq!(whole, (settled, resumed.1, resumed.2));
    }

    /// Where there are learners, each limit is right at its own error, but the search for it ends
    /// at a cell, so two limits may lie in either order by a part of a cell.
    #[test]
    fn a_smaller_error_gives_a_wider_interval(
        table in monotone_engine(), rounds in log_ratios(), error in 0.001..0.3f64,
        factor in 1.0..3.0f64,
    ) {
        let history = history(table, &rounds);
        let limits = |error| history.limits(error, 0, &[]);
        let (wide, narrow) = (limits(error), limits(error * factor));
        let (wide_low, narrow_low) = (wide.low.unwrap_or(-INF), narrow.low.unwrap_or(-INF));
        let (wide_high, narrow_high) = (wide.high.unwrap_or(INF), narrow.high.unwrap_or(INF));
        prop_assert!(wide_low <= narrow_low + 2.0 * LIMIT_WIDTH, "{wide:?} {narrow:?}");
        prop_assert!(wide_high >= narrow_high - 2.0 * LIMIT_WIDTH, "{wide:?} {narrow:?}");
    }

    #[test]
    fn limits_stand_where_the_bets_have_won(
        table in engine(), rounds in log_ratios(), error in 0.001..0.4f64,
    ) {
        let history = history(table, &rounds);
        let (limits, needed) = (history.limits(error, 0, &[]), 1.0 / error);
        if let Some(low) = limits.low {
            prop_assert!(history.evidence_above(low, 0) >= needed);
        }
        if let Some(high) = limits.high {
            prop_assert!(history.evidence_below(high, 0) >= needed);
        }
    }

    /// The looks at a verdict that are skipped are those at which there is none; where there are
    /// learners, a claim may be settled some rounds later.
    #[test]
    fn a_claim_is_settled_in_the_first_round_whose_limits_settle_it(
        centre in centre(), rounds in log_ratios(), shift in -0.05..0.05f64,
    ) {
        let faster = Relation::AtLeast { factor: 1.0 };
        let mut test = RatioTest::by_version(2, faster, centre, 0.2, 0.0, Adjust::NONE);
        for d in rounds {
            let shifted = LogRatio { low: d.low + shift, high: d.high + shift };
            let settled = test.observe(shifted, &Conditions::UNKNOWN);
            let limits = test.limits();
            let median = test.summary().estimate;
            let guard = |agrees: fn(f64) -> bool| {
                centre == Centre::Median || median.is_none_or(agrees)
            };
            let above = limits.low.is_some_and(|low| low > 1e-11) && guard(|m| m > 0.0);
            let below = limits.high.is_some_and(|high| high < -1e-11) && guard(|m| m < 0.0);
            let crossed = centre == Centre::Factor && test.limits_cross();
            prop_assert!(settled.is_some() || crossed || !(above || below), "{limits:?}");
            if settled.is_some() {
                break;
            }
        }
    }

    #[test]
    fn no_reading_makes_anything_panic(
        centre in centre(), relation in relation(), step in any_bound(),
        readings in prop::collection::vec((any_reading(), any_reading()), 0..60),
    ) {
        let mut test = RatioTest::new(relation, centre, 0.05, 0.01, Adjust::NONE);
        for (left, right) in readings {
            let d = LogRatio::between(left, right, step, 0.01);
            prop_assert!(!d.low.is_nan() && !d.high.is_nan(), "{left:?} {right:?} {d:?}");
            test.observe(d, &Conditions::UNKNOWN);
            let (for_claim, against) = test.evidence();
            prop_assert!(for_claim.is_finite() && against.is_finite());
        }
        let summary = test.summary();
        for limit in [summary.low, summary.high, summary.estimate].into_iter().flatten() {
            prop_assert!(limit.is_finite(), "{summary:?}");
        }
    }
}

/// Such rounds stop the bisection at an evidence that only the last digits tell from the bar.
#[test]
fn limits_of_ties_stand_where_the_bets_have_won() {
    let tie = LogRatio::exact(0.0);
    let (above, below) = (LogRatio { low: 0.0, high: INF }, LogRatio { low: -INF, high: 0.0 });
    let rounds =
        [LogRatio::exact(31.537275345548345), tie, tie, above, below, tie, tie, tie, tie, below];
    let history = history(&M4, &rounds);
    let error = 0.3627296254055977;
    let low = history.limits(error, 0, &[]).low.unwrap();
    assert!(history.evidence_above(low, 0) >= 1.0 / error);
}
