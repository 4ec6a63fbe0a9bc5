//! Binomial coefficients, from above, in the log domain.

use super::error::{ClassicError, require};
use super::rounding::{log_down, log_up, next};
use super::sum::sum_up;

/// The limit of the number of trials, so that `12 n` is exact.
pub const TRIALS_LIMIT: u64 = 1 << 49;

/// The smallest double above `-ln sqrt(2 pi)`: -8277062471433908 / 2^53.
const MINUS_LOG_SQRT_2PI: f64 = -8_277_062_471_433_908.0 / (1u64 << 53) as f64;

/// Returns an upper bound of `ln C(n, s)`, from Robbins's bounds of the factorial (1955):
///
/// ```text
/// sqrt(2 pi) n^(n + 1/2) exp(-n + 1/(12n + 1)) < n! < sqrt(2 pi) n^(n + 1/2) exp(-n + 1/(12n))
/// ```
///
/// The bound is exact for `s` of 0 and `n`, and one rounding above for 1 and `n - 1`. Otherwise the
/// bounds of the factorials add at most 0.0027 (at `s = 2`, `n = 4`), and less the larger the
/// smaller one of `s` and `n - s` is. Rounding adds about 1e-15 of `n ln n`, which is more from
/// about `n = 1e11` on.
///
/// # Errors
/// Fails if `n` is not below [`TRIALS_LIMIT`], or if `s` is above `n`.
pub fn log_choose(n: u64, s: u64) -> Result<f64, ClassicError> {
    require(n < TRIALS_LIMIT, "n", n, "below 2^49")?;
    require(s <= n, "s", s, "at most n")?;
    Ok(bound(n, s))
}

/// Returns the bound for arguments known to be valid.
pub(super) fn bound(n: u64, s: u64) -> f64 {
    let r = n - s;
    if s == 0 || r == 0 {
        return 0.0;
    }
    let (n, s, r) = (n as f64, s as f64, r as f64);
    if s == 1.0 || r == 1.0 {
        return log_up(n);
    }
    sum_up(&[
        MINUS_LOG_SQRT_2PI,
        next((n + 0.5) * log_up(n)),
        next(-(s + 0.5) * log_down(s)),
        next(-(r + 0.5) * log_down(r)),
        next(1.0 / (12.0 * n)),
        next(-1.0 / (12.0 * s + 1.0)),
        next(-1.0 / (12.0 * r + 1.0)),
    ])
}
