//! Lines of a stream: counted, journalled, judged, gone on with.

use crate::common::request;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tiebreak_lab::core::fingerprint::Fingerprint;
use tiebreak_lab::core::journal::{Event, StopReason};
use tiebreak_lab::core::plan::{Budget, Kind, Scope};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_lab::core::warning::Warning;
use tiebreak_lab::error::LabError;
use tiebreak_lab::planning::{self, Request};
use tiebreak_lab::replay;
use tiebreak_lab::resume::NewBudget;
use tiebreak_lab::session::{Book, Session};
use tiebreak_store::Store;

static NEVER: AtomicBool = AtomicBool::new(false);

fn begin(folder: &Path, claim: &str, block: u64, scale: Option<f64>) -> Session {
    begin_within(None, folder, claim, block, scale)
}

fn begin_within(
    budget: Option<Budget>,
    folder: &Path,
    claim: &str,
    block: u64,
    scale: Option<f64>,
) -> Session {
    let asked = Request { budget, block_runs: block, ..request(1, &[]) };
    let claim = tiebreak_input::parse(claim, &["A"]).unwrap();
    let plan = planning::about_one(&asked, claim, Kind::Stream { scale, is_chain: false }).unwrap();
    assert_eq!(plan.scope, Scope::Stream);
    Session::begin(&book(folder), plan, &[]).unwrap()
}

fn book(folder: &Path) -> Book {
    Book {
        store: folder.join("journal.db"),
        command: vec!["tiebreak".into(), "slo".into()],
        machine: Fingerprint::default(),
    }
}

fn read(session: Session, lines: &str) -> Result<RunResult, LabError> {
    session.read(std::io::Cursor::new(lines.to_owned()), &NEVER, |_| {})
}

fn judge(claim: &str, block: u64, scale: Option<f64>, lines: &str) -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    let result = read(begin(folder.path(), claim, block, scale), lines).unwrap();
    let store = Store::open(&folder.path().join("journal.db")).unwrap();
    let journal = store.journal(&store.find("latest").unwrap()).unwrap();
    let replayed = replay::replay(&journal).unwrap();
    assert_eq!(replayed.verdicts, result.verdicts, "a replay says the same");
    result
}

const RATE: &str = "A succeeds at least 90% of the time";

#[test]
fn lines_settle_a_claim_as_soon_as_they_can() {
    let result = judge(RATE, 1, None, &"1\n".repeat(500));
    let claim = &result.verdicts[0];
    let share = claim.share.as_ref().unwrap();
    assert_eq!((claim.verdict, result.stopped), (Verdict::Holds, Some(StopReason::Settled)));
    assert_eq!(share.trials, share.least_trials_to_hold, "and not one line later");
    let refuted = judge(RATE, 1, None, &"0\n".repeat(50));
    assert_eq!(refuted.verdicts[0].verdict, Verdict::Refuted);
}

#[test]
fn blank_lines_and_comments_are_no_lines() {
    let result = judge(RATE, 1, None, "# outcomes\n\n 1 \n0\n1");
    assert_eq!(result.verdicts[0].share.as_ref().unwrap().trials, 3);
    assert_eq!(result.stopped, Some(StopReason::Ended));
    assert_eq!(result.verdicts[0].verdict, Verdict::Undecided);
}

#[test]
fn blocks_are_whole_or_nothing() {
    let result = judge(RATE, 10, None, &"1\n".repeat(37));
    let share = result.verdicts[0].share.as_ref().unwrap();
    assert_eq!((share.trials, share.block), (30, 10));
    assert!(result.warnings.contains(&Warning::LeftOver { lines: 7, block: 10 }));
}

#[test]
fn bursts_are_told_where_each_line_counts() {
    // Of 40 successes before the first failure it would hold.
    let half = "1\n".repeat(20);
    let lines = format!("{half}{}{half}", "0\n".repeat(8)).repeat(120);
    let claim = "A succeeds at least 84% of the time with 82% as bad";
    let is_told = |result: &RunResult| {
        result.warnings.iter().any(|warning| matches!(warning, Warning::Dependent { .. }))
    };
    assert!(is_told(&judge(claim, 1, None, &lines)));
    assert!(is_told(&judge(claim, 48, None, &lines)), "a block must be thirty bursts long");
    assert!(!is_told(&judge(claim, 480, None, &lines)));
}

