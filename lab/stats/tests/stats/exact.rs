//! The exact test: how often it cries wolf, what it finds, and the published run of the text.

use crate::common::rates::{Cell, Form, Rate};
use tiebreak_core::resampling::{Null, Sides};
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::exact::{Design, Ending, ExactTest, Resampler, Statistic, is_extreme};

/// How far a test may go.
const PERMUTATIONS_MAX: u64 = 20_000;

/// Where the level only holds as sets grow, it may be exceeded by this factor.
const ABOUT: f64 = 2.0;

/// A test of two sets.
#[derive(Clone, Copy)]
struct Case {
    design: Design,
    is_studentised: bool,
    statistic: Statistic,
    sides: Sides,
    null: Null,
    alpha: f64,
}

const ASKED: Case = Case {
    design: Design::Sets,
    is_studentised: true,
    statistic: Statistic::Mean,
    sides: Sides::Two,
    null: Null::Same,
    alpha: 0.01,
};

impl Case {
    /// The test of these sets, to its end.
    fn of(self, x: &[f64], y: &[f64]) -> ExactTest {
        let seed = Seed::from_text("exact");
        let mut resampler = Resampler::new(self.design, x, y, self.null, seed);
        let mut test = ExactTest::new(self.alpha, 0.001);
        let observed = resampler.difference(self.statistic, self.is_studentised);
        while test.permutations < PERMUTATIONS_MAX {
            resampler.draw();
            let resampled = resampler.difference(self.statistic, self.is_studentised);
            if test.observe(is_extreme(self.sides, resampled, observed)).is_some() {
                break;
            }
        }
        test
    }

