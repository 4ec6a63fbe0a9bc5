//! Scores that are learnt: what is fair about them, and what they save.

use crate::common::noise::{BIMODAL, CLEAN, Noise, SPIKY};
use crate::common::race::Race;
use crate::common::{history, settle};
use proptest::prelude::*;
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_stats::bettor::{EProcess, M4};
use tiebreak_stats::coins::Seed;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::learned::{Cell, Shapes};
use tiebreak_stats::limits::History;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;
use tiebreak_stats::{noise, past};

/// Rounds of noise in two modes, with this truth.
fn rounds(noise: Noise, truth: f64, stream: u64, count: usize) -> Vec<LogRatio> {
    Race::new(noise, truth).rounds(Seed::from_text("learned"), stream).take(count).collect()
}

/// The wealth against a cell after these rounds.
fn against(cell: Cell, rounds: &[LogRatio]) -> f64 {
    let (mut noise, mut history) = (noise::Noise::default(), History::new(&M4));
    let mut process = EProcess::against(&M4, cell);
    for d in rounds {
        let bet = noise.bet(*d, &Conditions::UNKNOWN);
        process.observe(*d, &bet, history.shape());
        noise.learn(*d, &Conditions::UNKNOWN, &bet);
        history.push(&bet);
        if let Some(shape) = history.learn(&noise.past) {
            process.learn(shape);
        }
    }
    process.value(0)
}

proptest! {
    #![proptest_config(
        ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) }
    )]

    /// So a cell that is rejected has no log ratio that is not.
    #[test]
    fn no_log_ratio_of_a_cell_has_less_wealth_than_the_cell(
        stream in 0..1000u64, low in -0.03..0.03f64, width in 0.0..0.003f64, at in 0.0..=1.0f64,
        spread in 0.0..0.002f64,
    ) {
        let mut rounds = rounds(BIMODAL, 0.005, stream, 80);
        rounds.iter_mut().step_by(3).for_each(|d| d.high += spread);
        let whole = against(Cell { low, high: low + width }, &rounds);
        let one = against(Cell::at(low + at * width), &rounds);
        prop_assert!(whole <= one * (1.0 + 1e-12), "{whole} {one}");
    }
}

/// The lower limit is a log ratio up to which each is rejected: not only at the limit.
#[test]
fn every_log_ratio_below_a_limit_is_rejected() {
    for stream in 0..4 {
        let rounds = rounds(BIMODAL, 0.01, stream, 150);
        let history = history(&M4, &rounds);
        let low = history.limits(0.05, 0, &[]).low.expect("150 rounds prove something");
        for step in 0..400 {
            let theta = low - f64::from(step * step) * 1e-6;
            assert!(history.evidence_above(theta, 0) >= 20.0, "{theta} of {low}, stream {stream}");
        }
    }
}

/// The least that is known of a round counts: the wealth of an interval is at most that of any
/// value in it, and rounds of which nothing is known cost what the table keeps at the most.
#[test]
fn what_is_not_known_counts_against_the_bet() {
    let exact = rounds(BIMODAL, 0.02, 7, 60);
    let wide: Vec<_> =
        exact.iter().map(|d| LogRatio { low: d.low - 0.004, high: d.high + 0.004 }).collect();
    let value = |rounds: &[LogRatio]| history(&M4, rounds).evidence_above(0.0, 0);
    assert!(value(&wide) < value(&exact));
    let mut open = exact.clone();
    open.extend([LogRatio { low: 0.02, high: f64::INFINITY }; 40]);
    assert!(value(&open) > 0.1 * value(&exact));
}

fn median_rounds(version: u32, noise: Noise, truth: f64) -> u64 {
    let faster = Relation::AtLeast { factor: 1.0 };
    let ended = (0..41).map(|stream| {
        let test = RatioTest::by_version(version, faster, Centre::Factor, 0.01, 0.0, Adjust::NONE);
        let race = Race::new(noise, truth).rounds(Seed::from_text("sooner"), stream);
        settle(test, race.take(3000)).map_or(u64::MAX, |(_, rounds)| rounds)
    });
    let mut ended: Vec<_> = ended.collect();
    ended.sort_unstable();
    ended[ended.len() / 2]
}

/// Half the rounds where noise has modes, and hardly more where it has none.
#[test]
fn modes_cost_half_as_many_rounds() {
    for (noise, truth, at_most) in
        [(BIMODAL, 0.005, 0.6), (CLEAN, 0.0106, 1.1), (CLEAN, 0.021, 1.1), (SPIKY, 0.0106, 1.1)]
    {
        let (before, now) = (median_rounds(2, noise, truth), median_rounds(3, noise, truth));
        let ratio = now as f64 / before as f64;
        println!("{} {truth}: {before} rounds, now {now}", noise.name);
        assert!(ratio <= at_most, "{} {truth}: {before} rounds, now {now}", noise.name);
    }
}

/// Nothing is learnt from the round itself: shapes are of the rounds before.
#[test]
fn a_shape_is_made_of_the_rounds_before_it() {
    let rounds = rounds(CLEAN, 0.0, 0, 30);
    let mut past = past::Past::default();
    let mut shapes = Shapes::default();
    for (round, d) in rounds.iter().enumerate() {
        past.insert(*d);
        if let Some(shape) = shapes.learn(rounds[..=round].iter().copied(), &past) {
            assert_eq!(shape.from, round + 1);
        }
    }
    assert!(shapes.all.len() > 5);
}
