//! Limits for a rate that are right at every moment, and a test of "at most this rate".
//!
//! Robbins (1970): the likelihood of a uniform mixture of rates over that of the rate `p` is
//! `1 / [(n + 1) C(n, s) p^s (1 - p)^(n - s)]`, a martingale under `p`. So the set of rates at
//! which it is below `1/e` contains the true rate with probability at least `1 - e` at every
//! moment.

use crate::bisection::edge;
use libm::{lgamma, log, log1p};

/// Returns the natural logarithm of the evidence against the rate `p` after `successes` in
/// `trials`.
pub fn log_evidence_against(trials: u64, successes: u64, p: f64) -> f64 {
    let (n, s) = (trials as f64, successes as f64);

    let log_choose = lgamma(n + 1.0) - lgamma(s + 1.0) - lgamma(n - s + 1.0);
    -(log(n + 1.0) + log_choose + times(s, log(p)) + times(n - s, log1p(-p)))
}

/// Returns `count * log`, where nothing times anything is 0.
pub(crate) fn times(count: f64, log: f64) -> f64 {
    if count == 0.0 { 0.0 } else { count * log }
}

/// Returns the limits of the rate: with probability at least `1 - error`, both hold at every
/// moment.
pub fn limits(trials: u64, successes: u64, error: f64) -> (f64, f64) {
    let needed = -log(error);
    let rejected = |p: f64| log_evidence_against(trials, successes, p) >= needed;
    let estimate = if trials == 0 { 0.5 } else { successes as f64 / trials as f64 };
    let limits = [0.0, 1.0].map(|extreme| {
        if rejected(extreme) { edge((extreme, estimate), 60, rejected).0 } else { extreme }
    });
    limits.into()
}

/// Returns whether the rate is proven, with probability `error` of being wrong, to be above `bound`
/// (`Some(true)`) or below it (`Some(false)`).
pub fn compare_with(trials: u64, successes: u64, bound: f64, error: f64) -> Option<bool> {
    let (low, high) = limits(trials, successes, error);
    let (is_above, is_below) = (low > bound, high < bound);
    (is_above || is_below).then_some(is_above)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `log_level` of the published vectors is minus the log of this evidence.
    #[test]
    fn published_levels() {
        for (n, p, s, level) in [
            (10, 0.98, 10, 2.195_868_199_623_176),
            (10, 0.98, 5, -11.733_804_203_418_53),
            (4000, 0.98, 3972, -17.238_568_532_412_956),
            (10_000, 0.01, 50, -9.132_361_654_429_957),
            (10, 0.5, 0, -4.533_576_532_801_083),
        ] {
            let evidence = log_evidence_against(n, s, p);
            assert!((evidence + level).abs() < 1e-9, "{n} {p} {s}: {evidence}");
        }
    }

    #[test]
    fn limits_enclose_the_estimate_and_narrow() {
        assert_eq!(limits(0, 0, 0.05), (0.0, 1.0));
        let (low, high) = limits(200, 2, 0.05);
        assert!(low > 0.0 && low < 0.01 && high > 0.01 && high < 0.065, "{low} {high}");
        let (low, high) = limits(200, 0, 0.05);
        assert_eq!(low, 0.0);
        assert!(high < 0.05, "{high}");
        assert_eq!(compare_with(2000, 300, 0.01, 0.01), Some(true));
        assert_eq!(compare_with(2000, 2, 0.05, 0.01), Some(false));
        assert_eq!(compare_with(20, 1, 0.05, 0.01), None);
    }
}
