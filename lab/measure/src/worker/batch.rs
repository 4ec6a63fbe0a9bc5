//! The timed span: the only code, apart from the contestant's own, that runs between two readings
//! of the clock. Then what is measured after a batch on trial: calls on another input, and how fast
//! this core does what every contestant must do: a call, and a load from each cache line of an
//! input that is read. No contestant's calls can be faster.

use super::state::Prepared;
use crate::wire::area::Record;
use crate::wire::mapping::{LINE_BYTES, Mapping};
use std::arch::asm;
use std::io;
use std::os::fd::OwnedFd;
use tiebreak_abi::Run;
use tiebreak_machine::clock;

/// The result of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// `None` if the clock went backwards.
    pub(super) wall_ns: Option<u64>,
    /// Whether a call gave another checksum than expected.
    pub(super) is_torn: bool,
}

/// Calls the function this many times and times all calls together.
///
/// Each iteration consists of a call through a pointer, an exclusive or, an or and a count. The
/// state goes through [`launder`] each time and each checksum is used, so neither a compiler nor a
/// linker that sees everything could do the work once and keep the answer.
///
/// # Safety
/// `run` must be callable with `state`.
#[inline(never)]
pub(super) unsafe fn time(run: Run, state: *mut libc::c_void, calls: u64, expected: u64) -> Span {
    let mut differs = 0;
    let start_ns = clock::monotonic_ns();
    for _ in 0..calls {
        // SAFETY: the caller guarantees it; laundering returns the same pointer.
        differs |= unsafe { run(launder(state)) } ^ expected;
    }
    let end_ns = clock::monotonic_ns();
    Span { wall_ns: end_ns.checked_sub(start_ns), is_torn: differs != 0 }
}

/// Returns the pointer in a form about which the compiler knows nothing, and makes the compiler
/// assume that all memory may have changed. Costs no instruction.
#[inline(always)]
fn launder(mut pointer: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: there is no instruction; the value goes in and comes out in the same register.
    unsafe { asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    pointer
}

/// How often the other input is used, unless calls take longer than `LONG_NS`: the shortest of this
/// many calls was not interrupted.
const EXCHANGES: u64 = 3;
const LONG_NS: u64 = 1_000_000;

/// Calls a contestant once after each change of its input: to the other one, then back to its own,
/// both of this many bytes. Writes the results to the record, which is torn if the answer for its
/// own input differs from the earlier one.
///
/// # Errors
/// Fails if an input cannot be mapped.
pub(super) fn exchange(
    [own, other]: &[OwnedFd; 2],
    bytes: usize,
    prepared: &Prepared,
    input: &Mapping,
    record: &mut Record,
) -> io::Result<()> {
    record.exchanged_ns = u64::MAX;
    while record.exchanges < EXCHANGES {
        input.exchange(other, bytes)?;
        let checksum = timed_once(prepared, record);
        input.exchange(own, bytes)?;
        let again = timed_once(prepared, record);
        if record.exchanges == 0 {
            record.other_checksum = checksum;
        }
        let differs = again != record.checksum || checksum != record.other_checksum;
        record.is_torn |= u64::from(differs);
        record.exchanges += 1;
        if record.exchanged_ns > LONG_NS {
            break;
        }
    }
    Ok(())
}

fn timed_once(prepared: &Prepared, record: &mut Record) -> u64 {
    prepared.reset();
    let begun_ns = clock::thread_cpu_ns();
    let checksum = prepared.run();
    let took_ns = clock::thread_cpu_ns().saturating_sub(begun_ns);
    record.exchanged_ns = record.exchanged_ns.min(took_ns);
    checksum
}

/// The number of measurements of each. The fastest counts: it was not interrupted.
const TRIES: u32 = 8;
/// Calls of an empty function: the nanoseconds of this many are the picoseconds of one.
const CALLS: u64 = 1000;
/// The bytes of the input that are loaded repeatedly: they stay in the nearest cache of any core,
/// even next to another thread on the same core.
const CHUNK_BYTES: usize = 16 << 10;
/// The number of loads in one pass of the loop below, and in one measurement.
const LOADS: usize = 8;
const LINES: usize = 8192;

/// Measures both, and writes the results to the record of a batch that has just ended.
pub(super) fn measure_pace(record: &mut Record, input: &Mapping, bytes: usize) {
    record.empty_call_ps = fastest(|| {
        // SAFETY: the function does not use the state.
        unsafe { time(nothing, std::ptr::null_mut(), CALLS, 0) }.wall_ns.unwrap_or(0)
    });
    let steps = bytes.min(CHUNK_BYTES) / (LOADS * LINE_BYTES);
    if steps > 0 {
        let passes = LINES / (LOADS * steps);
        let lines = (passes * LOADS * steps) as u64;
        record.line_ps = fastest(|| {
            let start_ns = clock::monotonic_ns();
            for _ in 0..passes {
                // SAFETY: this many bytes of the input are mapped for reading.
                unsafe { load_lines(input.start().as_ptr(), steps) };
            }
            clock::monotonic_ns().saturating_sub(start_ns) * 1000 / lines
        });
    }
}

fn fastest(measure: impl Fn() -> u64) -> u64 {
    (0..TRIES).map(|_| measure()).min().unwrap_or(0)
}

extern "C" fn nothing(_state: *mut libc::c_void) -> u64 {
    0
}

/// The loop below, for the assembler, which repeats the load for each of these offsets.
#[cfg(target_arch = "x86_64")]
macro_rules! loads {
    () => {
        "2:\n.irp offset, 0, 64, 128, 192, 256, 320, 384, 448\n\
         mov {word}, [{at} + \\offset]\n.endr\n\
         add {at}, 512\ndec {steps}\njnz 2b"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! loads {
    () => {
        "2:\n.irp offset, 0, 64, 128, 192, 256, 320, 384, 448\n\
         ldr {word}, [{at}, #\\offset]\n.endr\n\
         add {at}, {at}, #512\nsubs {steps}, {steps}, #1\nb.ne 2b"
    };
}

/// Loads 8 bytes from each of `LOADS * steps` cache lines; no load depends on another.
///
/// # Safety
/// These bytes must be readable, and there must be at least one step.
unsafe fn load_lines(from: *const u8, steps: usize) {
    // SAFETY: the caller guarantees it.
    unsafe {
        asm!(
            loads!(),
            word = out(reg) _,
            at = inout(reg) from => _,
            steps = inout(reg) steps => _,
            options(nostack, readonly)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn count(state: *mut libc::c_void) -> u64 {
        // SAFETY: the tests below pass a pointer to a number.
        let number = unsafe { &mut *state.cast::<u64>() };
        *number += 1;
        if *number >= 1000 { 8 } else { 7 }
    }

    #[test]
    fn every_call_is_made_and_every_checksum_looked_at() {
        let check = |start: u64, calls: u64, is_torn: bool| {
            let mut number = start;
            // SAFETY: the function takes a pointer to a number.
            let span = unsafe { time(count, (&raw mut number).cast(), calls, 7) };
            assert_eq!((number, span.is_torn), (start + calls, is_torn));
            assert!(span.wall_ns.is_some());
        };
        check(0, 0, false);
        check(0, 1, false);
        check(0, 999, false);
        check(0, 1000, true);
        check(998, 2, true);
    }
}
