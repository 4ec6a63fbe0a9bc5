//! The rolling hash of tiebreak-simd, in the widest form that the CPU has.

use std::ffi::CStr;
use tiebreak_abi::{Contestant, Sink, Workload, contestant};
use tiebreak_simd::rolling_hash::RollingHash;

const BASE: u32 = 31;

/// The bytes of an input before its text: how long a window is, whether windows are counted, and
/// the hash of those that are.
const HEADER_BYTES: usize = 16;

struct Kit;

struct State<'w> {
    workload: Workload<'w>,
    hash: RollingHash,
    /// The hash whose windows are counted; else all are written.
    target: Option<u32>,
}

impl Contestant for Kit {
    const NAME: &'static CStr = c"rolling hash by doubling";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        let word = |at: usize| {
            let bytes = workload.input().get(4 * at..4 * at + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        let (window, counts, target) = (word(0)? as usize, word(1)? != 0, word(2)?);
        let hash = RollingHash::new(window, BASE).ok()?.of_signed_bytes();
        Some(State { workload, hash, target: counts.then_some(target) })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let text = &state.workload.input()[HEADER_BYTES..];
        if let Some(target) = state.target {
            let found = state.hash.count(text, target) as u64;
            state.workload.output_as::<u64>()[0] = found;
            return found;
        }
        let hashes = state.workload.output_as::<u32>();
        let windows = state.hash.hashes(text, hashes);
        u64::from(hashes[windows - 1])
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        match state.target {
            Some(_) => sink.line(state.workload.output_as::<u64>()[0]),
            None => {
                let hashes = state.workload.output_as::<u32>();
                hashes.iter().for_each(|hash| sink.line(u64::from(*hash)));
            }
        }
    }
}

contestant!(Kit);
