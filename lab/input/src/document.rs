//! Files in TOML, read so that all errors are reported at once, each at its word.

pub(crate) mod claim;
pub(crate) mod errors;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod string;
pub(crate) mod value;

use errors::FileErrors;
use keys::{Item, items};
use log::Log;
use std::ops::Range;
use toml::de::DeTable;

/// The longest file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 1_000_000;
/// The longest name, in bytes: names are printed in tables.
pub(crate) const MAX_NAME_BYTES: usize = 100;

/// Reads a file that errors call `name`. `meaning` converts its keys, and logs what is wrong with
/// them.
pub(crate) fn read<T>(
    name: &str,
    text: &str,
    meaning: impl FnOnce(&[Item<'_>], &mut Log<'_>) -> Option<T>,
) -> Result<T, FileErrors> {
    let mut log = Log::new(text);
    let said = parsed(text, meaning, &mut log);
    match said.filter(|_| log.is_empty()) {
        Some(said) => Ok(said),
        None => Err(log.into_errors(name)),
    }
}

fn parsed<T>(
    text: &str,
    meaning: impl FnOnce(&[Item<'_>], &mut Log<'_>) -> Option<T>,
    log: &mut Log<'_>,
) -> Option<T> {
    if text.len() > MAX_FILE_BYTES {
        let at = text.floor_char_boundary(MAX_FILE_BYTES);
        log.error(at..at, format!("the file has {} bytes", text.len()))
            .label(format!("expected at most {MAX_FILE_BYTES}"));
        return None;
    }
    let (root, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        log.syntax(&syntax);
        return None;
    }
    meaning(&items(root.get_ref()), log)
}

/// Returns an empty span at the beginning, for what is missing in the whole file.
pub(crate) fn start() -> Range<usize> {
    0..0
}
