//! Whose turn it is where a study has claims and a table: claims first, then the ratio that is
//! nearest to being exact; until version 2 of the engine, pairs in turns.

use super::{Lab, Virtual, plan};
use std::path::Path;
use tiebreak_input as input;
use tiebreak_lab::core::journal::{Journal, Round, StopReason};
use tiebreak_lab::core::plan::{Budget, ENGINE_VERSION, Plan, PlannedClaim, Scope};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_lab::replay;
use tiebreak_store::{read_lines, write_lines};

/// A plan under a budget in seconds, whose claims but the first so many wait for so long.
fn in_seconds(mut asked: Plan, claims: usize, seconds: f64, waits_s: f64) -> Plan {
    asked.budget = Budget { rounds: None, seconds: Some(seconds) };
    asked.claims[claims..].iter_mut().for_each(|cell| cell.waits_ns = (waits_s * 1e9) as u64);
    asked
}

#[test]
fn cells_wait_for_claims_as_long_as_there_is_time_for_both() {
    // The elapsed share of the budget, and the pair, of each unit.
    let check = |b_ns: f64, waits_s: f64| {
        let asked = plan(&["a", "b", "c", "d"], Scope::Code, 0, 0.0001);
        let mut asked = in_seconds(asked, 1, 3.0, waits_s);
        (asked.resolution, asked.engine_version) = (0.0, 2);
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
    let (verdict, rounds, alone, share) = check(5e4, 2.25);
    assert_eq!((verdict, rounds), (Verdict::Holds, alone));
    assert!(share < 0.5, "{share}");
    // For a claim that nothing decides they wait as long as the plan says.
    for waits_s in [2.25, 0.75] {
        let (verdict, _, _, share) = check(1e5 / 1.5, waits_s);
        assert_eq!(verdict, Verdict::Undecided);
        assert!((share - waits_s / 3.0).abs() < 0.02, "{share}");
    }
}

#[test]
fn how_large_a_ratio_is_waits_for_nobody_where_it_is_asked_for() {
    let asked = plan(&["a", "b", "c"], Scope::Code, 0, 0.0001);
    let mut asked = in_seconds(asked, 1, 0.5, 0.4);
    // The claim about b is settled at once: what is asked of c goes before the cell of b.
    asked.claims[2].waits_ns = 0;
    asked.engine_version = 2;
    let lab = Lab::new(asked);
    lab.go(&mut Virtual::new(&[1e5, 5e4, 2e5]));
    let journal = lab.journal();
    let is_early = |round: &&Round| round.elapsed_ns < 380_000_000;
    let had = |one| {
        let early = journal.rounds.iter().filter(is_early);
        early.filter(|round| round.coins.order.contains(&one)).count()
    };
    let settled = replay::replay(&journal).unwrap().verdicts[0].rounds;
    assert!(had(1) as u64 == settled && had(2) > had(1), "{settled} {} {}", had(1), had(2));
}

/// A run whose cells wait, and whose stop hangs on its seconds, replays to the same turns and
/// verdicts on any day. `TIEBREAK_BLESS=1` writes it anew.
#[test]
fn a_golden_journal_with_seconds_replays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = |version: u32| folder.join(version.to_string()).join("study-seconds.jsonl");
    let asked = plan(&["a", "b", "c"], Scope::Code, 0, 0.0001);
    let mut asked = in_seconds(asked, 1, 0.08, 0.06);
    asked.claims[0].error = 1e-6;
    let run = |asked: Plan| {
        let lab = Lab::new(asked);
        assert_eq!(lab.go(&mut Virtual::new(&[1e5, 6e4, 2e5])), Some(StopReason::Budget));
        lab.journal()
    };
    let today = run(asked.clone());
    let lines = |journal: &Journal| {
        let mut lines = Vec::new();
        write_lines(journal, &mut lines).unwrap();
        String::from_utf8(lines).unwrap()
    };
    if std::env::var_os("TIEBREAK_BLESS").is_some() {
        std::fs::write(path(ENGINE_VERSION), lines(&today)).unwrap();
    }
    let golden = |version: u32, rounds: [u64; 3]| {
        let text = std::fs::read_to_string(path(version)).unwrap();
        let journal = read_lines(text.as_bytes()).unwrap();
        assert_eq!(lines(&journal), text, "it is written as it was read");
        let result = replay::replay(&journal).unwrap();
        let told: Vec<_> = result.verdicts.iter().map(|one| (one.verdict, one.rounds)).collect();
        assert_eq!(told, rounds.map(|rounds| (Verdict::Undecided, rounds)), "{version}");
        journal
    };
    let newest = golden(ENGINE_VERSION, [11, 11, 1]);
    assert_eq!(lines(&today), lines(&newest), "the same run writes the same journal");
    golden(2, [10, 10, 2]);
    // What a plan says of the waits decides whose turn it is.
    asked.claims.iter_mut().for_each(|claim| claim.waits_ns = 0);
    asked.engine_version = 2;
    let turns = |journal: &Journal| -> Vec<Vec<usize>> {
        journal.rounds.iter().map(|round| round.coins.order.clone()).collect()
    };
    assert_ne!(turns(&run(asked)), turns(&today));
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
        PlannedClaim { claim: input::parse(&text, &names).unwrap(), left, ..one.clone() }
    };
    let mut asked = plan(&names, Scope::Code, 0, 0.0001);
    asked.claims.splice(..1, (1..=claims).map(claim));
    if let Some(seconds) = budget.seconds {
        asked = in_seconds(asked, claims, seconds, 0.75 * seconds);
    }
    asked.budget = budget;
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

