//! Stores and journals, as a user names them.

use crate::error::{LabError, Result, data};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tiebreak_core::journal::Journal;
use tiebreak_store::{Store, is_store_file, read_lines};

pub use tiebreak_store::LATEST;

/// Returns the named store, or else the user's default, as an absolute path: a resumed run changes
/// folders.
///
/// # Errors
/// Fails if none is named and the user has no data folder.
pub fn store_path(store: Option<&Path>) -> Result<PathBuf> {
    let path = store.map_or_else(Store::default_path, |path| Ok(path.to_owned()))?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}

/// Opens the named store, or else the user's default. It must exist.
///
/// # Errors
/// Fails if it does not exist or cannot be read.
pub fn existing_store(store: Option<&Path>) -> Result<Store> {
    Ok(Store::open_existing(&store_path(store)?)?)
}

/// Opens the store; `None` before the first run, when it does not exist.
pub(crate) fn store_if_any(store: Option<&Path>) -> Result<Option<Store>> {
    let path = store_path(store)?;
    Ok(if path.exists() { Some(Store::open_existing(&path)?) } else { None })
}

/// Reads the journal of a run by its name, a prefix of it, or [`LATEST`] (the default); or of a
/// file: an exported journal, or the latest run of another store.
///
/// # Errors
/// Fails if the run or the file does not exist or cannot be read.
pub fn journal(run_or_file: Option<&str>, store: Option<&Path>) -> Result<Journal> {
    if let Some(path) = run_or_file.map(Path::new).filter(|path| path.is_file()) {
        if is_store_file(path)? {
            return journal_in(&Store::open_existing(path)?, LATEST);
        }
        let file = File::open(path).map_err(|error| LabError::unreadable(path, error))?;
        return read_lines(BufReader::new(file))
            .map_err(|error| LabError::Data(format!("{}: {error}", path.display())));
    }
    let run = run_or_file.unwrap_or(LATEST);
    if run.contains(['/', '.']) {
        return data(format!("there is no file {run}"));
    }
    journal_in(&existing_store(store)?, run)
}

fn journal_in(store: &Store, run: &str) -> Result<Journal> {
    Ok(store.journal(&store.find(run)?)?)
}
