//! The order of events in a run, and what becomes of contestants that fail, hang or change.

use crate::common::{Behaviour, VirtualLab, VirtualSampler, compare, request};
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::core::plan::{Budget, Centre, Check, Primer};
use tiebreak_lab::core::result::{Blame, Statistic};
use tiebreak_lab::core::schedule::RoundCoins;
use tiebreak_lab::core::verdict::{Fault, Verdict};
use tiebreak_lab::core::warning::Warning;
use tiebreak_lab::planning::{self, Request};
use tiebreak_lab::referee::Referee;
use tiebreak_lab::replay;

fn faster() -> Behaviour {
    Behaviour { wall_ns: 4e6, ..Behaviour::default() }
}

fn changing_output(run: u64) -> &'static str {
    if run < 3 { "same" } else { "other" }
}

#[test]
fn a_primer_and_then_everybody_in_the_order_of_the_coins() {
    let lab = VirtualLab::new(&request(3, &[]));
    let mut sampler = VirtualSampler::new(&[faster(), Behaviour::default(), Behaviour::default()]);
    lab.go(&mut sampler).unwrap();
    let journal = lab.journal();
    let mut expected: Vec<String> = (0..3).map(|i| format!("set up {i}")).collect();
    for round in &journal.rounds {
        let runs = round.coins.primer.iter().chain(&round.coins.order);
        expected.extend(runs.map(|contestant| format!("run {contestant}")));
    }
    expected.extend((0..3).map(|i| format!("clean up {i}")));
    assert_eq!(sampler.log, expected);
    assert!(journal.rounds.iter().any(|round| round.coins.primer != Some(round.coins.order[0])));
}

/// Where a run of the first round takes longer than a second, the first block still primes each
/// once, so that all have run equally often, and later rounds prime nobody.
#[test]
fn long_runs_have_no_primer_unless_the_user_asks_for_one() {
    fn check(primer: Primer, wall_ns: f64, contestants: usize, primed: u64) {
        let budget = Some(Budget { rounds: Some(6), seconds: None });
        let mut asked = Request { budget, ..request(contestants, &[]) };
        asked.program.primer = primer;
        let slow = Behaviour { wall_ns, ..Behaviour::default() };
        let all = vec![slow; contestants];
        let (referee, _, journal) = compare(&asked, &all);
        let what = format!("{primer:?} {wall_ns} {contestants}");
        let coins = journal.rounds.iter().map(|round| &round.coins);
        for (round, coins) in coins.enumerate() {
            assert_eq!(coins.primer.is_some(), (round as u64) < primed, "{what}, round {round}");
        }
        let blocks = primed / contestants as u64;
        assert!(referee.seen.iter().all(|seen| seen.ran == 6 + blocks), "{what}");
        let result = replay::replay(&journal).unwrap();
        assert_eq!(result.rounds_without_primer, 6 - primed, "{what}");
    }
    check(Primer::Short, 1.1e9, 2, 2);
    check(Primer::Short, 1.1e9, 3, 3);
    check(Primer::Short, 0.9e9, 2, 6);
    check(Primer::Always, 1.1e9, 2, 6);
    check(Primer::Never, 1e6, 2, 0);
}

#[test]
fn a_difference_is_proven_and_replays() {
    let (referee, reason, journal) = compare(&request(2, &[]), &[faster(), Behaviour::default()]);
    assert_eq!(reason, StopReason::Settled);
    assert_eq!((referee.verdict(0), referee.winner(0)), (Verdict::Holds, Some(0)));
    assert_eq!(referee.rounds, 10, "unanimous data need ten rounds at 1%, two-sided");
    let result = replay::replay(&journal).unwrap();
    assert_eq!(result.verdicts[0].winner.as_deref(), Some("A"));
    assert!(result.verdicts[0].effect().low.unwrap() > 1.0);
}

/// A takes three times as long in a tenth of its runs, and otherwise as long as B: as one factor
/// the two were said to be too close to matter, or B to be faster by nearly nothing.
#[test]
fn a_slow_tenth_is_said_and_is_no_factor() {
    let slow_tenth =
        Behaviour { times: |run| [1.0, 3.0][usize::from(run * 7919 % 997 < 100)], ..faster() };
    for centre in [Centre::Factor, Centre::Median] {
        let budget = Some(Budget { rounds: Some(400), seconds: None });
        let asked = Request { centre, resolution: 0.0005, budget, ..request(2, &[]) };
        let (_, _, journal) = compare(&asked, &[slow_tenth.clone(), faster()]);
        let result = replay::replay(&journal).unwrap();
        let claim = &result.verdicts[0];
        let found = claim.no_factor().unwrap_or_else(|| panic!("{claim:?}"));
        assert_eq!((found.slow.as_str(), found.far_opposite), ("A", 0));
        assert!((found.times - 3.0).abs() < 0.1, "{found:?}");
        let share = found.far as f64 / found.rounds as f64;
        assert!((0.05..0.17).contains(&share), "{found:?}");
        let names: Vec<_> = found.ratios.iter().map(|row| row.statistic).collect();
        assert_eq!(names, [Statistic::Median, Statistic::P90, Statistic::P99, Statistic::Mean]);
        let high = found.ratios[2].ratio.estimate.unwrap();
        assert!((high * 3.0 - 1.0).abs() < 0.1, "{found:?}");
        if centre == Centre::Factor {
            assert_eq!(claim.verdict, Verdict::Undecided);
        }
    }
}

