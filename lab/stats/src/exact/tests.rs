use super::*;
use crate::coins::{Purpose, Seed, Stream};
use tiebreak_core::resampling::{Null, Sides};

fn test_of(alpha: f64, extremes: impl Iterator<Item = bool>) -> ExactTest {
    let mut test = ExactTest::new(alpha, 0.001);
    for extreme in extremes {
        if test.observe(extreme).is_some() {
            break;
        }
    }
    test
}

/// Fischer and Ramdas's wealth, c = 0.9 alpha (statistics facts 3.7).
#[test]
fn published_wealth() {
    for (t, extreme, wealth) in [
        (100u64, 0, 66.525308),
        (254, 0, 100.031121),
        (500, 1, 104.459185),
        (1000, 5, 98.4387214),
        (2000, 20, 29.9197277),
    ] {
        let found = libm::exp(log_wealth(t, extreme, 0.01));
        assert!((found / wealth - 1.0).abs() < 1e-8, "{t} {extreme}: {found}");
    }
}

#[test]
fn ends_where_it_must() {
    for alpha in [0.5, 0.05, 0.01, 0.001, 1e-6] {
        let test = test_of(alpha, std::iter::repeat(false));
        let least = least_permutations(alpha);
        assert_eq!((test.ended, test.permutations), (Some(Ending::Differs), least));
    }
    let differs = test_of(0.01, std::iter::repeat(false));
    assert_eq!((differs.ended, differs.permutations), (Some(Ending::Differs), 254));
    let futile = test_of(0.01, std::iter::repeat(true));
    assert_eq!((futile.ended, futile.permutations), (Some(Ending::Futile), 2));
    let alternating = test_of(0.5, (0..100_000).map(|i| i % 2 == 0));
    assert_eq!(alternating.ended, None);
    assert!(futile.evidence_against() >= 1000.0);
    let (low, high) = differs.limits();
    assert!(low == 0.0 && high < 0.05, "{high}");
}

/// The expectation of the evidence against "p is at most alpha", at alpha, is 1.
#[test]
fn evidence_of_futility_is_a_martingale() {
    let (alpha, n) = (0.2f64, 30u64);
    let mut mean = 0.0;
    for s in 0..=n {
        let (a, b) = (s as f64 + 1.0, (n - s) as f64 + 1.0);
        let log_probability = crate::beta::log_density(a, b, alpha) - libm::log(n as f64 + 1.0);
        mean += libm::exp(log_probability + log_evidence_above(n, s, alpha));
    }
    assert!((mean - 1.0).abs() < 1e-9, "{mean}");
}

#[test]
fn statistics_of_small_sets() {
    fn check(statistic: Statistic, values: &[f64], expected: f64) {
        assert_eq!(statistic.of(&mut values.to_vec()), expected, "{statistic:?} {values:?}");
    }
    check(Statistic::Mean, &[1.0, 2.0, 6.0], 3.0);
    check(Statistic::Mean, &[1e16, 1.0, -1e16], 1.0 / 3.0);
    check(Statistic::Median, &[5.0, 1.0, 3.0], 3.0);
    check(Statistic::Median, &[5.0, 1.0, 3.0, 2.0], 2.5);
    check(Statistic::Median, &[7.0], 7.0);
    let ten: Vec<f64> = (1..=10).rev().map(f64::from).collect();
    check(Statistic::Quantile(0.9), &ten, 9.0);
    check(Statistic::Quantile(0.91), &ten, 10.0);
    check(Statistic::Quantile(1e-9), &ten, 1.0);
    check(Statistic::Quantile(1.0), &ten, 10.0);
}

/// The same numbers added in another order are the same split. Every split that gives the observed
/// sets again must count as extreme, and so must equal sums of other decimals.
#[test]
fn ties_are_extreme_in_any_order() {
    let x = [0.1, 0.7, 0.3, 1.1, 1e3, 0.2];
    let y = [0.4, 0.6, 2.3, 1e-3, 7.7, 1e5];
    let statistics = [Statistic::Mean, Statistic::Median, Statistic::Quantile(0.7)];
    let measures = [Statistic::difference, Statistic::studentised];
    for (statistic, measure) in statistics.into_iter().flat_map(|s| measures.map(|m| (s, m))) {
        let mut coins = Stream::new(Seed::from_text("t"), Purpose::Simulation, 0, 0);
        let observed = measure(statistic, &mut x.to_vec(), &mut y.to_vec());
        for _ in 0..200 {
            let (mut x, mut y) = (x.to_vec(), y.to_vec());
            coins.shuffle(&mut x);
            coins.shuffle(&mut y);
            let again = measure(statistic, &mut x, &mut y);
            for sides in [Sides::Two, Sides::Greater, Sides::Less] {
                assert!(is_extreme(sides, again, observed), "{statistic:?} {sides:?}");
            }
        }
    }
    let tenths =
        |x: &[f64], y: &[f64]| Statistic::Mean.difference(&mut x.to_vec(), &mut y.to_vec());
    let (a, b) = (tenths(&[0.1, 0.1], &[0.7, 0.1]), tenths(&[0.1, 0.1], &[0.6, 0.2]));
    assert!(is_extreme(Sides::Greater, a, b) && is_extreme(Sides::Greater, b, a));
    let less = tenths(&[0.1, 0.1], &[0.6, 0.199]);
    assert!(!is_extreme(Sides::Greater, less, b) && is_extreme(Sides::Less, less, b));
}

