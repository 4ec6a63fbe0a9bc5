//! The reference values of the engines, computed independently, and the identities that any look
//! ahead, any asymmetry or any loose rounding would break.

use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_stats::bettor::{M3R, M4, S, S2, Table};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

/// Forty log ratios with a 1.2% effect, a wave and three outliers.
fn reference() -> Vec<f64> {
    let value = |i: i32| {
        let outlier = if i % 17 == 5 { 0.3 } else { 0.0 };
        let d = 0.012 + 0.02 * libm::sin(1.7 * f64::from(i)) + outlier;
        libm::round(d * 1e6) / 1e6
    };
    (0..40).map(value).collect()
}

fn exact(values: &[f64]) -> Vec<LogRatio> {
    values.iter().copied().map(LogRatio::exact).collect()
}

fn check_evidence(table: &'static Table, vectors: &[(usize, f64, f64)]) {
    for (n, up, down) in vectors {
        let history = crate::common::history(table, &exact(&reference()[..*n]));
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-10;
        let got = (history.evidence_above(0.0, 0), history.evidence_below(0.0, 0));
        assert!(close(got.0, *up) && close(got.1, *down), "{} n={n}: {got:?}", table.name);
    }
}

#[test]
fn m3r_vectors() {
    check_evidence(
        &M3R,
        &[
            (1, 1.5421, 0.4579),
            (2, 2.457707, 0.289307),
            (6, 2.88817741786, 0.146727210989),
            (7, 1.99568148214, 0.160839325371),
            (8, 1.73447292884, 0.177137912672),
            (10, 3.77470627709, 0.117529588268),
            (20, 17.9632667986, 0.0607440361349),
            (30, 135.882934908, 0.0353646807756),
            (40, 3254.65254037, 0.0196514918083),
        ],
    );
}

#[test]
fn s_vectors() {
    check_evidence(
        &S,
        &[
            (1, 1.493, 0.507),
            (2, 2.31109, 0.33909),
            (6, 2.83059977031, 0.190773726869),
            (7, 1.32111766715, 0.222247401315),
            (10, 1.40775277348, 0.175305505683),
            (20, 2.57552266628, 0.095953345869),
            (40, 24.2590239873, 0.0398439527515),
        ],
    );
}

#[test]
fn limit_vectors() {
    for (table, n, error, low, high, within) in [
        (&M3R, 40, 0.01, 0.003535294313, 0.027676472794, 1e-11),
        (&M3R, 40, 0.005, 0.002784753990, 0.029048841177, 1e-11),
        (&M3R, 20, 0.025, -0.001997000, 0.029585000, 1e-11),
        (&S, 40, 0.01, -0.001997, 0.029585, 1e-11),
        (&S, 40, 0.005, -0.002567, 0.030809, 1e-11),
    ] {
        let limits = crate::common::history(table, &exact(&reference()[..n])).limits(error, 0, &[]);
        let (got_low, got_high) = (limits.low.unwrap(), limits.high.unwrap());
        assert!((got_low - low).abs() < within, "{} {error}: {got_low}", table.name);
        assert!((got_high - high).abs() < within, "{} {error}: {got_high}", table.name);
    }
}

/// Under fair signs the mean wealth is 1 exactly: all sign patterns of up to fifteen sizes, the
/// scale and the shapes being those of the flipped past. Any peek at the present round shows here.
#[test]
fn mean_wealth_over_all_sign_flips_is_one() {
    let sizes = [
        0.011, 0.3, 0.0007, 0.02, 0.02, 0.05, 0.013, 0.004, 0.0091, 0.6, 0.017, 0.0301, 0.0012,
        0.019, 0.0202,
    ];
    for table in [&M3R, &M4, &S, &S2] {
        for n in [1, 5, 7, 11, 15] {
            let patterns = 1u32 << n;
            let mut mean = 0.0;
            for pattern in 0..patterns {
                let flipped = |(i, size): (usize, &f64)| {
                    LogRatio::exact(if pattern >> i & 1 == 1 { *size } else { -size })
                };
                let rounds: Vec<_> = sizes[..n].iter().enumerate().map(flipped).collect();
                let wealth = crate::common::history(table, &rounds).evidence_above(0.0, 0);
                mean += wealth / f64::from(patterns);
            }
            // The total is rounded down by 2^-50 a step on purpose.
            assert!(mean <= 1.0 && mean > 1.0 - 1e-12, "{} n={n}: {mean}", table.name);
        }
    }
}

/// A round of awkward values: ties, huge and tiny ratios, time-outs on either side, unknown ones.
fn awkward(n: usize) -> Vec<LogRatio> {
    const INF: f64 = f64::INFINITY;
    (0..n)
        .map(|i| match i % 11 {
            0 => LogRatio::exact(0.0),
            3 => LogRatio { low: 0.4, high: INF },
            5 => LogRatio { low: -INF, high: -0.2 },
            7 => LogRatio { low: -INF, high: INF },
            8 => LogRatio { low: -0.01, high: 0.02 },
            9 => LogRatio::exact(1e-12),
            _ => LogRatio::exact(((i * 7919) % 101) as f64 * 1e-3 - 0.035),
        })
        .collect()
}