#[test]
fn a_changed_sample_does_not_replay() {
    let (_, _, mut journal) = compare(&request(2, &[]), &[faster(), Behaviour::default()]);
    let head = journal.chain_head().unwrap().to_owned();
    replay::check_head(&journal, &head[..16].to_uppercase()).unwrap();
    journal.rounds[4].samples.reverse();
    let error = replay::replay(&journal).unwrap_err().to_string();
    assert!(error.contains("round 4 is not what was written"), "{error}");
    // Whoever makes the chain anew has another head; whoever takes it away, none.
    journal.chain.last_mut().unwrap().hash.replace_range(..1, "x");
    let error = replay::check_head(&journal, &head).unwrap_err().to_string();
    assert!(error.contains("its head is x"), "{error}");
    journal.chain.clear();
    let error = replay::check_head(&journal, &head).unwrap_err().to_string();
    assert!(error.contains("it has none"), "{error}");
    let error = replay::replay(&journal).unwrap_err().to_string();
    assert!(error.contains("the engine always writes"), "{error}");
    // Not even to say that an engine without chains wrote it.
    journal.header.plan.engine_version = 1;
    let error = replay::replay(&journal).unwrap_err().to_string();
    assert!(error.contains("does not replay"), "{error}");
}

#[test]
fn equal_contestants_are_too_close() {
    let both = [Behaviour::default(), Behaviour::default()];
    let (referee, reason, _) = compare(&request(2, &[]), &both);
    assert_eq!((referee.verdict(0), reason), (Verdict::TooClose, StopReason::Settled));
}

#[test]
fn the_budget_ends_a_run_undecided() {
    let budget = Some(Budget { rounds: None, seconds: Some(0.5) });
    let asked = Request { budget, resolution: 0.0, ..request(2, &[]) };
    let (referee, reason, journal) = compare(&asked, &[Behaviour::default(), Behaviour::default()]);
    assert_eq!((referee.verdict(0), reason), (Verdict::Undecided, StopReason::Budget));
    assert!(referee.elapsed_ns >= 500_000_000);
    let before_last = journal.rounds[journal.rounds.len() - 2].elapsed_ns;
    assert!(before_last < 500_000_000, "no round starts after the budget is used up");
    replay::replay(&journal).unwrap();
}

#[test]
fn a_contestant_that_settled_all_its_pairs_leaves() {
    let close = Behaviour { wall_ns: 4.02e6, ..Behaviour::default() };
    let behaviours = [faster(), Behaviour { wall_ns: 9e6, ..Behaviour::default() }, close];
    let asked = Request { resolution: 0.0, ..request(3, &[]) };
    let (referee, _, journal) = compare(&asked, &behaviours);
    let last = journal.rounds.last().unwrap();
    assert!(!last.coins.order.contains(&1), "B was needed no more");
    assert_eq!(referee.verdict(0), Verdict::Holds);
    assert!(referee.evidence(0).rounds < referee.evidence(1).rounds);
    replay::replay(&journal).unwrap();
}

/// B grows by 0.05% a run and A does not: the ratio is that of so many runs, and that is said.
#[test]
fn a_ratio_that_changes_along_the_run_is_told_with_how_often_each_ran() {
    let check = |growths: [f64; 2], is_told: bool| {
        let behaviours = growths.map(|growth| Behaviour { growth, ..Behaviour::default() });
        let budget = Some(Budget { rounds: Some(200), seconds: None });
        let asked = Request { resolution: 0.0, budget, ..request(2, &["A is within 10% of B"]) };
        let asked = Request { error: 1e-60, ..asked };
        let (_, _, journal) = compare(&asked, &behaviours);
        let result = replay::replay(&journal).unwrap();
        let ran = result.contestants.iter().map(|contestant| contestant.ran);
        assert_eq!(ran.collect::<Vec<_>>(), [Some(300), Some(300)]);
        let told: Vec<&Warning> =
            result.warnings.iter().filter(|warning| warning.code() == "drifts").collect();
        assert_eq!(!told.is_empty(), is_told, "{growths:?}: {told:?}");
        assert!(told.iter().all(|told| told.to_string().contains("A ran 300 times, B 300")));
    };
    check([0.0, 0.0005], true);
    check([0.0005, 0.0], true);
    check([0.0005, 0.0005], false);
    check([0.0, 0.0], false);
}

