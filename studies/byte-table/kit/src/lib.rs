//! Contract batch, by the set of bytes of tiebreak-simd: a bit of output for each byte. What it
//! finds is the widest that the CPU has, as for any user of the crate.

use std::ffi::CStr;
use tiebreak_abi::{Contestant, Sink, Workload, contestant};
use tiebreak_simd::byte_set::{ByteSet, Finder};

const SET: ByteSet = ByteSet::of(b"\0\t\n\r #/:<>?@[\\]^|");

struct Kit;

struct State<'w> {
    workload: Workload<'w>,
    forbidden: Finder,
}

impl Contestant for Kit {
    const NAME: &'static CStr = c"set of bytes";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        Some(State { workload, forbidden: Finder::new(&SET).ok()? })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let (input, masks) = state.workload.split_as::<u8, u64>();
        if masks.is_empty() {
            // Fewer than eight bytes, of output too.
            let mut mask = [0];
            state.forbidden.masks(input, &mut mask);
            state.workload.output().iter_mut().take(1).for_each(|bits| *bits = mask[0] as u8);
            return u64::from(mask[0].count_ones());
        }
        state.forbidden.masks(input, masks);
        let masks = masks.iter().take(input.len().div_ceil(64));
        masks.map(|mask| u64::from(mask.count_ones())).sum()
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        let count = state.workload.input().len();
        for (at, bits) in state.workload.output().iter().take(count.div_ceil(8)).enumerate() {
            let bytes = (count - 8 * at).min(8);
            let lines = (0..bytes).flat_map(|bit| [b'0' + (bits >> bit & 1), b'\n']);
            sink.bytes(&lines.collect::<Vec<u8>>());
        }
    }
}

contestant!(Kit);