/// Sums that overflow have differences that are not numbers; they must not be evidence for an
/// effect.
#[test]
fn what_is_not_a_number_is_extreme() {
    let observed = Difference { value: 3.0, size: 5.0 };
    fn of(x: &[f64], y: &[f64]) -> Difference {
        Statistic::Mean.difference(&mut x.to_vec(), &mut y.to_vec())
    }
    let huge = [f64::MAX, f64::MAX];
    let sizes = [5.0, f64::INFINITY, f64::NAN];
    let nan = sizes.map(|size| Difference { value: f64::NAN, size });
    for difference in nan.into_iter().chain([of(&huge, &huge)]) {
        assert!(difference.value.is_nan());
        for sides in [Sides::Two, Sides::Greater, Sides::Less] {
            assert!(is_extreme(sides, difference, observed), "{difference:?} {sides:?}");
        }
    }
    let zero = Difference { value: 0.0, size: 5.0 };
    assert!(!is_extreme(Sides::Two, zero, observed) && !is_extreme(Sides::Greater, zero, observed));
    assert!(histogram(&[1.0, f64::NAN, 2.0], 1.5, 4).is_none());
}

#[test]
fn every_split_is_equally_likely() {
    for (x, y) in [(&[1.0, 2.0][..], &[4.0, 8.0, 16.0][..]), (&[4.0, 8.0, 16.0], &[1.0, 2.0])] {
        let mut resampler =
            Resampler::new(Design::Sets, x, y, Null::Same, Seed::from_text("splits"));
        let mut counts = std::collections::BTreeMap::new();
        let draws = 40_000;
        for _ in 0..draws {
            resampler.draw();
            let (of_x, of_y) = (&resampler.x, &resampler.y);
            assert_eq!((of_x.len(), of_y.len()), (x.len(), y.len()));
            assert_eq!(of_x.iter().chain(of_y.iter()).sum::<f64>(), 31.0);
            *counts.entry(of_x.iter().sum::<f64>() as u64).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 10);
        let expected = f64::from(draws) / 10.0;
        let chi2: f64 =
            counts.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        // The 99.9% point of chi-squared with 9 degrees of freedom.
        assert!(chi2 < 27.88, "{chi2}");
    }
}

#[test]
fn what_the_null_says_is_taken_off_and_added_again() {
    let seed = Seed::from_text("null");
    for (null, aligned) in [
        (Null::Same, [10.0, 14.0]),
        (Null::Shift { by: 4.0 }, [6.0, 10.0]),
        (Null::Ratio { factor: 2.0 }, [5.0, 7.0]),
    ] {
        let mut resampler = Resampler::new(Design::Sets, &[1.0], &[10.0, 14.0], null, seed);
        assert_eq!(resampler.y, aligned);
        assert_eq!(resampler.as_observed().1, [10.0, 14.0]);
        resampler.draw();
        let (x, y) = (&resampler.x, &resampler.y);
        assert_eq!(x.iter().chain(y.iter()).sum::<f64>(), 1.0 + aligned.iter().sum::<f64>());
    }
}

#[test]
fn small_sets_have_few_splits() {
    assert!((Design::Sets.least_p(3, 3) - 0.05).abs() < 1e-12);
    assert!((Design::Sets.least_p(5, 5) - 1.0 / 252.0).abs() < 1e-12);
    assert_eq!(Design::Sets.least_p(1, 0), 1.0);
    assert_eq!(Design::Sets.least_p(100_000, 100_000), 0.0);
}

#[test]
fn histograms_hold_every_difference_and_reach_for_the_observed_one() {
    let differences: Vec<f64> = (0..100).map(f64::from).collect();
    let near = histogram(&differences, 150.0, 10).unwrap();
    assert_eq!((near.low, near.high), (0.0, 150.0));
    assert_eq!(near.counts.iter().sum::<u64>(), 100);
    let far = histogram(&differences, -1e9, 10).unwrap();
    assert_eq!((far.low, far.high), (-99.0, 99.0));
    assert_eq!(far.counts[..4], [0, 0, 0, 0]);
    let same = histogram(&[5.0; 7], 5.0, 10).unwrap();
    assert_eq!(same.counts.iter().sum::<u64>(), 7);
    assert!(histogram(&[], 1.0, 10).is_none());
    assert!(histogram(&[f64::MAX, -f64::MAX], 1.0, 10).is_none());
}

