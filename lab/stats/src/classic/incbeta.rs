//! The incomplete Beta function from above, to the precision that a comparison with a threshold
//! needs.

use super::error::{ClassicError, require};
use super::log_choose::bound;
use super::rounding::{exp_up, log_down, log_up, log1p_down, log1p_up, next};
use super::sum::{SumUp, sum_up};

/// The limit of the parameters of a Beta distribution; they must be below it.
pub const COUNT_LIMIT: u64 = 1 << 44;

/// The number of terms between two checks of the tail of the series.
const TERMS_BETWEEN_LOOKS: u64 = 128;

/// Returns a value on the same side of `threshold` as an upper bound of the regularised incomplete
/// Beta function `I_x(a, b)`. Returns `None` if `terms_max` terms (rounded up to a multiple of 128;
/// without it, `10 (a + b + 1000)`) cannot decide the side.
///
/// ```text
/// I_x(a, b) = C(a + b - 1, a) x^a (1 - x)^b sum_s prod_(i = 1..s) (1 + (b - 1)/(a + i)) x
/// ```
///
/// Each product is rounded up. The rest after a term lies between two geometric series. The side is
/// known when the lower series is twice the distance to the threshold, or the upper one half of it.
///
/// # Errors
/// Fails if `a` or `b` is 0 or not below [`COUNT_LIMIT`], or if `x` is not above 0 and below the
/// mean `a / (a + b)`, where the series converges fast enough to be of use.
pub fn incbeta(
    a: u64,
    b: u64,
    x: f64,
    threshold: f64,
    terms_max: Option<u64>,
) -> Result<Option<f64>, ClassicError> {
    require_counts(a, b)?;
    let is_below_mean = x > 0.0 && x < a as f64 / (a + b) as f64;
    require(is_below_mean, "x", x, "above 0 and below a / (a + b)")?;
    Ok(Series { a, b, x, threshold }.side(terms_max))
}

/// Checks that both parameters of a Beta distribution are valid counts.
pub(super) fn require_counts(a: u64, b: u64) -> Result<(), ClassicError> {
    for (argument, count) in [("a", a), ("b", b)] {
        let is_met = (1..COUNT_LIMIT).contains(&count);
        require(is_met, argument, count, "at least 1 and below 2^44")?;
    }
    Ok(())
}

/// The series for one point, with arguments known to be valid.
#[derive(Clone, Copy)]
pub(super) struct Series {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) x: f64,
    pub(super) threshold: f64,
}

impl Series {
    /// Returns the result of [`incbeta`].
    pub(super) fn side(self, terms_max: Option<u64>) -> Option<f64> {
        let terms_max = terms_max.unwrap_or(10 * (self.a + self.b + 1000));
        let terms_max = terms_max.div_ceil(TERMS_BETWEEN_LOOKS) * TERMS_BETWEEN_LOOKS;
        let mut product = self.first_term();
        let mut sum = SumUp { value: product, rest: 0.0 };
        for i in 1..=terms_max {
            let ratio = next((self.b as f64 - 1.0) / (self.a + i) as f64);
            let factor = next(self.x * next(1.0 + ratio)).min(1.0);
            let before = sum.value;
            product = next(product * factor);
            sum.include(product);
            // The rest is less than a step of the value, so this side is certain.
            if sum.value > self.threshold {
                return Some(sum.value);
            }
            if sum.value == before || i % TERMS_BETWEEN_LOOKS == 0 {
                let side = self.look_ahead(sum, product, factor);
                if side.is_some() {
                    return side;
                }
            }
        }
        None
    }

    /// Returns `C(a + b - 1, a) x^a (1 - x)^b`, rounded up.
    fn first_term(self) -> f64 {
        exp_up(sum_up(&[
            bound(self.a + self.b - 1, self.a),
            next(self.a as f64 * log_up(self.x)),
            next(self.b as f64 * log1p_up(-self.x)),
        ]))
    }

    /// Returns the side by the geometric series `product r / (1 - r)`: all later factors are at
    /// least `x` and at most the last one.
    fn look_ahead(self, sum: SumUp, product: f64, factor: f64) -> Option<f64> {
        let missing = (self.threshold - sum.value) - sum.rest;
        let low = product * libm::exp(log_down(self.x) - log1p_up(-self.x));
        if low > 2.0 * missing {
            return Some((sum.value + low).max(self.threshold));
        }
        // With a factor of 1, the upper series diverges.
        if factor >= 1.0 {
            return None;
        }
        let high = product * libm::exp(log_up(factor) - log1p_down(-factor));
        (high < 0.5 * missing).then_some(sum.value)
    }
}
