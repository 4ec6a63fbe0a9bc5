//! What a worker answers.

use super::Sizes;
use crate::worker::wire::{Put, Take};

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The system's linker does not take it, in its words.
    NotLoaded(String),
    /// Its table is not there or cannot be used, in the words of [`tiebreak_abi::Refusal`].
    BadTable(String),
    /// `prepare` gave nothing.
    NotPrepared,
}

impl Reply {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let put = match self {
            Reply::Table(table) => table.put(Put::kind(0)),
            Reply::Refused(position, refusal) => {
                refusal.put(Put::kind(1).number(u64::from(*position)))
            }
            Reply::Ready(resets) => {
                let put = Put::kind(2).number(resets.len() as u64);
                resets.iter().fold(put, |put, resets| put.flag(*resets))
            }
            Reply::Done => Put::kind(3),
            Reply::Checked { checksums, unstarved } => {
                let put = Put::kind(4).number(checksums[0]).number(checksums[1]);
                put.number(*unstarved)
            }
            Reply::Together { checksum, other, is_torn } => {
                let put = Put::kind(9).number(*checksum).flag(other.is_some());
                put.number(other.unwrap_or(0)).flag(*is_torn)
            }
            Reply::Skipped => Put::kind(5),
            Reply::Sized(sizes) => sizes.put(Put::kind(6)),
            Reply::Checksum(checksum) => Put::kind(7).number(*checksum),
            Reply::Failed(text) => Put::kind(8).text(text),
        };
        put.0
    }

    /// `None` if the bytes are no reply.
    pub(crate) fn read(bytes: &[u8]) -> Option<Reply> {
        let mut take = Take(bytes);
        Some(match take.kind()? {
            0 => Reply::Table(Table::take(&mut take)?),
            1 => Reply::Refused(take.number32()?, Refusal::take(&mut take)?),
            2 => {
                let count = take.number()?;
                let resets: Option<Vec<bool>> = (0..count).map(|_| take.flag()).collect();
                Reply::Ready(resets?)
            }
            3 => Reply::Done,
            4 => Reply::Checked {
                checksums: [take.number()?, take.number()?],
                unstarved: take.number()?,
            },
            5 => Reply::Skipped,
            6 => Reply::Sized(Sizes::take(&mut take)?),
            7 => Reply::Checksum(take.number()?),
            8 => Reply::Failed(take.text()?),
            9 => {
                let (checksum, differs, other) = (take.number()?, take.flag()?, take.number()?);
                let other = differs.then_some(other);
                Reply::Together { checksum, other, is_torn: take.flag()? }
            }
            _ => return None,
        })
    }
}

impl Table {
    fn put(&self, put: Put) -> Put {
        put.text(&self.name)
            .text(&self.needs)
            .flag(self.has_reset)
            .flag(self.allocates)
            .number(u64::from(self.input_slack_bytes))
            .number(u64::from(self.output_slack_bytes))
            .number(u64::from(self.alignment_bytes))
    }

    fn take(take: &mut Take<'_>) -> Option<Table> {
        Some(Table {
            name: take.text()?,
            needs: take.text()?,
            has_reset: take.flag()?,
            allocates: take.flag()?,
            input_slack_bytes: take.number32()?,
            output_slack_bytes: take.number32()?,
            alignment_bytes: take.number32()?,
        })
    }
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

    fn put(&self, put: Put) -> Put {
        match self {
            Refusal::NotLoaded(said) => put.number(0).text(said),
            Refusal::BadTable(why) => put.number(1).text(why),
            Refusal::NotPrepared => put.number(2),
        }
    }

    fn take(take: &mut Take<'_>) -> Option<Refusal> {
        Some(match take.number()? {
            0 => Refusal::NotLoaded(take.text()?),
            1 => Refusal::BadTable(take.text()?),
            2 => Refusal::NotPrepared,
            _ => return None,
        })
    }
}
