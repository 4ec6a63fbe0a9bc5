//! How fast this core is where nothing is done but what every contestant must do: a call, and a
//! load from each cache line of an input that is read. Nobody's calls can be faster.

use super::area::Record;
use super::batch;
use super::memory::{LINE_BYTES, Mapping};
use std::arch::asm;

/// Each is measured so often, and the fastest counts: it is one that nobody interrupted.
const TRIES: u32 = 8;
/// Calls of a function that does nothing: of so many the nanoseconds are the picoseconds of one.
const CALLS: u64 = 1000;
/// As much of the input is loaded over and over: it stays in the nearest cache of any core, beside
/// another thread of the same.
const CHUNK_BYTES: usize = 16 << 10;
/// Loads of a pass of the loop below, and of a measurement.
const LOADS: usize = 8;
const LINES: usize = 8192;

/// Measures both, into the record of a batch that has just ended.
pub(super) fn measure(record: &mut Record, input: &Mapping, bytes: usize) {
    let fastest = |measure: &dyn Fn() -> u64| (0..TRIES).map(|_| measure()).min().unwrap_or(0);
    record.empty_call_ps = fastest(&|| {
        // SAFETY: the function looks at no state.
        unsafe { batch::time(nothing, std::ptr::null_mut(), CALLS, 0) }.wall_ns.unwrap_or(0)
    });
    let steps = bytes.min(CHUNK_BYTES) / (LOADS * LINE_BYTES);
    if steps > 0 {
        let passes = LINES / (LOADS * steps);
        let lines = (passes * LOADS * steps) as u64;
        record.line_ps = fastest(&|| {
            let span = batch::span(|| {
                for _ in 0..passes {
                    // SAFETY: so many bytes of the input are mapped, to be read.
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

/// Loads 8 bytes from each of `LOADS * steps` cache lines, none of which waits for another.
///
/// # Safety
/// They can be read, and there is at least one step.
#[cfg(target_arch = "x86_64")]
unsafe fn load_lines(from: *const u8, steps: usize) {
    // SAFETY: the caller says so.
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
    // SAFETY: the caller says so.
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
