use super::*;
use crate::sync::beside;
use crate::tests::journals::{
    append, coins, header, made_up_print, rich, round, server_round, unit_round, written,
};
use crate::write_lines;
use std::path::Path;
use tempfile::TempDir;
use tiebreak_core::journal::Journal;

fn new_store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("journal.db")).unwrap();
    (folder, store)
}

/// Returns the journal as text, which also distinguishes -0.0 from 0.0.
fn text_of(journal: &Journal) -> String {
    let mut bytes = Vec::new();
    write_lines(journal, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_is_read_is_what_was_written() {
    let (folder, mut store) = new_store();
    let run = append(&mut store, &rich(""));
    let expected = rich(run.as_str());
    assert_eq!(written(&store, &run), expected);
    drop(store);
    let store = Store::open_existing(&folder.path().join("journal.db")).unwrap();
    let back = written(&store, &store.find("latest").unwrap());
    assert_eq!(back, expected);
    assert_eq!(text_of(&back), text_of(&expected));
}

#[test]
fn the_same_runs_have_the_same_names_in_any_store() {
    let names = || -> Vec<String> {
        let (_folder, mut store) = new_store();
        (0..3).map(|_| store.create_run(&header()).unwrap().to_string()).collect()
    };
    assert_eq!(names(), names());
}

#[test]
fn an_attempt_and_a_round_are_written_once_and_in_this_order() {
    let (_folder, mut store) = new_store();
    let run = store.create_run(&header()).unwrap();
    fn refused(result: Result<(), StoreError>) {
        assert!(matches!(result, Err(StoreError::Refused { .. })), "{result:?}");
    }
    refused(store.finish_round(&run, &round(0, 0), &[], &[]));
    store.begin_attempt(&run, &coins(0, 0)).unwrap();
    refused(store.begin_attempt(&run, &coins(0, 0)));
    let mut half = round(0, 0);
    half.samples.pop();
    refused(store.finish_round(&run, &half, &[], &[]));
    let mut same_claim_twice = round(0, 0);
    same_claim_twice.wealth[1].claim = 0;
    refused(store.finish_round(&run, &same_claim_twice, &[], &[]));
    assert_eq!(store.journal(&run).unwrap().rounds, [], "nothing of a refused round stays");
    store.finish_round(&run, &round(0, 0), &[], &[]).unwrap();
    refused(store.finish_round(&run, &round(0, 0), &[], &[]));
    let elsewhere = RunId::of_row(99, 0);
    refused(store.begin_attempt(&elsewhere, &coins(0, 0)));
    let journal = store.journal(&run).unwrap();
    assert_eq!((journal.rounds, journal.lost), (vec![round(0, 0)], vec![]));
}

#[test]
fn every_table_refuses_changes() {
    let (_folder, mut store) = new_store();
    let mut journal = rich("");
    journal.rounds[0] = server_round(0, 0);
    append(&mut store, &journal);
    store.keep_print(&made_up_print("one", 5)).unwrap();
    let tables: Vec<String> = {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let mut statement = store.connection.prepare(sql).unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.collect::<Result<_, _>>().unwrap()
    };
    let expected = "attempts chain events loads prints rounds runs samples verdicts wealth";
    let expected = expected.split(' ');
    assert!(expected.eq(tables.iter()), "{tables:?}");
    for table in tables {
        let key = if table == "prints" { "print" } else { "run" };
        for sql in [
            format!("DELETE FROM {table}"),
            format!("UPDATE {table} SET {key} = {key}"),
            format!("INSERT OR REPLACE INTO {table} SELECT * FROM {table}"),
        ] {
            let error = store.connection.execute(&sql, []).unwrap_err();
            assert!(error.to_string().contains("append-only"), "{sql}: {error}");
        }
    }
}

#[test]
fn two_writers_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folders/journal.db");
    let write = |path: &Path| {
        let mut store = Store::open(path).unwrap();
        let run = store.create_run(&header()).unwrap();
        for number in 0..200 {
            store.begin_attempt(&run, &coins(number, 0)).unwrap();
            store.finish_round(&run, &round(number, 0), &[], &[]).unwrap();
            store.sync_if_due(number * 20_000_000).unwrap();
        }
        run
    };
    let runs: Vec<RunId> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3).map(|_| scope.spawn(|| write(&path))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let store = Store::open_existing(&path).unwrap();
    let expected: Vec<Round> = (0..200).map(|number| round(number, 0)).collect();
    for run in &runs {
        assert_eq!(store.find(run.as_str()).unwrap(), *run);
        assert_eq!(store.journal(run).unwrap().rounds, expected);
    }
    assert_eq!(store.runs(None).unwrap().len(), 3);
}

#[test]
fn a_locked_store_is_waited_for_and_then_named() {
    let (_folder, mut store) = new_store();
    let run = store.create_run(&header()).unwrap();
    let other = Store::open(store.path()).unwrap();
    other.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.connection.busy_timeout(std::time::Duration::from_millis(20)).unwrap();
    let busy = store.begin_attempt(&run, &coins(0, 0)).unwrap_err();
    assert!(matches!(busy, StoreError::Busy { .. }), "{busy}");
    assert_eq!(store.journal(&run).unwrap().rounds, [], "reading needs no lock");
    other.connection.execute_batch("ROLLBACK").unwrap();
    store.begin_attempt(&run, &coins(0, 0)).unwrap();
}

#[test]
fn a_full_disk_costs_no_finished_round() {
    let (_folder, mut store) = new_store();
    let run = store.create_run(&header()).unwrap();
    let pages: i64 = store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    store.connection.pragma_update(None, "max_page_count", pages + 10).unwrap();
    let write = |store: &mut Store, number| {
        store.begin_attempt(&run, &coins(number, 0))?;
        store.finish_round(&run, &round(number, 0), &[], &[])
    };
    let full = (0..10_000).find_map(|number| write(&mut store, number).err().map(|e| (number, e)));
    let (number, error) = full.expect("10 pages hold fewer than 10 000 rounds");
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    let finished: Vec<Round> = (0..number).map(|number| round(number, 0)).collect();
    assert_eq!(store.journal(&run).unwrap().rounds, finished);
    store.connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
    store.begin_attempt(&run, &coins(number, 1)).unwrap();
    store.finish_round(&run, &round(number, 1), &[], &[]).unwrap();
    assert_eq!(store.journal(&run).unwrap().rounds.len() as u64, number + 1);
}

#[test]
fn a_round_of_two_samples_takes_under_half_a_kilobyte() {
    let (folder, mut store) = new_store();
    let run = store.create_run(&header()).unwrap();
    for number in 0..2000 {
        store.begin_attempt(&run, &coins(number, 0)).unwrap();
        store.finish_round(&run, &round(number, 0), &[], &[]).unwrap();
    }
    drop(store);
    let path = folder.path().join("journal.db");
    let bytes = std::fs::metadata(&path).unwrap().len() / 2000;
    assert!(bytes < 512, "{bytes} bytes a round");
    assert!(!beside(&path, "-wal").exists(), "the last one to close puts the log away");
}

#[test]
fn a_run_with_rows_that_make_no_sense_is_named() {
    let (_folder, mut store) = new_store();
    let good = append(&mut store, &rich(""));
    for sql in [
        "INSERT INTO events VALUES (2, 0, '{\"event\":\"unheard of\"}')",
        "INSERT INTO verdicts VALUES (2, 0, 7, 'holds', 1, NULL, NULL)",
        "INSERT INTO verdicts VALUES (2, 0, 0, 'perhaps', 1, NULL, NULL)",
        "INSERT INTO attempts VALUES (2, 0, 0, 0, '[0, 9]', '[]', NULL, NULL)",
        "INSERT INTO attempts VALUES (2, 0, 0, -2, '[]', '[]', NULL, NULL)",
    ] {
        let run = store.create_run(&header()).unwrap();
        let sql = sql.replace("(2,", &format!("({},", run.row));
        store.connection.execute(&sql, []).unwrap();
        let error = store.journal(&run).unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { .. }), "{sql}: {error}");
        assert!(error.to_string().contains(run.as_str()), "{error}");
    }
    assert!(store.journal(&good).is_ok());
}

/// The coins of a unit of functions, and the time of each of its batches; the loads of servers.
#[test]
fn units_and_loads_are_read_as_they_were_written() {
    let (_folder, mut store) = new_store();
    let mut units = rich("");
    units.rounds[0] = server_round(0, 0);
    units.rounds[2] = unit_round(2, 0);
    let run = append(&mut store, &units);
    let read = store.journal(&run).unwrap();
    assert_eq!(read.rounds, units.rounds);
    assert_eq!(crate::first_broken_link(&read), None);
    let mut lines = Vec::new();
    crate::write_lines(&read, &mut lines).unwrap();
    assert_eq!(crate::read_lines(lines.as_slice()).unwrap(), read);
}
