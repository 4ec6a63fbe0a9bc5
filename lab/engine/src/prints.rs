//! Prints of machines: kept in a store, and loaded from a store or a file.

use crate::error::{LabError, data};
use crate::source::{self, LATEST};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tiebreak_core::result::RunResult;
use tiebreak_probes::{ListRow, MachinePrint};
use tiebreak_store::{Store, is_store_file};

/// A probe with less time than this gives too little information.
const BUDGET_LEAST: Duration = Duration::from_millis(20);
/// Limits, with what probes need of each: bytes, bytes and files.
const LIMITS: [(&str, u64); 3] =
    [("Max address space", 1 << 40), ("Max data size", 1 << 40), ("Max open files", 256)];

/// A print, and its name if it comes from a store.
pub struct Loaded {
    /// Its name; `None` for a file.
    pub name: Option<String>,
    /// The print.
    pub print: MachinePrint,
}

/// Loads the print with a name (`latest`, a name, or a prefix of one), or from a file: the output
/// of `tiebreak machine --json`, or the latest one of another store.
///
/// # Errors
/// Fails if there is no such print, or if the file is not one.
pub fn load(name_or_file: &str, store: Option<&Path>) -> Result<Loaded, LabError> {
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
        return data(format!("{name_or_file} {what}: a print is a file or a name"));
    }
    kept(&source::existing_store(store)?, name_or_file)
}

fn kept(store: &Store, name: &str) -> Result<Loaded, LabError> {
    let id = store.find_print(name)?;
    Ok(Loaded { print: store.print(&id)?, name: Some(id.to_string()) })
}

fn read(path: &Path) -> Result<MachinePrint, LabError> {
    let wrong = |why: String| LabError::Data(format!("{}: {why}", path.display()));
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

/// Returns the print that a run names, from the first of these stores that has it.
pub fn of_run(run: &RunResult, stores: &[&Path]) -> Option<MachinePrint> {
    let name = run.machine.print.as_ref()?;
    stores.iter().find_map(|store| Some(kept(&Store::open_existing(store).ok()?, name).ok()?.print))
}

/// Lists the prints of a store, the latest first.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn list(store: Option<&Path>) -> Result<Vec<ListRow>, LabError> {
    let store = source::store_if_any(store)?;
    let prints = store.map_or(Ok(Vec::new()), |store| store.prints())?;
    Ok(prints.into_iter().map(|(id, row)| ListRow { name: id.to_string(), ..row }).collect())
}

/// The place of a print. Results are also shown if they cannot be kept: for example in a container
/// without a user's folder.
pub enum Keeper {
    /// The print must not be kept.
    Nowhere,
    /// The print goes to this store.
    In(PathBuf),
    /// The print should be kept, but cannot be, for this reason.
    Not(String),
}

impl Keeper {
    /// Checks, before anything is measured, whether the store can be written.
    ///
    /// # Errors
    /// Fails if a store is named that cannot be written; the default one need not be writable.
    pub fn open(store: Option<&Path>) -> Result<Keeper, LabError> {
        let opened = source::store_path(store).and_then(|path| {
            Store::open(&path)?;
            Ok(path)
        });
        match opened {
            Ok(path) => Ok(Keeper::In(path)),
            Err(error) if store.is_some() => Err(error),
            Err(error) => Ok(Keeper::Not(error.to_string())),
        }
    }

    /// Keeps a finished print and returns its name, or `None` for [`Keeper::Nowhere`]; `each` is
    /// the time of each probe, if it was given.
    ///
    /// # Errors
    /// Returns why it was not kept: later verdicts name prints, so a crippled one must not be kept.
    pub fn keep(
        self,
        print: &MachinePrint,
        each: Option<Duration>,
    ) -> Result<Option<String>, String> {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        match self {
            Keeper::Nowhere => Ok(None),
            _ if print.interrupted => Err("it was interrupted".to_owned()),
            _ if each.is_some_and(|each| each < BUDGET_LEAST) => {
                Err(format!("each probe had less than {} ms", BUDGET_LEAST.as_millis()))
            }
            Keeper::Not(why) => Err(why),
            Keeper::In(path) => match crippling(&limits) {
                Some(limit) => Err(format!("a limit was set: {limit}")),
                None => Store::open(&path)
                    .and_then(|mut store| {
                        let id = store.keep_print(print)?;
                        store.sync()?;
                        Ok(Some(id.to_string()))
                    })
                    .map_err(|error| error.to_string()),
            },
        }
    }
}

/// Returns the first limit of this process (`ulimit`) that changes the results of probes, in the
/// kernel's words.
fn crippling(limits: &str) -> Option<String> {
    LIMITS.iter().find_map(|(name, least)| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let soft = line.split_whitespace().next()?.parse::<u64>().ok()?;
        (soft < *least).then(|| format!("{} {soft}", name.to_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limits: &str, expected: Option<&str>) {
        assert_eq!(crippling(limits).as_deref(), expected, "{limits}");
    }

    #[test]
    fn limits_that_change_what_is_found_are_named() {
        check("", None);
        check("Max address space         unlimited            unlimited   bytes\n", None);
        check("Max cpu time  1  1  seconds\nMax open files  1024  4096  files\n", None);
        let expected = Some("max address space 512000000");
        check("Max data size  unlimited  unlimited\nMax address space  512000000  x\n", expected);
        check("Max open files            8     20000   files\n", Some("max open files 8"));
    }
}
