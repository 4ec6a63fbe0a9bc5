//! A chain of multiplications, each of which waits for the one before: its time is a number of
//! cycles, whatever else the core could do beside it.

use tiebreak_machine::clock;
use tiebreak_machine::meters::ThreadCounters;

/// Steps of a chain whose time is taken: some microseconds.
pub(super) const STEPS: u64 = 8192;
/// Steps by which the cycles of a step are counted.
const COUNTED_STEPS: u64 = 1 << 15;
/// Steps that are written out; a round of the loop costs nothing beside them.
const UNROLLED: u64 = 16;

/// How long a chain took, in nanoseconds: the fastest of three, as others can only slow it.
pub(crate) fn timed_ns() -> u64 {
    let once = || {
        let begin_ns = clock::monotonic_ns();
        std::hint::black_box(multiply(STEPS));
        clock::monotonic_ns() - begin_ns
    };
    once().min(once()).min(once())
}

/// Cycles that a step takes, by the machine's counter of cycles: what twice as many steps take
/// more, so that starting and stopping the counter is not in it. `None` where there is none, or
/// what it counts cannot be.
pub(super) fn counted_cycles_a_step() -> Option<f64> {
    let mut counters = ThreadCounters::open().ok()?;
    let mut least = [u64::MAX; 2];
    for _ in 0..7 {
        for (least, steps) in least.iter_mut().zip([COUNTED_STEPS, 2 * COUNTED_STEPS]) {
            counters.start();
            std::hint::black_box(multiply(steps));
            let counted = counters.stop();
            if !counted.multiplexed {
                *least = (*least).min(counted.meters.cycles?);
            }
        }
    }
    let cycles = least[1].checked_sub(least[0])? as f64 / COUNTED_STEPS as f64;
    (1.0..20.0).contains(&cycles).then_some(cycles)
}

/// Squares a number so many times, rounded up to a multiple of 16.
fn multiply(steps: u64) -> u64 {
    let mut value = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..steps.div_ceil(UNROLLED) {
        value = squared(value);
    }
    value
}

#[cfg(target_arch = "x86_64")]
macro_rules! square {
    () => {
        "imul {0}, {0}"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! square {
    () => {
        "mul {0}, {0}, {0}"
    };
}

/// 16 squarings.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn squared(mut value: u64) -> u64 {
    // SAFETY: multiplies a register by itself, and changes nothing else but the flags.
    unsafe {
        std::arch::asm!(
            ".rept 16", square!(), ".endr",
            inout(reg) value,
            options(nomem, nostack)
        );
    }
    value
}

/// 16 squarings.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn squared(value: u64) -> u64 {
    (0..UNROLLED).fold(value, |value, _| std::hint::black_box(value.wrapping_mul(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_squares() {
        let plain = |steps| (0..steps).fold(0x9E37_79B9_7F4A_7C15_u64, |x, _| x.wrapping_mul(x));
        assert_eq!(multiply(0), plain(0));
        assert_eq!(multiply(16), plain(16));
        assert_eq!(multiply(17), plain(32));
    }

    #[test]
    fn a_chain_takes_time() {
        assert!(timed_ns() > 0);
        assert!(counted_cycles_a_step().is_none_or(|cycles| cycles >= 1.0));
    }
}
