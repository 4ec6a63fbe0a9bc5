// What the Rust contestants of this study share: see frame.h.

use tiebreak_abi::{Sink, Workload};

/// Asks for each byte, puts a byte of output for each, and gives how many are forbidden.
#[inline(always)]
pub fn run(workload: &mut Workload<'_>, is_forbidden: impl Fn(u8) -> bool) -> u64 {
    let (input, output) = workload.split_as::<u8, u8>();
    let mut count = 0;
    for (byte, to) in input.iter().zip(output) {
        let forbidden = is_forbidden(*byte);
        *to = u8::from(forbidden);
        count += u64::from(forbidden);
    }
    count
}

/// Writes 0 or 1 and the end of a line for each byte.
pub fn dump(workload: &mut Workload<'_>, sink: &mut Sink<'_>) {
    for chunk in workload.output().chunks(2048) {
        let lines: Vec<u8> = chunk.iter().flat_map(|is| [b'0' + is, b'\n']).collect();
        sink.bytes(&lines);
    }
}

macro_rules! byte_contestant {
    ($kernel:ident, $name:literal) => {
        struct Contestant;

        impl tiebreak_abi::Contestant for Contestant {
            const NAME: &'static core::ffi::CStr = $name;
            type State<'w> = tiebreak_abi::Workload<'w>;

            fn prepare(
                workload: tiebreak_abi::Workload<'_>,
            ) -> Option<tiebreak_abi::Workload<'_>> {
                Some(workload)
            }

            fn run(workload: &mut tiebreak_abi::Workload<'_>) -> u64 {
                frame::run(workload, $kernel)
            }

            fn dump(
                workload: &mut tiebreak_abi::Workload<'_>,
                sink: &mut tiebreak_abi::Sink<'_>,
            ) {
                frame::dump(workload, sink);
            }
        }

        tiebreak_abi::contestant!(Contestant);
    };
}
pub(crate) use byte_contestant;
