use super::*;
use crate::tests::journals::{append, of_success, rich};
use crate::{Store, read_lines, write_lines};
use rusqlite::Connection;
use std::path::Path;

/// Makes a store with one run, and returns the run as it was written.
fn stored(journal: &Journal) -> (tempfile::TempDir, std::path::PathBuf, Journal) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut store = Store::open(&path).unwrap();
    let run = append(&mut store, journal);
    let written = store.journal(&run).unwrap();
    (folder, path, written)
}

/// Returns the first broken link after rows were edited by hand, with the guards removed.
fn said_after(path: &Path, edit: &str) -> Option<String> {
    let connection = Connection::open(path).unwrap();
    let guards: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for guard in guards {
        connection.execute_batch(&format!("DROP TRIGGER {guard}")).unwrap();
    }
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    assert_ne!(connection.execute(edit, []).unwrap(), 0, "{edit} changes nothing");
    drop(connection);
    let store = Store::open_existing(path).unwrap();
    let journal = store.journal(&store.find("latest").unwrap()).unwrap();
    first_broken_link(&journal)
}

#[test]
fn what_was_written_is_whole_also_as_lines() {
    for journal in [rich("x"), of_success("x")] {
        let (_folder, _, written) = stored(&journal);
        let rows = 1 + journal.lost.len() + 2 * journal.rounds.len();
        let rows = rows + journal.events.len() + journal.verdicts.len();
        assert_eq!(written.chain.len(), rows);
        assert_eq!(written.chain_head().unwrap().len(), 64);
        assert_eq!(first_broken_link(&written), None);
        let mut lines = Vec::new();
        write_lines(&written, &mut lines).unwrap();
        let read = read_lines(lines.as_slice()).unwrap();
        assert_eq!(first_broken_link(&read), None);
        assert_eq!(read.chain_head(), written.chain_head());
    }
}

/// The edits of the file that no replay of the arithmetic can detect.
#[test]
fn every_edit_is_found_and_named() {
    let check = |edit: &str, expected: &str| {
        let (_folder, path, _) = stored(&rich("x"));
        let said = said_after(&path, edit).unwrap_or_else(|| panic!("not seen: {edit}"));
        assert!(said.contains(expected), "{edit}: {said}");
    };
    let header = |from: &str, to: &str| {
        format!("UPDATE runs SET header = replace(header, '{from}', '{to}')")
    };
    check(&header("\"resolution\":", "\"resolution\":0.5, \"was\":"), "link 0: the header");
    check(&header("\"command\":\"", "\"command\":\"nice "), "link 0: the header");
    check(&header("cpu_model", "cpu_modem"), "link 0: the header");
    check("UPDATE samples SET user_ns = user_ns + 1 WHERE round = 2", "round 2 is not what");
    check(
        "UPDATE samples SET marks = marks + 1 WHERE round = 0 AND position = 0",
        "round 0 is not what",
    );
    check("UPDATE samples SET peak_memory_bytes = 7 WHERE round = 1", "round 1 is not what");
    check("UPDATE rounds SET waited_ns = waited_ns + 1 WHERE round = 0", "round 0 is not what");
    check("UPDATE attempts SET primer = 1 - primer WHERE round = 0", "attempt 0 (its coins) is");
    check("UPDATE verdicts SET low = 0.5 WHERE sequence = 2", "verdict 2 is not what");
    check("DELETE FROM verdicts WHERE sequence = 2", "verdict 2, which is not there");
    check("DELETE FROM events WHERE sequence = 0", "event 0 is not what");
    check("DELETE FROM chain WHERE link = (SELECT max(link) FROM chain)", "is not in the chain");
    check("UPDATE chain SET hash = zeroblob(32) WHERE link = 4", "link 4: ");
    check("UPDATE chain SET kind = 3 WHERE link = 1", "link 1: event 0 is not what");
}

#[test]
fn a_run_without_a_chain_stays_without() {
    let mut journal = rich("x");
    assert_eq!((first_broken_link(&journal), journal.chain_head()), (None, None));
    journal.verdicts.clear();
    let (_folder, path, _) = stored(&journal);
    assert_eq!(said_after(&path, "DELETE FROM chain"), None);
    let mut store = Store::open_existing(&path).unwrap();
    let run = store.find("latest").unwrap();
    store.event(&run, &journal.events[0]).unwrap();
    assert!(store.journal(&run).unwrap().chain.is_empty());
}
