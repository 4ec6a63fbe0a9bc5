//! Many claims under one error.
//!
//! A detector of change: an alarm over many runs.

/// Returns the share of the error that each of `claims` claims may use so that the probability of
/// any wrong verdict is at most `error` (e-Bonferroni). The number is fixed before the first
/// sample, and the unused error of settled claims is not passed on: with three kinds of verdict,
/// that would not be valid (rule A10).
pub fn bonferroni_error(error: f64, claims: usize) -> f64 {
    error / claims.max(1) as f64
}

/// Returns the error of the next `claims` claims together, after `before` others, where nobody
/// knows how many will follow: `error` times `1 / (before + 1) - 1 / (before + claims + 1)`. The
/// sum over all of them telescopes to less than `error`, however many there are.
pub fn open_ended_error(error: f64, before: usize, claims: usize) -> f64 {
    let (before, claims) = (before as f64, claims as f64);
    error * claims / ((before + 1.0) * (before + claims + 1.0))
}

/// Returns the error at which each of `count` of `claims` claims must be settled, so that on
/// average at most the share `q` of the proven claims is wrong (e-BH: Wang and Ramdas 2022).
/// `count` is the largest number for which that many are settled. The bound holds however the
/// claims depend on each other, and whenever the run stops.
pub fn e_bh_error(q: f64, claims: usize, count: usize) -> f64 {
    q * count as f64 / claims.max(1) as f64
}

/// A Shiryaev-Roberts detector of evidence (an e-detector: Shin, Ramdas and Rinaldo 2023).
///
/// Each run starts a new bet that the change was just before it, and all earlier bets continue:
/// `R_t = (R_(t-1) + 1) e_t`, where `e_t` is the wealth of the run's bets against "nothing has
/// changed". As long as nothing has changed, the expectation of `R_t - t` does not rise. So the
/// mean number of runs until an alarm at `R_t >= r` is at least `r`, however the runs depend on
/// each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detector {
    /// `R_t`, for comparison with the mean number of runs.
    pub value: f64,
    mean_runs: f64,
}

impl Detector {
    /// Returns a detector whose mean number of runs until a false alarm is at least `mean_runs`.
    pub fn new(mean_runs: f64) -> Detector {
        Detector { value: 0.0, mean_runs }
    }

    /// Takes the evidence of a run, whenever it stopped, and returns whether it raises the alarm.
    /// Evidence that is not a number counts as 0. After an alarm, the detector continues: make a
    /// new one to restart.
    pub fn observe(&mut self, evidence: f64) -> bool {
        self.value = ((self.value + 1.0) * evidence.max(0.0)).min(f64::MAX);
        self.is_alarmed()
    }

    /// Returns whether the alarm is on.
    pub fn is_alarmed(&self) -> bool {
        self.value >= self.mean_runs
    }
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

    #[test]
    fn any_number_of_claims_keeps_the_error() {
        assert_eq!(open_ended_error(0.01, 0, 1), 0.005);
        assert_eq!(open_ended_error(0.01, 1, 3), 0.01 * 3.0 / 10.0);
        for claims in [1, 2, 7, 1000] {
            let steps = (0..5000).map(|step| open_ended_error(0.01, step * claims, claims));
            let all: f64 = steps.sum();
            let expected = 0.01 * (1.0 - 1.0 / (5000.0 * claims as f64 + 1.0));
            assert!((all - expected).abs() < 1e-15 && all < 0.01, "{claims}: {all}");
        }
    }
}
