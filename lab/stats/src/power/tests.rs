use super::*;
use crate::coins::{Purpose, Seed, Stream};
use crate::conditions::Conditions;
use crate::observation::LogRatio;
use crate::ratio_test::RatioTest;
use tiebreak_core::claim::Relation;
use tiebreak_core::forecast::Shape;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_core::verdict::Verdict;

fn coins(stream: u64) -> Stream {
    Stream::new(Seed::from_text("power"), Purpose::Simulation, stream, 0)
}

fn tally_of(effect: f64, world: &World, error: f64, runs: u64) -> Tally {
    let adjust = Adjust::default();
    let test =
        RatioTest::new(Relation::AtLeast { factor: 1.0 }, Centre::Factor, error, 0.01, adjust);
    let scenario = Scenario::Ratio(Box::new(test), world.clone());
    let mut tally = Tally::new(Some((200, 0.8)));
    for stream in 0..runs {
        tally.add(scenario.run(libm::exp(effect), 2000, coins(stream)));
    }
    tally
}

/// The medians that the engine was measured with: noise of 2.1% per round, error 1%.
#[test]
fn rounds_are_those_of_the_engine() {
    let world = World::Stated { deviation: 0.0212, shape: Shape::Normal };
    for (effect, median) in [(0.01, 61.0), (0.02, 20.0), (0.05, 9.0)] {
        let found = tally_of(effect, &world, 0.01, 300).quantile(0.5).unwrap() as f64;
        assert!((found / median - 1.0).abs() < 0.25, "{effect}: {found}");
    }
}

#[test]
fn tallies_count() {
    let mut tally = Tally::new(Some((20, 0.8)));
    let ends = [(10, Verdict::Holds), (20, Verdict::TooClose), (30, Verdict::Refuted)].map(Some);
    let ended = [ends[0], ends[1], ends[2], None].map(|end| {
        tally.add(end);
        tally.ended()
    });
    assert_eq!(ended, [1, 2, 2, 2]);
    assert_eq!([0.1, 0.25, 0.5, 0.75].map(|q| tally.quantile(q)), [10, 10, 20, 30].map(Some));
    assert_eq!(tally.quantile(0.9), None);
    assert_eq!([9, 10, 25, 1000].map(|n| tally.ended_by(n)), [0.0, 0.25, 0.5, 0.75]);
    let says = tally.says();
    assert_eq!((says.holds, says.too_close, says.refuted, says.undecided), (0.25, 0.25, 0.0, 0.5));
}

#[test]
fn a_pilot_is_recentred_and_resampled_in_blocks() {
    fn round(i: u32) -> (LogRatio, Conditions) {
        (LogRatio::exact(0.5 + f64::from(i) * 0.001), Conditions::UNKNOWN)
    }
    let rounds: Vec<_> = (0..41).map(round).collect();
    assert!(Pilot::new(&rounds[..19]).is_none());
    let pilot = Pilot::new(&rounds).unwrap();
    assert_eq!(pilot.rounds(), 41);
    assert!((pilot.deviation.unwrap() - 0.02 / 1.349).abs() < 2e-3);
    let world = World::Pilot(pilot);
    let drawn: Vec<f64> = world.rounds(1.0, coins(0)).take(4000).map(|(d, _)| d.low).collect();
    let mean = drawn.iter().sum::<f64>() / 4000.0;
    assert!((mean - 1.0).abs() < 2e-3, "{mean}");
    fn step(pair: &[f64]) -> bool {
        (pair[1] - pair[0] - 0.001).abs() < 1e-9
    }
    let neighbours = drawn.windows(2).filter(|pair| step(pair)).count();
    // Seven of eight, except at the end of the pilot.
    assert!(neighbours > 3300 && neighbours < 3500, "{neighbours}");
}

#[test]
fn chances_are_proven_soon_where_they_are_clear() {
    let mut sure = Tally::new(Some((10, 0.8)));
    let mut hopeless = sure.clone();
    for _ in 0..1000 {
        sure.add(Some((10, Verdict::Holds)));
        hopeless.add(None);
    }
    let (sure, hopeless) = (sure.chance().unwrap(), hopeless.chance().unwrap());
    assert_eq!((sure.is_enough, hopeless.is_enough), (Some(true), Some(false)));
    assert!(sure.proven_after < Some(80) && hopeless.proven_after < Some(20), "{sure:?}");
    assert!(sure.low > 0.98 && hopeless.high < 0.02 && sure.runs == 1000);
}

#[test]
fn worse_shapes_need_more_rounds() {
    let median = |shape| {
        let world = World::Stated { deviation: 0.0212, shape };
        tally_of(0.01, &world, 0.01, 200).quantile(0.5).unwrap()
    };
    let normal = median(Shape::Normal);
    assert!(median(Shape::Spiky) > normal);
    assert!(median(Shape::Bimodal) > normal);
}

#[test]
fn less_noise_and_more_rounds_find_less() {
    let seed = Seed::from_text("power");
    let mut coins = Stream::new(seed, Purpose::Simulation, 999, 0);
    let noise: Vec<f64> = (0..400).map(|_| 0.021 * coins.normal()).collect();
    let smallest = |scale: f64, rounds| {
        let noise: Vec<f64> = noise.iter().map(|d| d * scale).collect();
        let found = smallest_difference(&noise, rounds, 0.01, seed).unwrap();
        assert!(!found.is_bound, "{found:?}");
        found.fraction
    };
    // 2.6 (ln 200 + 0.6) (sd / theta)^2 rounds is the median; nine of ten need some more.
    let found = smallest(1.0, 100);
    assert!(found > 0.008 && found < 0.02, "{found}");
    assert!(smallest(0.1, 100) < found / 3.0);
    assert!(smallest(1.0, 1000) < found / 2.0);
    assert_eq!(smallest_difference(&noise, 5, 0.01, seed), None);
    assert_eq!(smallest_difference(&[], 100, 0.01, seed), None);
}

#[test]
fn an_end_of_the_search_is_not_a_finding() {
    let seed = Seed::from_text("power");
    let mut coins = Stream::new(seed, Purpose::Simulation, 999, 0);
    let noise: Vec<f64> = (0..400).map(|_| coins.normal()).collect();
    let found = |scale: f64| {
        let noise: Vec<f64> = noise.iter().map(|d| d * scale).collect();
        smallest_difference(&noise, 200, 0.01, seed)
    };
    let check = |scale: f64, is_bound: Option<bool>| {
        assert_eq!(found(scale).map(|one| one.is_bound), is_bound, "{scale}");
    };
    check(1e-9, Some(true));
    assert_eq!(found(1e-9).unwrap().fraction, 1e-5);
    check(1e-6, Some(true));
    check(1e-3, Some(false));
    check(1e3, None);
}
