//! Contestants on several threads: the efficiency of the table is a ratio like any other.

use super::{Lab, Virtual, plan};
use tiebreak_input as input;
use tiebreak_lab::core::plan::{Plan, PlannedClaim, Scope};
use tiebreak_lab::core::study::Team;
use tiebreak_lab::replay;

#[test]
fn efficiency_is_the_time_alone_over_the_time_beside_others() {
    let mut plan = plan(&["a", "b", "c"], Scope::Code, 40, 0.0001);
    let teams = [("one", 1), ("one", 4), ("other", 4)];
    let functions = plan.functions.as_mut().unwrap();
    for (built, (family, threads)) in functions.built.iter_mut().zip(teams) {
        built.team = Some(Team { family: family.to_owned(), threads });
    }
    let lab = Lab::new(plan);
    lab.go(&mut Virtual::new(&[1e5, 4e5, 2e5]));
    let table = replay::result(&lab.journal()).study.unwrap();
    let near = |value: Option<f64>, expected: f64| (value.unwrap() / expected - 1.0).abs() < 0.05;
    let [one, four, other, absent] = &table.rows[..] else { panic!() };
    // 100 items a call of 0.1 ms; four threads at a quarter of the speed.
    for (row, efficiency, units) in [(one, 1.0, 80), (four, 0.25, 40)] {
        let scaling = row.scaling.as_ref().unwrap();
        assert!(near(scaling.efficiency, efficiency), "{scaling:?}");
        assert!(near(scaling.items_per_s, 1e6), "{scaling:?}");
        assert_eq!((scaling.units, scaling.together), (units, units));
    }
    let other = other.scaling.as_ref().unwrap();
    assert_eq!(other.efficiency, None, "it was not measured on one thread");
    assert!(near(other.items_per_s, 2e6));
    assert_eq!(absent.scaling, None);
}

/// A study of `a`, `b` and `c`, of which the last is `b` on four threads, with this claim.
fn with_claim(text: &str, turned: bool) -> Plan {
    let names = ["a", "b", "c"];
    let mut asked = plan(&names, Scope::Code, 40, 0.0001);
    let functions = asked.functions.as_mut().unwrap();
    for (built, threads) in functions.built.iter_mut().skip(1).zip([1, 4]) {
        built.team = Some(Team { family: "b".to_owned(), threads });
    }
    let claim = input::parse(text, &names).unwrap();
    let [left, right] = if turned { [1, 2] } else { [2, 1] };
    asked.claims.push(PlannedClaim { claim, left, right: Some(right), ..asked.claims[0].clone() });
    asked
}

#[test]
fn the_efficiency_of_the_table_is_the_ratio_of_the_claim() {
    let check = |text: &str, turned: bool| {
        let lab = Lab::new(with_claim(text, turned));
        lab.go(&mut Virtual::new(&[1e5, 5e4, 6e4]));
        let result = replay::replay(&lab.journal()).unwrap();
        let claim = result.verdicts.last().unwrap().effect();
        let rows = result.study.unwrap().rows;
        let median = |row: usize| rows[row].per_call[0].1.median.unwrap();
        let scaling = rows[2].scaling.clone().unwrap();
        assert_ne!(scaling.efficiency, Some(median(1) / median(2)), "of other units");
        let turn = |value: Option<f64>| value.map(|value| if turned { 1.0 / value } else { value });
        let [low, high] = [turn(claim.low), turn(claim.high)];
        let [low, high] = if turned { [high, low] } else { [low, high] };
        assert!(claim.estimate.is_some() && low.is_some(), "{claim:?}");
        let told = [scaling.efficiency, scaling.efficiency_low, scaling.efficiency_high];
        assert_eq!(told, [turn(claim.estimate), low, high], "{text}");
    };
    check("c is no more than 25% slower than b on random", false);
    check("b is at least 1.1x faster than c on random", true);
}

#[test]
fn threads_that_take_turns_are_not_said_to_scale() {
    let mut plan = plan(&["a", "b"], Scope::Code, 40, 0.0001);
    let functions = plan.functions.as_mut().unwrap();
    for (built, threads) in functions.built.iter_mut().zip([1, 4]) {
        built.team = Some(Team { family: "one".to_owned(), threads });
    }
    let lab = Lab::new(plan);
    lab.go(&mut Virtual { takes_turns: Some(1), ..Virtual::new(&[1e5, 1e5]) });
    let table = replay::result(&lab.journal()).study.unwrap();
    let [one, four] = [0, 1].map(|row: usize| table.rows[row].scaling.as_ref().unwrap());
    assert!(one.efficiency.is_some() && one.items_per_s.is_some(), "{one:?}");
    assert_eq!((four.units, four.together), (40, 0));
    assert_eq!((four.efficiency, four.items_per_s), (None, None));
}
