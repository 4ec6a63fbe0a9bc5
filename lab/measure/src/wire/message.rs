//! Requests of the laboratory to a worker, and its answers.

use super::channel::{self, Inbox};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

/// A request. Each names the descriptors that come with it, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Load a contestant and report its table.
    Probe(#[serde(with = "path")] PathBuf),
    /// Load and prepare these. Descriptors: the area, the input.
    Load(Load),
    /// Run rounds in the orders that the area holds.
    Rounds(Rounds),
    /// Make the checking pass of one contestant. Descriptors: the area, the input, a file for its
    /// dump.
    Check(Check),
    /// Run one contestant on several threads at once. Descriptors: the area, the input, a file for
    /// the first thread's dump, one for another thread's dump that differs from it.
    Together(Together),
    /// Load an oracle.
    Oracle(#[serde(with = "path")] PathBuf),
    /// Make an input, or only measure an existing one. Descriptor: its file.
    Input {
        /// The question.
        question: Question,
        /// Whether to fill the file.
        is_made: bool,
    },
    /// Answer for an input. Descriptors: the input, and a file if the text is wanted.
    Answer {
        /// The question.
        question: Question,
        /// The length of the input.
        input_bytes: u64,
    },
}

/// The contestants of a unit, and their input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// The contestants, in the order in which they are loaded and prepared.
    pub(crate) contestants: Vec<Member>,
    pub(crate) cpu: Option<u64>,
    pub(crate) helpers: HelperCpus,
    pub(crate) stack_bytes: u32,
    pub(crate) input: Sizes,
    /// The number of batches that the area can hold.
    pub(crate) capacity: u64,
    /// Whether energy is metered.
    pub(crate) meters_energy: bool,
}

/// A contestant of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    #[serde(with = "path")]
    pub(crate) object: PathBuf,
    /// Bytes to allocate on the heap before it is prepared.
    pub(crate) padding: u32,
    /// The number of threads on which it runs at once; only the first is timed.
    pub(crate) threads: u32,
}

/// The CPUs of the threads that run at the same time as the timed one: each thread on the next one,
/// or, if there are none, wherever the kernel puts it.
pub(crate) type HelperCpus = Vec<u64>;

/// A pass of one contestant on several threads at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Together {
    pub(crate) member: Member,
    pub(crate) cpu: Option<u64>,
    pub(crate) helpers: HelperCpus,
    pub(crate) input: Sizes,
}

/// The sizes of an input and of its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    pub(crate) bytes: u64,
    pub(crate) items: u64,
    pub(crate) output_bytes: u64,
}

/// Rounds of loaded contestants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rounds {
    /// The contestant that is called last when each is called once, untimed, before the first
    /// round; none before a batch that is not evidence.
    pub(crate) primer: Option<u32>,
    /// The number of batches in all rounds together: as many entries of the orders are read.
    pub(crate) batches: u64,
    /// By index in the worker, how many calls a batch has.
    pub(crate) calls_a_batch: Vec<u64>,
    pub(crate) times_each_call: bool,
    /// Whether hardware counters count from now on, as long as the process lives.
    pub(crate) counts: bool,
    /// The seed of what outputs are overwritten with before a batch that is judged. The request
    /// then has a descriptor: a file for the dump.
    pub(crate) noise: u64,
}

/// Special values of the noise: the output is overwritten with zeros, or with ones.
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

/// Where a buffer lies between its guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Side {
    /// Its start touches the front guard.
    Front,
    /// Its end, with the slack, is as near to the end guard as its alignment permits.
    End,
    /// Its end, with the slack, touches the end guard, whatever its alignment then is.
    Flush,
}

/// A question to an oracle.
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

/// Encodes a message. Both ends are one program, so postcard's format is enough: fields in order,
/// without names.
pub(crate) fn bytes(message: &impl Serialize) -> Vec<u8> {
    // Only a sequence of unknown length can fail, and there is none.
    postcard::to_stdvec(message).unwrap_or_default()
}

/// Decodes the output of [`bytes`]; `None` if these bytes are not such a message.
fn read<M: DeserializeOwned>(bytes: &[u8]) -> Option<M> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

/// Sends a message with its descriptors.
///
/// # Errors
/// As [`channel::send`].
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    channel::send(socket, &bytes(message), descriptors)
}

/// Waits for a message and returns it with its descriptors; `None` if the other end is closed.
///
/// # Errors
/// As [`Inbox::receive`]; fails also if it is another message.
pub(crate) fn receive<M: DeserializeOwned>(
    inbox: &mut Inbox,
    socket: BorrowedFd<'_>,
) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
    let Some((bytes, descriptors)) = inbox.receive(socket)? else { return Ok(None) };
    Ok(Some((read(bytes).ok_or(io::ErrorKind::InvalidData)?, descriptors)))
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

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The content of a contestant's table.
    Table(Facts),
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
        /// Why it was not called without memory; `None` if it was, or if it says that it
        /// allocates.
        unstarved: Option<String>,
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

