//! The source's loop in Rust. The kernel learns the stride when it runs; a contestant's own comes
//! from the build's environment.

use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel};

kernel! {
    fn copy(from: &[u8], to: &mut [u8], stride: usize) {
        let mut i = 0;
        while i < from.len().min(to.len()) {
            to[i] = from[i];
            i += stride;
        }
    }
}

const STRIDE: usize = number(env!("STRIDE").as_bytes());

const fn number(digits: &[u8]) -> usize {
    let mut number = 0;
    let mut at = 0;
    while at < digits.len() {
        number = number * 10 + (digits[at] - b'0') as usize;
        at += 1;
    }
    number
}

/// Bytes of a block, of which each has a line of the answer: see frame.h.
const BLOCK: usize = 4096;

/// How many bytes of each block are wrong.
fn check(from: &[u8], to: &[u8], others: bool, sink: &mut Sink<'_>) {
    for (block, (from, to)) in from.chunks(BLOCK).zip(to.chunks(BLOCK)).enumerate() {
        let mut wrong = 0_u64;
        for (i, (from, to)) in from.iter().zip(to).enumerate() {
            let is_copied = (block * BLOCK + i) % STRIDE == 0;
            wrong += u64::from(match is_copied {
                true => to != from,
                false => others && *to != !from,
            });
        }
        sink.line(wrong);
    }
}

struct Copy;

impl Contestant for Copy {
    const NAME: &'static core::ffi::CStr = c"strided copy";
    type State<'w> = Workload<'w>;

    fn prepare(workload: Workload<'_>) -> Option<Workload<'_>> {
        Some(workload)
    }

    fn run(workload: &mut Workload<'_>) -> u64 {
        let from = workload.input();
        let to = workload.output();
        copy(from, to, STRIDE);
        from.len() as u64 + to.first().map_or(0, |byte| u64::from(*byte))
    }

    fn dump(workload: &mut Workload<'_>, sink: &mut Sink<'_>) {
        let from = workload.input();
        let to = workload.output();
        check(from, to, false, sink);
        for (to, from) in to.iter_mut().zip(from) {
            *to = !from;
        }
        copy(from, to, STRIDE);
        check(from, to, true, sink);
    }
}

contestant!(Copy);
