use super::*;
use crate::schema::{APPLICATION_ID, STEPS};
use crate::tests::journals::{append, coins, header, of_success, rich, written};
use crate::write_lines;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tiebreak_core::journal::Journal;

const READ_WRITE: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_CREATE);

fn make(path: &Path) {
    append(&mut Store::open(path).unwrap(), &rich(""));
}

#[test]
fn the_default_path_comes_from_the_environment() {
    let check = |set: &[(&str, &str)], expected: Option<&str>| {
        let get = |name: &str| {
            set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value))
        };
        assert_eq!(default_path_from(get).ok(), expected.map(PathBuf::from), "{set:?}");
    };
    check(&[], None);
    check(&[("HOME", "")], None);
    check(&[("HOME", "/h")], Some("/h/.local/share/tiebreak/journal.db"));
    check(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")], Some("/x/tiebreak/journal.db"));
    check(
        &[("HOME", "/h"), ("XDG_DATA_HOME", "relative")],
        Some("/h/.local/share/tiebreak/journal.db"),
    );
    check(&[("XDG_DATA_HOME", "/x"), ("TIEBREAK_STORE", "own.db")], Some("own.db"));
    assert!(default_path_from(|_| None).unwrap_err().to_string().contains("HOME"));
}

#[test]
fn settings_are_what_the_documentation_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    make(&path);
    let store = Store::open(&path).unwrap();
    for (name, expected) in [
        ("synchronous", "1"),
        ("foreign_keys", "1"),
        ("recursive_triggers", "1"),
        ("cache_size", "-512"),
        ("journal_mode", "wal"),
        ("user_version", &STEPS.len().to_string()),
        ("application_id", "1953064290"),
    ] {
        let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
        let found: String = store.connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn names_that_sqlite_gives_a_meaning_are_files() {
    let folder = tempfile::tempdir().unwrap();
    for name in [":memory:", "file:x?mode=memory", "with space%20#?.db", "\u{e9}\u{1f4a5}.db"] {
        let path = folder.path().join(name);
        make(&path);
        assert!(path.is_file() && is_store_file(&path).unwrap(), "{name}");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let read = Store::open_patiently(&path, &immutable_uri(&path), flags, STEPS).unwrap();
        assert_eq!(read.runs(None).unwrap().len(), 1, "{name}");
    }
}

#[test]
fn an_older_store_is_brought_up_to_date_and_a_newer_one_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    make(&path);
    let next = [
        STEPS,
        &["CREATE TABLE notes (run INTEGER NOT NULL REFERENCES runs, text TEXT NOT NULL) STRICT;
         ALTER TABLE rounds ADD COLUMN temperature INTEGER;"],
    ]
    .concat();
    let newer = Store::open_patiently(&path, &path, READ_WRITE, &next).unwrap();
    let run = newer.find("latest").unwrap();
    assert_eq!(written(&newer, &run), rich(run.as_str()));
    let insert = "INSERT INTO notes SELECT run, 'kept' FROM runs";
    newer.connection.execute(insert, []).unwrap();
    let refused = newer.connection.execute("DELETE FROM notes", []).unwrap_err();
    assert!(refused.to_string().contains("append-only"), "{refused}");
    drop(newer);
    for open in [Store::open, Store::open_existing] {
        let error = open(&path).unwrap_err();
        let StoreError::Newer(_, found, known) = error else { panic!("{error}") };
        assert_eq!((found, known), (STEPS.len() as i64 + 1, STEPS.len() as i64));
    }
    let again = Store::open_patiently(&path, &path, READ_WRITE, &next).unwrap();
    assert_eq!(again.runs(None).unwrap().len(), 1);
}

/// Makes a store of the first version, with the rows of this one.
fn make_version_1(path: &Path, of: &Path) {
    let first = Connection::open(path).unwrap();
    first.execute_batch(STEPS[0]).unwrap();
    let sql = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1;");
    first.execute_batch(&sql).unwrap();
    first.execute("ATTACH ? AS now", [of.to_str().unwrap()]).unwrap();
    for table in ["runs", "attempts", "rounds", "samples", "wealth", "events", "verdicts"] {
        let sql = "SELECT group_concat(name) FROM pragma_table_info(?, 'main')";
        let columns: String = first.query_row(sql, [table], |row| row.get(0)).unwrap();
        let sql = format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM now.{table}");
        first.execute(&sql, []).unwrap();
    }
}

#[test]
fn a_store_of_the_first_version_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let (now, path) = (folder.path().join("now.db"), folder.path().join("journal.db"));
    make(&now);
    make_version_1(&path, &now);
    let mut expected = rich("");
    for sample in expected.rounds.iter_mut().flat_map(|round| &mut round.samples) {
        (sample.meters.run_ns, sample.beside.run_delay_ns) = (None, None);
    }
    let mut store = Store::open(&path).unwrap();
    let run = store.find("latest").unwrap();
    assert_eq!(written(&store, &run), Journal { id: run.to_string(), ..expected });
    let newer = append(&mut store, &of_success(""));
    assert_eq!(written(&store, &newer), of_success(newer.as_str()));
    let again = append(&mut store, &rich(""));
    drop(store);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(written(&store, &again), rich(again.as_str()));
    let refused = store.connection.execute("UPDATE samples SET run_ns = 1", []).unwrap_err();
    assert!(refused.to_string().contains("append-only"), "{refused}");
}

