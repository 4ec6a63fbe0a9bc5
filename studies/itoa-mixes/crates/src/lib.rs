//! The contestants of this study that are Rust crates, one a feature: each number becomes a line.

use std::ffi::CStr;
use tiebreak_abi::{Contestant, Sink, Workload, contestant};

#[cfg(not(feature = "kit-batch"))]
fn lines(numbers: &[u64], output: &mut [u8]) -> usize {
    let mut used = 0;
    for number in numbers {
        used += put(*number, &mut output[used..]);
        output[used] = b'\n';
        used += 1;
    }
    used
}

#[cfg(feature = "kit-batch")]
fn lines(numbers: &[u64], output: &mut [u8]) -> usize {
    let batch = tiebreak_simd::decimal::Batch::new().expect("a form that this CPU has");
    batch.write(numbers, b'\n', output)
}

#[cfg(feature = "itoa")]
fn put(number: u64, into: &mut [u8]) -> usize {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(number);
    into[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
}

#[cfg(feature = "itoap")]
fn put(number: u64, into: &mut [u8]) -> usize {
    assert!(into.len() >= <u64 as itoap::Integer>::MAX_LEN);
    // SAFETY: there is room for the longest.
    unsafe { itoap::write_to_ptr(into.as_mut_ptr(), number) }
}

#[cfg(feature = "kit")]
fn put(number: u64, into: &mut [u8]) -> usize {
    let into = into.first_chunk_mut().expect("room beyond the last line");
    tiebreak_simd::decimal::write_into(number, into)
}

struct Crate;

struct State<'w> {
    workload: Workload<'w>,
    used: usize,
}

impl Contestant for Crate {
    const NAME: &'static CStr = c"numbers to text";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        Some(State { workload, used: 0 })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let (numbers, output) = state.workload.split_as::<u64, u8>();
        state.used = lines(numbers, output);
        state.used as u64
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        sink.bytes(&state.workload.output()[..state.used]);
    }
}

contestant!(Crate);
