//! Many claims under one error.

/// The share of the error that each of `claims` claims may use so that the probability of any wrong
/// verdict is at most `error` (e-Bonferroni). The number is fixed before the first sample, and what
/// settled claims have saved is not passed on: with three kinds of verdict that would not be valid
/// (rule A10).
pub fn bonferroni_error(error: f64, claims: usize) -> f64 {
    error / claims.max(1) as f64
}

/// The error at which each of `count` of `claims` claims must be settled, so that all of them may
/// be said to be proven with at most the share `q` of them wrong on average.
pub fn e_bh_error(q: f64, claims: usize, count: usize) -> f64 {
    q * count as f64 / claims.max(1) as f64
}

/// How many claims are proven when at most the share `q` of what is said to be proven may be wrong
/// on average: the claims with the most evidence, as many as this says.
///
/// `evidence` holds for each claim the larger of what the bets for it and against it have won,
/// since only one of the two can be false. The largest `k` such that the `k`-th largest is at least
/// `claims / (k q)` (e-BH: Wang and Ramdas 2022). Holds however claims depend on each other, and
/// whenever one stops. A claim is among them if and only if its evidence is at least `1 /
/// e_bh_error(q, claims, k)`.
pub fn e_bh_count(evidence: &[f64], q: f64) -> usize {
    let mut sorted: Vec<f64> = evidence.iter().map(|e| e.max(0.0)).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let suffices = |count: usize| sorted[count - 1] >= 1.0 / e_bh_error(q, sorted.len(), count);
    (1..=sorted.len()).rev().find(|count| suffices(*count)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(evidence: &[f64], q: f64, expected: usize) {
        assert_eq!(e_bh_count(evidence, q), expected, "{evidence:?} at {q}");
    }

    #[test]
    fn the_published_example_and_edges() {
        check(&[400.0, 150.0, 90.0, 20.0, 1.0], 0.05, 3);
        check(&[1.0, 20.0, 90.0, 150.0, 400.0], 0.05, 3);
        check(&[], 0.05, 0);
        check(&[19.9], 0.05, 0);
        check(&[20.0], 0.05, 1);
        // The second alone would not do, but both together do.
        check(&[20.0, 20.0], 0.05, 2);
        check(&[39.0, 1.0], 0.05, 0);
        check(&[f64::INFINITY, f64::NAN, 1.0], 0.05, 1);
    }

    #[test]
    fn shares_of_the_error() {
        assert_eq!(bonferroni_error(0.01, 4), 0.0025);
        assert_eq!(e_bh_error(0.05, 5, 5), 0.05);
        assert_eq!(e_bh_error(0.05, 5, 1), bonferroni_error(0.05, 5));
    }
}
