//! What a worker answers.

use super::Sizes;
use serde::{Deserialize, Serialize};

/// What is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// What a contestant's table says.
    Table(Table),
    /// The contestant at this place is not one that can be raced here.
    Refused(u32, Refusal),
    /// All are loaded and prepared; whether each of them resets its state before a run.
    Ready(Vec<bool>),
    /// What was asked was done, and the area has the records.
    Done,
    /// A checking pass went to its end.
    Checked {
        /// The checksums of two runs, a reset before each.
        checksums: [u64; 2],
        /// Why it was not called without memory: a place in `starved::REASONS`, or 0.
        unstarved: u64,
    },
    /// A pass on several threads went to its end.
    Together {
        /// The first thread's checksum.
        checksum: u64,
        /// That of a thread whose checksum or dump is another at the end, if there is one.
        other: Option<u64>,
        /// Whether a call gave another one while all ran.
        is_torn: bool,
    },
    /// A flush checking pass would be the same as the aligned one.
    Skipped,
    /// An input was made or measured.
    Sized(Sizes),
    /// An answer was given.
    Checksum(u64),
    /// It cannot be done, in words.
    Failed(String),
}

/// A contestant's table, as far as anyone asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) needs: String,
    pub(crate) has_reset: bool,
    pub(crate) allocates: bool,
    pub(crate) input_slack_bytes: u32,
    pub(crate) output_slack_bytes: u32,
    pub(crate) alignment_bytes: u32,
}

/// Why a library is no contestant, or not now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// The system's linker does not take it, in its words.
    NotLoaded(String),
    /// Its table is not there or cannot be used, in the words of [`tiebreak_abi::Refusal`].
    BadTable(String),
    /// `prepare` gave nothing.
    NotPrepared,
}

impl Refusal {
    /// The refusal as a sentence about a library.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Refusal::NotLoaded(said) => format!("it cannot be loaded: {said}"),
            Refusal::BadTable(why) => why.clone(),
            Refusal::NotPrepared => "its 'prepare' gave nothing".to_owned(),
        }
    }
}
