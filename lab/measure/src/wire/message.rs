//! Requests of the laboratory to a worker, and its replies.

use super::channel::{self, Inbox};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// A request. Each names the descriptors that come with it, in order, and the content of its
/// [`Reply`], if it has any. Paths are in the system's form, which need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Load a contestant, and report its table. Reply: [`Facts`].
    Probe(OsString),
    /// Load and prepare these. Descriptors: the input, and another input if there is one to
    /// exchange it with.
    Load(Load),
    /// Run rounds of what was loaded. Descriptor: a file for the dump of a batch on trial.
    Rounds(Rounds),
    /// Run the one contestant that was loaded on all of its threads at once. Descriptors: a file
    /// for the first thread's dump, one for another thread's dump that differs from it. Reply:
    /// [`Together`].
    Together,
    /// Make the checking pass of one contestant. Descriptors: the input, a file for its dump.
    /// Reply: [`Checked`], or none if a pass at [`Side::Flush`] would be the same as the aligned
    /// one.
    Check(Check),
    /// Find out where one contestant spends its time. Descriptor: the input. Reply: [`Profiled`].
    Profile(Profile),
    /// Load an oracle.
    Oracle(OsString),
    /// Make an input, or only measure an existing one. Descriptor: its file. Reply: [`Sizes`].
    Input {
        /// The question.
        question: Question,
        /// Whether to fill the file.
        is_made: bool,
    },
    /// Answer for an input. Descriptors: the input, and a file if the text is wanted. Reply: the
    /// checksum.
    Answer {
        /// The question.
        question: Question,
        /// The length of the input.
        input_bytes: u64,
    },
}

/// A reply: what was requested, or why there is none.
pub(crate) type Reply<T> = Result<T, Trouble>;

/// Why a worker cannot do what was requested. The header names the contestant, if it is one's
/// fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum Trouble {
    /// A library cannot be used: a sentence about it.
    #[error("{0}")]
    Unusable(String),
    /// `prepare` returned null.
    #[error("its 'prepare' gave nothing")]
    NotPrepared,
    /// Anything else, for which no contestant is at fault.
    #[error("{0}")]
    Failed(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Failed(error.to_string())
    }
}

/// The contestants of a unit, and their input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// The contestants, in the order in which they are loaded and prepared.
    pub(crate) contestants: Vec<Member>,
    pub(crate) cpu: Option<usize>,
    /// The CPUs of the threads that run at the same time as the timed one: each thread on the next
    /// one, or, if there are none, wherever the kernel puts it.
    pub(crate) helpers: Vec<usize>,
    pub(crate) stack_bytes: u32,
    pub(crate) input: Sizes,
    /// Whether energy is metered.
    pub(crate) meters_energy: bool,
    /// Whether `prepare` may start processes that stay.
    pub(crate) starts_processes: bool,
}

/// A contestant of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) object: OsString,
    /// Bytes to allocate on the heap before it is prepared.
    pub(crate) padding: u32,
    /// The number of threads that run it at the same time as the timed one.
    pub(crate) beside: usize,
}

/// The sizes of an input and of its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    pub(crate) bytes: u64,
    pub(crate) items: u64,
    pub(crate) output_bytes: u64,
}

/// Rounds of loaded contestants, which are named by their index in the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rounds {
    /// The number of the first batches, which warm up.
    pub(crate) warm: usize,
    /// The contestant that is called last when each is called once, untimed, before the first batch
    /// after those; none before a batch that is not evidence.
    pub(crate) primer: Option<usize>,
    /// The contestant of each batch, in all rounds together.
    pub(crate) order: Vec<usize>,
    /// By contestant, how many calls a batch has.
    pub(crate) calls_a_batch: Vec<u64>,
    pub(crate) times_each_call: bool,
    /// Whether hardware counters count from now on, as long as the process lives.
    pub(crate) counts: bool,
    /// The index of the batch on trial, and the seed of what its output is overwritten with before
    /// the timed calls. The request then has a descriptor: a file for the dump.
    pub(crate) trial: Option<(usize, u64)>,
}

/// Special values of the noise: the output is overwritten with zeros, or with ones.
pub(crate) const ZEROS: u64 = ONES - 1;
pub(crate) const ONES: u64 = u64::MAX;

/// A checking pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Check {
    pub(crate) object: OsString,
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

