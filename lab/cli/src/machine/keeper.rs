//! Keeping a print of the machine in the store.

use crate::failure::Failure;
use crate::io::Io;
use crate::source;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tiebreak_lab::probes::MachinePrint;
use tiebreak_lab::store::{PrintId, Store, StoreError};

/// Probes that had less time than this say too little.
const BUDGET_LEAST: Duration = Duration::from_millis(20);
/// Limits with what probes need of each: bytes, bytes and files.
const LIMITS: [(&str, u64); 3] =
    [("Max address space", 1 << 40), ("Max data size", 1 << 40), ("Max open files", 256)];

/// Where a print is kept. What was measured is worth showing also where it cannot be kept: in a
/// container, say, without a folder of the user's.
pub enum Keeper {
    /// It is not to be kept.
    Nowhere,
    /// In this store.
    In(PathBuf),
    /// It was to be kept, and cannot be.
    Not(String),
}

impl Keeper {
    /// Keeps nothing.
    pub fn nowhere() -> Keeper {
        Keeper::Nowhere
    }

    /// Finds out, before anything is measured, whether the store can be written. A store that was
    /// asked for by name must be one; the user's need not.
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

    /// Keeps a finished print, whose probes had so long each if that was said, and gives its name;
    /// says so if it was not kept: later verdicts name prints, so a crippled one is none.
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

/// The first limit of this process (`ulimit`) that changes what probes find, as the kernel names
/// it.
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
