//! The Confidence Sequence Method against what was published: the numbers of the text and of its
//! programs to ten significant digits, and each bound against truths of fifty digits.
//!
//! A truth is given as the double just above it (below it, for lower ends), so that comparing
//! doubles compares with the truth itself.

#![allow(
    clippy::excessive_precision,
    clippy::approx_constant,
    reason = "published digits stay as they were published"
)]

use std::f64::consts::PI;
use tiebreak_stats::classic::{
    BetaBound, ClassicError, End, Rank, SumUp, beta_icdf, csm, incbeta, log_choose, log_down,
    log_up, log1p_down, log1p_up, next, next_k, prev, prev_k, quantile_index, sum_up,
};

/// Ten significant digits.
fn is_close(got: f64, published: f64) -> bool {
    (got - published).abs() <= 1e-10 * published.abs()
}

#[test]
fn primitives_bit_for_bit() {
    fn check(name: &str, got: f64, published: f64) {
        assert_eq!(got.to_bits(), published.to_bits(), "{name}: {got:e}, not {published:e}");
    }
    check("next(0)", next(0.0), 5e-324);
    check("next(-0)", next(-0.0), 0.0);
    check("next_k(-0, 2)", next_k(-0.0, 2), 5e-324);
    check("next(1)", next(1.0), 1.000_000_000_000_000_2);
    check("next(-1)", next(-1.0), -0.999_999_999_999_999_9);
    check("prev(0)", prev(0.0), -0.0);
    check("prev(-0)", prev(-0.0), -5e-324);
    check("prev(1)", prev(1.0), 0.999_999_999_999_999_9);
    check("next_k(-pi, 2)", next_k(-PI, 2), next(next(-PI)));
    check("prev_k(next_k(pi))", prev_k(next_k(PI, 7), 7), PI);
    check("log_up(1)", log_up(1.0), 2e-323);
    check("log_up(0.1)", log_up(0.1), -2.302_585_092_994_043_7);
    check("log_up(20)", log_up(20.0), 2.995_732_273_553_992_6);
    check("log_down(1)", log_down(1.0), -1.5e-323);
    check("log_down(0.1)", log_down(0.1), -2.302_585_092_994_047_2);
    check("log_down(20)", log_down(20.0), 2.995_732_273_553_989);
    check("log1p_up(0)", log1p_up(0.0), 2e-323);
    check("log1p_up(-0.1)", log1p_up(-0.1), -0.105_360_515_657_826_25);
    check("log1p_up(1e-4)", log1p_up(1e-4), 9.999_500_033_330_84e-5);
    check("log1p_down(0)", log1p_down(0.0), -1.5e-323);
    check("log1p_down(-0.1)", log1p_down(-0.1), -0.105_360_515_657_826_36);
    check("log1p_down(1e-4)", log1p_down(1e-4), 9.999_500_033_330_829e-5);
}

#[test]
fn sums_bit_for_bit() {
    fn check(mut sum: SumUp, term: f64, value: f64, rest: f64) {
        sum.include(term);
        assert_eq!(sum, SumUp { value, rest }, "+ {term}");
    }
    check(SumUp { value: 1.0, rest: 0.0 }, 0.5, 1.5, 0.0);
    check(SumUp { value: 3.0, rest: 1e-16 }, PI, 6.141592653589793, 4.440892098500626e-16);
    check(SumUp { value: 1e11, rest: 1e-8 }, PI * 1e-10, 1e11, 1.0314159265358981e-8);
    check(SumUp { value: PI * 1e-10, rest: 1e-8 }, 1e11, 1e11, 1.0314159265358981e-8);
    let finish = |value, rest| SumUp { value, rest }.finish();
    assert_eq!(finish(6.141592653589793, 4.440892098500626e-16), 6.141592653589794);
    assert_eq!(finish(1e11, -1.03e-8), 1e11);
    assert_eq!(finish(1e16, 1.0), 1.0000000000000002e16);
    assert_eq!(sum_up(&[]), 0.0);
    assert_eq!(sum_up(&[1.0, -2.0, 3.0, -4.0]), -2.0);
    assert_eq!(sum_up(&[2.5, 1e16, -1e16]), 4.0);
    assert_eq!(sum_up(&[1.0, 0.5, 0.25, 0.125]) + 0.125, 2.0);
}

