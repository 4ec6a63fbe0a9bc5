//! The timed span: the only code, apart from the contestant's own, that runs between two readings
//! of the clock.

use super::library::Run;
use std::arch::asm;
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

/// Returns how long some work takes by the same clock; `None` if the clock went backwards.
pub(super) fn span(work: impl FnOnce()) -> Option<u64> {
    let start_ns = clock::monotonic_ns();
    work();
    clock::monotonic_ns().checked_sub(start_ns)
}

/// Returns the pointer in a form about which the compiler knows nothing, and makes the compiler
/// assume that all memory may have changed. Costs no instruction.
#[inline(always)]
fn launder(mut pointer: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: there is no instruction; the value goes in and comes out in the same register.
    unsafe { asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    pointer
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
