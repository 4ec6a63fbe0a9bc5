//! Many claims under one error.

/// Returns the share of the error that each of `claims` claims may use so that the probability of
/// any wrong verdict is at most `error` (e-Bonferroni). The number is fixed before the first
/// sample, and the unused error of settled claims is not passed on: with three kinds of verdict,
/// that would not be valid (rule A10).
pub fn bonferroni_error(error: f64, claims: usize) -> f64 {
    error / claims.max(1) as f64
}

/// Returns the error at which each of `count` of `claims` claims must be settled, so that on
/// average at most the share `q` of the proven claims is wrong (e-BH: Wang and Ramdas 2022).
/// `count` is the largest number for which that many are settled. The bound holds however the
/// claims depend on each other, and whenever the run stops.
pub fn e_bh_error(q: f64, claims: usize, count: usize) -> f64 {
    q * count as f64 / claims.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_error() {
        assert_eq!(bonferroni_error(0.01, 4), 0.0025);
        assert_eq!(e_bh_error(0.05, 5, 5), 0.05);
        assert_eq!(e_bh_error(0.05, 5, 1), bonferroni_error(0.05, 5));
    }
}
