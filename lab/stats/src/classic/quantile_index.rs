//! The sorted observations between which a quantile lies.

use super::csm::log_level;
use super::error::{ClassicError, require, require_log_eps};
use super::log_choose::TRIALS_LIMIT;

/// `-ln 2`, rounded away from 0: half of the error for each end.
const MINUS_LN_2: f64 = -0.693_147_180_559_945_4;

/// The rank that the caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The lower end of the confidence sequence.
    Lower,
    /// The sample's own quantile.
    Estimate,
    /// The upper end of the confidence sequence.
    Upper,
}

/// Returns the index, from 0, into `n` sorted independent observations at which an end of a
/// confidence sequence for the quantile `q` lies, or `None` while there are too few observations
/// for one. Both ends together hold for all `n` at the error rate `exp(log_eps)`, half of it for
/// each end.
///
/// The lower end is the highest rank that is so low that [`csm`](super::csm) rejects it as a count
/// of observations below the quantile; the upper end mirrors it. With ties, the interval is wider
/// than necessary. Calls the test at most 49 times.
///
/// The quantile 0 has the upper end 0 and no lower one. The quantile 1 has the lower end `n - 1`
/// and no upper one.
///
/// # Errors
/// Fails if `n` is not below [`TRIALS_LIMIT`], `q` is not from 0 to 1, or `log_eps` is above 0 or
/// not a number.
pub fn quantile_index(
    n: u64,
    q: f64,
    log_eps: f64,
    rank: Rank,
) -> Result<Option<u64>, ClassicError> {
    require(n < TRIALS_LIMIT, "n", n, "below 2^49")?;
    require((0.0..=1.0).contains(&q), "q", q, "from 0 to 1")?;
    require_log_eps(log_eps)?;
    if n == 0 {
        return Ok(None);
    }
    let is_extreme = |s| log_level(n, q, s) < log_eps + MINUS_LN_2;
    let place = n as f64 * q;
    Ok(match rank {
        Rank::Lower if q == 0.0 => None,
        Rank::Upper if q == 1.0 => None,
        _ if q == 0.0 => Some(0),
        _ if q == 1.0 => Some(n - 1),
        Rank::Lower => boundary(0, place as u64, is_extreme),
        // The 10% quantile of 100 observations is the tenth, which has the index 9.
        Rank::Estimate => Some((libm::ceil(place) as u64).saturating_sub(1)),
        Rank::Upper => boundary(n, libm::ceil(place) as u64, is_extreme).map(|s| s - 1),
    })
}

/// Returns the last extreme count on the way from the outermost to the central one, or `None` if
/// not even the outermost is extreme.
fn boundary(outer: u64, centre: u64, is_extreme: impl Fn(u64) -> bool) -> Option<u64> {
    if outer == centre || !is_extreme(outer) {
        return None;
    }
    let (mut extreme, mut central) = (outer, centre);
    while extreme.abs_diff(central) > 1 {
        let middle = extreme.min(central) + extreme.abs_diff(central) / 2;
        if is_extreme(middle) {
            extreme = middle;
        } else {
            central = middle;
        }
    }
    Some(extreme)
}
