//! A test that a writer that is killed at any moment loses no finished round.
//!
//! The test starts its own program again as the writer, reads from a pipe which rounds the writer
//! reports as finished, and kills it after some of them. The next writer continues the same run.

use crate::tests::journals::{coins, header, round};
use crate::{RunLock, Store, StoreError};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The variable that names the store to the program that is started as the writer.
const WRITER: &str = "TIEBREAK_TEST_KILLED_WRITER";
const KILLS: u64 = 12;

/// Not a test by itself: the body of the writer, which runs until it is killed.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(WRITER) else {
        return;
    };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let run = match store.find("latest") {
        Ok(run) => run,
        Err(StoreError::NoneYet(..)) => store.create_run(&header()).unwrap(),
        Err(error) => panic!("{error}"),
    };
    let _lock: RunLock = store.claim_run_lock(&run).unwrap();
    let journal = store.journal(&run).unwrap();
    for number in journal.rounds.len() as u64.. {
        let lost = journal.lost.iter().filter(|coins| coins.round == number).count() as u32;
        store.begin_attempt(&run, &coins(number, lost)).unwrap();
        store.finish_round(&run, &round(number, lost), &[], &[]).unwrap();
        store.sync_if_due(number * 100_000_000).unwrap();
        println!("finished {number}");
    }
}

fn start(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::killed::writer", "--nocapture", "--test-threads=1"]);
    command.env(WRITER, path).stdout(Stdio::piped()).spawn().unwrap()
}

/// Lets the writer finish at least this many rounds, kills it a little later, and returns the last
/// round that it reported as finished.
fn run_and_kill(path: &Path, at_least: u64, later: Duration) -> u64 {
    let mut child = start(path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = 0;
    let mut last = None;
    let mut finished = |line: std::io::Result<String>| {
        // The test harness writes on the same line before the first round.
        let line = line.unwrap();
        let number = line.split("finished ").nth(1).and_then(|number| number.parse().ok());
        last = number.or(last);
        number.is_some()
    };
    while seen < at_least {
        seen += u64::from(finished(lines.next().expect("the writer goes on")));
    }
    std::thread::sleep(later);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.for_each(|line| {
        finished(line);
    });
    last.expect("at least one round")
}

#[test]
fn every_finished_round_survives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    for kill in 1..=KILLS {
        let later = Duration::from_micros(kill * 7919 % 1500);
        let last = run_and_kill(&path, 1 + kill * 37 % 60, later);
        let store = Store::open_existing(&path).unwrap();
        let run = store.find("latest").unwrap();
        assert!(store.claim_run_lock(&run).is_ok(), "a kill gives the lock back");
        let journal = store.journal(&run).unwrap();
        let kept = journal.rounds.len() as u64;
        assert!(kept > last, "round {last} was finished, {kept} were kept");
        assert!(kept <= last + 2, "at most one round can be kept and not said");
        assert!(journal.lost.len() as u64 <= kill, "a kill loses at most one attempt");
        for (number, kept) in journal.rounds.iter().enumerate() {
            let lost = journal.lost.iter().filter(|coins| coins.round == number as u64).count();
            assert_eq!(*kept, round(number as u64, lost as u32));
        }
    }
}

#[test]
fn a_kill_while_the_store_is_made_leaves_a_store() {
    for kill in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let mut child = start(&path);
        // The file is created a few milliseconds after the start; aim around that moment.
        while kill % 2 == 0 && !path.exists() {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(kill * 400));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&path).unwrap();
        for run in store.runs(None).unwrap() {
            let journal = store.journal(&run.id).unwrap();
            let expected: Vec<_> = (0..run.rounds).map(|number| round(number, 0)).collect();
            assert_eq!(journal.rounds, expected);
        }
    }
}

#[test]
fn a_run_that_is_being_written_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut child = start(&path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while !lines.next().expect("the writer goes on").unwrap().contains("finished") {}
    let store = Store::open_existing(&path).unwrap();
    let run = store.find("latest").unwrap();
    let error = store.claim_run_lock(&run).unwrap_err();
    let pid = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(error, StoreError::InUse(_, Some(found)) if found == pid), "{error}");
    assert!(store.runs(None).unwrap()[0].rounds >= 1);
}
