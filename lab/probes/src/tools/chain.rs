//! A chain of multiplications, each of which waits for the one before: so many cycles a step.

use super::monotonic_ns;
use std::hint::black_box;

/// Steps of a chain whose time is taken: some microseconds.
pub(crate) const STEPS: u64 = 8192;

/// Squares a number `steps` times. Each square needs the one before, so the chain takes as long as
/// so many multiplications, however the compiler writes the loop.
#[inline(never)]
pub(crate) fn multiply(steps: u64) -> u64 {
    let first = black_box(0x9E37_79B9_7F4A_7C15_u64);
    black_box((0..steps).fold(first, |value, _| value.wrapping_mul(value)))
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
        assert_eq!(multiply(17), number.wrapping_pow(1 << 17));
    }
}
