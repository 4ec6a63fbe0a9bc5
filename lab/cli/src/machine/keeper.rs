//! Keeps a print of the machine in the store.

use crate::failure::Failure;
use crate::io::Io;
use crate::source;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tiebreak_lab::probes::MachinePrint;
use tiebreak_lab::store::{PrintId, Store, StoreError};

/// A probe with less time than this gives too little information.
const BUDGET_LEAST: Duration = Duration::from_millis(20);
/// Limits, with what probes need of each: bytes, bytes and files.
const LIMITS: [(&str, u64); 3] =
    [("Max address space", 1 << 40), ("Max data size", 1 << 40), ("Max open files", 256)];

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
    /// Returns a keeper that keeps nothing.
    pub fn nowhere() -> Keeper {
        Keeper::Nowhere
    }

    /// Checks, before anything is measured, whether the store can be written. A store that the user
    /// named must be writable; the default one need not be.
    pub fn open(asked: Option<&PathBuf>) -> Result<Keeper, Failure> {
        let opened = source::store_path(asked).and_then(|path| {
            Store::open(&path)?;
            Ok(path)
        });
        match opened {
            Ok(path) => Ok(Keeper::In(path)),
            Err(failure) if asked.is_some() => Err(failure),
            Err(failure) => Ok(Keeper::Not(failure.text)),
        }
    }

    /// Keeps a finished print and returns its name; `each` is the time of each probe, if it was
    /// given. Prints a message if the print was not kept: later verdicts name prints, so a crippled
    /// one must not be kept.
    pub fn keep(self, print: &MachinePrint, each: Option<Duration>, io: &mut Io) -> Option<String> {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let kept = match self {
            Keeper::Nowhere => return None,
            _ if print.interrupted => Err("it was interrupted".to_owned()),
            _ if each.is_some_and(|each| each < BUDGET_LEAST) => {
                Err(format!("each probe had less than {} ms", BUDGET_LEAST.as_millis()))
            }
            Keeper::In(_) if crippling(&limits).is_some() => {
                Err(format!("a limit was set: {}", crippling(&limits).unwrap_or_default()))
            }
            Keeper::Not(why) => Err(why),
            Keeper::In(path) => write(&path, print).map_err(|error| error.to_string()),
        };
        match kept {
            Ok(id) => Some(id.to_string()),
            Err(why) => {
                io.err(&format!("not kept: {why}\n"));
                None
            }
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

fn write(path: &Path, print: &MachinePrint) -> Result<PrintId, StoreError> {
    let mut store = Store::open(path)?;
    let id = store.keep_print(print)?;
    store.sync()?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_change_what_is_found_are_named() {
        let check = |limits: &str, expected: Option<&str>| {
            assert_eq!(crippling(limits).as_deref(), expected, "{limits}");
        };
        check("", None);
        check("Max address space         unlimited            unlimited   bytes\n", None);
        check("Max cpu time  1  1  seconds\nMax open files  1024  4096  files\n", None);
        let said = "max address space 512000000";
        check("Max data size  unlimited  unlimited\nMax address space  512000000  x\n", Some(said));
        check("Max open files            8     20000   files\n", Some("max open files 8"));
    }
}
