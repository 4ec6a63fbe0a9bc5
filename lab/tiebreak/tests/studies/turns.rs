//! Whose turn it is where a study has claims and a table: claims first.

use super::{Lab, Virtual, plan};
use tiebreak::core::journal::Round;
use tiebreak::core::plan::{Budget, Plan, PlannedClaim, Scope};
use tiebreak::core::verdict::Verdict;
use tiebreak::replay;
use tiebreak::study;

#[test]
fn cells_wait_for_claims_as_long_as_there_is_time_for_both() {
    // The elapsed share of the budget, and the pair, of each unit.
    let check = |b_ns: f64, runs: usize| {
        let mut asked = plan(&["a", "b", "c", "d"], Scope::Code, 0, 0.0001);
        asked.budget = Budget { rounds: None, seconds: Some(3.0) };
        asked.resolution = 0.0;
        asked.functions.as_mut().unwrap().workloads = vec!["random".to_owned(); runs];
        let lab = Lab::new(asked);
        lab.go(&mut Virtual::new(&[1e5, b_ns, 2e5, 1.5e5]));
        let journal = lab.journal();
        let result = replay::replay(&journal).unwrap();
        let is_pair = |round: &&Round| round.coins.order.iter().all(|one| *one < 2);
        let alone = journal.rounds.iter().take_while(is_pair).count();
        let had = |left: usize| result.verdicts[left].rounds;
        assert!(had(2) > 0 && had(2).abs_diff(had(3)) <= 1, "{} {}", had(2), had(3));
        let share = journal.rounds[alone - 1].elapsed_ns as f64 / 3e9;
        (result.verdicts[0].verdict, result.verdicts[0].rounds, alone as u64, share)
    };
    let (verdict, rounds, alone, share) = check(5e4, 1);
    assert_eq!((verdict, rounds), (Verdict::Holds, alone));
    assert!(share < 0.5, "{share}");
    // A claim that nothing decides has the larger part, of as many runs as share the budget.
    for (runs, expected) in [(1, 0.75), (3, 0.25)] {
        let (verdict, _, _, share) = check(1e5 / 1.5, runs);
        assert_eq!(verdict, Verdict::Undecided);
        assert!((share - expected).abs() < 0.02, "{share}");
    }
}

/// Units until the last claim is settled, where so many contestants are in the table and some of
/// them in a claim too.
fn units_until_settled(contestants: usize, claims: usize, budget: Budget) -> usize {
    let names: Vec<String> = (0..contestants).map(|index| format!("c{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let speed = |index: usize| 1.0 + 0.1 * index as f64;
    let one = plan(&["a", "b"], Scope::Code, 0, 0.02).claims.remove(0);
    let claim = |left: usize| {
        let bar = speed(left) / 1.01;
        let text = format!("c{left} is at least {bar:.3}x faster than c0 on random");
        PlannedClaim { claim: study::parse(&text, &names).unwrap(), left, ..one.clone() }
    };
    let mut asked = Plan { budget, ..plan(&names, Scope::Code, 0, 0.0001) };
    asked.claims.splice(..1, (1..=claims).map(claim));
    let lab = Lab::new(asked);
    let calls: Vec<f64> = (0..contestants).map(|index| 1e5 / speed(index)).collect();
    lab.go(&mut Virtual::new(&calls));
    let journal = lab.journal();
    let verdicts = replay::replay(&journal).unwrap().verdicts;
    assert!(verdicts[..claims].iter().all(|claim| claim.verdict != Verdict::Undecided));
    let has_open = |round: &Round| round.wealth.iter().any(|one| one.claim < claims);
    journal.rounds.iter().rposition(has_open).map_or(0, |last| last + 1)
}

#[test]
fn claims_are_settled_sooner_where_cells_wait() {
    for (contestants, claims, at_most) in [(6, 3, 0.7), (23, 6, 0.4)] {
        let in_turns = Budget { rounds: Some(120), seconds: None };
        let first = Budget { rounds: None, seconds: Some(5.0) };
        let [in_turns, first] =
            [in_turns, first].map(|budget| units_until_settled(contestants, claims, budget));
        let share = first as f64 / in_turns as f64;
        assert!(share < at_most, "{first} of {in_turns}");
    }
}