/// What a completed checking pass found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checked {
    /// The checksums of two runs, a reset before each.
    pub(crate) checksums: [u64; 2],
    /// Why it was not called without memory; `None` if it was, or if it says that it allocates.
    pub(crate) unstarved: Option<String>,
}

/// What a pass on several threads found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Together {
    /// The first thread's checksum.
    pub(crate) checksum: u64,
    /// The checksum of a thread whose checksum or dump differs at the end, if there is one.
    pub(crate) other: Option<u64>,
    /// Whether a call gave another checksum while all ran.
    pub(crate) is_torn: bool,
}

/// A contestant whose time is looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub(crate) object: OsString,
    pub(crate) input: Sizes,
}

/// Where a contestant spends its time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profiled {
    /// The number of timed calls.
    pub calls: u64,
    /// What all of them took.
    pub timed_ns: u64,
    /// The cycles and the instructions of all of them, if there are counters.
    pub cycles: Option<u64>,
    /// See [`Profiled::cycles`].
    pub instructions: Option<u64>,
    /// Where a timer found it in further calls.
    pub places: Vec<Place>,
}

/// A place in a file that was mapped, at which a timer found a contestant so often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The path of the file, a word in brackets for memory of the kernel's, or nothing.
    pub file: String,
    /// The offset in the file.
    pub offset: u64,
    /// How often.
    pub count: u64,
}

/// A question to an oracle, with texts in the form of the C side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) workload: CString,
    pub(crate) distribution: CString,
    pub(crate) contract: CString,
    pub(crate) size: u64,
    pub(crate) seed: u64,
    pub(crate) part: u64,
    pub(crate) parts: u64,
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

/// Encodes a message. Both ends are one program, so postcard's format is enough: fields in order,
/// without names.
fn bytes(message: &impl Serialize) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    fn question() -> Question {
        Question {
            workload: c"random".into(),
            distribution: c"uniform".into(),
            contract: c"published".into(),
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
            |object: &str, padding, beside| Member { object: object.into(), padding, beside };
        let load = Load {
            contestants: vec![member("/a b/x.so", 4095, 0), member("y", 0, 63)],
            cpu: Some(3),
            helpers: vec![1, 0],
            stack_bytes: 16,
            input: sizes,
            meters_energy: true,
            starts_processes: true,
        };
        let rounds = Rounds {
            warm: 2,
            primer: Some(1),
            order: vec![0, 1, 1, 0],
            calls_a_batch: vec![1000, 1],
            times_each_call: true,
            counts: false,
            trial: Some((2, 9)),
        };
        let check =
            |side| Request::Check(Check { object: "/c".into(), input: sizes, side, noise: 8 });
        for request in [
            Request::Probe("/p".into()),
            Request::Load(load.clone()),
            Request::Load(Load { cpu: None, contestants: Vec::new(), helpers: Vec::new(), ..load }),
            Request::Rounds(rounds.clone()),
            Request::Rounds(Rounds { primer: None, counts: true, trial: None, ..rounds }),
            check(Side::Front),
            check(Side::End),
            check(Side::Flush),
            Request::Together,
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
        fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(content: T) {
            assert_eq!(read::<Reply<T>>(&bytes(&Reply::Ok(&content))), Some(Ok(content)));
        }
        check(Facts {
            name: "swar".into(),
            needs: vec!["avx2".into(), "bmi2".into()],
            has_reset: true,
            allocates: false,
            input_slack_bytes: 8,
            output_slack_bytes: 1,
            alignment_bytes: 64,
        });
        check(());
        check(Some(Checked { checksums: [1, 2], unstarved: Some("it has threads".into()) }));
        check(None::<Checked>);
        check(Together { checksum: 1, other: None, is_torn: true });
        check(Together { checksum: 1, other: Some(2), is_torn: false });
        check(Sizes { bytes: 1, items: 2, output_bytes: 3 });
        check(9_u64);
        for trouble in [
            Trouble::Unusable("wrong ELF class".into()),
            Trouble::NotPrepared,
            Trouble::Failed("no memory".into()),
        ] {
            // The worker does not say of what reply it is the trouble.
            let bytes = bytes(&Reply::<()>::Err(trouble.clone()));
            assert_eq!(read::<Reply<Facts>>(&bytes), Some(Err(trouble)));
        }
        assert_eq!(read::<Reply<u64>>(&[99]), None);
    }
}
