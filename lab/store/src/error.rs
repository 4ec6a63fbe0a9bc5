//! The errors of a store, each with its remedy.

use rusqlite::ffi::{ErrorCode, SQLITE_IOERR_SHMSIZE};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why the store, or a journal in it or in a file, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither an option nor the environment says where the store is.
    #[error(
        "nothing says where the journal should be: set HOME, XDG_DATA_HOME or TIEBREAK_STORE, or \
         name a file with --store FILE"
    )]
    NoDefaultPath,
    /// There is no such file.
    #[error(
        "there is no store at {}: the first run that measures something makes it; --store FILE \
         names another one", path.display()
    )]
    NoStore {
        /// The file.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("{} is a folder: --store takes the name of a file in it", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is not a database.
    #[error(
        "{} is not a store of tiebreak (not an SQLite file): it was left as it is; name another \
         file with --store FILE", path.display()
    )]
    NotSqlite {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error(
        "{} is an SQLite file of another program: it was left as it is; name another file with \
         --store FILE", path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A newer tiebreak made or changed the file.
    #[error(
        "{} is of version {found}, which a newer tiebreak wrote; this one reads up to version \
         {known}: update tiebreak, or name another file with --store FILE", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The file or its folder may not be written to.
    #[error(
        "cannot write {}: the file or its folder is read-only ({reason}); allow writing there, or \
         name another file with --store FILE", path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// The reason from the system or SQLite.
        reason: String,
    },
    /// There is no space left.
    #[error(
        "{} cannot grow: the disk is full; all finished rounds are kept: free space and go on \
         with 'tiebreak resume', or name a file on another disk with --store FILE", path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Other writers held the lock for too long.
    #[error(
        "{} was locked by another process for {waited_s} seconds: wait until it has finished (a \
         backup? an open 'sqlite3'?), or name another file with --store FILE", path.display()
    )]
    Busy {
        /// The file.
        path: PathBuf,
        /// The seconds waited.
        waited_s: u64,
    },
    /// SQLite finds the file damaged.
    #[error(
        "{} is damaged ({reason}): copy it and its -wal file away, save what is left with \
         \"sqlite3 FILE .recover\", and name another file with --store FILE", path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The reason from SQLite.
        reason: String,
    },
    /// A run cannot be read back although SQLite finds nothing wrong.
    #[error(
        "run {run} in {} cannot be read: {what}; the other runs are not touched by this: \
         'tiebreak history' lists them", path.display()
    )]
    BadRun {
        /// The file.
        path: PathBuf,
        /// The run.
        run: String,
        /// The fault.
        what: String,
    },
    /// The journal cannot accept a record.
    #[error(
        "{} did not take {what}: the journal is append-only and holds each attempt and round \
         once; this is a fault of tiebreak", path.display()
    )]
    Refused {
        /// The file.
        path: PathBuf,
        /// The record, and the reason why it was refused.
        what: String,
    },
    /// Another process runs or resumes this run.
    #[error(
        "run {run} is in use{}: wait until it has ended, or stop it",
        pid.map(|pid| format!(" by process {pid}")).unwrap_or_default()
    )]
    InUse {
        /// The run.
        run: String,
        /// The process, if it could be read.
        pid: Option<u32>,
    },
    /// No run has this name.
    #[error(
        "no run '{asked}' in {}, which holds {runs} runs{}: 'tiebreak history' lists them, \
         --store FILE names another store", path.display(),
        near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default()
    )]
    UnknownRun {
        /// The file.
        path: PathBuf,
        /// The text that was typed.
        asked: String,
        /// The number of runs.
        runs: u64,
        /// The run with the nearest name, if one is near.
        near: Option<String>,
    },
    /// There is no run at all.
    #[error(
        "{} holds no runs yet: 'tiebreak compare' makes one; --store FILE names another store",
        path.display()
    )]
    NoRuns {
        /// The file.
        path: PathBuf,
    },
    /// Several runs have names that begin like this.
    #[error("'{asked}' is the beginning of several runs: {}; type more of it", matches.join(", "))]
    Ambiguous {
        /// The text that was typed.
        asked: String,
        /// The first few of the runs.
        matches: Vec<String>,
    },
    /// No print has this name.
    #[error(
        "no print of a machine '{asked}' in {}{}: 'tiebreak machine show --list' lists them, \
         --store FILE names another store", path.display(),
        near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default()
    )]
    UnknownPrint {
        /// The file.
        path: PathBuf,
        /// The text that was typed.
        asked: String,
        /// The print with the nearest name, if one is near.
        near: Option<String>,
    },
    /// There is no print at all.
    #[error(
        "{} holds no print of a machine yet: 'tiebreak machine' makes one in half a minute; \
         --store FILE names another store", path.display()
    )]
    NoPrints {
        /// The file.
        path: PathBuf,
    },
    /// Several prints have names that begin like this.
    #[error(
        "'{asked}' is the beginning of several prints: {}; type more of it", matches.join(", ")
    )]
    AmbiguousPrint {
        /// The text that was typed.
        asked: String,
        /// The first few of the prints.
        matches: Vec<String>,
    },
    /// A print cannot be read back although SQLite finds nothing wrong.
    #[error(
        "print {print} in {} cannot be read: {what}; 'tiebreak machine' makes a new one, --store \
         FILE names another store", path.display()
    )]
    BadPrint {
        /// The file.
        path: PathBuf,
        /// The print.
        print: String,
        /// The fault.
        what: String,
    },
    /// A line of a journal in JSON Lines is wrong.
    #[error("line {line} of the journal: {what}")]
    BadLine {
        /// The number of the line, counted from 1.
        line: u64,
        /// The fault, and what would be right.
        what: String,
    },
    /// A journal in JSON Lines was written by a newer tiebreak.
    #[error(
        "line 1 of the journal says schema '{found}'; this tiebreak reads '{known}': update \
         tiebreak if the journal is newer", known = crate::SCHEMA
    )]
    OtherSchema {
        /// The schema in the file.
        found: String,
    },
    /// The system reported another error.
    #[error(
        "{}: {source}; name another file with --store FILE if this cannot be mended", path.display()
    )]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// SQLite reported another error.
    #[error(
        "{}: {source}; name another file with --store FILE if this cannot be mended", path.display()
    )]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Sorts an error of SQLite, so that each kind has its own text.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        let reason = source.to_string();
        if source.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) {
            // There is no space for the `-shm` file, which SQLite does not report as a full disk.
            return StoreError::Full { path };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::NotSqlite { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::ReadOnly { path, reason }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Busy { path, waited_s: crate::store::BUSY_TIMEOUT.as_secs() }
            }
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { path, reason },
            Some(ErrorCode::ConstraintViolation) => StoreError::Refused { path, what: reason },
            Some(ErrorCode::CannotOpen) => why_it_cannot_be_opened(path, source),
            _ => StoreError::Sqlite { path, source },
        }
    }

    /// Sorts an error of the system.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> StoreError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreError::ReadOnly { path, reason: source.to_string() }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            _ => StoreError::Io { path, source },
        }
    }
}

