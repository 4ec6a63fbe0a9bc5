//! Keeping a print of the machine in the store.

use crate::failure::Failure;
use crate::io::Io;
use crate::source;
use std::path::{Path, PathBuf};
use tiebreak::core::machine::MachinePrint;
use tiebreak::store::{PrintId, Store, StoreError};

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

    /// Keeps a finished print and gives its name; says so if it could not.
    pub fn keep(self, print: &MachinePrint, io: &mut Io) -> Option<String> {
        let kept = match self {
            Keeper::Nowhere => return None,
            _ if print.interrupted => return None,
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

fn write(path: &Path, print: &MachinePrint) -> Result<PrintId, StoreError> {
    let mut store = Store::open(path)?;
    let id = store.keep_print(print)?;
    store.sync()?;
    Ok(id)
}