/// The ratio of two that grow alike stays what it is, and each of them is named.
#[test]
fn contestants_that_grow_are_told_with_how_often_they_ran() {
    let check = |growths: [f64; 2], told: &[&str]| {
        let behaviours = growths.map(|growth| Behaviour { growth, ..Behaviour::default() });
        let budget = Some(Budget { rounds: Some(200), seconds: None });
        let asked = Request { error: 1e-60, budget, ..request(2, &["A is within 10% of B"]) };
        let (_, _, journal) = compare(&asked, &behaviours);
        let warnings = replay::replay(&journal).unwrap().warnings;
        let grows = warnings.iter().filter(|warning| warning.code() == "grows");
        let grows: Vec<String> = grows.map(Warning::to_string).collect();
        assert_eq!(grows.len(), told.len(), "{grows:?}");
        assert!(grows.iter().zip(told).all(|(said, told)| said.starts_with(told)), "{grows:?}");
    };
    let [a, b] = ["A ran 300 times and used 2", "B ran 300 times and used 2"];
    check([0.002, 0.002], &[a, b]);
    check([0.002, 0.0], &[a]);
    check([0.0, 0.0], &[]);
}

#[test]
fn a_failing_contestant_is_void_and_the_others_go_on() {
    let failing = Behaviour { fails_in_run: Some(4), ..Behaviour::default() };
    let behaviours = [faster(), failing, Behaviour::default()];
    let (referee, reason, journal) = compare(&request(3, &[]), &behaviours);
    assert_eq!(reason, StopReason::Settled);
    assert_eq!(referee.verdict(0), Verdict::Void);
    assert_eq!(referee.verdict(1), Verdict::Holds);
    let result = replay::replay(&journal).unwrap();
    let Blame { contestant: name, fault } = result.verdicts[0].fault.clone().unwrap();
    assert_eq!(name, "B");
    assert!(matches!(fault, Fault::ExitStatus { status: 7, .. }));
    let charged = Warning::LostAttempts { attempts: 1, charged: true };
    assert!(result.warnings.contains(&charged), "the others pay for the round that it cut off");
}

/// Whatever a claim is about, it pays for an attempt that was cut off, and the page says so.
#[test]
fn attempts_that_were_cut_off_are_said_to_be_charged() {
    let coins = RoundCoins {
        round: 0,
        attempt: 0,
        primer: Some(0),
        order: vec![0],
        padding_bytes: vec![0, 0],
        unit: None,
        load_seed: None,
    };
    for claim in ["p90 of A is below 1 s", "mean of A is below 3 ms capped at 1 s"] {
        let mut referee = Referee::new(&planning::plan(&request(1, &[claim])).unwrap());
        referee.lose_attempt(&coins, None);
        let charged = Warning::LostAttempts { attempts: 1, charged: true };
        assert!(referee.warnings(1.0, true).contains(&charged), "{claim}");
    }
}

#[test]
fn outputs_are_judged_by_the_rule() {
    let other = Behaviour { output: |_| "other", ..Behaviour::default() };
    let changing = Behaviour { output: changing_output, ..Behaviour::default() };
    let check = |rule: Check, second: &Behaviour, void: bool, warned: bool| {
        let mut asked = request(2, &[]);
        asked.program.check = rule.clone();
        let (referee, _, journal) = compare(&asked, &[faster(), second.clone()]);
        assert_eq!(referee.verdict(0) == Verdict::Void, void, "{rule:?}");
        let result = replay::replay(&journal).unwrap();
        assert_eq!(result.warnings.contains(&Warning::OutputsDiffer), warned, "{rule:?}");
    };
    check(Check::Default, &Behaviour::default(), false, false);
    check(Check::Default, &other, false, true);
    check(Check::Default, &changing, true, false);
    check(Check::SameOutput, &other, true, false);
    check(Check::SameOutput, &changing, true, false);
    check(Check::Exit, &other, false, false);
    check(Check::Exit, &changing, false, false);
}

#[test]
fn a_hanging_contestant_is_an_outcome() {
    let hangs = Behaviour { hangs: true, ..Behaviour::default() };
    let mut asked = request(2, &["A is at least 1.5x faster than B"]);
    asked.program.timeout_ns = Some(100_000_000);
    let (referee, _, journal) = compare(&asked, &[faster(), hangs]);
    assert_eq!(referee.verdict(0), Verdict::Holds);
    let result = replay::replay(&journal).unwrap();
    assert_eq!(result.contestants[1].invalid, result.contestants[1].samples);
    assert_eq!(result.verdicts[0].effect().high, None, "nothing bounds a run that did not end");
}

#[test]
fn everybody_void_ends_the_run() {
    let failing = Behaviour { fails_in_run: Some(0), ..Behaviour::default() };
    let (referee, reason, journal) = compare(&request(2, &[]), &[failing, faster()]);
    assert_eq!((referee.verdict(0), reason), (Verdict::Void, StopReason::Void));
    assert!(journal.rounds.is_empty());
    replay::replay(&journal).unwrap();
}
