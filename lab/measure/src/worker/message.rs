//! What the laboratory asks of a worker; what it answers is in [`reply`].

mod reply;

pub(crate) use reply::{Refusal, Reply, Table};

use super::memory::Side;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is asked. Descriptors come with it in the order that each names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Load a contestant and say what its table says.
    Probe(#[serde(with = "path")] PathBuf),
    /// Load and prepare these. Descriptors: the area, the input.
    Load(Load),
    /// Run rounds in the orders that the area holds.
    Rounds(Rounds),
    /// The checking pass of one contestant. Descriptors: the area, the input, a file for what it
    /// dumps.
    Check(Check),
    /// Run one contestant on several threads at once. Descriptors: the area, the input, a file for
    /// what the first thread dumps, one for what another thread dumps that differs from it.
    Together(Together),
    /// Load an oracle.
    Oracle(#[serde(with = "path")] PathBuf),
    /// Make an input, or only measure one that is there. Descriptor: its file.
    Input {
        /// What is asked.
        question: Question,
        /// Whether the file is to be filled.
        is_made: bool,
    },
    /// The answer for an input. Descriptors: the input, and a file if the text is wanted.
    Answer {
        /// What is asked.
        question: Question,
        /// The length of the input.
        input_bytes: u64,
    },
}

/// Contestants of a unit, and what they work on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// In the order in which they are loaded and prepared.
    pub(crate) contestants: Vec<Member>,
    pub(crate) cpu: Option<u64>,
    pub(crate) helpers: HelperCpus,
    pub(crate) stack_bytes: u32,
    pub(crate) input: Sizes,
    /// Room in the area.
    pub(crate) capacity: u64,
    /// Whether energy is metered.
    pub(crate) meters_energy: bool,
}

/// A contestant of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    #[serde(with = "path")]
    pub(crate) object: PathBuf,
    /// Bytes in the heap before it is prepared.
    pub(crate) padding: u32,
    /// On how many threads it runs at once; only the first is timed.
    pub(crate) threads: u32,
}

/// Where threads run beside the one that is timed: each on the next of these CPUs, or, if there are
/// none, wherever the kernel puts them.
pub(crate) type HelperCpus = Vec<u64>;

/// A pass of one contestant on several threads at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Together {
    pub(crate) member: Member,
    pub(crate) cpu: Option<u64>,
    pub(crate) helpers: HelperCpus,
    pub(crate) input: Sizes,
}

/// The sizes of an input and of what comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    pub(crate) bytes: u64,
    pub(crate) items: u64,
    pub(crate) output_bytes: u64,
}

/// Rounds of contestants that are loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rounds {
    /// Who is the last of all that are called once, untimed, before the first round; nobody before
    /// a batch that is no evidence.
    pub(crate) primer: Option<u32>,
    /// Batches in all rounds together: as many entries of the orders are read.
    pub(crate) batches: u64,
    /// By place in the worker, how many calls a batch has.
    pub(crate) calls_a_batch: Vec<u64>,
    pub(crate) times_each_call: bool,
    /// Whether hardware counters count from here on, for as long as the process lives.
    pub(crate) counts: bool,
    /// What outputs are overwritten with before a batch that is judged. Descriptor of the request,
    /// if one is: a file for what is dumped.
    pub(crate) noise: u64,
}

/// Noise that is no noise: the output is overwritten with zeros, or with ones.
pub(crate) const ZEROS: u64 = ONES - 1;
pub(crate) const ONES: u64 = u64::MAX;

/// A checking pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Check {
    #[serde(with = "path")]
    pub(crate) object: PathBuf,
    pub(crate) input: Sizes,
    pub(crate) side: Side,
    /// If not 0, the output is overwritten with what is drawn from it, or with [`ZEROS`] or
    /// [`ONES`], after some runs and before the dump.
    pub(crate) noise: u64,
}

/// What an oracle is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) workload: String,
    pub(crate) distribution: String,
    pub(crate) contract: String,
    pub(crate) size: u64,
    pub(crate) seed: u64,
    pub(crate) part: u64,
    pub(crate) parts: u64,
}

/// Writes a request or a reply as bytes. Both ends are one program, so postcard's form is enough:
/// fields in their order, without names.
pub(crate) fn bytes(message: &impl Serialize) -> Vec<u8> {
    // All that can fail is a sequence whose length is not known, and there is none.
    postcard::to_stdvec(message).unwrap_or_default()
}

/// Reads what [`bytes`] has written; `None` if these bytes are no such message.
pub(crate) fn read<M: DeserializeOwned>(bytes: &[u8]) -> Option<M> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

/// A path as its bytes, which need not be UTF-8.
mod path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_bytes().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(PathBuf::from(OsString::from_vec(Vec::deserialize(from)?)))
    }
}

#[cfg(test)]
mod tests;