    fn differs(self, x: &[f64], y: &[f64]) -> bool {
        self.of(x, y).ended == Some(Ending::Differs)
    }
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
            Case { statistic, sides, null, alpha: form.error, ..ASKED }.differs(&x, &y)
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
        while test.permutations < PERMUTATIONS_MAX {
            if test.observe(coins.unit() < p).is_some() {
                break;
            }
        }
        test.ended == Some(Ending::Differs)
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
            while test.permutations < PERMUTATIONS_MAX {
                if test.observe(coins.unit() < p).is_some() {
                    break;
                }
            }
            as_expected += u32::from(test.ended == Some(ending));
            counts.push(test.permutations);
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
    let ended = |sides, null| Case { sides, null, ..ASKED }.of(&x, &y).ended;
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
    let seed = Seed::from_text("text");
    let mut resampler = Resampler::new(Design::Sets, &x, &y, Null::Same, seed);
    let observed = resampler.difference(Statistic::Mean, false);
    assert!((observed.value - 0.00117).abs() < 2e-4);
    let permutations = std::iter::repeat_with(|| {
        resampler.draw();
        is_extreme(Sides::Greater, resampler.difference(Statistic::Mean, false), observed)
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
    let test = Case { sides: Sides::Greater, ..ASKED }.of(&x, &y);
    assert_eq!((test.ended, test.permutations), (Some(Ending::Differs), 254));
}

/// How often sets with one middle and spreads of 5 and 0.2 are said to differ.
fn unequal_spreads(counts: [usize; 2], statistic: Statistic, is_studentised: bool) -> Rate {
    let form = Form { streams: 300, rounds: 0, error: 0.05 };
    let what = format!("{statistic:?}, studentised: {is_studentised}");
    let cell = Cell::new(what, format!("{counts:?}"), "exact", move |form, seed, stream| {
        let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
        let mut of = |count: usize, spread: f64| -> Vec<f64> {
            (0..count).map(|_| spread * coins.normal()).collect()
        };
        let (x, y) = (of(counts[0], 5.0), of(counts[1], 0.2));
        Case { statistic, is_studentised, alpha: form.error, ..ASKED }.differs(&x, &y)
    });
    cell.measure(form)
}

/// Equal means and medians, unequal spread: as they are, differences cry wolf in most of the sets;
/// over their standard errors in about as many as they may.
#[test]
fn unequal_spreads_are_no_difference_of_middles() {
    for statistic in [Statistic::Mean, Statistic::Median] {
        for counts in [[8, 200], [20, 20], [60, 200], [100, 100]] {
            let rate = unequal_spreads(counts, statistic, true);
            assert!(!rate.is_proven_above(ABOUT * rate.nominal), "{}", rate.line());
        }
        let plain = unequal_spreads([8, 200], statistic, false);
        assert!(plain.is_proven_above(0.5), "should fail: {}", plain.line());
    }
}

/// How often sets with one median, whose numbers are rounded or few, are said to differ.
fn with_ties(what: &str, count: usize, sides: Sides, [x, y]: [fn(&mut Stream) -> f64; 2]) -> Rate {
    let form = Form { streams: 300, rounds: 0, error: 0.05 };
    let what = format!("{what}, {sides:?}");
    let cell = Cell::new(what, format!("{count} each"), "exact", move |form, seed, stream| {
        let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
        let x: Vec<f64> = (0..count).map(|_| x(&mut coins)).collect();
        let y: Vec<f64> = (0..count).map(|_| y(&mut coins)).collect();
        let statistic = Statistic::Median;
        Case { statistic, sides, alpha: form.error, ..ASKED }.differs(&x, &y)
    });
    cell.measure(form)
}

/// Equal medians, and numbers that equal others: what ties leave open is no difference.
#[test]
fn ties_are_no_difference_of_medians() {
    type World = [fn(&mut Stream) -> f64; 2];
    let worlds: [(&str, usize, World); 6] = [
        (
            "rounded",
            100,
            [
                |coins| (10.0 + 0.3 * coins.normal()).round(),
                |coins| (10.0 + 5.0 * coins.normal()).round(),
            ],
        ),
        (
            "rounded",
            1000,
            [
                |coins| (10.0 + 0.3 * coins.normal()).round(),
                |coins| (10.0 + 5.0 * coins.normal()).round(),
            ],
        ),
        (
            "rounded finely",
            100,
            [
                |coins| 0.2 * (5.0 * coins.normal()).round(),
                |coins| 0.2 * (25.0 * coins.normal()).round(),
            ],
        ),
        (
            "1 or 2, 2 or 3",
            1000,
            [
                |coins| if coins.unit() < 0.49 { 1.0 } else { 2.0 },
                |coins| if coins.unit() < 0.51 { 2.0 } else { 3.0 },
            ],
        ),
        (
            "1 or 2, 2 or 3 at the edge",
            300,
            [
                |coins| if coins.unit() < 0.5 { 1.0 } else { 2.0 },
                |coins| if coins.unit() < 0.5 { 2.0 } else { 3.0 },
            ],
        ),
        (
            "one distribution",
            30,
            [|coins| (2.0 * coins.normal()).round(), |coins| (2.0 * coins.normal()).round()],
        ),
    ];
    for (what, count, world) in worlds {
        for sides in [Sides::Two, Sides::Greater] {
            let rate = with_ties(what, count, sides, world);
            assert!(!rate.is_proven_above(rate.nominal), "{}", rate.line());
        }
    }
    let apart: World = [
        |coins| (10.0 + 2.0 * coins.normal()).round(),
        |coins| (12.0 + 5.0 * coins.normal()).round(),
    ];
    let found = with_ties("apart", 200, Sides::Two, apart);
    assert!(found.is_proven_above(0.5), "{}", found.line());
}

/// Equal means, one of them of numbers with a heavy tail: the level is no more than neared.
#[test]
fn heavy_tails_exceed_the_level_of_means() {
    for (count, most) in [(60, 0.35), (500, 0.25)] {
        let what = "lognormal numbers, and normal ones";
        let cell = Cell::new(what, format!("{count} each"), "exact", move |form, seed, stream| {
            let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
            let mut of = |number: fn(&mut Stream) -> f64| -> Vec<f64> {
                (0..count).map(|_| number(&mut coins)).collect()
            };
            let x = of(|coins| libm::exp(1.5 * coins.normal() - 1.125));
            let y = of(|coins| 1.0 + 0.1 * coins.normal());
            Case { alpha: form.error, ..ASKED }.differs(&x, &y)
        });
        let rate = cell.measure(Form { streams: 400, rounds: 0, error: 0.05 });
        assert!(
            rate.is_proven_above(rate.nominal) && rate.is_proven_below(most),
            "{}",
            rate.line()
        );
    }
}

/// Pairs that have much in common: what they have in common hides a difference from sets that are
/// taken apart, and does not from pairs; and where there is none, none is found.
#[test]
fn pairs_find_what_sets_do_not() {
    let found = |design: Design, shift: f64| {
        let cell = Cell::new(format!("{design:?} apart by {shift}"), "pairs", "exact", {
            move |form: Form, seed, stream| {
                let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
                let x: Vec<f64> = (0..20).map(|_| 5.0 * coins.normal()).collect();
                let y: Vec<f64> = x.iter().map(|x| x + shift + coins.normal()).collect();
                Case { design, alpha: form.error, ..ASKED }.differs(&x, &y)
            }
        });
        cell.measure(Form { streams: 300, rounds: 0, error: 0.05 })
    };
    assert!(found(Design::Pairs, 1.0).is_proven_above(0.9));
    assert!(found(Design::Sets, 1.0).is_proven_below(0.2));
    let none = found(Design::Pairs, 0.0);
    assert!(!none.is_proven_above(none.nominal), "{}", none.line());
}
