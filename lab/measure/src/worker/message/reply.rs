//! Answers of a worker.

use super::Sizes;
use serde::{Deserialize, Serialize};

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The content of a contestant's table.
    Table(Table),
    /// The contestant at this index cannot be raced here.
    Refused(u32, Refusal),
    /// All are loaded and prepared; whether each of them resets its state before a run.
    Ready(Vec<bool>),
    /// The request was carried out, and the area has the records.
    Done,
    /// A checking pass was completed.
    Checked {
        /// The checksums of two runs, a reset before each.
        checksums: [u64; 2],
        /// Why it was not called without memory: an index into `starved::REASONS`, counted from 1,
        /// or 0.
        unstarved: u64,
    },
    /// A pass on several threads was completed.
    Together {
        /// The first thread's checksum.
        checksum: u64,
        /// The checksum of a thread whose checksum or dump differs at the end, if there is one.
        other: Option<u64>,
        /// Whether a call gave another checksum while all ran.
        is_torn: bool,
    },
    /// A flush checking pass would be the same as the aligned one.
    Skipped,
    /// An input was made or measured.
    Sized(Sizes),
    /// An answer was given.
    Checksum(u64),
    /// The request cannot be carried out, in words.
    Failed(String),
}

/// The fields of a contestant's table that the laboratory uses.
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

/// Why a library is not a contestant, or not now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// The system's linker refuses it, with this message.
    NotLoaded(String),
    /// Its table is missing or cannot be used, in the words of [`tiebreak_abi::Refusal`].
    BadTable(String),
    /// `prepare` returned null.
    NotPrepared,
}

impl Refusal {
    /// Returns the refusal as a sentence about a library.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Refusal::NotLoaded(said) => format!("it cannot be loaded: {said}"),
            Refusal::BadTable(why) => why.clone(),
            Refusal::NotPrepared => "its 'prepare' gave nothing".to_owned(),
        }
    }
}
