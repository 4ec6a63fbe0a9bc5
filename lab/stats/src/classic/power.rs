//! The power of a test, found by the test itself.

use super::driver::{Driver, DriverOptions, Progress};
use super::error::{ClassicError, require};

/// The error rate of the outer test.
pub const OUTER_EPS: f64 = 1e-9;

/// The least number of attempts of the outer test.
pub const ATTEMPTS_MIN: u64 = 100;

/// A test to simulate, and the wanted share of successes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerOptions {
    /// The true success rate of the simulated trials, from 0 to 1.
    pub p: f64,
    /// A threshold of the test.
    pub alpha: f64,
    /// A second threshold.
    pub alpha_hi: Option<f64>,
    /// The maximum number of trials of one attempt.
    pub max_count: u64,
    /// The error rate of the test.
    pub eps: f64,
    /// The wanted share of successful attempts, which the true share is compared with.
    pub success_rate: f64,
    /// The maximum number of attempts; without it, the outer test continues until it decides.
    pub max_attempts: Option<u64>,
}

/// The power of a test by recursion. An attempt simulates the test, and succeeds if it decides
/// rightly in time. A second test decides whether attempts succeed more or less often than wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    p: f64,
    max_count: u64,
    inner: Driver,
    outer: Driver,
}

/// The result of the attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerResult {
    /// The outer test: attempts, and successes among them.
    pub progress: Progress,
    /// The largest number of trials of an attempt that decided; the maximum allowed if none did.
    pub inner_count_max: u64,
}

impl Power {
    /// Returns a simulation that is ready to run.
    ///
    /// # Errors
    /// Fails if `p` is not from 0 to 1, or if a threshold, the error rate or the wanted share is
    /// not above 0 and below 1.
    pub fn new(options: &PowerOptions) -> Result<Power, ClassicError> {
        let PowerOptions { p, alpha, alpha_hi, max_count, eps, success_rate, max_attempts } =
            *options;
        require((0.0..=1.0).contains(&p), "p", p, "from 0 to 1")?;
        let max = Some(max_count);
        let inner = DriverOptions { alpha, alpha_hi, eps, min_count: 0, max_count: max };
        let outer = DriverOptions {
            alpha: success_rate,
            alpha_hi: None,
            eps: OUTER_EPS,
            min_count: ATTEMPTS_MIN.min(max_attempts.unwrap_or(u64::MAX)),
            max_count: max_attempts,
        };
        let inner = Driver::new(&inner)?;
        let named = |error: ClassicError| ClassicError { argument: "success_rate", ..error };
        let outer = Driver::new(&outer).map_err(named)?;
        Ok(Power { p, max_count, inner, outer })
    }

    /// Returns the outer test, for intervals and conclusions.
    pub fn outer(&self) -> &Driver {
        &self.outer
    }

    /// Simulates. `unit` returns random numbers, uniform from 0 to below 1, and `watch` gets the
    /// state of the outer test after each attempt. The cost is the number of attempts times the
    /// trials of one attempt.
    pub fn run(&self, mut unit: impl FnMut() -> f64, watch: impl FnMut(&Progress)) -> PowerResult {
        let mut inner_count_max = 0;
        let attempts = std::iter::repeat_with(|| {
            let trials = std::iter::repeat_with(|| unit() < self.p);
            let attempt = self.inner.run(trials, |_| {});
            if attempt.is_decided() {
                inner_count_max = inner_count_max.max(attempt.n);
            }
            self.is_right(&attempt)
        });
        let progress = self.outer.run(attempts, watch);
        let inner_count_max = if inner_count_max == 0 { self.max_count } else { inner_count_max };
        PowerResult { progress, inner_count_max }
    }

    /// Returns whether a test decided, and each threshold that it ruled out lies on the right side
    /// of the estimate.
    fn is_right(&self, attempt: &Progress) -> bool {
        let is_same_side = |threshold: f64| match attempt.estimate() {
            Some(estimate) if self.p < threshold => estimate < threshold,
            Some(estimate) => estimate > threshold,
            None => false,
        };
        attempt.is_decided()
            && (!attempt.differs_from_low || is_same_side(self.inner.low()))
            && (!attempt.differs_from_high || is_same_side(self.inner.high()))
    }
}