#[test]
fn numbers_have_the_unit_of_the_bar_or_their_own() {
    let result = judge("p90 of A is below 5 ms", 1, Some(1e6), &"4.2\n4200us\n".repeat(60));
    assert_eq!(result.verdicts[0].verdict, Verdict::Holds);
    assert_eq!(result.verdicts[0].effect().estimate, Some(4.2e6));
    let mean = judge("mean of A is above 3 ms", 1, Some(1e6), &"4\n".repeat(400));
    assert_eq!(mean.verdicts[0].verdict, Verdict::Holds);
}

#[test]
fn a_wrong_line_is_named_and_costs_nothing() {
    for (scale, claim, wrong, expected) in [
        (None, RATE, "yes", "line 4: 'yes' is neither 0 nor 1"),
        (None, RATE, "0.5", "line 4: '0.5' is neither 0 nor 1; for numbers say --value --below"),
        (Some(1.0), "p90 of A is below 5 ms", "NaN", "line 4: 'NaN' is not a finite number"),
        (
            Some(1.0),
            "p90 of A is below 5 ms",
            "4 parsecs",
            "line 4: '4 parsecs' is neither a number",
        ),
        (Some(1.0), "p90 of A is below 5 ms", "-1", "line 4: '-1' is not a finite number of at"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let lines = format!("1\n\n1\n{wrong}\n1\n");
        let error = read(begin(folder.path(), claim, 1, scale), &lines).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        let store = Store::open(&folder.path().join("journal.db")).unwrap();
        let journal = store.journal(&store.find("latest").unwrap()).unwrap();
        let lines = |event: &Event| match event {
            Event::Observed { lines, .. } => *lines,
            _ => 0,
        };
        assert_eq!(journal.events.iter().map(lines).sum::<u64>(), 2, "what came before is kept");
    }
}

#[test]
fn a_wrong_line_is_counted_in_its_own_input() {
    let folder = tempfile::tempdir().unwrap();
    let error = read(begin(folder.path(), RATE, 10, None), "1\n1\n1\n1\nx\n").unwrap_err();
    assert!(error.to_string().starts_with("line 5:"), "{error}");
    let store = Store::open(&folder.path().join("journal.db")).unwrap();
    let run = store.find("latest").unwrap();
    let session = Session::take_up(&book(folder.path()), run, NewBudget::Same).unwrap();
    let error = read(session, "1\n\nx\n").unwrap_err();
    assert!(error.to_string().starts_with("line 3:"), "{error}");
}

#[test]
fn a_silent_stream_ends_at_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let budget = Some(Budget { rounds: None, seconds: Some(0.05) });
    let session = begin_within(budget, folder.path(), RATE, 1, None);
    // Nobody writes, and nobody closes it.
    let (reader, _writer) = std::io::pipe().unwrap();
    let result = session.read(reader, &NEVER, |_| {}).unwrap();
    assert_eq!(result.stopped, Some(StopReason::Budget));
}

#[test]
fn a_budget_of_lines_is_whole_blocks() {
    let plan = |lines, block_runs| {
        let budget = Some(Budget { rounds: Some(lines), seconds: None });
        let asked = Request { budget, block_runs, ..request(1, &[]) };
        let claim = tiebreak_input::parse(RATE, &["A"]).unwrap();
        planning::about_one(&asked, claim, Kind::Stream { scale: None, is_chain: false })
    };
    assert_eq!(plan(1500, 1000).unwrap().budget.rounds, Some(1000));
    assert_eq!(plan(1500, 1).unwrap().budget.rounds, Some(1500));
    assert!(plan(999, 1000).unwrap_err().to_string().contains("less than one block"));
}

#[test]
fn a_stream_goes_on_where_it_stood() {
    let folder = tempfile::tempdir().unwrap();
    let first = read(begin(folder.path(), RATE, 1, None), &"1\n".repeat(20)).unwrap();
    assert_eq!(first.verdicts[0].verdict, Verdict::Undecided);
    let store = Store::open(&folder.path().join("journal.db")).unwrap();
    let run = store.find("latest").unwrap();
    let more = NewBudget::More(None);
    let session = Session::take_up(&book(folder.path()), run, more).unwrap();
    let second = read(session, &"1\n".repeat(500)).unwrap();
    let share = second.verdicts[0].share.as_ref().unwrap();
    assert_eq!(second.verdicts[0].verdict, Verdict::Holds);
    assert_eq!(share.trials, share.least_trials_to_hold, "the first lines are evidence still");
}

#[test]
fn a_budget_ends_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let budget = Some(Budget { rounds: Some(7), seconds: None });
    let session = begin_within(budget, folder.path(), RATE, 1, None);
    let result = read(session, &"1\n".repeat(100)).unwrap();
    assert_eq!((result.stopped, result.rounds), (Some(StopReason::Budget), 7));
}
