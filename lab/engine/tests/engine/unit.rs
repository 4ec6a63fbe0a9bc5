//! Units of functions: what is drawn when, how their rounds become one log ratio, and what becomes
//! of them when somebody fails or is killed. In virtual time.

use crate::common::{Behaviour, ROUNDS_A_UNIT, VirtualLab, VirtualSampler, functions, request};
use tiebreak_lab::core::claim::{Relation, Statement};
use tiebreak_lab::core::journal::{Journal, StopReason};
use tiebreak_lab::core::plan::{Budget, Centre, Plan, Scope};
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_lab::referee::Referee;
use tiebreak_lab::{planning, replay};

fn plan(contestants: usize, claims: &[&str], scope: Scope) -> Plan {
    let centre = if scope == Scope::Code { Centre::Median } else { Centre::Factor };
    let asked = planning::Request { centre, ..request(contestants, claims) };
    let plan = planning::plan(&asked).unwrap();
    Plan { scope, functions: Some(Box::new(functions())), ..plan }
}

fn race(plan: &Plan, behaviours: &[Behaviour]) -> (Referee, StopReason, Journal, Vec<String>) {
    let lab = VirtualLab::of(plan.clone());
    let mut sampler = VirtualSampler::new(behaviours);
    let (referee, reason) = lab.go(&mut sampler).unwrap();
    let log = sampler.log.into_iter().filter(|line| !line.contains(" up ")).collect();
    (referee, reason, lab.journal(), log)
}

fn slower(by: f64) -> Behaviour {
    Behaviour { wall_ns: 5e6 * (1.0 + by), ..Behaviour::default() }
}

#[test]
fn each_unit_has_a_process_and_placements_of_its_own_except_at_scope_layout() {
    for scope in [Scope::Layout, Scope::Binary, Scope::Code] {
        let (_, _, journal, log) =
            race(&plan(2, &[], scope), &[Behaviour::default(), slower(0.05)]);
        let units: Vec<_> = journal.rounds.iter().map(|round| round.coins.unit.clone()).collect();
        assert!(units[0].is_some() && units.len() > 5, "{scope:?}");
        let is_layout = scope == Scope::Layout;
        assert!(units[1..].iter().all(|unit| unit.is_none() == is_layout), "{scope:?}");
        let rounds = if is_layout { 1 } else { ROUNDS_A_UNIT as usize };
        let starts = log.iter().filter(|line| line.starts_with("unit")).count();
        assert_eq!(starts, if is_layout { 1 } else { units.len() }, "{scope:?}");
        assert!(log.iter().all(|line| line.ends_with(&format!("x{rounds}"))), "{log:?}");
        let batches = journal.rounds.iter().map(|round| round.batches.len());
        assert!(batches.eq(units.iter().map(|_| if is_layout { 0 } else { 2 })), "{scope:?}");
        let mut placements: Vec<u64> =
            units.into_iter().flatten().flat_map(|unit| unit.placements).collect();
        let drawn = placements.len();
        placements.sort_unstable();
        placements.dedup();
        assert_eq!(placements.len(), if scope == Scope::Code { drawn } else { 1 }, "{scope:?}");
    }
}

#[test]
fn a_unit_counts_once_whatever_its_rounds_say() {
    let (referee, reason, journal, _) =
        race(&plan(2, &[], Scope::Code), &[Behaviour::default(), slower(0.05)]);
    assert_eq!((reason, referee.verdict(0)), (StopReason::Settled, Verdict::Holds));
    assert_eq!(referee.winner(0), Some(0));
    assert_eq!(referee.rounds, journal.rounds.len() as u64);
    assert!(referee.rounds >= 10, "unanimous units are coins too: {}", referee.rounds);
    replay::replay(&journal).unwrap();
    let batches = &journal.rounds[0].batches;
    assert!(batches.iter().all(|of| of.len() == ROUNDS_A_UNIT as usize), "{batches:?}");
    let walls = referee.seen[0].values[&tiebreak_lab::core::metric::Metric::WallTime].len();
    assert_eq!(walls, journal.rounds.len() * ROUNDS_A_UNIT as usize, "each batch is a value");
}

/// Exchanges the two contestants in everything that a journal says.
fn swapped(journal: &Journal) -> Journal {
    let mut swapped = journal.clone();
    for round in &mut swapped.rounds {
        round.coins.order.iter_mut().for_each(|contestant| *contestant = 1 - *contestant);
        round.coins.primer = round.coins.primer.map(|primer| 1 - primer);
    }
    swapped
}

#[test]
fn swapping_the_sides_mirrors_every_number_of_the_evidence() {
    for scope in [Scope::Layout, Scope::Binary, Scope::Code] {
        for by in [0.0, 0.003, 0.05] {
            let contestants = [Behaviour::default(), slower(by)];
            let (referee, _, journal, _) = race(&plan(2, &[], scope), &contestants);
            let mirror = Referee::from_journal(&swapped(&journal));
            let (one, other) = (referee.evidence(0), mirror.evidence(0));
            let negative = |bound: Option<f64>| bound.map(|bound| (0.0 - bound).to_bits());
            assert_eq!(one.low.map(f64::to_bits), negative(other.high), "{scope:?} {by}");
            assert_eq!(one.high.map(f64::to_bits), negative(other.low), "{scope:?} {by}");
            let bits = |(a, b): (f64, f64)| (a.to_bits(), b.to_bits());
            let (ups, downs) = (one.evidence_for, one.evidence_against);
            let mirrored = (other.evidence_against, other.evidence_for);
            assert_eq!(bits((ups, downs)), bits(mirrored), "{scope:?} {by}");
            assert_eq!(referee.verdict(0), mirror.verdict(0), "{scope:?} {by}");
        }
    }
}

