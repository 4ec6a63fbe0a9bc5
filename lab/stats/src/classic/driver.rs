//! The loop around the test: one or two thresholds, and an interval at the end.

use super::beta_icdf::{End, bound_of};
use super::csm::log_level;
use super::error::{ClassicError, require_rate};
use super::log_choose::TRIALS_LIMIT;
use super::rounding::{log_down, prev};

/// The options of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriverOptions {
    /// The threshold that the success rate is compared with, above 0 and below 1.
    pub alpha: f64,
    /// A second threshold, of the same kind.
    pub alpha_hi: Option<f64>,
    /// The error rate of all statements together, above 0 and below 1.
    pub eps: f64,
    /// The least number of trials before a stop.
    pub min_count: u64,
    /// The maximum number of trials, unless `min_count` is larger.
    pub max_count: Option<u64>,
}

/// A test of a success rate against one threshold or two. The error is split evenly over the
/// thresholds and the interval: halves with one threshold, thirds with two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Driver {
    low: f64,
    high: f64,
    eps: f64,
    /// The share of the error of each statement.
    part: f64,
    log_part: f64,
    min_count: u64,
    max_count: u64,
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of trials so far.
    pub n: u64,
    /// The number of successes among them.
    pub s: u64,
    /// Whether the rate differs from the lower threshold.
    pub differs_from_low: bool,
    /// Whether the rate differs from the higher threshold; with one threshold, the same as for the
    /// lower.
    pub differs_from_high: bool,
    /// The natural logarithm of the smaller level of the two tests.
    pub log_level: f64,
}

impl Progress {
    /// Returns the share of successes; `None` before the first trial.
    pub fn estimate(&self) -> Option<f64> {
        (self.n > 0).then(|| self.s as f64 / self.n as f64)
    }

    /// Returns whether the rate differs from a threshold.
    pub fn is_decided(&self) -> bool {
        self.differs_from_low || self.differs_from_high
    }
}

impl Driver {
    /// Returns a test. Two thresholds may be given in any order.
    ///
    /// # Errors
    /// Fails if a threshold or the error rate is not above 0 and below 1.
    pub fn new(options: &DriverOptions) -> Result<Driver, ClassicError> {
        let DriverOptions { alpha, alpha_hi, eps, min_count, max_count } = *options;
        require_rate("alpha", alpha)?;
        let second = alpha_hi.unwrap_or(alpha);
        require_rate("alpha_hi", second)?;
        require_rate("eps", eps)?;
        let statements = if alpha == second { 2.0 } else { 3.0 };
        let part = prev(eps / statements).max(0.0);
        let log_part = if part > 0.0 { log_down(part) } else { f64::NEG_INFINITY };
        Ok(Driver {
            low: alpha.min(second),
            high: alpha.max(second),
            eps,
            part,
            log_part,
            min_count,
            max_count: max_count.unwrap_or(u64::MAX).min(TRIALS_LIMIT - 1),
        })
    }

    /// Returns the lower threshold.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Returns the higher threshold; with one threshold, the same as the lower.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Returns the error rate of all statements together.
    pub fn eps(&self) -> f64 {
        self.eps
    }

    /// Returns the state of a test after `s` successes in `n` trials.
    fn look(&self, n: u64, s: u64) -> Progress {
        let level_low = log_level(n, self.low, s);
        let level_high = if self.high == self.low { level_low } else { log_level(n, self.high, s) };
        Progress {
            n,
            s,
            differs_from_low: level_low < self.log_part,
            differs_from_high: level_high < self.log_part,
            log_level: level_low.min(level_high),
        }
    }

    /// Takes outcomes until the rate differs from a threshold, the maximum number of trials is
    /// reached, or the outcomes end. `watch` gets each state, one per trial.
    pub fn run(
        &self,
        outcomes: impl IntoIterator<Item = bool>,
        mut watch: impl FnMut(&Progress),
    ) -> Progress {
        let mut progress = self.look(0, 0);
        let mut outcomes = outcomes.into_iter();
        loop {
            let is_over = progress.is_decided() || progress.n >= self.max_count;
            if (is_over && progress.n >= self.min_count) || progress.n == TRIALS_LIMIT - 1 {
                return progress;
            }
            let Some(is_success) = outcomes.next() else {
                return progress;
            };
            progress = self.look(progress.n + 1, progress.s + u64::from(is_success));
            watch(&progress);
        }
    }

    /// Returns both ends of the interval of the rate: Beta(s + 1, n - s + 1), with half of a
    /// statement's error cut off at each end. The interval is Bayesian with a uniform prior, and
    /// for one look.
    pub fn interval(&self, progress: &Progress) -> (f64, f64) {
        let (a, b) = (progress.s + 1, progress.n - progress.s + 1);
        let end = |end| bound_of(a, b, 0.5 * self.part, end).bound;
        (end(End::Lower), end(End::Upper))
    }
}
