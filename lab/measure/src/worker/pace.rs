//! Measures how fast this core does what every contestant must do: a call, and a load from each
//! cache line of an input that is read. No contestant's calls can be faster.

use super::area::Record;
use super::batch;
use super::memory::{LINE_BYTES, Mapping};
use std::arch::asm;

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
pub(super) fn measure(record: &mut Record, input: &Mapping, bytes: usize) {
    let fastest = |measure: &dyn Fn() -> u64| (0..TRIES).map(|_| measure()).min().unwrap_or(0);
    record.empty_call_ps = fastest(&|| {
        // SAFETY: the function does not use the state.
        unsafe { batch::time(nothing, std::ptr::null_mut(), CALLS, 0) }.wall_ns.unwrap_or(0)
    });
    let steps = bytes.min(CHUNK_BYTES) / (LOADS * LINE_BYTES);
    if steps > 0 {
        let passes = LINES / (LOADS * steps);
        let lines = (passes * LOADS * steps) as u64;
        record.line_ps = fastest(&|| {
            let span = batch::span(|| {
                for _ in 0..passes {
                    // SAFETY: this many bytes of the input are mapped for reading.
                    unsafe { load_lines(input.start().as_ptr(), steps) };
                }
            });
            span.unwrap_or(0) * 1000 / lines
        });
    }
}

extern "C" fn nothing(_state: *mut libc::c_void) -> u64 {
    0
}

/// Loads 8 bytes from each of `LOADS * steps` cache lines; no load depends on another.
///
/// # Safety
/// These bytes must be readable, and there must be at least one step.
#[cfg(target_arch = "x86_64")]
unsafe fn load_lines(from: *const u8, steps: usize) {
    // SAFETY: the caller guarantees it.
    unsafe {
        asm!(
            "2:",
            "mov {word}, [{at}]",
            "mov {word}, [{at} + 64]",
            "mov {word}, [{at} + 128]",
            "mov {word}, [{at} + 192]",
            "mov {word}, [{at} + 256]",
            "mov {word}, [{at} + 320]",
            "mov {word}, [{at} + 384]",
            "mov {word}, [{at} + 448]",
            "add {at}, 512",
            "dec {steps}",
            "jnz 2b",
            word = out(reg) _,
            at = inout(reg) from => _,
            steps = inout(reg) steps => _,
            options(nostack, readonly)
        );
    }
}

#[cfg(target_arch = "aarch64")]
unsafe fn load_lines(from: *const u8, steps: usize) {
    // SAFETY: the caller guarantees it.
    unsafe {
        asm!(
            "2:",
            "ldr {word}, [{at}]",
            "ldr {word}, [{at}, #64]",
            "ldr {word}, [{at}, #128]",
            "ldr {word}, [{at}, #192]",
            "ldr {word}, [{at}, #256]",
            "ldr {word}, [{at}, #320]",
            "ldr {word}, [{at}, #384]",
            "ldr {word}, [{at}, #448]",
            "add {at}, {at}, #512",
            "subs {steps}, {steps}, #1",
            "b.ne 2b",
            word = out(reg) _,
            at = inout(reg) from => _,
            steps = inout(reg) steps => _,
            options(nostack, readonly)
        );
    }
}
