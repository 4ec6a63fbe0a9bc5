//! The errors of a store, each with its remedy.

use crate::kind::Kind;
use crate::sync::beside;
use rusqlite::ffi::{ErrorCode, SQLITE_IOERR_SHMSIZE};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The time that a writer waits for another one. A commit takes well under a millisecond.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why the store, or a journal in it or in a file, cannot be used. The first text of an
/// error about a file is the file's path.
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
        "there is no store at {0}: the first run that measures something makes it; --store FILE \
         names another one"
    )]
    NoStore(String),
    /// The path is a folder.
    #[error("{0} is a folder: --store takes the name of a file in it")]
    IsFolder(String),
    /// The file is not a database.
    #[error(
        "{0} is not a store of tiebreak (not an SQLite file): it was left as it is; name another \
         file with --store FILE"
    )]
    NotSqlite(String),
    /// The file is a database of another program.
    #[error(
        "{0} is an SQLite file of another program: it was left as it is; name another file with \
         --store FILE"
    )]
    NotOurs(String),
    /// A newer tiebreak made or changed the file: its version, and the newest known one.
    #[error(
        "{0} is of version {1}, which a newer tiebreak wrote; this one reads up to version {2}: \
         update tiebreak, or name another file with --store FILE"
    )]
    Newer(String, i64, i64),
    /// The file or its folder may not be written to, for this reason from the system or SQLite.
    #[error(
        "cannot write {0}: the file or its folder is read-only ({1}); allow writing there, or name \
         another file with --store FILE"
    )]
    ReadOnly(String, String),
    /// There is no space left.
    #[error(
        "{0} cannot grow: the disk is full; all finished rounds are kept: free space and go on \
         with 'tiebreak resume', or name a file on another disk with --store FILE"
    )]
    Full(String),
    /// Other writers held the lock for too long.
    #[error(
        "{} was locked by another process for {} seconds: wait until it has finished (a backup? an \
         open 'sqlite3'?), or name another file with --store FILE", .0, BUSY_TIMEOUT.as_secs()
    )]
    Busy(String),
    /// SQLite finds the file damaged, for this reason.
    #[error(
        "{0} is damaged ({1}): copy it and its -wal file away, save what is left with \"sqlite3 \
         FILE .recover\", and name another file with --store FILE"
    )]
    Corrupt(String, String),
    /// The journal cannot accept a record: which, or the reason why it was refused.
    #[error(
        "{0} did not take {1}: the journal is append-only and holds each attempt and round once; \
         this is a fault of tiebreak"
    )]
    Refused(String, String),
    /// Another process, if its number could be read, runs or resumes this run.
    #[error(
        "run {} is in use{}: wait until it has ended, or stop it", .0,
        .1.map(|pid| format!(" by process {pid}")).unwrap_or_default()
    )]
    InUse(String, Option<u32>),
    /// No run, or no print, has the name that was typed.
    #[error(
        "no {} '{asked}' in {path}{hint}: '{}' lists them, --store FILE names another store",
        kind.full, kind.list
    )]
    Unknown {
        /// The path of the file.
        path: String,
        /// What was looked for.
        kind: &'static Kind,
        /// The text that was typed.
        asked: String,
        /// The number of runs, and the nearest name, if one is near.
        hint: String,
    },
    /// There is no run, or no print, at all.
    #[error("{} holds no {}; --store FILE names another store", .0, .1.none)]
    NoneYet(String, &'static Kind),
    /// Several runs or prints have names that begin like the typed text: the first few of them.
    #[error(
        "'{}' is the beginning of several {}s: {}; type more of it", .1, .0.noun, .2.join(", ")
    )]
    Ambiguous(&'static Kind, String, Vec<String>),
    /// A run or print cannot be read back although SQLite finds nothing wrong.
    #[error("{} {name} in {path} cannot be read: {what}; {}", kind.noun, kind.if_unreadable)]
    Unreadable {
        /// The path of the file.
        path: String,
        /// Whether it is a run or a print.
        kind: &'static Kind,
        /// Its name.
        name: String,
        /// The fault.
        what: String,
    },
    /// A line of a journal in JSON Lines, counted from 1, is wrong: how, and what would be right.
    #[error("line {0} of the journal: {1}")]
    BadLine(u64, String),
    /// A journal in JSON Lines is of this schema and not of the known one.
    #[error(
        "line 1 of the journal says schema '{0}'; this tiebreak reads '{1}': update tiebreak if \
         the journal is newer"
    )]
    OtherSchema(String, &'static str),
    /// The system reported another error.
    #[error("{0}: {1}; name another file with --store FILE if this cannot be mended")]
    Io(String, #[source] io::Error),
    /// SQLite reported another error.
    #[error("{0}: {1}; name another file with --store FILE if this cannot be mended")]
    Sqlite(String, #[source] rusqlite::Error),
}

impl StoreError {
    /// Sorts an error of SQLite, so that each kind has its own text.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let (file, reason) = (shown(path), source.to_string());
        if source.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) {
            // There is no space for the `-shm` file, which SQLite does not report as a full disk.
            return StoreError::Full(file);
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::NotSqlite(file),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::ReadOnly(file, reason)
            }
            Some(ErrorCode::DiskFull) => StoreError::Full(file),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(file),
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt(file, reason),
            Some(ErrorCode::ConstraintViolation) => StoreError::Refused(file, reason),
            Some(ErrorCode::CannotOpen) => why_it_cannot_be_opened(path, reason),
            _ if matches!(source, rusqlite::Error::ToSqlConversionFailure(_)) => {
                StoreError::Refused(file, reason)
            }
            _ => StoreError::Sqlite(file, source),
        }
    }

    /// Sorts an error of the system.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> StoreError {
        let file = shown(path);
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreError::ReadOnly(file, source.to_string())
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full(file),
            _ => StoreError::Io(file, source),
        }
    }
}

