//! What the laboratory asks of a worker; what it answers is in [`reply`].

mod reply;

pub(crate) use reply::{Refusal, Reply, Table};

use super::memory::Side;
use super::wire::{Put, Take};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
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
    /// Run one contestant on several threads at once. Descriptors: the area, the input, a file for
    /// what the first thread dumps, one for what another thread dumps that differs from it.
    Together(Together),
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Together {
    pub(crate) member: Member,
    pub(crate) cpu: Option<u64>,
    pub(crate) helpers: HelperCpus,
    pub(crate) input: Sizes,
}

/// The sizes of an input and of what comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) bytes: u64,
    pub(crate) items: u64,
    pub(crate) output_bytes: u64,
}

/// Rounds of contestants that are loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub(crate) object: PathBuf,
    pub(crate) input: Sizes,
    pub(crate) side: Side,
    /// If not 0, the output is overwritten with what is drawn from it, or with [`ZEROS`] or
    /// [`ONES`], after some runs and before the dump.
    pub(crate) noise: u64,
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
                .numbers(&rounds.calls_a_batch)
                .flag(rounds.times_each_call)
                .flag(rounds.counts)
                .number(rounds.noise),
            Request::Check(check) => check
                .input
                .put(Put::kind(3).bytes(check.object.as_os_str().as_bytes()))
                .number(check.side as u64)
                .number(check.noise),
            Request::Together(pass) => pass.put(Put::kind(7)),
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
                calls_a_batch: take.numbers()?,
                times_each_call: take.flag()?,
                counts: take.flag()?,
                noise: take.number()?,
            }),
            3 => Request::Check(Check {
                object: path(&mut take)?,
                input: Sizes::take(&mut take)?,
                side: match take.number()? {
                    0 => Side::Front,
                    1 => Side::End,
                    _ => Side::Flush,
                },
                noise: take.number()?,
            }),
            4 => Request::Oracle(path(&mut take)?),
            5 => Request::Input { question: Question::take(&mut take)?, is_made: take.flag()? },
            6 => Request::Answer {
                question: Question::take(&mut take)?,
                input_bytes: take.number()?,
            },
            7 => Request::Together(Together::take(&mut take)?),
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
        let put = put.number(self.contestants.len() as u64);
        let put = self.contestants.iter().fold(put, |put, member| member.put(put));
        let put = put_cpus(put, self.cpu, &self.helpers);
        let put = self.input.put(put);
        put.number(u64::from(self.stack_bytes)).number(self.capacity).flag(self.meters_energy)
    }

    fn take(take: &mut Take<'_>) -> Option<Load> {
        let count = take.number()?;
        let contestants: Option<Vec<_>> = (0..count).map(|_| Member::take(take)).collect();
        let (contestants, (cpu, helpers)) = (contestants?, take_cpus(take)?);
        Some(Load {
            contestants,
            cpu,
            helpers,
            input: Sizes::take(take)?,
            stack_bytes: take.number32()?,
            capacity: take.number()?,
            meters_energy: take.flag()?,
        })
    }
}

impl Member {
    fn put(&self, put: Put) -> Put {
        let put = put.bytes(self.object.as_os_str().as_bytes());
        put.number(u64::from(self.padding)).number(u64::from(self.threads))
    }

    fn take(take: &mut Take<'_>) -> Option<Member> {
        let (object, padding) = (path(take)?, take.number32()?);
        Some(Member { object, padding, threads: take.number32()? })
    }
}

impl Together {
    fn put(&self, put: Put) -> Put {
        self.input.put(put_cpus(self.member.put(put), self.cpu, &self.helpers))
    }

    fn take(take: &mut Take<'_>) -> Option<Together> {
        let (member, (cpu, helpers)) = (Member::take(take)?, take_cpus(take)?);
        Some(Together { member, cpu, helpers, input: Sizes::take(take)? })
    }
}

fn put_cpus(put: Put, cpu: Option<u64>, helpers: &HelperCpus) -> Put {
    put.number(cpu.unwrap_or(u64::MAX)).numbers(helpers)
}

fn take_cpus(take: &mut Take<'_>) -> Option<(Option<u64>, HelperCpus)> {
    let cpu = Some(take.number()?).filter(|cpu| *cpu != u64::MAX);
    Some((cpu, take.numbers()?))
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