#[test]
fn a_step_that_fails_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    make(&path);
    let broken = [STEPS, &["CREATE TABLE half (x); CREATE TABLE runs (y);"]].concat();
    assert!(Store::open_patiently(&path, &path, READ_WRITE, &broken).is_err());
    let store = Store::open(&path).unwrap();
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
    assert_eq!(store.connection.query_row(sql, [], |row| row.get::<_, i64>(0)), Ok(0));
}

/// Opens a file of these contents both ways. It must be refused and stay unchanged.
fn check_refused(contents: &[u8], is_right: fn(&StoreError) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    fs::write(&path, contents).unwrap();
    for open in [Store::open, Store::open_existing] {
        let error = open(&path).unwrap_err();
        assert!(is_right(&error), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    assert!(fs::read(&path).unwrap() == contents);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

/// Returns the bytes of an SQLite file that these statements make.
fn database(sql: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    fs::read(&path).unwrap()
}

#[test]
fn other_files_are_left_alone() {
    let not_sqlite = |error: &StoreError| matches!(error, StoreError::NotSqlite { .. });
    let not_ours = |error: &StoreError| matches!(error, StoreError::NotOurs { .. });
    check_refused(&b"text that is longer than a header of SQLite ".repeat(9), not_sqlite);
    let mut lines = Vec::new();
    write_lines(&rich("r7f3k2"), &mut lines).unwrap();
    check_refused(&lines, not_sqlite);
    check_refused(&database("CREATE TABLE theirs (x)"), not_ours);
    check_refused(&database("PRAGMA user_version = 1; CREATE TABLE runs (x)"), not_ours);
    check_refused(&database("PRAGMA application_id = 7"), not_ours);
    let newer = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 12");
    check_refused(&database(&newer), |error| matches!(error, StoreError::Newer { .. }));
}

#[test]
fn a_file_cut_short_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    make(&path);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let read = Store::open_existing(&path).and_then(|store| store.runs(None));
    let error = read.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    fs::write(&path, "").unwrap();
    assert!(!is_store_file(&path).unwrap());
    assert_eq!(Store::open_existing(&path).unwrap().runs(None).unwrap(), []);
    assert!(is_store_file(&path).unwrap());
}

#[test]
fn what_is_no_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let error = Store::open_existing(&path).unwrap_err();
    assert!(matches!(error, StoreError::NoStore { .. }), "{error}");
    assert!(!path.exists());
    for open in [Store::open, Store::open_existing] {
        let error = open(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::IsFolder { .. }), "{error}");
    }
    fs::write(&path, "x").unwrap();
    let error = Store::open(&path.join("below/a/file.db")).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert!(is_store_file(folder.path().join("none").as_path()).is_err());
}

#[test]
fn a_store_that_may_only_be_read_is_read_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    make(&path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let mut store = Store::open_patiently(&path, &path, flags, STEPS).unwrap();
    let run = store.find("latest").unwrap();
    assert_eq!(written(&store, &run), rich(run.as_str()));
    for error in [
        store.create_run(&header()).unwrap_err(),
        store.begin_attempt(&run, &coins(9, 0)).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    }
}

#[test]
fn folders_that_refuse_a_store_are_named() {
    if !Path::new("/sys/kernel").exists() {
        eprintln!("skipped: there is no /sys here");
        return;
    }
    // No user can create files there, not even root.
    let error = Store::open(Path::new("/sys/tiebreak-test/journal.db")).unwrap_err();
    let refused = matches!(error, StoreError::ReadOnly { .. } | StoreError::Io { .. });
    assert!(refused && error.to_string().contains("--store"), "{error}");
    let error = Store::open(Path::new("/sys/journal.db")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[test]
fn a_read_only_folder_can_be_read_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    make(&path);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if File::create(folder.path().join("probe")).is_ok() {
        eprintln!("skipped: this user (root?) may write to any folder");
        return;
    }
    let mut store = Store::open_existing(&path).unwrap();
    let run = store.find("latest").unwrap();
    assert_eq!(written(&store, &run), rich(run.as_str()));
    let error = store.create_run(&header()).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    let error = Store::open(&folder.path().join("new.db")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}
