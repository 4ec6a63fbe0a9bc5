//! Steps between neighbouring doubles, and logarithms rounded to one side.

/// The logarithms of libm are taken to be less than this many steps off.
const LIBM_ULPS: u32 = 4;

/// The bits of a double as a number that grows with the double: -0 is -1, and +0 is 0.
fn image(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ flip(bits)
}

/// The double with this image.
fn of_image(bits: i64) -> f64 {
    f64::from_bits((bits ^ flip(bits)) as u64)
}

/// All bits but the sign where the sign is set: turns sign and magnitude into two's complement and
/// back.
fn flip(bits: i64) -> i64 {
    (((bits >> 63) as u64) >> 1) as i64
}

/// The double `steps` above `x`; -0 and +0 are neighbours. Of infinities and NaN it makes no sense.
pub fn next_k(x: f64, steps: u32) -> f64 {
    of_image(image(x).wrapping_add(i64::from(steps)))
}

/// The double `steps` below `x`; +0 and -0 are neighbours.
pub fn prev_k(x: f64, steps: u32) -> f64 {
    of_image(image(x).wrapping_sub(i64::from(steps)))
}

/// The double after `x`. Where `x` is a sum, product or quotient that was rounded to nearest, this
/// is at least the exact result.
pub fn next(x: f64) -> f64 {
    next_k(x, 1)
}

/// The double before `x`.
pub fn prev(x: f64) -> f64 {
    prev_k(x, 1)
}

/// At least `ln x`.
pub fn log_up(x: f64) -> f64 {
    next_k(libm::log(x), LIBM_ULPS)
}

/// At most `ln x`.
pub fn log_down(x: f64) -> f64 {
    prev_k(libm::log(x), LIBM_ULPS)
}

/// At least `ln(1 + x)`.
pub fn log1p_up(x: f64) -> f64 {
    next_k(libm::log1p(x), LIBM_ULPS)
}

/// At most `ln(1 + x)`.
pub fn log1p_down(x: f64) -> f64 {
    prev_k(libm::log1p(x), LIBM_ULPS)
}

/// At least `exp x`.
pub(super) fn exp_up(x: f64) -> f64 {
    next_k(libm::exp(x), LIBM_ULPS)
}
