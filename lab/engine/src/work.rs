//! Some milliseconds of work that every machine can do: what `tiebreak aa` runs by default.

/// Steps of the chain: each depends on the one before, so no CPU can run them in parallel.
const STEPS: u64 = 1_500_000;

/// Walks a chain of xorshift and multiply steps (Marsaglia 2003) and returns its end.
pub fn some_milliseconds() -> u64 {
    (0..STEPS).fold(0x9E37_79B9_7F4A_7C15, |mut x: u64, _| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    })
}
