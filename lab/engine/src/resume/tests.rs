use super::*;
use crate::planning::{self, Request, tests::request};
use tiebreak_core::journal::{Round, RunHeader};
use tiebreak_core::sample::Sample;
use tiebreak_core::schedule::RoundCoins;

const HUNDRED: Budget = Budget { rounds: Some(100), seconds: None };

/// Returns a run of this many rounds of a second each, which stopped for this reason.
fn journal(id: &str, rounds: u64, reason: Option<StopReason>) -> Journal {
    let plan = planning::plan(&Request {
        budget: Some(HUNDRED),
        seed: "s".into(),
        ..request(&["a", "b"])
    });
    let round = |round| Round {
        coins: RoundCoins {
            round,
            attempt: 0,
            primer: Some(0),
            order: vec![0, 1],
            padding_bytes: vec![0; 3],
            unit: None,
            load_seed: None,
        },
        waited_ns: 0,
        elapsed_ns: (round + 1) * 1_000_000_000,
        samples: vec![Sample::of_wall_ns(1000); 2],
        batches: Vec::new(),
        histograms: Vec::new(),
        wealth: Vec::new(),
    };
    let header = RunHeader {
        created_unix_ms: 0,
        version: String::new(),
        command: Vec::new(),
        directory: String::new(),
        plan: plan.unwrap(),
        machine: Fingerprint::default(),
        machine_print: None,
        files: Vec::new(),
        claim_key: String::new(),
    };
    Journal {
        id: id.to_owned(),
        header,
        rounds: (0..rounds).map(round).collect(),
        lost: Vec::new(),
        events: reason.map(|reason| Event::Stopped { rounds, reason }).into_iter().collect(),
        verdicts: Vec::new(),
        chain: Vec::new(),
    }
}

/// Whether runs may continue, and with which budget, is determined for a list; a single run is a
/// list of one.
#[test]
fn runs_that_share_a_budget_use_it_up_together() {
    use StopReason::{Budget as Spent, Interrupted, Settled, Void};
    fn rounds(rounds: u64) -> Budget {
        Budget { rounds: Some(rounds), seconds: None }
    }
    let more = NewBudget::More(Some(Budget { rounds: Some(10), seconds: Some(5.0) }));
    fn check(runs: &[(u64, Option<StopReason>)], asked: NewBudget, expected: Result<Budget, &str>) {
        let journals: Vec<Journal> =
            runs.iter().map(|(rounds, reason)| journal("x", *rounds, *reason)).collect();
        let found = budget_from_here(&journals.iter().collect::<Vec<_>>(), asked);
        match (&found, expected) {
            (Ok(budget), Ok(expected)) => assert_eq!(*budget, expected, "{runs:?}"),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{runs:?}: {why}"),
            (found, expected) => panic!("{runs:?}: {found:?}, not {expected:?}"),
        }
    }
    let used_up = "is used up after 100 rounds and 100.0 s";
    check(&[(100, Some(Spent))], NewBudget::Same, Err(used_up));
    check(&[(60, Some(Spent)), (40, Some(Spent))], NewBudget::Same, Err(used_up));
    check(&[(60, Some(Spent)), (40, Some(Spent))], NewBudget::Is(rounds(100)), Err(used_up));
    check(&[(60, Some(Settled)), (40, Some(Spent))], NewBudget::Same, Err(used_up));
    // A run that was killed continues, to record why it stopped.
    check(&[(60, Some(Spent)), (40, None)], NewBudget::Same, Ok(HUNDRED));
    check(&[(60, Some(Interrupted)), (39, None)], NewBudget::Same, Ok(HUNDRED));
    check(&[(60, Some(Spent)), (40, Some(Spent))], NewBudget::Is(rounds(101)), Ok(rounds(101)));
    let both = Budget { rounds: Some(110), seconds: Some(105.0) };
    check(&[(100, Some(Spent))], more, Ok(both));
    check(&[(60, Some(Spent)), (40, Some(Spent))], more, Ok(both));
    check(&[(60, Some(Settled)), (40, Some(Spent))], more, Ok(both));
    check(&[(60, None)], NewBudget::More(None), Ok(rounds(160)));
    check(&[(60, Some(Settled)), (40, Some(Void))], more, Err("'tiebreak show x' shows it"));
    check(&[(60, Some(Void))], NewBudget::Same, Err("it is finished"));
}

#[test]
fn the_budget_is_the_one_that_open_runs_go_on_under() {
    let done = journal("x", 50, Some(StopReason::Settled));
    let mut open = journal("y", 60, Some(StopReason::Budget));
    let budget = Budget { rounds: Some(200), seconds: None };
    open.events.push(Event::Resumed { rounds: 50, lost: 0, budget });
    assert_eq!(budget_from_here(&[&done, &open], NewBudget::Same), Ok(budget));
}

#[test]
fn open_runs_of_an_earlier_engine_are_refused() {
    let mut old = journal("x", 5, Some(StopReason::Budget));
    old.header.plan.engine_version = 1;
    let why = budget_from_here(&[&old], NewBudget::More(None)).unwrap_err();
    assert!(why.contains("begun by version 1 of the engine"), "{why}");
    old.events = vec![Event::Stopped { rounds: 5, reason: StopReason::Settled }];
    let open = journal("y", 6, None);
    assert_eq!(budget_from_here(&[&old, &open], NewBudget::Same), Ok(HUNDRED));
}

#[test]
fn only_files_of_open_runs_must_be_what_they_were() {
    let gone = FileDigest { path: "no/such/file".into(), bytes: 1, digest: "0".into() };
    let mut done = journal("x", 5, Some(StopReason::Settled));
    done.header.files.push(gone.clone());
    let mut open = journal("y", 6, None);
    assert_eq!(budget_from_here(&[&done, &open], NewBudget::Same), Ok(HUNDRED));
    open.header.files.push(gone);
    let refused = budget_from_here(&[&done, &open], NewBudget::Same);
    assert_eq!(refused, Err("no/such/file is gone or has changed: start a new run".to_owned()));
}