/// Returns the path as errors show it.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
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

/// Finds the reason why SQLite cannot open a file, by creating another file next to it. SQLite does
/// not give the reason.
///
/// The function does not open the file itself: closing it again would drop the locks that this
/// process may hold on it through another connection.
fn why_it_cannot_be_opened(path: &Path, reason: String) -> StoreError {
    let probe = beside(path, &format!(".probe{}", std::process::id()));
    if let Err(error) = OpenOptions::new().write(true).create_new(true).open(&probe) {
        return StoreError::from_io(path, error);
    }
    // A probe that is left behind is empty and harmless.
    let _ = std::fs::remove_file(&probe);
    StoreError::ReadOnly(shown(path), reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{PRINT, RUN};

    #[test]
    fn every_text_names_the_file_and_a_remedy() {
        let (path, reason) = (Path::new("/data/journal.db"), "why".to_owned());
        let file = || shown(path);
        let of_kind = |kind: &'static Kind| {
            let unknown = |hint: &str| StoreError::Unknown {
                path: file(),
                kind,
                asked: "x".into(),
                hint: hint.into(),
            };
            [unknown(""), unknown(", which holds 3 runs"), StoreError::NoneYet(file(), kind)]
        };
        let bad_print = StoreError::Unreadable {
            path: file(),
            kind: &PRINT,
            name: "m".into(),
            what: "x".into(),
        };
        let errors = [
            StoreError::NoStore(file()),
            StoreError::IsFolder(file()),
            StoreError::NotSqlite(file()),
            StoreError::NotOurs(file()),
            StoreError::Newer(file(), 9, 1),
            StoreError::ReadOnly(file(), reason.clone()),
            StoreError::Full(file()),
            StoreError::Busy(file()),
            StoreError::Corrupt(file(), reason),
            bad_print,
            StoreError::from_io(path, io::Error::other("odd")),
            StoreError::from_sqlite(path, rusqlite::Error::InvalidQuery),
        ];
        let errors = errors.into_iter().chain(of_kind(&RUN)).chain(of_kind(&PRINT));
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