/// For normal numbers with different spreads, the difference divided by its own spread is nearly
/// standard normal.
#[test]
fn what_is_studentised_has_one_limit() {
    let mut coins = Stream::new(Seed::from_text("limit"), Purpose::Simulation, 0, 0);
    for statistic in [Statistic::Mean, Statistic::Median, Statistic::Quantile(0.8)] {
        let (mut beyond, mut middle) = (0, 0.0);
        for _ in 0..2000 {
            let mut of = |count: usize, spread: f64| -> Vec<f64> {
                let middle = if statistic == Statistic::Quantile(0.8) { 0.8416 } else { 0.0 };
                (0..count).map(|_| spread * (coins.normal() - middle)).collect()
            };
            let (mut x, mut y) = (of(200, 1.0), of(400, 7.0));
            let value = statistic.studentised(&mut x, &mut y).value;
            beyond += u32::from(value.abs() > 1.96);
            middle += value / 2000.0;
        }
        println!("{statistic:?}: {beyond} of 2000 beyond 1.96, {middle:.3} on average");
        assert!((60..160).contains(&beyond) && middle.abs() < 0.15, "{statistic:?}");
    }
}

/// By hand: with the common median 2 of 1 2 3 and 4 5 6, one and a half of three are below it as
/// they should be, and none of the other three where one and a half should be.
#[test]
fn costs_of_a_common_median() {
    fn of(x: &[f64], y: &[f64]) -> Difference {
        Statistic::Median.studentised(&mut x.to_vec(), &mut y.to_vec())
    }
    let apart = libm::sqrt(2.25 / 3.0 / 0.25);
    for (x, y, expected) in [
        (&[1.0, 2.0, 3.0][..], &[4.0, 5.0, 6.0][..], apart),
        (&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0], -apart),
        (&[1.0, 1.0, 1.0], &[1.0, 1.0, 5.0], 0.0),
        // At 2 the median of Y misses one of four, and half of the square counts.
        (&[1.0, 2.0, 2.0, 2.0], &[2.0, 3.0, 3.0, 9.0], libm::sqrt(0.5 / 4.0 / 0.25)),
        (&[1.0, 1.0, 2.0, 2.0], &[2.0, 2.0, 2.0, 3.0], 0.0),
    ] {
        let found = of(x, y).value;
        assert!((found - expected).abs() < 1e-12, "{x:?} {y:?}: {found}");
    }
}

#[test]
fn sets_without_spread_are_no_numbers_of_their_own() {
    fn of(x: &[f64], y: &[f64]) -> Difference {
        Statistic::Mean.studentised(&mut x.to_vec(), &mut y.to_vec())
    }
    assert_eq!(of(&[2.0, 2.0], &[2.0, 2.0]).value, 0.0);
    let (apart, beside) = (of(&[2.0, 2.0], &[5.0, 5.0]), of(&[2.0, 5.0], &[5.0, 2.0]));
    assert_eq!((apart.value, beside.value), (f64::INFINITY, 0.0));
    assert!(is_extreme(Sides::Two, apart, apart) && !is_extreme(Sides::Two, beside, apart));
    assert!(is_extreme(Sides::Two, apart, beside));
}

/// Pairs keep together: each has the same two numbers in every draw, and every arrangement is
/// equally frequent.
#[test]
fn pairs_are_turned_round() {
    let (x, y) = ([1.0, 2.0, 3.0], [10.0, 30.0, 100.0]);
    let mut resampler = Resampler::new(Design::Pairs, &x, &y, Null::Same, Seed::from_text("pairs"));
    assert_eq!(resampler.difference(Statistic::Mean, true).value, (9.0 + 28.0 + 97.0) / 3.0);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..8000 {
        resampler.draw();
        let (of_x, of_y) = (&resampler.x, &resampler.y);
        let sums: Vec<f64> = of_x.iter().zip(of_y).map(|(x, y)| x + y).collect();
        assert_eq!(sums, [11.0, 32.0, 103.0]);
        let sum = resampler.difference(Statistic::Mean, true).value * 3.0;
        *counts.entry(libm::round(sum) as i64).or_insert(0u32) += 1;
    }
    assert!(counts.len() == 8 && counts.values().all(|n| (850..1150).contains(n)), "{counts:?}");
    assert_eq!(Design::Pairs.least_p(3, 3), 0.125);
}

#[test]
fn order_is_found() {
    let mut coins = Stream::new(Seed::from_text("order"), Purpose::Simulation, 0, 0);
    let mut flagged = |count: usize, memory: f64| {
        let sets = (0..1000).filter(|_| {
            let mut last = coins.normal();
            let mut next = || {
                last = memory * last + libm::sqrt(1.0 - memory * memory) * coins.normal();
                last
            };
            let set: Vec<f64> = (0..count).map(|_| next()).collect();
            Order::of(&set).is_some_and(Order::is_serial)
        });
        sets.count()
    };
    for (count, memory, range) in
        [(20, 0.0, 0..15), (200, 0.0, 0..15), (20, 0.9, 700..1001), (200, 0.5, 990..1001)]
    {
        let found = flagged(count, memory);
        println!("{found} of 1000 sets of {count} with memory {memory} are flagged");
        assert!(range.contains(&found), "{count} {memory}: {found}");
    }
    let rising: Vec<f64> = (0..20).map(f64::from).collect();
    assert!(Order::of(&rising).is_some_and(Order::is_serial));
    assert_eq!((Order::of(&[1.0; 20]), Order::of(&[1.0, 2.0])), (None, None));
}
