//! The parsers of quantities, each used by files and by the command line.

use tiebreak_core::plan::Adjust;
pub use tiebreak_core::quantity::{NotAQuantity, parse_budget, parse_cpus, parse_fraction};
use tiebreak_core::quantity::{SECONDS_MAX, parse_bytes, parse_duration_ns};

/// Reads a time after which a run can be ended, in nanoseconds: above 0, and at most
/// [`SECONDS_MAX`].
///
/// # Errors
/// Fails if the text is not such a time, with its unit.
pub fn parse_timeout_ns(text: &str) -> Result<u64, NotAQuantity> {
    match parse_duration_ns(text)? {
        ns if (1.0..=SECONDS_MAX * 1e9).contains(&ns) => Ok(ns as u64),
        _ => Err(not(text, "a time after which a run can be ended, such as \"10s\"")),
    }
}

/// Reads a size above 0, in bytes.
///
/// # Errors
/// Fails if the text is not such a size, with a unit or without.
pub fn parse_size(text: &str) -> Result<u64, NotAQuantity> {
    match parse_bytes(text)? {
        0 => Err(not(text, "a size above 0, such as \"256MiB\"")),
        bytes => Ok(bytes),
    }
}

/// Reads what is removed from the noise: `slot`, `strata`, both with a comma, or `none`.
///
/// # Errors
/// Fails at the first word that is none of these, and at a `none` that is not alone.
pub fn parse_adjust(text: &str) -> Result<Adjust, NotAQuantity> {
    let is_alone = text.trim() == "none";
    text.split(',')
        .try_fold(Adjust::NONE, |adjust, word| with_adjustment(adjust, word.trim(), is_alone))
}

/// Returns an adjustment with the one that a word names; `none` must be alone.
pub(crate) fn with_adjustment(
    adjust: Adjust,
    word: &str,
    is_alone: bool,
) -> Result<Adjust, NotAQuantity> {
    match adjust.with(word) {
        Some(adjust) => Ok(adjust),
        None if word == "none" && is_alone => Ok(adjust),
        None if word == "none" => {
            Err(not(word, "\"none\" alone, or \"slot\" and \"strata\" without it"))
        }
        None => Err(not(word, "\"slot\", \"strata\" or \"none\"")),
    }
}

fn not(text: &str, expected: &'static str) -> NotAQuantity {
    NotAQuantity { text: text.to_owned(), expected }
}
