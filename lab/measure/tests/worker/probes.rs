//! Libraries that are no contestants, each with one clear error.

use super::study::*;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use tiebreak_measure::workers::{Facts, LoadError, WorkerProgram, probe};

fn look(library: &Path) -> Result<Facts, LoadError> {
    probe(library, &crate::program())
}

fn library(folder: &Path, text: &str) -> PathBuf {
    compile(folder, "library", text, &["-shared"])
}

#[test]
fn a_table_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let before = "static void again(void *p) { (void)p; }";
    let source = Source { before, reset: "again", declares: "\"\", 5, 6, 32", ..RIGHT };
    let facts = look(&library(folder.path(), &source.text())).unwrap();
    let expected = Facts {
        name: "test".to_owned(),
        needs: Vec::new(),
        has_reset: true,
        allocates: false,
        input_slack_bytes: 5,
        output_slack_bytes: 6,
        alignment_bytes: 32,
    };
    assert_eq!(facts, expected);
    let facts = look(&library(folder.path(), &RIGHT.text())).unwrap();
    assert_eq!((facts.has_reset, facts.alignment_bytes), (false, 64));
    // A later header of the same version may have appended fields.
    let size = "sizeof(tiebreak_contestant),";
    let longer = RIGHT.text().replace(size, "sizeof(tiebreak_contestant) + 8,");
    assert_eq!(look(&library(folder.path(), &longer)).unwrap(), facts);
}

#[test]
fn whatever_is_no_contestant_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str, expected: &str| {
        let why = look(&library(folder.path(), text)).unwrap_err().to_string();
        assert!(why.contains(expected), "{why}");
    };
    let right = RIGHT.text();
    check("int nothing;", "the library exports no table: define it with TIEBREAK_CONTESTANT");
    check(
        &right.replace("{TIEBREAK_MAGIC,", "{1,"),
        "the table begins with 0x00000001, not with TIEBREAK_MAGIC",
    );
    check(
        &right.replace("TIEBREAK_ABI,", "TIEBREAK_ABI + 7,"),
        "the table is of version 8 and this tiebreak speaks version 1: build it again",
    );
    check(
        &right.replace("sizeof(tiebreak_contestant),", "72,"),
        "the table says that it has 72 bytes where its version has 88: build it again",
    );
    check(&right.replace(", run, dump", ", NULL, dump"), "the table's `run` is null");
    let odd = Source { declares: "NULL, 0, 0, 24", ..RIGHT }.text();
    check(
        &odd,
        "the table asks for an alignment of 24 bytes: it must be a power of two up to 4096",
    );
    let needs = Source { declares: "\"none_such_feature\", 0, 0, 0", ..RIGHT }.text();
    check(&needs, "needs the CPU feature 'none_such_feature', which this machine does not have");
    let early = "__attribute__((constructor)) static void early(void) { \
                 fputs(\"oh no\", stderr); abort(); }";
    let early = Source { before: early, ..RIGHT }.text();
    check(&early, "ended the process that loaded it (signal 6); it said: oh no");
    let missing = Source { before: "extern int nowhere(void);", run: "nowhere();", ..RIGHT };
    check(&missing.text(), "undefined symbol: nowhere");
}

#[test]
fn whatever_is_no_library_is_told_in_the_linkers_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.so");
    let check = |bytes: &[u8], expected: &str| {
        std::fs::write(&path, bytes).unwrap();
        let why = look(&path).unwrap_err().to_string();
        assert!(why.contains("cannot be loaded") && why.contains(expected), "{why}");
    };
    check(b"text", "file too short");
    check(&[b'x'; 100], "invalid ELF header");
    // The machine of an ELF file stands at byte 18: one that nobody has.
    let mut other = std::fs::read(library(folder.path(), &RIGHT.text())).unwrap();
    other[18..20].copy_from_slice(&[0xee, 0xee]);
    check(&other, "file.so");
    let why = look(Path::new("nowhere.so")).unwrap_err().to_string();
    assert!(why.contains("No such file"), "{why}");
}

#[test]
fn a_worker_that_nobody_holds_ends_although_it_was_asked() {
    let mut ends = [0; 2];
    // SAFETY: the array has room for two descriptors, which nobody else owns afterwards.
    let (ours, theirs) = unsafe {
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        assert_eq!(libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    // SAFETY: the byte is there. It is no request: a worker that reads it ends with 70.
    let sent = unsafe { libc::send(ours.as_raw_fd(), [99_u8].as_ptr().cast(), 1, 0) };
    assert_eq!(sent, 1);
    drop(ours);
    let mut worker = std::process::Command::new(crate::program().program);
    let status = worker.stdin(theirs).status().unwrap();
    assert_eq!(status.code(), Some(64));
}

#[test]
fn a_program_that_is_no_worker_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path(), &RIGHT.text());
    let with = |program: &str| {
        probe(&library, &WorkerProgram { program: program.into(), arguments: Vec::new() })
    };
    assert!(matches!(with("/nowhere/worker"), Err(LoadError::Worker { .. })));
    assert!(with("/bin/true").is_err());
    let path = crate::program().program;
    let by_hand = std::process::Command::new(path).stdin(std::process::Stdio::null()).output();
    let by_hand = by_hand.unwrap();
    assert_eq!(by_hand.status.code(), Some(64));
    assert!(by_hand.stdout.is_empty() && by_hand.stderr.is_empty());
}
