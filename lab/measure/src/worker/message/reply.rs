//! What a worker answers.

use super::Sizes;
use crate::worker::wire::{Put, Take};
use std::ffi::CStr;

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
    /// It exports no table.
    NoTable,
    /// What it exports under that name is none.
    NotATable,
    /// Of another version of the ABI.
    Version(u32),
    /// Of this version, but of another size.
    Size(u32),
    /// A function is missing.
    Missing(String),
    /// The alignment is no power of two up to 4096.
    Alignment(u32),
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
            Reply::Checked { checksums } => Put::kind(4).number(checksums[0]).number(checksums[1]),
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
            4 => Reply::Checked { checksums: [take.number()?, take.number()?] },
            5 => Reply::Skipped,
            6 => Reply::Sized(Sizes::take(&mut take)?),
            7 => Reply::Checksum(take.number()?),
            8 => Reply::Failed(take.text()?),
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
    /// The refusal as a sentence about a library that should export this symbol.
    pub(crate) fn sentence(&self, symbol: &CStr) -> String {
        let ours = tiebreak_abi::ABI;
        let symbol = symbol.to_string_lossy();
        match self {
            Refusal::NotLoaded(said) => format!("it cannot be loaded: {said}"),
            Refusal::NoTable => {
                format!("it exports no table: it must define {symbol} (see tiebreak.h)")
            }
            Refusal::NotATable => "what it exports as its table is none: the table's first word \
                                   must be TIEBREAK_MAGIC"
                .to_owned(),
            Refusal::Version(version) => format!(
                "it is made for version {version} of tiebreak.h, and this is version {ours}: \
                 build it anew with the header of this tiebreak"
            ),
            Refusal::Size(bytes) => format!(
                "its table has {bytes} bytes, which is not the size of a table of version \
                 {ours}: build it anew with the header of this tiebreak"
            ),
            Refusal::Missing(function) => format!("its table has no '{function}'"),
            Refusal::Alignment(bytes) => format!(
                "it asks for an alignment of {bytes} bytes: a power of two up to 4096 can be had"
            ),
            Refusal::NotPrepared => "its 'prepare' gave nothing".to_owned(),
        }
    }

    fn put(&self, put: Put) -> Put {
        match self {
            Refusal::NotLoaded(said) => put.number(0).text(said),
            Refusal::NoTable => put.number(1),
            Refusal::NotATable => put.number(2),
            Refusal::Version(version) => put.number(3).number(u64::from(*version)),
            Refusal::Size(bytes) => put.number(4).number(u64::from(*bytes)),
            Refusal::Missing(function) => put.number(5).text(function),
            Refusal::Alignment(bytes) => put.number(6).number(u64::from(*bytes)),
            Refusal::NotPrepared => put.number(7),
        }
    }

    fn take(take: &mut Take<'_>) -> Option<Refusal> {
        Some(match take.number()? {
            0 => Refusal::NotLoaded(take.text()?),
            1 => Refusal::NoTable,
            2 => Refusal::NotATable,
            3 => Refusal::Version(take.number32()?),
            4 => Refusal::Size(take.number32()?),
            5 => Refusal::Missing(take.text()?),
            6 => Refusal::Alignment(take.number32()?),
            7 => Refusal::NotPrepared,
            _ => return None,
        })
    }
}
