use super::*;
use crate::id::{Id, LATEST};
use crate::tests::journals::{facts, header, made_up_print as made_up};

fn is_none_yet<const LETTER: char>(error: &StoreError) -> bool {
    matches!(error, StoreError::NoneYet(_, kind) if kind.noun == Id::<LETTER>::KIND.noun)
}

fn is_unknown<const LETTER: char>(error: &StoreError) -> bool {
    matches!(error, StoreError::Unknown { kind, .. } if kind.noun == Id::<LETTER>::KIND.noun)
}

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(&folder.path().join("journal.db")).unwrap()
}

#[test]
fn a_print_is_found_by_its_name_and_by_its_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(&folder);
    assert_eq!(store.latest_print(&facts("one", "0.1")).unwrap(), None);
    let prints = [made_up("one", 5), made_up("one", u64::MAX), made_up("two", 7)];
    let ids: Vec<PrintId> = prints.iter().map(|print| store.keep_print(print).unwrap()).collect();
    for (id, print) in ids.iter().zip(&prints) {
        assert!(id.as_str().starts_with('m') && id.as_str().len() == 7, "{id}");
        for typed in [id.as_str(), &id.as_str().to_uppercase(), &id.as_str()[..5]] {
            assert_eq!(store.find_print(typed).unwrap(), *id, "{typed}");
        }
        assert_eq!(store.print::<Value>(id).unwrap(), *print);
    }
    assert_eq!(store.find_print(LATEST).unwrap(), ids[2]);
    // Activity on the machine does not make it a different machine.
    assert_eq!(store.latest_print(&facts("one", "9.9")).unwrap().as_ref(), Some(&ids[1]));
    assert_eq!(store.latest_print(&facts("three", "0.1")).unwrap(), None);
    let listed: Vec<(PrintId, Value)> = store.prints().unwrap();
    let taken = listed.iter().map(|(_, print)| print["taken_unix_ms"].as_u64());
    let taken: Vec<u64> = taken.map(Option::unwrap).collect();
    assert_eq!(taken, [7, u64::MAX, 5], "the latest first");
    let first = &listed[0].1;
    assert_eq!(first["took_ns"].as_u64(), Some(27_000_000_000));
    assert_eq!(first["is_quick"].as_bool(), Some(true));
}

#[test]
fn prints_and_runs_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(&folder);
    let print = store.keep_print(&made_up("one", 5)).unwrap();
    assert!(is_none_yet::<'r'>(&store.find("latest").unwrap_err()));
    let run = store.create_run(&header()).unwrap();
    assert!(is_unknown::<'r'>(&store.find(print.as_str()).unwrap_err()));
    let error = store.find_print(run.as_str()).unwrap_err();
    assert!(is_unknown::<'m'>(&error), "{error}");
}

#[test]
fn a_name_that_means_no_print_is_answered_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(&folder);
    let error = store.find_print(LATEST).unwrap_err();
    assert!(is_none_yet::<'m'>(&error), "{error}");
    let ids: Vec<PrintId> =
        (0..9).map(|taken| store.keep_print(&made_up("one", taken)).unwrap()).collect();
    let typed = format!("x{}", &ids[3].as_str()[1..]);
    let text = store.find_print(&typed).unwrap_err().to_string();
    assert!(text.contains(ids[3].as_str()) && text.contains("show --list"), "{text}");
    let error = store.find_print("m").unwrap_err();
    let StoreError::Ambiguous(kind, _, matches) = &error else { panic!("{error}") };
    assert_eq!((kind.noun, matches.len()), ("print", 5));
}

#[test]
fn a_print_of_another_form_harms_no_other_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(&folder);
    let kept = store.keep_print(&made_up("one", 5)).unwrap();
    let insert = "INSERT INTO prints VALUES (2, 'm2345ab', 6, ?)";
    let other = r#"{"took_ns": 1, "is_quick": false, "machine": {}, "noise": {"state": "loud"}}"#;
    store.connection.execute(insert, [other]).unwrap();
    store.connection.execute("INSERT INTO prints VALUES (3, 'mnone', 7, '{')", []).unwrap();
    let listed = store.prints::<PrintPart>().unwrap();
    let listed: Vec<&str> = listed.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(listed, ["m2345ab", kept.as_str()]);
    assert_eq!(store.latest_print(&facts("one", "0.1")).unwrap(), Some(kept));
    let error = store.print::<Vec<u8>>(&store.find_print("m2345ab").unwrap()).unwrap_err();
    let StoreError::Unreadable { kind, .. } = &error else { panic!("{error}") };
    assert_eq!(kind.noun, "print");
}

#[test]
fn prints_are_append_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(&folder);
    store.keep_print(&made_up("one", 5)).unwrap();
    for sql in ["DELETE FROM prints", "UPDATE prints SET body = '{}'"] {
        let refused = store.connection.execute(sql, []).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}
