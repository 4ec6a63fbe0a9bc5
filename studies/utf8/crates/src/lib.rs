//! The contestants of this study that are Rust crates, one a feature: whether each text is UTF-8.

use std::ffi::CStr;
use tiebreak_abi::{Contestant, Sink, Workload, contestant};

#[cfg(feature = "encoding_rs")]
fn is_valid(text: &[u8]) -> bool {
    encoding_rs::Encoding::utf8_valid_up_to(text) == text.len()
}

#[cfg(feature = "kit")]
fn is_valid(text: &[u8]) -> bool {
    tiebreak_simd::utf8::validate(text).is_ok()
}

#[cfg(feature = "simdutf")]
fn is_valid(text: &[u8]) -> bool {
    simdutf::validate_utf8(text)
}

#[cfg(feature = "simdutf8")]
fn is_valid(text: &[u8]) -> bool {
    simdutf8::basic::from_utf8(text).is_ok()
}

#[cfg(feature = "std")]
fn is_valid(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok()
}

struct Crate;

struct State<'w> {
    workload: Workload<'w>,
    texts: usize,
}

/// Returns the texts of an input: their number, where each ends, and their bytes.
fn texts(input: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    let (ends, bytes) = input[4..].split_at(4 * count);
    let (ends, _) = ends.as_chunks();
    let mut begin = 0;
    ends.iter().map(move |end| {
        let end = u32::from_ne_bytes(*end) as usize;
        let text = &bytes[begin..end];
        begin = end;
        text
    })
}

impl Contestant for Crate {
    const NAME: &'static CStr = c"UTF-8";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        let count = workload.input().first_chunk()?;
        Some(State { workload, texts: u32::from_ne_bytes(*count) as usize })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let (input, output) = state.workload.split_as::<u8, u32>();
        let mut valid = 0;
        for (text, output) in texts(input, state.texts).zip(output) {
            *output = u32::from(is_valid(text));
            valid += u64::from(*output);
        }
        valid
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        state.workload.output_as::<u32>().iter().for_each(|valid| sink.line(u64::from(*valid)));
    }
}

contestant!(Crate);
