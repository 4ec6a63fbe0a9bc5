//! Prints of machines, from the store or from a file.

use crate::failure::Failure;
use crate::source;
use std::path::{Path, PathBuf};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::probes::MachinePrint;
use tiebreak_lab::store::{Store, is_store_file};

/// The name of the latest print.
pub const LATEST: &str = "latest";

/// A print, and its name if it comes from the store.
pub struct Loaded {
    /// Its name; `None` for a file.
    pub name: Option<String>,
    /// The print.
    pub print: MachinePrint,
}

/// Loads the print with a name (`latest`, a name, or a prefix of one), or from a file: the output
/// of `tiebreak machine --json`, or the latest one of another store.
pub fn load(name_or_file: &str, store: Option<&PathBuf>) -> Result<Loaded, Failure> {
    let path = Path::new(name_or_file);
    if path.is_file() {
        return if is_store_file(path)? {
            kept(&Store::open_existing(path)?, LATEST)
        } else {
            Ok(Loaded { name: None, print: read(path)? })
        };
    }
    if name_or_file.contains(['/', '.']) {
        let what = if path.exists() { "is not a file" } else { "does not exist" };
        return Err(Failure::data(format!("{name_or_file} {what}: a print is a file or a name")));
    }
    kept(&source::existing_store(store)?, name_or_file)
}

fn kept(store: &Store, name: &str) -> Result<Loaded, Failure> {
    let id = store.find_print(name)?;
    Ok(Loaded { print: store.print(&id)?, name: Some(id.to_string()) })
}

fn read(path: &Path) -> Result<MachinePrint, Failure> {
    let wrong = |why: String| Failure::data(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("not a print of a machine: it is not JSON: {error}")))?;
    let schema = value.get("schema").and_then(|schema| schema.as_str()).unwrap_or("none");
    if schema != MachinePrint::SCHEMA {
        return Err(wrong(format!(
            "not a print of a machine: its schema is '{schema}', that of 'tiebreak machine --json' \
             is '{}'",
            MachinePrint::SCHEMA
        )));
    }
    serde_json::from_value(value).map_err(|error| {
        wrong(format!("a print of a form that this tiebreak does not know: {error}"))
    })
}

/// Returns the print that a run names, if this store has it.
pub fn of_run(run: &RunResult, store: &Path) -> Option<MachinePrint> {
    let name = run.machine.print.as_ref()?;
    let store = Store::open_existing(store).ok()?;
    store.find_print(name).and_then(|id| store.print(&id)).ok()
}