/// The content of a contestant's table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its name, for messages.
    pub name: String,
    /// The CPU features that it needs, spelled as in `/proc/cpuinfo`; this machine has them.
    pub needs: Vec<String>,
    /// Whether something must be reset before each run: then each call is timed separately.
    pub has_reset: bool,
    /// Whether a run allocates memory.
    pub allocates: bool,
    /// Bytes that it may read past the end of its input.
    pub input_slack_bytes: u32,
    /// Bytes that it may write past the end of its output.
    pub output_slack_bytes: u32,
    /// The alignment of its input and output.
    pub alignment_bytes: u32,
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
            Refusal::NotLoaded(why) => format!("it cannot be loaded: {why}"),
            Refusal::BadTable(why) => why.clone(),
            Refusal::NotPrepared => "its 'prepare' gave nothing".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    fn question() -> Question {
        Question {
            workload: "random".into(),
            distribution: "uniform".into(),
            contract: "published".into(),
            size: 20_000,
            seed: u64::MAX,
            part: 3,
            parts: 256,
        }
    }

    #[test]
    fn requests_come_back() {
        let sizes = Sizes { bytes: 1 << 40, items: 7, output_bytes: 0 };
        let member =
            |object: &str, padding, threads| Member { object: object.into(), padding, threads };
        let load = Load {
            contestants: vec![member("/a b/x.so", 4095, 1), member("y", 0, 64)],
            cpu: Some(3),
            helpers: vec![1, 0],
            stack_bytes: 16,
            input: sizes,
            capacity: 12,
            meters_energy: true,
        };
        let rounds = Rounds {
            primer: Some(1),
            batches: 8,
            calls_a_batch: vec![1000, 1],
            times_each_call: true,
            counts: false,
            noise: 9,
        };
        let check =
            |side| Request::Check(Check { object: "/c".into(), input: sizes, side, noise: 8 });
        for request in [
            Request::Probe("/p".into()),
            Request::Load(load.clone()),
            Request::Load(Load { cpu: None, contestants: Vec::new(), helpers: Vec::new(), ..load }),
            Request::Rounds(rounds.clone()),
            Request::Rounds(Rounds { primer: None, counts: true, ..rounds }),
            check(Side::Front),
            check(Side::End),
            check(Side::Flush),
            Request::Together(Together {
                member: member("/z", 1, 2),
                cpu: Some(7),
                helpers: vec![6],
                input: sizes,
            }),
            Request::Oracle(OsStr::from_bytes(b"/not \xff UTF-8").into()),
            Request::Input { question: question(), is_made: true },
            Request::Answer { question: question(), input_bytes: 5 },
        ] {
            let bytes = bytes(&request);
            assert_eq!(read::<Request>(&bytes).as_ref(), Some(&request));
            assert_eq!(read::<Request>(&bytes[..bytes.len() - 1]), None, "{request:?} cut short");
        }
        assert_eq!(read::<Request>(&[99]), None);
        assert_eq!(read::<Request>(&[]), None);
    }

    #[test]
    fn replies_come_back() {
        let table = Facts {
            name: "swar".into(),
            needs: vec!["avx2".into(), "bmi2".into()],
            has_reset: true,
            allocates: false,
            input_slack_bytes: 8,
            output_slack_bytes: 1,
            alignment_bytes: 64,
        };
        let mut replies = vec![
            Reply::Table(table),
            Reply::Ready(vec![true, false]),
            Reply::Done,
            Reply::Checked { checksums: [1, 2], unstarved: Some("it has threads".into()) },
            Reply::Together { checksum: 1, other: None, is_torn: true },
            Reply::Together { checksum: 1, other: Some(2), is_torn: false },
            Reply::Skipped,
            Reply::Sized(Sizes { bytes: 1, items: 2, output_bytes: 3 }),
            Reply::Checksum(9),
            Reply::Failed("no memory".into()),
        ];
        let refusals = [
            Refusal::NotLoaded("wrong ELF class".into()),
            Refusal::BadTable("it has no table".into()),
            Refusal::NotPrepared,
        ];
        replies.extend(refusals.map(|refusal| Reply::Refused(4, refusal)));
        for reply in replies {
            assert_eq!(read(&bytes(&reply)), Some(reply));
        }
        assert_eq!(read::<Reply>(&[99]), None);
    }
}
