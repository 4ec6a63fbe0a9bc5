//! A chain of multiplications, each of which waits for the one before: so many cycles a step.

use super::monotonic_ns;
use std::hint::black_box;

/// Steps that are written out; a round of the loop costs nothing compared with them.
const UNROLLED: u64 = 16;

/// Steps of a chain whose time is taken: some microseconds.
pub(crate) const STEPS: u64 = 8192;

/// Squares a number `steps` times, rounded up to a multiple of 16. Each square needs the one
/// before, so the chain takes as long as so many multiplications. In a build that is not optimised,
/// that is so on x86-64 and AArch64 only.
#[inline(never)]
pub(crate) fn multiply(steps: u64) -> u64 {
    let mut value = black_box(0x9E37_79B9_7F4A_7C15_u64);
    let mut left = steps.div_ceil(UNROLLED);
    while left > 0 {
        value = squared(value);
        left -= 1;
    }
    black_box(value)
}

/// 16 squarings.
#[inline(always)]
fn squared(mut value: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: multiplies a register by itself, and changes nothing else but the flags.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(".rept 16", "imul {0}, {0}", ".endr", inout(reg) value,
            options(nomem, nostack));
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(".rept 16", "mul {0}, {0}, {0}", ".endr", inout(reg) value,
            options(nomem, nostack));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for _ in 0..UNROLLED {
        value = value.wrapping_mul(value);
    }
    value
}

/// Returns how long so many steps take, in nanoseconds.
pub(crate) fn time_of(steps: u64) -> u64 {
    let begin_ns = monotonic_ns();
    multiply(steps);
    (monotonic_ns() - begin_ns).max(1)
}

/// Returns how long a chain took, in nanoseconds: the fastest of three, as others can only slow it.
pub(crate) fn chain_ns() -> u64 {
    [(); 3].map(|()| time_of(STEPS)).into_iter().fold(u64::MAX, u64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_squares() {
        let number = 0x9E37_79B9_7F4A_7C15_u64;
        assert_eq!(multiply(0), number);
        assert_eq!(multiply(3), number.wrapping_pow(1 << 16));
        assert_eq!(multiply(17), (0..32).fold(number, |x, _| x.wrapping_mul(x)));
    }
}
