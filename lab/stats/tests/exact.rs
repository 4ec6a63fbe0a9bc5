//! The exact test: how often it cries wolf, what it finds, and the published run of the text.

mod common;

use common::rates::{Cell, Form};
use tiebreak_core::resampling::{Null, Sides};
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::exact::{Ending, ExactTest, Resampler, Statistic, is_extreme};

/// How far a test may go.
const PERMUTATIONS_MAX: u64 = 20_000;

/// A test of two sets, to its end.
fn run(
    x: &[f64],
    y: &[f64],
    statistic: Statistic,
    sides: Sides,
    null: Null,
    alpha: f64,
) -> ExactTest {
    let mut resampler = Resampler::new(x, y, null, Seed::from_text("exact"));
    let mut test = ExactTest::new(alpha, 0.001);
    let measure = |resampler: &mut Resampler| {
        let (x, y) = resampler.aligned();
        statistic.difference(x, y)
    };
    let observed = measure(&mut resampler);
    while test.permutations() < PERMUTATIONS_MAX {
        resampler.draw();
        let resampled = measure(&mut resampler);
        if test.observe(is_extreme(sides, resampled, observed)).is_some() {
            break;
        }
    }
    test
}

fn set(coins: &mut Stream, count: usize, shift: f64) -> Vec<f64> {
    (0..count).map(|_| shift + coins.normal()).collect()
}

/// Two sets of one distribution, with a tail to the right: whatever the statistic, at most alpha of
/// the tests say that they differ.
#[test]
fn null_false_positive_rate() {
    let cases = [
        ("mean", Statistic::Mean, Sides::Two, 0.0),
        ("median", Statistic::Median, Sides::Greater, 0.0),
        ("quantile", Statistic::Quantile(0.8), Sides::Less, 0.0),
        ("mean, shifted null", Statistic::Mean, Sides::Two, 3.0),
    ];
    for (name, statistic, sides, shift) in cases {
        let cell = Cell::new(name, "null", "exact", move |form, seed, stream| {
            let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
            let skewed = |coins: &mut Stream, count, shift: f64| -> Vec<f64> {
                let normal = set(coins, count, 0.0);
                normal.into_iter().map(|z| shift + libm::exp(z)).collect()
            };
            let x = skewed(&mut coins, 7, 0.0);
            let y = skewed(&mut coins, 9, shift);
            let null = if shift == 0.0 { Null::Same } else { Null::Shift { by: shift } };
            let test = run(&x, &y, statistic, sides, null, form.error);
            test.ended() == Some(Ending::Differs)
        });
        let rate = cell.prove(Form { streams: 3000, rounds: 0, error: 0.05 });
        assert!(rate.is_proven_fine(), "{}", rate.line());
    }
}

/// With p itself drawn uniformly, as it is under the null hypothesis of a continuous statistic.
#[test]
fn uniform_p_is_rejected_at_the_level() {
    let cell = Cell::new("uniform p", "null", "exact", |form, seed, stream| {
        let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
        let p = coins.unit();
        let mut test = ExactTest::new(form.error, 0.001);
        while test.permutations() < PERMUTATIONS_MAX {
            if test.observe(coins.unit() < p).is_some() {
                break;
            }
        }
        test.ended() == Some(Ending::Differs)
    });
    let rate = cell.prove(Form { streams: 4000, rounds: 0, error: 0.02 });
    assert!(rate.is_proven_fine(), "{}", rate.line());
    // It is not far below the level either: nothing is wasted.
    assert!(rate.is_proven_above(0.3 * rate.nominal), "{}", rate.line());
}