#[test]
fn log_choose_vectors() {
    // The excess of Robbins's bounds over the truth is the last number.
    let vectors = [
        (4, 2, 1.7944835223684492, 1.7917594692280552, 2.73e-3),
        (10, 5, 5.5299343545451771, 5.529429087511423, 5.06e-4),
        (20, 10, 12.126923862824096, 12.126791314602455, 1.33e-4),
        (100, 50, 66.783847156668202, 66.78384165201743, 5.51e-6),
        (1000, 500, 689.46726162336506, 689.4672615678512, 5.56e-8),
        (1000, 5, 29.741520874296445, 29.741269618706546, 2.52e-4),
        (1000, 2, 13.122703580006851, 13.121362877070746, 1.35e-3),
        (10_000, 100, 556.79801236683727, 556.7980116754708, 6.92e-7),
        (10_000, 8000, 4999.416373646588, 4999.416373644561, 2.04e-9),
        (1_000_000, 990_596, 53239.05033542485, 53239.050335407155, 1.78e-8),
        (1_000_000_000, 500_000_000, 693147169.97255325, 693147169.9725211, 3.23e-5),
        (10, 9, 2.3025850929940477, 2.302585092994046, 0.0),
        (1, 0, 0.0, 0.0, 0.0),
        (5, 5, 0.0, 0.0, 0.0),
        (0, 0, 0.0, 0.0, 0.0),
    ];
    for (n, s, published, truth, excess) in vectors {
        let got = log_choose(n, s).unwrap();
        assert!(is_close(got, published), "({n}, {s}): {got}, not {published}");
        assert!(got >= truth, "({n}, {s}): {got} is below {truth}");
        assert!(got <= truth + excess * 1.01 + 1e-12 * truth, "({n}, {s}): {got}");
    }
}

#[test]
fn log_choose_bounds_every_small_binomial_coefficient() {
    let mut row = vec![1u128];
    for n in 1..=120u64 {
        let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
        row = std::iter::once(1).chain(inner).chain(std::iter::once(1)).collect();
        for (s, exact) in row.iter().enumerate() {
            let got = log_choose(n, s as u64).unwrap();
            // A bit below the logarithm, which is itself rounded.
            let truth = prev_k(libm::log(*exact as f64), 2);
            assert!(got >= truth && got <= truth + 2.8e-3, "({n}, {s}): {got}, {truth}");
        }
    }
}

#[test]
fn csm_vectors() {
    let e = libm::log;
    let check = |n, alpha, s, log_eps, is_rejected, published: f64, truth: f64| {
        let got = csm(n, alpha, s, log_eps).unwrap();
        assert_eq!(got.is_rejected, is_rejected, "csm({n}, {alpha}, {s}, {log_eps})");
        assert!(is_close(got.log_level, published), "csm({n}, {alpha}, {s}): {}", got.log_level);
        assert!(got.log_level >= truth, "csm({n}, {alpha}, {s}): {}", got.log_level);
    };
    check(1, 0.5, 0, -1.0, false, 9.9920072216264089e-16, 0.0);
    check(1, 0.5, 1, -1.0, false, 9.9920072216264089e-16, 0.0);
    check(10, 0.98, 10, e(0.001), false, 2.1958681996231784, 2.195868199623176);
    check(10, 0.98, 8, e(0.001), false, -1.7796644540608648, -1.7811099068277556);
    check(10, 0.98, 7, e(0.001), false, -4.691315279305126, -4.692100951926655);
    check(10, 0.98, 6, e(0.001), true, -8.0237426846772912, -8.024305462101857);
    check(10, 0.98, 5, e(0.001), true, -11.733298936384761, -11.73380420341853);
    check(100, 0.9, 98, e(1e-5), false, -1.8068959298043348, -1.8082373480510714);
    check(100, 0.9, 98, e(0.2), true, -1.8068959298043348, -1.8082373480510714);
    check(4000, 0.98, 3972, e(0.001), true, -17.238559826956475, -17.238568532412955);
    check(4000, 0.99, 3972, e(0.001), false, 3.678538572444694, 3.6785298669881366);
    check(4000, 0.995, 3972, e(0.001), false, 4.2805354037560335, 4.280526698299522);
    check(10_000, 0.01, 50, e(1e-9), false, -9.1323589032411547, -9.132361654429955);
    check(10_000, 0.01, 50, e(1e-3), true, -9.1323589032411547, -9.132361654429955);
    check(10, 0.05, 1, -10.0, false, 1.243108442750477, 1.2431084427504706);
    check(100_000, 0.05, 100, -10.0, true, -4624.756745998, -4624.75674669099);
    check(1_000_000, 0.99, 990_596, -10.0, false, -9.9770771842595423, -9.97707720200739);
    check(1_000_000, 0.99, 990_597, -10.0, true, -10.039129993478127, -10.039130012876933);
    check(1_000_000_000, 0.99, 990_000_000, -0.01, false, 11.750337786972523, 11.750304638855155);
    check(687, 0.99, 687, e(0.001), false, -0.37079189342214391, -0.3707918934221526);
    for (n, is_rejected, published, truth) in [
        (10, false, -4.5335765328010753, -4.533576532801082),
        (11, true, -5.1397123363713897, -5.139712336371398),
    ] {
        check(n, 0.5, 0, e(0.01), is_rejected, published, truth);
        check(n, 0.5, n, e(0.01), is_rejected, published, truth);
    }
}

