//! The loop around the test: one or two thresholds, an interval and a conclusion at the end; and
//! how often the loop succeeds, found by the loop itself.

use super::{
    ClassicError, End, TRIALS_LIMIT, bound_of, log_down, log_level, prev, require, require_rate,
};
use tiebreak_core::verdict::Verdict;

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
    /// The lower threshold.
    pub low: f64,
    /// The higher threshold; with one threshold, the same as the lower.
    pub high: f64,
    /// The error rate of all statements together.
    pub eps: f64,
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

    /// Returns the thresholds that the rate differs from.
    fn ruled_out(&self, progress: &Progress) -> impl Iterator<Item = f64> {
        let low = progress.differs_from_low.then_some(self.low);
        low.into_iter().chain(progress.differs_from_high.then_some(self.high))
    }

    /// Returns `holds` if the rate differs from a threshold below the estimate, and `refuted` if it
    /// only differs from one above; `None` before the test has decided.
    pub fn verdict(&self, progress: &Progress) -> Option<Verdict> {
        let estimate = progress.estimate().filter(|_| progress.is_decided())?;
        let holds = self.ruled_out(progress).any(|threshold| estimate > threshold);
        Some(if holds { Verdict::Holds } else { Verdict::Refuted })
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
        [End::Lower, End::Upper].map(|end| bound_of(a, b, 0.5 * self.part, end).bound).into()
    }
}

/// The conclusion of a test about the success rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conclusion {
    /// The rate lies between the two thresholds.
    Between,
    /// The rate lies above this threshold.
    Above(f64),
    /// The rate lies below this threshold.
    Below(f64),
    /// There is no conclusion yet.
    Open,
}

impl Driver {
    /// Combines the tests and the interval: each threshold that is ruled out bounds the rate on the
    /// side on which the estimate lies.
    pub fn conclude(&self, progress: &Progress) -> Conclusion {
        let (low, high) = (self.low, self.high);
        let estimate = progress.estimate().unwrap_or(0.5);
        let (mut least, mut most) = self.interval(progress);
        for threshold in self.ruled_out(progress) {
            if estimate > threshold {
                least = least.max(threshold);
            } else {
                most = most.min(threshold);
            }
        }
        match (least >= low, most <= high) {
            _ if least >= high => Conclusion::Above(high),
            _ if most <= low => Conclusion::Below(low),
            (true, true) => Conclusion::Between,
            (true, false) => Conclusion::Above(low),
            (false, true) => Conclusion::Below(high),
            (false, false) => Conclusion::Open,
        }
    }
}

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
    /// The outer test, for intervals and conclusions.
    pub outer: Driver,
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
        let outer = Driver::new(&outer)
            .map_err(|error| ClassicError { argument: "success_rate", ..error })?;
        Ok(Power { p, max_count, inner, outer })
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
        let Some(estimate) = attempt.estimate().filter(|_| attempt.is_decided()) else {
            return false;
        };
        self.inner.ruled_out(attempt).all(|threshold| {
            if self.p < threshold { estimate < threshold } else { estimate > threshold }
        })
    }
}
