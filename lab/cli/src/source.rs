//! Journals by the name of a run, by a file, or the latest one.

use crate::failure::Failure;
use crate::options::Source;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tiebreak_lab::core::journal::Journal;
use tiebreak_lab::store::{RunId, Store, is_store_file, read_lines};

/// The name of the latest run.
const LATEST: &str = "latest";

/// Returns the store that the user named, or the default one, as an absolute path: a resumed run
/// changes folders.
pub fn store_path(path: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    let path = path.cloned().map_or_else(Store::default_path, Ok)?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}

/// Opens the store that the user named, or the default one; it must exist.
pub fn existing_store(path: Option<&PathBuf>) -> Result<Store, Failure> {
    Ok(Store::open_existing(&store_path(path)?)?)
}

/// Finds a run in a store by its name, by a prefix of it, or the latest.
pub fn find_run(store: &Store, run: Option<&str>) -> Result<RunId, Failure> {
    Ok(store.find(run.unwrap_or(LATEST))?)
}

/// Reads the journal of a run, or of a file: an exported journal, or the latest run of another
/// store.
pub fn journal(source: &Source) -> Result<Journal, Failure> {
    let (run_or_file, store) = (source.run.as_deref(), source.store.as_ref());
    if let Some(path) = run_or_file.map(Path::new).filter(|path| path.is_file()) {
        if is_store_file(path)? {
            let store = Store::open_existing(path)?;
            let run = find_run(&store, None)?;
            return Ok(store.journal(&run)?);
        }
        let file = File::open(path)
            .map_err(|error| Failure::data(format!("cannot read {}: {error}", path.display())))?;
        return read_lines(BufReader::new(file))
            .map_err(|error| Failure::data(format!("{}: {error}", path.display())));
    }
    if let Some(path) = run_or_file.filter(|name| name.contains(['/', '.'])) {
        return Err(Failure::data(format!("there is no file {path}")));
    }
    let store = existing_store(store)?;
    let run = find_run(&store, run_or_file)?;
    Ok(store.journal(&run)?)
}
