//! Opening a store, asking it, and forcing it to the disk.

use crate::error::{At, BUSY_TIMEOUT, StoreError, shown};
use crate::schema::{self, STEPS};
use crate::sync::{Syncs, beside, sync_log};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The settings of every connection. `synchronous = NORMAL`: no fsync in a commit, see
/// [`crate::sync`]. The page cache holds the pages that are appended to, in at most 512 KiB.
/// Recursive triggers: without them, `INSERT OR REPLACE` would bypass the guards against deletion.
const SETTINGS: &str = "
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
PRAGMA recursive_triggers = ON;
PRAGMA cache_size = -512;
PRAGMA temp_store = MEMORY;
PRAGMA journal_size_limit = 4194304;
";

/// The journals of all runs, in one file, through one connection. Several stores, in one process or
/// many, may be open on one file and write to different runs at once.
///
/// Two more files (`-wal`, `-shm`) in its folder belong to it while it is open, and after a kill.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) syncs: Syncs,
}

impl Store {
    /// Opens the store for writing, and creates the file and its folders if they are missing. A
    /// file of an older version is upgraded.
    ///
    /// Cost: under a millisecond if the file exists, a few if it is created.
    ///
    /// # Errors
    /// Fails if the file or its folder cannot be written, or if the file is not ours, newer or
    /// damaged.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let path = absolute(path)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).at(&path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        Store::open_patiently(&path, &path, flags, STEPS)
    }

    /// Opens a store that exists, to read it or to resume a run. A file that is not writable can be
    /// read, even in a folder that is not writable either.
    ///
    /// # Errors
    /// Fails if there is no file, if it cannot be read, or if it is not ours, newer or damaged.
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        let path = absolute(path)?;
        if !path.try_exists().at(&path)? {
            return Err(StoreError::NoStore(shown(&path)));
        }
        let read_write = OpenFlags::SQLITE_OPEN_READ_WRITE;
        match Store::open_patiently(&path, &path, read_write, STEPS) {
            // SQLite needs a second file in the folder even to read a store. Where none can be
            // created, no process writes either, and the file is complete unless a `-wal` file was
            // left.
            Err(StoreError::ReadOnly { .. }) if !leftover_wal(&path) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                Store::open_patiently(&path, &immutable_uri(&path), flags, STEPS)
            }
            result => result,
        }
    }

    /// Returns the path of the store if no option gives it: `$TIEBREAK_STORE`, else
    /// `$XDG_DATA_HOME/tiebreak/journal.db`, else `$HOME/.local/share/tiebreak/journal.db`.
    ///
    /// # Errors
    /// Fails if none of the three variables is set.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        default_path_from(|name| std::env::var_os(name))
    }

    /// Returns the absolute path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads something, with errors that name the file.
    pub(crate) fn asked<T>(
        &self,
        question: impl FnOnce() -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        question().at(&self.path)
    }

    /// Returns all rows of a query, each converted to a value.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        value: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.asked(|| self.connection.prepare_cached(sql)?.query_map(parameters, value)?.collect())
    }

    /// Returns the first row of a query, converted to a value.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        value: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.asked(|| self.connection.prepare_cached(sql)?.query_row(parameters, value).optional())
    }

    /// Opens a connection, and retries at a lock for which SQLite does not wait: while another
    /// process creates the file, recovers it, or closes it as the last one.
    pub(crate) fn open_patiently(
        path: &Path,
        name: &Path,
        flags: OpenFlags,
        steps: &[&str],
    ) -> Result<Store, StoreError> {
        if path.is_dir() {
            return Err(StoreError::IsFolder(shown(path)));
        }
        let start = Instant::now();
        loop {
            match Store::open_once(path, name, flags, steps) {
                Err(StoreError::Busy { .. }) if start.elapsed() < BUSY_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                result => return result,
            }
        }
    }

    /// Forces committed data to the disk, at most about once a second. Returns whether it did.
    ///
    /// Call it between rounds: the disk then works while nothing is timed. `now_ns` is a monotonic
    /// clock of any origin, the same in all calls. A commit survives a kill without this. A power
    /// cut costs the data committed since the last sync: at most about a second of rounds, or one
    /// round if rounds take longer.
    ///
    /// Cost: nothing, or one `fdatasync` (about a millisecond, more on a slow disk).
    ///
    /// # Errors
    /// Fails if the disk reports an error or is full.
    pub fn sync_if_due(&mut self, now_ns: u64) -> Result<bool, StoreError> {
        let due = self.syncs.due(now_ns);
        if due {
            self.sync()?;
            self.syncs.last_sync_ns = Some(now_ns);
        }
        Ok(due)
    }

    /// Forces committed data to the disk now, at the end of a run.
    ///
    /// # Errors
    /// Fails if the disk reports an error or is full.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if self.syncs.pending {
            sync_log(&self.path, self.syncs.last_sync_ns.is_none()).at(&self.path)?;
            self.syncs.pending = false;
        }
        Ok(())
    }

    fn open_once(
        path: &Path,
        name: &Path,
        flags: OpenFlags,
        steps: &[&str],
    ) -> Result<Store, StoreError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(name, flags).at(path)?;
        connection.busy_timeout(BUSY_TIMEOUT).at(path)?;
        schema::prepare(&mut connection, path, steps)?;
        connection.execute_batch(SETTINGS).at(path)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(Store { connection, path: path.to_owned(), syncs: Syncs::default() })
    }
}

/// Makes the path absolute. SQLite then gives no special meaning to names such as `:memory:`.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).at(path)
}

fn leftover_wal(path: &Path) -> bool {
    std::fs::metadata(beside(path, "-wal")).is_ok_and(|wal| wal.len() > 0)
}

/// Returns the name by which SQLite opens an unchanging file without a second file in its folder.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri += &format!("%{byte:02x}"),
        }
    }
    PathBuf::from(uri + "?immutable=1")
}

fn default_path_from(get: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let set = |name| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The XDG specification: a relative path is invalid and must be ignored.
    let data = set("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
    let data = data.or_else(|| Some(set("HOME")?.join(".local/share")));
    let path = set("TIEBREAK_STORE").or_else(|| Some(data?.join("tiebreak/journal.db")));
    path.ok_or(StoreError::NoDefaultPath)
}

/// Returns whether a file is an SQLite file (otherwise, it may be a journal in JSON Lines). Call it
/// before a store is opened on the file: closing the file here drops the locks that an open store
/// of this process holds.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn is_store_file(path: &Path) -> Result<bool, StoreError> {
    let mut start = Vec::new();
    File::open(path).at(path)?.take(16).read_to_end(&mut start).at(path)?;
    Ok(start == b"SQLite format 3\0")
}

#[cfg(test)]
mod tests;
