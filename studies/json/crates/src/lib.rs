//! The contestants of this study that are Rust crates, one a feature. All three read into types by
//! serde: what a type does not name is skipped, which the crate may validate or not.

mod msgpack;
mod tasks;

use msgpack::Transcode;
use serde::de::{Deserialize, DeserializeSeed};
use tasks::{Coordinates, Ids, Tweets};
use tiebreak_abi::{Contestant, Sink, Workload, contestant, launder};

/// The name of the task before a document, and the zeros behind it.
const MARGIN: usize = 64;

/// What a checksum is where the crate refuses the document.
const REFUSED: u64 = u64::MAX;

struct State<'w> {
    workload: Workload<'w>,
    /// Of simd-json, which changes the document in place: the copy that it changes.
    copy: Vec<u8>,
    msgpack: Vec<u8>,
}

/// Reads a document into a type.
fn read<'de, T: Deserialize<'de>>(document: &'de [u8], copy: &'de mut Vec<u8>) -> Option<T> {
    #[cfg(feature = "serde_json")]
    return (serde_json::from_slice(document).ok(), copy).0;
    #[cfg(feature = "sonic-rs")]
    return (sonic_rs::from_slice(document).ok(), copy).0;
    #[cfg(feature = "simd-json")]
    {
        copy.clear();
        copy.extend_from_slice(document);
        simd_json::serde::from_slice(copy).ok()
    }
}

/// Writes a document as MessagePack.
fn transcode(document: &[u8], copy: &mut Vec<u8>, msgpack: &mut Vec<u8>) -> Option<()> {
    msgpack.clear();
    let transcode = Transcode(msgpack);
    #[cfg(feature = "serde_json")]
    {
        let _ = copy;
        let mut from = serde_json::Deserializer::from_slice(document);
        transcode.deserialize(&mut from).and_then(|()| from.end()).ok()
    }
    #[cfg(feature = "sonic-rs")]
    {
        let _ = copy;
        let mut from = sonic_rs::Deserializer::from_slice(document);
        transcode.deserialize(&mut from).and_then(|()| from.end()).ok()
    }
    #[cfg(feature = "simd-json")]
    {
        copy.clear();
        copy.extend_from_slice(document);
        transcode.deserialize(&mut simd_json::Deserializer::from_slice(copy).ok()?).ok()
    }
}

/// Does the task, and gives its checksum. With a sink, it also writes the answer.
fn answer(state: &mut State<'_>, sink: Option<&mut Sink<'_>>) -> Option<u64> {
    let input = launder(state.workload.input());
    let document = &input[MARGIN..input.len() - MARGIN];
    let copy = &mut state.copy;
    Some(match input[0] {
        b'j' => {
            transcode(document, copy, &mut state.msgpack)?;
            msgpack::answered(&state.msgpack, sink)
        }
        b'p' => read::<Tweets<'_>>(document, copy)?.answered(sink),
        b'd' => read::<Ids>(document, copy)?.answered(sink),
        _ => read::<Coordinates>(document, copy)?.answered(sink),
    })
}

struct Crate;

impl Contestant for Crate {
    const NAME: &'static core::ffi::CStr = c"json-crates";
    const ALLOCATES: bool = true;
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        let bytes = workload.input().len();
        let copy = Vec::with_capacity(bytes);
        Some(State { workload, copy, msgpack: Vec::with_capacity(4 * bytes + 1024) })
    }

    fn run(state: &mut State<'_>) -> u64 {
        answer(state, None).unwrap_or(REFUSED)
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        if answer(state, Some(sink)).is_none() {
            sink.line("refused");
        }
    }
}

contestant!(Crate);