#[test]
fn who_fails_is_void_and_the_others_go_on_in_a_new_process() {
    for scope in [Scope::Layout, Scope::Code] {
        let failing = Behaviour { fails_in_run: Some(4), ..Behaviour::default() };
        let claims = ["A is faster than B", "A is faster than C"];
        let (referee, _, journal, log) =
            race(&plan(3, &claims, scope), &[Behaviour::default(), failing, slower(0.05)]);
        let verdicts = (referee.verdict(0), referee.verdict(1));
        assert_eq!(verdicts, (Verdict::Void, Verdict::Holds), "{scope:?}");
        assert_eq!(journal.lost.len(), 1, "{scope:?}");
        let processes: Vec<_> = log.iter().filter(|line| line.starts_with("unit")).collect();
        let last = processes.last().unwrap();
        assert!(last.contains("[0, 2]") || last.contains("[2, 0]"), "{scope:?}: {log:?}");
        assert!(processes.len() == 2 || scope == Scope::Code, "{scope:?}: {log:?}");
        replay::replay(&journal).unwrap();
    }
}

#[test]
fn a_contestant_leaves_when_no_claim_and_no_cell_needs_it() {
    let claims = ["A is faster than B", "A is faster than C"];
    let far = Behaviour { wall_ns: 50e6, ..Behaviour::default() };
    let near = Behaviour { noise: 0.2, ..slower(0.03) };
    let (referee, _, journal, _) =
        race(&plan(3, &claims, Scope::Code), &[Behaviour::default(), far, near]);
    assert_eq!(referee.verdict(0), Verdict::Holds);
    let took_part = |contestant: usize| {
        journal.rounds.iter().filter(|round| round.coins.order.contains(&contestant)).count()
    };
    assert!(took_part(1) < took_part(2), "{} {}", took_part(1), took_part(2));
    assert_eq!(took_part(0), journal.rounds.len(), "the reference stays");
}

#[test]
fn a_cell_of_a_table_is_settled_when_it_is_as_exact_as_was_asked() {
    let asked = |precision: f64| {
        let mut plan = plan(2, &[], Scope::Code);
        plan.claims[0].claim.statement = Statement::Ratio(Relation::Measure { precision });
        let (referee, reason, journal, _) = race(&plan, &[Behaviour::default(), slower(0.5)]);
        replay::replay(&journal).unwrap();
        let evidence = referee.evidence(0);
        (reason, referee.rounds, evidence.low, evidence.high)
    };
    let (reason, rounds, low, high) = asked(0.02);
    assert_eq!(reason, StopReason::Settled);
    let (low, high) = (low.unwrap(), high.unwrap());
    assert!(high - low <= 2.0 * 0.02_f64.ln_1p(), "{low} {high}");
    assert!(low < 1.5_f64.ln() && 1.5_f64.ln() < high, "{low} {high}");
    assert!(asked(0.01).1 > rounds, "twice as exact takes longer");
    assert_eq!(asked(1e-9).0, StopReason::Budget);
}

#[test]
fn killed_before_any_write_a_run_of_units_goes_on_with_what_it_had() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut plan = plan(2, &[], Scope::Code);
    plan.resolution = 0.0;
    plan.budget = Budget { rounds: Some(8), seconds: None };
    let contestants = [Behaviour::default(), slower(0.0005)];
    let whole = race(&plan, &contestants).2;
    let lab = VirtualLab::of(plan.clone());
    let mut counting = VirtualSampler::new(&contestants);
    lab.go(&mut counting).unwrap();
    for write in 0..counting.writes {
        let lab = VirtualLab::of(plan.clone());
        let mut sampler = VirtualSampler::new(&contestants);
        sampler.killed_at_write = Some(write);
        assert!(lab.go(&mut sampler).is_err());
        let before = lab.journal().rounds;
        assert_eq!(before[..], whole.rounds[..before.len()], "write {write}");
        lab.go(&mut VirtualSampler::new(&contestants)).unwrap();
        let journal = lab.journal();
        assert_eq!(journal.rounds.len(), whole.rounds.len(), "write {write}");
        assert_eq!(journal.rounds[..before.len()], whole.rounds[..before.len()]);
        assert!(journal.lost.len() <= 1, "write {write}");
        replay::replay(&journal).unwrap();
    }
}

#[test]
fn what_two_clocks_do_not_agree_on_proves_nothing() {
    // By the word of every second batch A is ten times as fast; in truth it is as slow as it is.
    let check = |scope: Scope, truth: f64, says: f64, expected: Verdict| {
        let of = |wall_ns, says| Behaviour { wall_ns, says, ..Behaviour::default() };
        let mut plan = plan(2, &["A is faster than B"], scope);
        plan.budget = Budget { rounds: Some(60), seconds: None };
        let behaviours = [of(5e6 * truth, says), of(5e6, 1.0)];
        let (referee, _, journal, _) = race(&plan, &behaviours);
        assert_eq!(referee.verdict(0), expected, "{scope:?} {truth} {says}");
        replay::replay(&journal).unwrap();
    };
    for scope in [Scope::Layout, Scope::Binary] {
        check(scope, 0.5, 1.0, Verdict::Holds);
        check(scope, 2.0, 1.0, Verdict::Refuted);
        check(scope, 1.3, 0.1, Verdict::Undecided);
        check(scope, 2.0, 0.1, Verdict::Undecided);
        // It is faster by either clock.
        check(scope, 0.5, 0.9, Verdict::Holds);
    }
}