/// Races a table of contestants whose calls take so long for so many seconds, with a claim about
/// the first of them that holds or, if it is hopeless, that nothing decides.
fn table(calls_ns: &[f64], is_hopeless: bool, seconds: f64, engine_version: u32) -> RunResult {
    let names: Vec<String> = (0..calls_ns.len()).map(|index| format!("c{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut asked = in_seconds(plan(&names, Scope::Code, 0, 0.01), 1, seconds, 0.75 * seconds);
    (asked.resolution, asked.engine_version) = (0.0, engine_version);
    asked.functions.as_mut().unwrap().pilot.round_cost_ns = 3e6;
    // It is exactly twice as fast.
    let bar = if is_hopeless { 2.0 } else { 1.5 };
    let text = format!("c1 is at least {bar}x faster than c0 on random");
    asked.claims[0].claim = input::parse(&text, &names).unwrap();
    let lab = Lab::new(asked);
    lab.go(&mut Virtual::new(calls_ns));
    replay::replay(&lab.journal()).unwrap()
}

/// Returns how many ratios of the table are as exact as asked.
fn exact(result: &RunResult) -> usize {
    let cells = result.verdicts.iter().skip(1);
    cells.filter(|claim| claim.verdict == Verdict::Holds).count()
}

#[test]
fn more_ratios_are_exact_in_the_same_time() {
    let calls_ns = [1e5, 5e4, 1e5, 2e5, 4e5, 8e5, 16e5, 32e5];
    let whole = table(&calls_ns, false, 1e6, 3);
    assert_eq!(exact(&whole), 7);
    // The seconds of all but the two slowest.
    let ended = whole.verdicts.iter().skip(1).map(|cell| cell.seconds);
    let seconds = ended.take(5).fold(0.0, f64::max);
    for is_hopeless in [false, true] {
        let [turns, nearest] =
            [2, 3].map(|version| exact(&table(&calls_ns, is_hopeless, seconds, version)));
        assert!(nearest >= 3 && turns <= 1, "{is_hopeless}: {nearest} against {turns}");
    }
}

#[test]
fn claims_that_can_be_settled_in_time_come_before_the_table() {
    let result = table(&[1e5, 5e4, 2e5, 2e5], false, 1e6, 3);
    let [claim, cells @ ..] = &result.verdicts[..] else { panic!() };
    assert_eq!(claim.verdict, Verdict::Holds);
    assert!(cells.iter().all(|cell| cell.seconds > claim.seconds), "{cells:?}");
}

#[test]
fn what_is_open_says_what_it_needs() {
    let calls_ns = [1e5, 5e4, 2e5, 1.5e5, 4e5, 3e5];
    let all = table(&calls_ns, false, 1e6, 3);
    let needed_s = all.seconds;
    assert!(all.study.unwrap().open_ratios.is_empty());
    for share in [0.02, 0.1, 0.3, 0.7] {
        let result = table(&calls_ns, false, share * needed_s, 3);
        let is_exact = exact(&result);
        let open = result.study.unwrap().open_ratios;
        assert_eq!(open.len(), 5 - is_exact, "{share}");
        let left_s: f64 = open.iter().map(|one| one.seconds_left).sum();
        let factor = (result.seconds + left_s) / needed_s;
        // The first limits are those of the fewest rounds, which lie further apart.
        assert!((0.5..2.5).contains(&factor), "{share}: {factor}");
    }
}