#[test]
fn evidence_is_monotone_in_the_bar() {
    for table in [&M3R, &S, &S2] {
        for n in [3, 11, 60] {
            let history = crate::common::history(table, &awkward(n));
            let mut last = (f64::INFINITY, 0.0);
            for step in -400..=400 {
                let theta = f64::from(step) * 2.5e-3;
                let now = (history.evidence_above(theta, 0), history.evidence_below(theta, 0));
                assert!(now.0 <= last.0 * (1.0 + 1e-12), "{} up at {theta}", table.name);
                assert!(now.1 >= last.1 * (1.0 - 1e-12), "{} down at {theta}", table.name);
                assert!(now.0 >= 0.0 && now.1 >= 0.0);
                last = now;
            }
        }
    }
}

/// Swapping the contestants mirrors evidence, limits and verdicts bit for bit.
#[test]
fn everything_mirrors() {
    let mut rounds = awkward(90);
    rounds.extend(exact(&reference()));
    for table in [&M3R, &M4, &S, &S2] {
        for n in 1..rounds.len() {
            let mirrored: Vec<_> = rounds[..n].iter().map(|d| d.mirrored()).collect();
            let (a, b) = (
                crate::common::history(table, &rounds[..n]),
                crate::common::history(table, &mirrored),
            );
            for theta in [0.0, 0.01, -0.3, 1e-13] {
                assert_eq!(a.evidence_above(theta, 2), b.evidence_below(-theta, 2));
            }
            if n % 9 == 1 {
                let (a, b) = (a.limits(0.05, 0, &[]), b.limits(0.05, 0, &[]));
                assert_eq!(a.low, b.high.map(|limit| -limit), "{} n={n}", table.name);
                assert_eq!(a.high, b.low.map(|limit| -limit), "{} n={n}", table.name);
            }
        }
    }
}

#[test]
fn verdicts_mirror() {
    for centre in [Centre::Factor, Centre::Median] {
        for relation in [Relation::Order, Relation::Within { fraction: 0.02 }] {
            let mut a = RatioTest::new(relation, centre, 0.05, 0.01, Adjust::NONE);
            let mut b = a.clone();
            for d in exact(&reference()).into_iter().cycle().take(400) {
                let (left, right) = (
                    a.observe(d, &Conditions::UNKNOWN),
                    b.observe(d.mirrored(), &Conditions::UNKNOWN),
                );
                assert_eq!(left.map(|s| s.verdict), right.map(|s| s.verdict));
                let wins = left.and_then(|s| s.left_wins);
                assert_eq!(wins, right.and_then(|s| s.left_wins).map(|wins| !wins));
                assert_eq!(a.evidence().0, {
                    let (for_claim, against) = b.evidence();
                    if relation == Relation::Order { against } else { for_claim }
                });
            }
            assert_eq!(a.settled().is_some(), relation == Relation::Order || a.rounds() < 400);
        }
    }
}

/// The interval never contradicts the verdict, and the cheap bets of every round settle a claim in
/// the same round in which its limits would.
#[test]
fn verdict_and_limits_agree_in_every_round() {
    let relations = [
        Relation::Order,
        Relation::AtLeast { factor: 1.005 },
        Relation::NoMoreThan { fraction: 0.01 },
        Relation::Within { fraction: 0.02 },
    ];
    for relation in relations {
        for shift in [-0.03, -0.005, 0.0, 0.004, 0.02] {
            let mut test =
                RatioTest::by_version(2, relation, Centre::Factor, 0.05, 0.01, Adjust::NONE);
            for (i, d) in reference().into_iter().cycle().take(600).enumerate() {
                let jitter = ((i * 31) % 17) as f64 * 1e-5;
                let settled =
                    test.observe(LogRatio::exact(d - 0.012 + shift + jitter), &Conditions::UNKNOWN);
                let summary = test.summary();
                if let Some(settled) = settled {
                    if let (Relation::Order, Some(wins)) = (relation, settled.left_wins) {
                        assert_eq!(wins, summary.low.is_some_and(|low| low > 0.0));
                    }
                    break;
                }
                if relation == Relation::Order {
                    let beyond = summary.low.is_some_and(|low| low > 1e-11);
                    let agrees = summary.estimate.is_some_and(|estimate| estimate > 0.0);
                    assert!(!(beyond && agrees), "round {i} should have been settled");
                }
            }
            let limits = test.limits();
            if let (Some(low), Some(high)) = (limits.low, limits.high) {
                assert!(low < high);
            }
        }
    }
}

/// The verdict waits for the evidence that pays for lost attempts at the worst. Version 1 of the
/// engine charged them when they were many.
#[test]
fn lost_attempts_are_charged() {
    let rounds_with = |lost: u32, are_free: bool| {
        let (version, order) = (if are_free { 1 } else { 2 }, Relation::Order);
        let mut test =
            RatioTest::by_version(version, order, Centre::Factor, 0.01, 0.01, Adjust::NONE);
        (0..lost).for_each(|_| test.lose_attempt());
        let settled = |i: &i32| {
            test.observe(LogRatio::exact(0.1 + f64::from(*i) * 1e-5), &Conditions::UNKNOWN)
                .is_some()
        };
        (1..200).find(settled).unwrap()
    };
    for are_free in [false, true] {
        assert_eq!(rounds_with(0, are_free), 10);
        assert!(rounds_with(4, are_free) > 12, "{}", rounds_with(4, are_free));
        assert!(rounds_with(10, are_free) > rounds_with(4, are_free));
    }
    assert_eq!(rounds_with(3, true), 10);
    assert!(rounds_with(1, false) > 10 && rounds_with(3, false) > rounds_with(1, false));
}
