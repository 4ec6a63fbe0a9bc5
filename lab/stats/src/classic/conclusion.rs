//! The last line of a report.

use super::driver::{Driver, Progress};

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
        let (low, high) = (self.low(), self.high());
        let estimate = progress.estimate().unwrap_or(0.5);
        let (mut least, mut most) = self.interval(progress);
        let tests = [(progress.differs_from_low, low), (progress.differs_from_high, high)];
        for (_, threshold) in tests.into_iter().filter(|(differs, _)| *differs) {
            if estimate > threshold {
                least = least.max(threshold);
            } else {
                most = most.min(threshold);
            }
        }
        if least >= high {
            Conclusion::Above(high)
        } else if most <= low {
            Conclusion::Below(low)
        } else if least >= low && most <= high {
            Conclusion::Between
        } else if least >= low {
            Conclusion::Above(low)
        } else if most <= high {
            Conclusion::Below(high)
        } else {
            Conclusion::Open
        }
    }
}
