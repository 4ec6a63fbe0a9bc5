//! Outer bounds of tail quantiles of the Beta distribution.

use super::error::{ClassicError, require};
use super::incbeta::{Series, require_counts};
use super::rounding::next;

/// The largest tail; larger ones are reduced to this, because the series is made for improbable
/// points.
const TAIL_MAX: f64 = 0.05;
/// The precision, as a share of the bound, at which the search stops.
const PRECISION: f64 = 1e-10;
/// The precision from which the search may give up.
const PRECISION_GOAL: f64 = 1e-3;
/// The number of terms that a point may take from then on.
const TERMS_PAST_GOAL: u64 = 1000;

/// The end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The left one.
    Lower,
    /// The right one.
    Upper,
}

/// A bound and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaBound {
    /// The bound, between 0 and 1.
    pub bound: f64,
    /// An upper bound of its distance from the quantile, if the series decided every point. Where
    /// the series is slow, the quantile may lie further in.
    pub slack: f64,
}

/// Returns a lower bound of the `alpha` quantile of Beta(a, b), or an upper bound of its
/// `1 - alpha` quantile: an end of an interval that holds at least `1 - 2 alpha` of the
/// distribution. An `alpha` above 0.05 counts as 0.05, and 0 gives 0 or 1.
///
/// The function bisects on [`incbeta`](super::incbeta) to 1e-10 of the value. From 0.1% on, it
/// gives up where 1024 terms cannot decide the side of a point. That is 1000 terms rounded up to a
/// multiple of 128, as in the published Lisp and C. The published Python stops at 1000 without a
/// check, and gives other digits from the sixth on for hard cases such as (3973, 29, 0.0005).
///
/// An interval of this kind is Bayesian, for one look at the data: it does not hold at all moments
/// together.
///
/// # Errors
/// Fails if `a` or `b` is 0 or not below [`COUNT_LIMIT`](super::COUNT_LIMIT), or if `alpha` is
/// below 0 or not a number.
pub fn beta_icdf(a: u64, b: u64, alpha: f64, end: End) -> Result<BetaBound, ClassicError> {
    require_counts(a, b)?;
    require(alpha >= 0.0, "alpha", alpha, "at least 0 (above 0.05 counts as 0.05)")?;
    Ok(bound_of(a, b, alpha, end))
}

/// Returns the bound for arguments known to be valid.
pub(super) fn bound_of(a: u64, b: u64, alpha: f64, end: End) -> BetaBound {
    if alpha <= 0.0 {
        let bound = if end == End::Lower { 0.0 } else { 1.0 };
        return BetaBound { bound, slack: 0.0 };
    }
    let alpha = alpha.min(TAIL_MAX);
    let ((low, high), bound) = match end {
        End::Lower => {
            let bracket = bracket(a, b, alpha);
            (bracket, bracket.0)
        }
        End::Upper => {
            let bracket = bracket(b, a, alpha);
            (bracket, next(1.0 - bracket.0).min(1.0))
        }
    };
    BetaBound { bound, slack: next(high - low).min(1.0) }
}

/// Returns two points around the largest `x` with a bound of `I_x(a, b)` below `alpha`; the lower
/// one is on the safe side of it.
fn bracket(a: u64, b: u64, alpha: f64) -> (f64, f64) {
    let (mut low, mut high) = (0.0, a as f64 / (a + b) as f64);
    while high > PRECISION.max(low + low * PRECISION) {
        let x = 0.5 * (high + low);
        let is_good = high < low + low * PRECISION_GOAL;
        let terms_max = is_good.then_some(TERMS_PAST_GOAL);
        match (Series { a, b, x, threshold: alpha }).side(terms_max) {
            Some(value) if value < alpha => low = x,
            None if is_good => break,
            // Where the side is unknown, "too far in" is safe.
            _ => high = x,
        }
    }
    (low, high)
}