/// How soon tests end at a known p (statistics facts 3.7: medians of 254, 430, 1444; 2766 and 196
/// permutations until they are found to be futile).
#[test]
fn permutations_to_the_end() {
    for (p, ending, median_most) in [
        (0.0, Ending::Differs, 254),
        (0.003, Ending::Differs, 500),
        (0.007, Ending::Differs, 1800),
        (0.02, Ending::Futile, 3400),
        (0.05, Ending::Futile, 260),
    ] {
        let mut counts = Vec::new();
        let mut as_expected = 0;
        for stream in 0..200 {
            let seed = Seed::from_text("permutations to the end");
            let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
            let mut test = ExactTest::new(0.01, 0.001);
            while test.permutations() < PERMUTATIONS_MAX {
                if test.observe(coins.unit() < p).is_some() {
                    break;
                }
            }
            as_expected += u32::from(test.ended() == Some(ending));
            counts.push(test.permutations());
        }
        counts.sort_unstable();
        println!("p {p}: median {} permutations, {as_expected} of 200 {ending:?}", counts[100]);
        assert!(counts[100] <= median_most, "{p}: {}", counts[100]);
        assert!(as_expected >= 190, "{p}: {as_expected}");
    }
}

#[test]
fn differences_are_found_and_shifts_that_are_there_are_not() {
    let mut coins = Stream::new(Seed::from_text("found"), Purpose::Simulation, 0, 0);
    let (x, y) = (set(&mut coins, 60, 10.0), set(&mut coins, 50, 11.5));
    let ended = |sides, null| run(&x, &y, Statistic::Mean, sides, null, 0.01).ended();
    assert_eq!(ended(Sides::Two, Null::Same), Some(Ending::Differs));
    assert_eq!(ended(Sides::Greater, Null::Same), Some(Ending::Differs));
    assert_eq!(ended(Sides::Less, Null::Same), Some(Ending::Futile));
    assert_eq!(ended(Sides::Two, Null::Shift { by: 1.5 }), Some(Ending::Futile));
    assert_eq!(ended(Sides::Two, Null::Ratio { factor: 1.15 }), Some(Ending::Futile));
    assert_eq!(ended(Sides::Less, Null::Shift { by: 4.0 }), Some(Ending::Differs));
}

/// The run of the text: two sets of 10 000 fill rates whose means differ by far more than chance
/// explains. No permutation is as extreme; the published driver stops after 2967 of them, and its
/// interval reaches from 0 to 0.007557510165262294. The error that it ran at follows from the
/// number: `ln 2968 + 2967 ln 0.99 < ln(eps / 3)` is true of eps = 1e-9 and not one trial earlier.
#[test]
fn the_run_of_the_text() {
    let mut coins = Stream::new(Seed::from_text("fill rates"), Purpose::Simulation, 0, 0);
    let fill = |coins: &mut Stream, mean: f64| -> Vec<f64> {
        (0..500).map(|_| mean + 8e-4 * coins.normal()).collect()
    };
    let (x, y) = (fill(&mut coins, 0.9897938), fill(&mut coins, 0.9909645));
    let mut resampler = Resampler::new(&x, &y, Null::Same, Seed::from_text("text"));
    let measure = |resampler: &mut Resampler| {
        let (x, y) = resampler.aligned();
        Statistic::Mean.difference(x, y)
    };
    let observed = measure(&mut resampler);
    assert!((observed.value - 0.00117).abs() < 2e-4);
    let permutations = std::iter::repeat_with(|| {
        resampler.draw();
        is_extreme(Sides::Greater, measure(&mut resampler), observed)
    });
    let options = DriverOptions {
        alpha: 0.005,
        alpha_hi: Some(0.01),
        eps: 1e-9,
        min_count: 0,
        max_count: Some(1_000_000_000),
    };
    let driver = Driver::new(&options).unwrap();
    let progress = driver.run(permutations, |_| {});
    assert_eq!((progress.n, progress.s), (2967, 0));
    let (low, high) = driver.interval(&progress);
    assert_eq!(low, 0.0);
    assert!((high / 0.007557510165262294 - 1.0).abs() < 1e-10, "{high}");
    // What takes the place of it: the same answer after 254.
    let test = run(&x, &y, Statistic::Mean, Sides::Greater, Null::Same, 0.01);
    assert_eq!((test.ended(), test.permutations()), (Some(Ending::Differs), 254));
}