/// An error of the file at a path, in the words of the store.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, StoreError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::from_io(path, error))
    }
}

impl<T> At<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::from_sqlite(path, error))
    }
}

/// Finds the reason why SQLite cannot open a file, by creating another file beside it. SQLite does
/// not give the reason.
///
/// The function does not open the file itself: closing it again would drop the locks that this
/// process may hold on it through another connection.
fn why_it_cannot_be_opened(path: PathBuf, source: rusqlite::Error) -> StoreError {
    let mut probe = path.clone().into_os_string();
    probe.push(format!(".probe{}", std::process::id()));
    let probe = PathBuf::from(probe);
    match OpenOptions::new().write(true).create_new(true).open(&probe) {
        Err(error) => StoreError::from_io(&path, error),
        Ok(_) => {
            // A probe that is left behind is empty and harmless.
            let _ = std::fs::remove_file(&probe);
            let reason = source.to_string();
            StoreError::ReadOnly { path, reason }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_names_the_file_and_a_remedy() {
        let path = PathBuf::from("/data/journal.db");
        let reason = "why".to_owned();
        let errors = [
            StoreError::NoStore { path: path.clone() },
            StoreError::IsFolder { path: path.clone() },
            StoreError::NotSqlite { path: path.clone() },
            StoreError::NotOurs { path: path.clone() },
            StoreError::Newer { path: path.clone(), found: 9, known: 1 },
            StoreError::ReadOnly { path: path.clone(), reason: reason.clone() },
            StoreError::Full { path: path.clone() },
            StoreError::Busy { path: path.clone(), waited_s: 5 },
            StoreError::Corrupt { path: path.clone(), reason },
            StoreError::UnknownRun { path: path.clone(), asked: "x".into(), runs: 3, near: None },
            StoreError::NoRuns { path: path.clone() },
            StoreError::UnknownPrint { path: path.clone(), asked: "x".into(), near: None },
            StoreError::NoPrints { path: path.clone() },
            StoreError::BadPrint { path: path.clone(), print: "m".into(), what: "x".into() },
            StoreError::from_io(&path, io::Error::other("odd")),
            StoreError::from_sqlite(&path, rusqlite::Error::InvalidQuery),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(text.contains("/data/journal.db") && text.contains("--store"), "{text}");
        }
    }

    #[test]
    fn errors_of_the_system_are_sorted() {
        let path = Path::new("/data/journal.db");
        let sorted = |kind: io::ErrorKind| StoreError::from_io(path, kind.into());
        assert!(matches!(sorted(io::ErrorKind::StorageFull), StoreError::Full { .. }));
        assert!(matches!(sorted(io::ErrorKind::PermissionDenied), StoreError::ReadOnly { .. }));
        assert!(matches!(sorted(io::ErrorKind::ReadOnlyFilesystem), StoreError::ReadOnly { .. }));
        assert!(matches!(sorted(io::ErrorKind::NotFound), StoreError::Io { .. }));
    }

    #[test]
    fn errors_of_sqlite_are_sorted() {
        let path = Path::new("/data/journal.db");
        let sorted = |code| {
            let error = rusqlite::ffi::Error::new(code);
            StoreError::from_sqlite(path, rusqlite::Error::SqliteFailure(error, None))
        };
        for full in [rusqlite::ffi::SQLITE_FULL, SQLITE_IOERR_SHMSIZE] {
            assert!(matches!(sorted(full), StoreError::Full { .. }), "{full}");
        }
        for busy in [rusqlite::ffi::SQLITE_BUSY_RECOVERY, rusqlite::ffi::SQLITE_LOCKED] {
            assert!(matches!(sorted(busy), StoreError::Busy { .. }), "{busy}");
        }
        let read_only = sorted(rusqlite::ffi::SQLITE_READONLY_DIRECTORY);
        assert!(matches!(read_only, StoreError::ReadOnly { .. }), "{read_only}");
        let damaged = sorted(rusqlite::ffi::SQLITE_CORRUPT_VTAB);
        assert!(matches!(damaged, StoreError::Corrupt { .. }), "{damaged}");
        let other = sorted(rusqlite::ffi::SQLITE_IOERR_READ);
        assert!(matches!(other, StoreError::Sqlite { .. }), "{other}");
    }
}
