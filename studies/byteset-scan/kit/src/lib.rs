//! The set of bytes of tiebreak-simd, in the widest form that the CPU has: `span` for each run, or
//! `split` for all of them.

use std::ffi::CStr;
use tiebreak_abi::{Contestant, Sink, Workload, contestant};
use tiebreak_simd::byte_set::{ByteSet, Finder};

/// The bytes that may stand in the value of a header.
const VALUE: ByteSet =
    ByteSet::of(b"\t").with(ByteSet::range(b' ', b'~')).with(ByteSet::range(128, 255));

struct Kit;

struct State<'w> {
    workload: Workload<'w>,
    finder: Finder,
}

impl Contestant for Kit {
    const NAME: &'static CStr = c"set of bytes";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        let set = if cfg!(feature = "blocks") { VALUE.others() } else { VALUE };
        Some(State { workload, finder: Finder::new(&set).ok()? })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let (input, lengths) = state.workload.split_as::<u8, u32>();
        if cfg!(feature = "blocks") {
            by_blocks(&state.finder, input, lengths)
        } else {
            by_runs(&state.finder, input, lengths)
        }
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        state.workload.output_as::<u32>().iter().for_each(|length| sink.line(u64::from(*length)));
    }
}

/// Where a run begins is known only when the one before it has ended.
fn by_runs(value: &Finder, input: &[u8], lengths: &mut [u32]) -> u64 {
    let (mut from, mut sum) = (0, 0);
    for length in lengths {
        let found = value.span(&input[from..]);
        *length = found as u32;
        sum += (from + found) as u64;
        from += found + 1;
    }
    sum
}

fn by_blocks(others: &Finder, input: &[u8], lengths: &mut [u32]) -> u64 {
    let (mut from, mut sum) = (0, 0);
    for (length, run) in lengths.iter_mut().zip(others.split(input)) {
        *length = run.len() as u32;
        sum += (from + run.len()) as u64;
        from += run.len() + 1;
    }
    sum
}

contestant!(Kit);
