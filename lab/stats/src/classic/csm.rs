//! Robbins's criterion.

use super::error::{ClassicError, require, require_log_eps, require_rate};
use super::log_choose::{TRIALS_LIMIT, bound};
use super::rounding::{log_up, log1p_up, next};
use super::sum::sum_up;

/// The result of the test after a number of trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CsmLevel {
    /// Whether the rate `alpha` is ruled out.
    pub is_rejected: bool,
    /// The natural logarithm of the error rate at which the test would just not stop here, rounded
    /// up. It is for reports only: the error rate must be chosen before the first trial.
    pub log_level: f64,
}

/// Tests whether `s` successes in `n` independent trials rule out that their success rate is
/// `alpha`, at the error rate `exp(log_eps)` over all `n` together. They do if an upper bound of
///
/// ```text
/// ln(n + 1) + ln C(n, s) + s ln alpha + (n - s) ln(1 - alpha)
/// ```
///
/// lies below `log_eps` (Robbins 1970). Then `s/n` and the true rate lie on the same side of
/// `alpha`, again up to that error rate (Ding, Gandy and Hahn 2017). The test takes constant time.
/// Round `log_eps` down, as by [`log_down`](super::log_down).
///
/// # Errors
/// Fails if `n` is not below [`TRIALS_LIMIT`], `s` is above `n`, `alpha` is not above 0 and below
/// 1, or `log_eps` is above 0 or not a number.
pub fn csm(n: u64, alpha: f64, s: u64, log_eps: f64) -> Result<CsmLevel, ClassicError> {
    require(n < TRIALS_LIMIT, "n", n, "below 2^49")?;
    require_rate("alpha", alpha)?;
    require(s <= n, "s", s, "at most n")?;
    require_log_eps(log_eps)?;
    let log_level = log_level(n, alpha, s);
    Ok(CsmLevel { is_rejected: log_level < log_eps, log_level })
}

/// Returns the level for arguments known to be valid.
pub(super) fn log_level(n: u64, alpha: f64, s: u64) -> f64 {
    sum_up(&[
        log_up((n + 1) as f64),
        bound(n, s),
        next(s as f64 * log_up(alpha)),
        next((n - s) as f64 * log1p_up(-alpha)),
    ])
}