#[test]
fn csm_of_the_text() {
    // The text gives the count only of the last, 3972 of 4000; the others are the only ones with
    // these levels.
    let check = |n, s, is_rejected, published: f64| {
        let got = csm(n, 0.98, s, libm::log(0.001)).unwrap();
        assert_eq!(got.is_rejected, is_rejected, "{n}");
        assert!(is_close(got.log_level, published), "{n}: {}", got.log_level);
    };
    check(10, 10, false, 2.1958681996231784);
    check(100, 100, false, 2.5948497850893184);
    check(1000, 995, false, -3.0115331544604658);
    check(2000, 1984, false, -4.190687115879456);
    check(4000, 3972, true, -17.238559826956475);
}

/// The exact probability that a stream of this rate is ever rejected as having it, within so many
/// trials: the weight of all paths that are.
fn probability_of_rejection(rate: f64, log_eps: f64, trials: u64) -> f64 {
    let mut alive = vec![1.0];
    let mut rejected = 0.0;
    for n in 1..=trials {
        let mut grown = vec![0.0; alive.len() + 1];
        for (s, weight) in alive.iter().enumerate() {
            grown[s] += weight * (1.0 - rate);
            grown[s + 1] += weight * rate;
        }
        for (s, weight) in grown.iter_mut().enumerate() {
            if csm(n, rate, s as u64, log_eps).unwrap().is_rejected {
                rejected += std::mem::take(weight);
            }
        }
        alive = grown;
    }
    rejected
}

#[test]
fn a_true_rate_is_rejected_no_more_often_than_stated() {
    for rate in [0.02, 0.3, 0.5, 0.98] {
        for eps in [0.2, 0.01] {
            let rejected = probability_of_rejection(rate, log_down(eps), 300);
            assert!(rejected > 0.0 && rejected <= eps, "{rate} at {eps}: {rejected}");
        }
    }
}

#[test]
fn incbeta_vectors() {
    let check = |a, b, x, threshold, terms_max, published: Option<f64>| {
        let got = incbeta(a, b, x, threshold, terms_max).unwrap();
        let matches = match (got, published) {
            (Some(got), Some(published)) => is_close(got, published),
            (got, published) => got == published,
        };
        assert!(matches, "incbeta({a}, {b}, {x}, {threshold}): {got:?}");
    };
    check(5, 5, 0.1, 0.1, None, Some(0.0008914881911461997));
    check(5, 5, 0.001, 1.2558053968507e-13, None, Some(1.2566030059287187e-13));
    check(5, 5, 0.001, 1e-13, None, Some(1.2566030059287187e-13));
    check(100, 1_000_000, 1e-5, 5.425166381479153e-63, None, Some(5.42516983189825e-63));
    check(100, 1_000_000, 1e-5, 5.5e-63, None, Some(5.425170242086257e-63));
    check(10_000, 1, 0.999, 4.517334597704867e-5, None, Some(4.5173345977071525e-5));
    check(10_000, 1, 0.999, 4.517334597704867e-5, Some(10), None);
}

