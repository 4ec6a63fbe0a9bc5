//! What the laboratory asks of a worker; what it answers is in [`reply`].

mod reply;

pub(crate) use reply::{Refusal, Reply, Table};

use super::memory::Side;
use super::wire::{Put, Take};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What is asked. Descriptors come with it in the order that each names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// Load a contestant and say what its table says.
    Probe(PathBuf),
    /// Load and prepare these. Descriptors: the area, the input.
    Load(Load),
    /// Run rounds in the orders that the area holds.
    Rounds(Rounds),
    /// The checking pass of one contestant. Descriptors: the area, the input, a file for what it
    /// dumps.
    Check(Check),
    /// Load an oracle.
    Oracle(PathBuf),
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Load {
    /// In the order in which they are loaded and prepared: the library, and bytes of padding in the
    /// heap before it is prepared.
    pub(crate) contestants: Vec<(PathBuf, u32)>,
    pub(crate) cpu: Option<u64>,
    pub(crate) stack_bytes: u32,
    pub(crate) input: Sizes,
    /// Room in the area.
    pub(crate) capacity: u64,
    /// Whether energy is metered.
    pub(crate) meters_energy: bool,
}

/// The sizes of an input and of what comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) bytes: u64,
    pub(crate) items: u64,
    pub(crate) output_bytes: u64,
}

/// Rounds of contestants that are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Who is called once, untimed, before the first round; nobody before a batch that is no
    /// evidence.
    pub(crate) primer: Option<u32>,
    /// Batches in all rounds together: as many entries of the orders are read.
    pub(crate) batches: u64,
    pub(crate) calls_a_batch: u64,
    pub(crate) times_each_call: bool,
    /// Whether hardware counters count from here on, for as long as the process lives.
    pub(crate) counts: bool,
}

/// A checking pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub(crate) library: PathBuf,
    pub(crate) input: Sizes,
    pub(crate) side: Side,
}

/// What an oracle is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) workload: String,
    pub(crate) distribution: String,
    pub(crate) contract: String,
    pub(crate) size: u64,
    pub(crate) seed: u64,
    pub(crate) part: u64,
    pub(crate) parts: u64,
}

impl Request {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let put = match self {
            Request::Probe(library) => Put::kind(0).bytes(library.as_os_str().as_bytes()),
            Request::Load(load) => load.put(Put::kind(1)),
            Request::Rounds(rounds) => Put::kind(2)
                .number(rounds.primer.map_or(u64::MAX, u64::from))
                .number(rounds.batches)
                .number(rounds.calls_a_batch)
                .flag(rounds.times_each_call)
                .flag(rounds.counts),
            Request::Check(check) => check
                .input
                .put(Put::kind(3).bytes(check.library.as_os_str().as_bytes()))
                .number(check.side as u64),
            Request::Oracle(library) => Put::kind(4).bytes(library.as_os_str().as_bytes()),
            Request::Input { question, is_made } => question.put(Put::kind(5)).flag(*is_made),
            Request::Answer { question, input_bytes } => {
                question.put(Put::kind(6)).number(*input_bytes)
            }
        };
        put.0
    }

    /// `None` if the bytes are no request.
    pub(crate) fn read(bytes: &[u8]) -> Option<Request> {
        let mut take = Take(bytes);
        Some(match take.kind()? {
            0 => Request::Probe(path(&mut take)?),
            1 => Request::Load(Load::take(&mut take)?),
            2 => Request::Rounds(Rounds {
                primer: position(&mut take)?,
                batches: take.number()?,
                calls_a_batch: take.number()?,
                times_each_call: take.flag()?,
                counts: take.flag()?,
            }),
            3 => Request::Check(Check {
                library: path(&mut take)?,
                input: Sizes::take(&mut take)?,
                side: match take.number()? {
                    0 => Side::Front,
                    1 => Side::End,
                    _ => Side::Flush,
                },
            }),
            4 => Request::Oracle(path(&mut take)?),
            5 => Request::Input { question: Question::take(&mut take)?, is_made: take.flag()? },
            6 => Request::Answer {
                question: Question::take(&mut take)?,
                input_bytes: take.number()?,
            },
            _ => return None,
        })
    }
}

fn path(take: &mut Take<'_>) -> Option<PathBuf> {
    Some(PathBuf::from(OsStr::from_bytes(take.bytes()?)))
}

/// A place in the worker, or that of nobody.
fn position(take: &mut Take<'_>) -> Option<Option<u32>> {
    match take.number()? {
        u64::MAX => Some(None),
        place => Some(Some(u32::try_from(place).ok()?)),
    }
}

impl Load {
    fn put(&self, put: Put) -> Put {
        let mut put = put.number(self.contestants.len() as u64);
        for (library, padding) in &self.contestants {
            let bytes = library.clone().into_os_string().into_vec();
            put = put.bytes(&bytes).number(u64::from(*padding));
        }
        let put = self.input.put(put.number(self.cpu.unwrap_or(u64::MAX)));
        put.number(u64::from(self.stack_bytes)).number(self.capacity).flag(self.meters_energy)
    }

    fn take(take: &mut Take<'_>) -> Option<Load> {
        let count = take.number()?;
        let contestants: Option<Vec<_>> =
            (0..count).map(|_| Some((path(take)?, take.number32()?))).collect();
        Some(Load {
            contestants: contestants?,
            cpu: Some(take.number()?).filter(|cpu| *cpu != u64::MAX),
            input: Sizes::take(take)?,
            stack_bytes: take.number32()?,
            capacity: take.number()?,
            meters_energy: take.flag()?,
        })
    }
}

impl Sizes {
    fn put(&self, put: Put) -> Put {
        put.number(self.bytes).number(self.items).number(self.output_bytes)
    }

    fn take(take: &mut Take<'_>) -> Option<Sizes> {
        let (bytes, items) = (take.number()?, take.number()?);
        Some(Sizes { bytes, items, output_bytes: take.number()? })
    }
}

impl Question {
    fn put(&self, put: Put) -> Put {
        put.text(&self.workload)
            .text(&self.distribution)
            .text(&self.contract)
            .number(self.size)
            .number(self.seed)
            .number(self.part)
            .number(self.parts)
    }

    fn take(take: &mut Take<'_>) -> Option<Question> {
        Some(Question {
            workload: take.text()?,
            distribution: take.text()?,
            contract: take.text()?,
            size: take.number()?,
            seed: take.number()?,
            part: take.number()?,
            parts: take.number()?,
        })
    }
}

#[cfg(test)]
mod tests;
