//! Whose turn it is, chosen by how far each question has come: the error of all questions together
//! stays, and what is expected is about what is needed. Seeds are fixed.

use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre, ENGINE_VERSION};
use tiebreak_stats::bettor::Table;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::{SequentialTest, width_of};
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::{RatioTest, spread_of_twice_the_fewest};

const NOISE: f64 = 0.05;

fn test(relation: Relation, centre: Centre, error: f64) -> RatioTest {
    RatioTest::new(relation, centre, error, 0.0, Adjust::NONE)
}

fn observe(test: &mut RatioTest, stream: &mut Stream, truth: f64) {
    observe_in(NOISE, test, stream, truth);
}

fn observe_in(noise: f64, test: &mut RatioTest, stream: &mut Stream, truth: f64) {
    let d = LogRatio::exact(truth + noise * stream.normal());
    test.observe(d, &Conditions::default());
}

/// How many of `runs` runs have a wrong limit of some ratio at some moment, where the next round is
/// for the ratio that is expected to be exact soonest and each has this error.
fn wrong_runs(relation: Relation, error: f64, pairs: usize, rounds: u32, runs: u64) -> u32 {
    let mut wrong = 0;
    for run in 0..runs {
        let mut stream = Stream::new(Seed::from_text("turns"), Purpose::Simulation, run, 0);
        let mut tests = vec![test(relation, Centre::Median, error); pairs];
        let is_wrong = |test: &RatioTest| {
            let limits = test.limits();
            limits.low.is_some_and(|low| low > 0.0) || limits.high.is_some_and(|high| high < 0.0)
        };
        for _ in 0..rounds {
            let open = tests.iter_mut().filter(|test| test.settled().is_none());
            let next = open.min_by(|a, b| a.rounds_left().total_cmp(&b.rounds_left()));
            let Some(next) = next else { break };
            observe(next, &mut stream, 0.0);
            if is_wrong(next) {
                wrong += 1;
                break;
            }
        }
    }
    wrong
}

#[test]
fn choosing_by_the_past_keeps_the_error() {
    // Of ten questions at 1% each, at most 10% of the runs may have a wrong one, at any moment.
    for relation in [Relation::Measure { precision: 0.02 }, Relation::Order] {
        let wrong = wrong_runs(relation, 0.01, 10, 400, 200);
        assert!(wrong <= 32, "{relation:?}: {wrong} of 200 at 10%");
    }
}

#[test]
fn what_is_expected_is_about_what_is_needed() {
    let measure = |precision| Relation::Measure { precision };
    let check = |relation, centre, truth: f64, share: f64| {
        let mut stream = Stream::new(Seed::from_text("expected"), Purpose::Simulation, 1, 0);
        let mut test = test(relation, centre, 0.001);
        let mut expected = Vec::new();
        while test.settled().is_none() && test.rounds() < 20_000 {
            observe(&mut test, &mut stream, truth);
            expected.push(test.rounds() as f64 + test.rounds_left());
        }
        let needed = test.rounds() as f64;
        assert!(test.settled().is_some() && needed > 12.0, "{relation:?} {needed}");
        let then = expected[(share * needed) as usize];
        assert!((0.4..2.5).contains(&(then / needed)), "{relation:?} {centre:?}: {then} {needed}");
    };
    for centre in [Centre::Median, Centre::Factor] {
        for share in [0.3, 0.6, 0.9] {
            check(measure(0.02), centre, 0.3, share);
            check(measure(0.01), centre, 0.3, share);
            check(Relation::AtLeast { factor: 1.0 }, centre, 0.02, share);
        }
    }
}

#[test]
fn the_first_rounds_that_can_prove_tell_how_many_are_needed() {
    for precision in [0.02, 0.05] {
        let (mut early, mut needed): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for run in 0..21 {
            let mut stream = Stream::new(Seed::from_text("early"), Purpose::Simulation, run, 0);
            let mut test = test(Relation::Measure { precision }, Centre::Median, 0.001);
            while test.settled().is_none() {
                observe(&mut test, &mut stream, 0.3);
                if test.rounds() == 16 {
                    early.push(16.0 + test.rounds_left());
                }
            }
            needed.push(test.rounds() as f64);
        }
        early.sort_by(f64::total_cmp);
        needed.sort_by(f64::total_cmp);
        let (early, needed) = (early[10], needed[10]);
        assert!((0.6..1.7).contains(&(early / needed)), "{precision}: {early} {needed}");
    }
}

#[test]
fn the_spread_is_known_with_which_twice_the_fewest_rounds_suffice() {
    for (precision, error) in [(0.02, 0.01), (0.1, 0.01), (0.1, 0.0001)] {
        let table = Table::of(Centre::Median, ENGINE_VERSION);
        let fewest = table.fewest_rounds(error / 2.0);
        let spread = spread_of_twice_the_fewest(fewest, width_of(precision), error / 2.0);
        let mut needed = Vec::new();
        for run in 0..21 {
            let mut stream = Stream::new(Seed::from_text("twice"), Purpose::Simulation, run, 0);
            let mut test = test(Relation::Measure { precision }, Centre::Median, error);
            while test.settled().is_none() {
                observe_in(spread, &mut test, &mut stream, 0.3);
            }
            needed.push(test.rounds());
        }
        needed.sort_unstable();
        let share = needed[10] as f64 / fewest as f64;
        assert!((1.2..2.8).contains(&share), "{precision} {error}: {} of {fewest}", needed[10]);
    }
    assert_eq!(spread_of_twice_the_fewest(0, 0.1, 1.0), 0.0);
}

#[test]
fn what_is_never_settled_is_expected_later_and_later() {
    let mut stream = Stream::new(Seed::from_text("never"), Purpose::Simulation, 1, 0);
    let mut test = test(Relation::AtLeast { factor: 1.0 }, Centre::Median, 1e-6);
    let mut last = 0.0;
    for rounds in [50, 500, 5000] {
        while test.rounds() < rounds {
            observe(&mut test, &mut stream, 0.0);
        }
        assert!(test.rounds_left() > last, "{rounds}: {} {last}", test.rounds_left());
        last = test.rounds_left();
    }
}

#[test]
fn what_a_coarse_clock_never_settles_is_not_expected() {
    let relation = Relation::Measure { precision: 0.1 };
    let rounds_left = |half: f64| {
        let mut stream = Stream::new(Seed::from_text("coarse"), Purpose::Simulation, 1, 0);
        let mut test = test(relation, Centre::Median, 0.01);
        while test.settled().is_none() && test.rounds() < 300 {
            let d = NOISE * stream.normal();
            test.observe(LogRatio { low: d - half, high: d + half }, &Conditions::default());
        }
        test.settled().is_none().then(|| test.rounds_left())
    };
    assert_eq!(rounds_left(0.05), None);
    assert_eq!(rounds_left(0.1), Some(f64::INFINITY));
    // The distance of the bounds is most of what is asked for.
    assert!(rounds_left(0.09).is_some_and(|left| (100.0..10_000.0).contains(&left)));
}