#[test]
fn beta_icdf_vectors() {
    // C and Lisp; a truth is rounded away from the middle.
    let vectors = [
        (5, 5, 0.01, 0.1709400317777181, 0.829059968222282, 0.17096510548245908, 0.829034894517541),
        (
            10_000,
            10,
            1e-4,
            0.9973546960851649,
            0.999780366628727,
            0.997385303415149,
            0.9997803648233341,
        ),
        (
            100,
            1_000_000,
            1e-8,
            5.361735618111455e-5,
            0.0001686476860127684,
            5.361735698508839e-5,
            0.00016660772401915603,
        ),
        (
            3972,
            28,
            0.001,
            0.9882119750976562,
            0.9963832682169742,
            0.9882193514686566,
            0.9963832660422681,
        ),
        (
            3973,
            29,
            0.0005,
            0.98752559440723364,
            0.99637692491481755,
            0.9875263215088275,
            0.9963769230048506,
        ),
        (
            3973,
            29,
            0.00025,
            0.98715635659038148,
            0.99653351437903626,
            0.9871605682588962,
            0.9965335126161826,
        ),
        (1, 1, 0.05, 0.049999999999272404, 0.95000000000072771, 0.05, 0.9500000000000001),
        (1, 1, 0.4, 0.049999999999272404, 0.95000000000072771, 0.05, 0.9500000000000001),
        (4, 4, 0.0, 0.0, 1.0, 0.0, 1.0),
    ];
    for (a, b, alpha, lower, upper, truth_lower, truth_upper) in vectors {
        let (got_lower, got_upper) = both_ends(a, b, alpha);
        assert!(is_close(got_lower, lower), "lower({a}, {b}, {alpha}): {got_lower}");
        assert!(is_close(got_upper, upper), "upper({a}, {b}, {alpha}): {got_upper}");
        assert!(got_lower <= truth_lower && got_upper >= truth_upper, "({a}, {b}, {alpha})");
    }
    assert!(is_close(both_ends(2, 1, 0.005).0, 0.070710678114361741));
    assert!(is_close(both_ends(101, 1, 0.005).0, 0.94889361600108524));
    assert!(is_close(both_ends(1, 101, 0.005).1, 0.051106383998914769));
    assert!(is_close(both_ends(3973, 29, 0.001).1, 0.9962067410473855));
}

fn both_ends(a: u64, b: u64, alpha: f64) -> (f64, f64) {
    let end = |end| beta_icdf(a, b, alpha, end).unwrap().bound;
    (end(End::Lower), end(End::Upper))
}

#[test]
fn beta_icdf_bounds_further_truths() {
    let truths = [
        (3973, 29, 0.001, 0.9879042743238708, 0.996206738965128),
        (2, 1, 0.005, 0.07071067811865475, 0.9974968671630002),
        (101, 1, 0.005, 0.9488936160261175, 0.999950372104539),
        (50, 50, 1e-6, 0.27465129414143014, 0.7253487058585699),
        (7, 300, 1e-9, 0.0005906763082706805, 0.11141246171866474),
        (20, 3, 0.02, 0.6985737672103082, 0.9733287993459258),
    ];
    for (a, b, alpha, lower, upper) in truths {
        let (got_lower, got_upper) = both_ends(a, b, alpha);
        assert!(got_lower <= lower && got_lower > lower * 0.999, "({a}, {b}): {got_lower}");
        assert!(got_upper >= upper && got_upper < upper * 1.02, "({a}, {b}): {got_upper}");
    }
    // Large counts take some thousand terms, not as many as there are counts.
    for (a, b) in [(1, 1 << 43), (1 << 43, 1), (1 << 43, 1 << 43), ((1 << 44) - 1, 1 << 20)] {
        let mean = a as f64 / (a + b) as f64;
        let (lower, upper) = both_ends(a, b, 1e-6);
        assert!((0.0..=mean).contains(&lower) && (mean..=1.0).contains(&upper), "{a}, {b}");
    }
}

#[test]
fn beta_icdf_of_the_text() {
    let check = |end, bound: f64, slack: f64| {
        let got = beta_icdf(3972, 28, 0.001, end).unwrap();
        let BetaBound { bound: got_bound, slack: got_slack } = got;
        assert!(is_close(got_bound, bound) && is_close(got_slack, slack), "{got:?}");
    };
    check(End::Lower, 0.9882119750976562, 1.515197753898523e-5);
    check(End::Upper, 0.9963832682169742, 2.0372679238045424e-13);
}

