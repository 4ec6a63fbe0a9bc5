//! Steps between neighbouring doubles, and logarithms rounded to one side.

/// The number of steps below which the error of libm's logarithms is assumed to be.
const LIBM_ULPS: u32 = 4;

/// Returns the bits of a double as a number that grows with the double: -0 is -1, and +0 is 0.
fn image(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ flip(bits)
}

/// Returns the double with this image.
fn of_image(bits: i64) -> f64 {
    f64::from_bits((bits ^ flip(bits)) as u64)
}

/// Flips all bits but the sign if the sign is set: converts sign and magnitude to two's complement
/// and back.
fn flip(bits: i64) -> i64 {
    (((bits >> 63) as u64) >> 1) as i64
}

/// Returns the double `steps` above `x`; -0 and +0 are neighbours. The result is meaningless for
/// infinities and NaN.
pub fn next_k(x: f64, steps: u32) -> f64 {
    of_image(image(x).wrapping_add(i64::from(steps)))
}

/// Returns the double `steps` below `x`; +0 and -0 are neighbours.
pub fn prev_k(x: f64, steps: u32) -> f64 {
    of_image(image(x).wrapping_sub(i64::from(steps)))
}

/// Returns the double after `x`. If `x` is a sum, product or quotient that was rounded to nearest,
/// this is at least the exact result.
pub fn next(x: f64) -> f64 {
    next_k(x, 1)
}

/// Returns the double before `x`.
pub fn prev(x: f64) -> f64 {
    prev_k(x, 1)
}

/// Returns an upper bound of `ln x`.
pub fn log_up(x: f64) -> f64 {
    next_k(libm::log(x), LIBM_ULPS)
}

/// Returns a lower bound of `ln x`.
pub fn log_down(x: f64) -> f64 {
    prev_k(libm::log(x), LIBM_ULPS)
}

/// Returns an upper bound of `ln(1 + x)`.
pub fn log1p_up(x: f64) -> f64 {
    next_k(libm::log1p(x), LIBM_ULPS)
}

/// Returns a lower bound of `ln(1 + x)`.
pub fn log1p_down(x: f64) -> f64 {
    prev_k(libm::log1p(x), LIBM_ULPS)
}

/// Returns an upper bound of `exp x`.
pub(super) fn exp_up(x: f64) -> f64 {
    next_k(libm::exp(x), LIBM_ULPS)
}