#[test]
fn quantile_index_vectors() {
    let none = None;
    let vectors = [
        (10, 0.5, 4, [(Some(0), Some(9)), (none, none), (none, none)]),
        (20, 0.5, 9, [(Some(3), Some(16)), (Some(2), Some(17)), (Some(1), Some(18))]),
        (50, 0.5, 24, [(Some(13), Some(36)), (Some(11), Some(38)), (Some(10), Some(39))]),
        (100, 0.5, 49, [(Some(33), Some(66)), (Some(30), Some(69)), (Some(28), Some(71))]),
        (1000, 0.5, 499, [(Some(441), Some(558)), (Some(434), Some(565)), (Some(426), Some(573))]),
        (
            10_000,
            0.5,
            4999,
            [(Some(4799), Some(5200)), (Some(4780), Some(5219)), (Some(4755), Some(5244))],
        ),
        (100, 0.9, 89, [(Some(78), Some(99)), (Some(76), Some(99)), (Some(74), none)]),
        (1000, 0.9, 899, [(Some(861), Some(934)), (Some(857), Some(938)), (Some(852), Some(942))]),
        (1000, 0.99, 989, [(Some(974), none), (Some(973), none), (Some(971), none)]),
        (
            2000,
            0.99,
            1979,
            [(Some(1959), Some(1996)), (Some(1956), Some(1997)), (Some(1954), Some(1998))],
        ),
        (
            10_000,
            0.99,
            9899,
            [(Some(9853), Some(9940)), (Some(9849), Some(9943)), (Some(9844), Some(9947))],
        ),
        (
            100_000,
            0.999,
            99_899,
            [
                (Some(99_847), Some(99_945)),
                (Some(99_844), Some(99_947)),
                (Some(99_839), Some(99_951)),
            ],
        ),
    ];
    for (n, q, estimate, ends) in vectors {
        for (eps, (lower, upper)) in [0.05, 0.01, 0.001].into_iter().zip(ends) {
            let index = |rank| quantile_index(n, q, libm::log(eps), rank).unwrap();
            let got = (index(Rank::Lower), index(Rank::Estimate), index(Rank::Upper));
            assert_eq!(got, (lower, Some(estimate), upper), "n = {n}, q = {q}, {eps}");
        }
    }
}

#[test]
fn quantile_index_at_the_edges() {
    let check = |n, q, expected: [Option<u64>; 3]| {
        let ranks = [Rank::Lower, Rank::Estimate, Rank::Upper];
        assert_eq!(
            ranks.map(|rank| quantile_index(n, q, -3.0, rank).unwrap()),
            expected,
            "{n} {q}"
        );
    };
    check(0, 0.5, [None, None, None]);
    check(1, 0.5, [None, Some(0), None]);
    check(10, 0.0, [None, Some(0), Some(0)]);
    check(10, 1.0, [Some(9), Some(9), None]);
    // Two observations below a quantile this low are already too many.
    check(3, f64::MIN_POSITIVE, [None, Some(0), Some(1)]);
}

#[test]
fn arguments_out_of_range_are_told_by_name() {
    fn check(error: Option<ClassicError>, argument: &str, value: &str) {
        let error = error.unwrap_or_else(|| panic!("{argument} {value} is accepted"));
        assert_eq!((error.argument, error.value.as_str()), (argument, value), "{error}");
        assert!(error.to_string().contains("must be"), "{error}");
    }
    let nan = f64::NAN;
    check(log_choose(3, 4).err(), "s", "4");
    check(log_choose(1 << 49, 4).err(), "n", "562949953421312");
    check(csm(3, 0.5, 4, -1.0).err(), "s", "4");
    check(csm(u64::MAX, 0.5, 4, -1.0).err(), "n", "18446744073709551615");
    for (alpha, text) in [(0.0, "0"), (1.0, "1"), (-0.5, "-0.5"), (1.5, "1.5"), (nan, "NaN")] {
        check(csm(4, alpha, 3, -1.0).err(), "alpha", text);
    }
    check(csm(4, 0.5, 3, 0.1).err(), "log_eps", "0.1");
    check(csm(4, 0.5, 3, nan).err(), "log_eps", "NaN");
    check(incbeta(0, 1, 0.1, 0.1, None).err(), "a", "0");
    check(incbeta(5, 5, 0.5, 0.1, None).err(), "x", "0.5");
    check(incbeta(5, 5, nan, 0.1, None).err(), "x", "NaN");
    check(beta_icdf(0, 1, 0.1, End::Lower).err(), "a", "0");
    check(beta_icdf(1, 0, 0.1, End::Upper).err(), "b", "0");
    check(beta_icdf(1, 1 << 44, 0.1, End::Upper).err(), "b", "17592186044416");
    check(beta_icdf(1, 1, -0.1, End::Lower).err(), "alpha", "-0.1");
    check(beta_icdf(1, 1, nan, End::Lower).err(), "alpha", "NaN");
    check(quantile_index(9, 1.1, -1.0, Rank::Lower).err(), "q", "1.1");
    check(quantile_index(9, nan, -1.0, Rank::Lower).err(), "q", "NaN");
    check(quantile_index(9, 0.5, 1.0, Rank::Lower).err(), "log_eps", "1");
    check(quantile_index(1 << 50, 0.5, -1.0, Rank::Lower).err(), "n", "1125899906842624");
}

#[test]
fn an_error_rate_of_0_never_rejects() {
    let never = csm(1000, 0.5, 0, f64::NEG_INFINITY).unwrap();
    assert!(!never.is_rejected && never.log_level < -600.0);
    assert_eq!(quantile_index(1000, 0.5, f64::NEG_INFINITY, Rank::Lower), Ok(None));
}
