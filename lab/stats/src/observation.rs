//! The log ratio of a round, as an interval.

use tiebreak_core::sample::Reading;

/// The log ratio `ln(right) - ln(left)` of a round, known to lie between two bounds.
///
/// Bets that it is high use the lower bound, bets that it is low the upper one: uncertainty counts
/// against the bettor (rule A7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// The lower bound; minus infinity if the time of the left one has no upper bound.
    pub low: f64,
    /// The upper bound; infinity if the time of the right one has no upper bound.
    pub high: f64,
}

impl LogRatio {
    /// Returns a log ratio that is known exactly.
    pub fn exact(d: f64) -> LogRatio {
        LogRatio { low: d, high: d }
    }

    /// Returns the log ratio with the contestants swapped.
    #[must_use]
    pub fn mirrored(self) -> LogRatio {
        LogRatio { low: 0.0 - self.high, high: 0.0 - self.low }
    }

    /// Returns the log ratio minus `shift`; unchanged to the last bit if that is 0.
    #[must_use]
    pub fn less(self, shift: f64) -> LogRatio {
        if shift == 0.0 {
            return self;
        }
        LogRatio { low: self.low - shift, high: self.high - shift }
    }

    /// Returns the middle of the interval: of a half-open one its finite end; 0 if nothing is
    /// known.
    pub fn middle(self) -> f64 {
        let open = (self.low == f64::NEG_INFINITY, self.high == f64::INFINITY);
        match open {
            (true, true) => 0.0,
            (true, false) => f64::NEG_INFINITY,
            (false, true) => f64::INFINITY,
            // Adding 0 makes a negative zero positive, so that it sorts like its mirror.
            (false, false) => (self.low + self.high) / 2.0 + 0.0,
        }
    }

    /// Returns the log ratio of two readings of a metric whose values have the step `step`.
    ///
    /// Where the step is more than a tenth of the resolution, either reading may be off by half a
    /// step, and the interval assumes the errors that widen the ratio: to first order by
    /// `r/left + r/right` per side with `r = step/2` (rule A7). A coarse zero is completely
    /// unknown. `resolution` is a fraction: 0.01 for 1%.
    pub fn between(left: Reading, right: Reading, step: f64, resolution: f64) -> LogRatio {
        let [left, right] = [left, right].map(|reading| Sum { reading, step, parts: 1 });
        LogRatio::between_sums(left, right, resolution)
    }

    /// Returns the log ratio of a part of one sum to a part of another, `ln(right/n) - ln(left/m)`,
    /// as [`LogRatio::between`] does. Each sum has its own step.
    ///
    /// Where both have equally many parts, nothing is divided: to the last bit, it is the log ratio
    /// of the sums. Swapping the two mirrors it to the last bit in any case.
    pub fn between_sums(left: Sum, right: Sum, resolution: f64) -> LogRatio {
        let coarse = left.is_coarse(resolution) || right.is_coarse(resolution);
        if coarse && left.reading.high.min(right.reading.high) <= 0.0 {
            return LogRatio { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let of_left = left.bounds(coarse, right.parts);
        let of_right = right.bounds(coarse, left.parts);
        LogRatio {
            low: difference(of_right.low, of_left.high),
            high: difference(of_right.high, of_left.low),
        }
    }
}

/// A reading that is the sum over a number of equal parts, such as the time of a batch of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// The sum.
    pub reading: Reading,
    /// The step of its values.
    pub step: f64,
    /// The number of its parts; 0 counts as 1.
    pub parts: u64,
}

impl Sum {
    /// Returns whether the step is more than a tenth of the resolution of the sum.
    pub fn is_coarse(&self, resolution: f64) -> bool {
        self.step > resolution / 10.0 * self.reading.low
    }

    /// Returns the sum, half a step wider if it is coarse, times the parts of the other sum, so
    /// that both have equally many parts. The common divisor of the two numbers of parts cancels.
    fn bounds(&self, coarse: bool, others: u64) -> Reading {
        let half = if coarse { self.step / 2.0 } else { 0.0 };
        let (parts, others) = (self.parts.max(1), others.max(1));
        let times = (others / common_divisor(parts, others)) as f64;
        Reading {
            low: (self.reading.low - half).max(0.0) * times,
            high: (self.reading.high + half) * times,
        }
    }
}

/// Returns the greatest common divisor.
fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Returns the factor of a log ratio: `exp(log_ratio)`, the same to the last bit on every machine.
pub fn factor(log_ratio: f64) -> f64 {
    libm::exp(log_ratio)
}

/// Returns the natural logarithm, the same on every platform.
pub fn log(value: f64) -> f64 {
    libm::log(value)
}

/// Returns `ln(a) - ln(b)`, 0 for equal values of any kind, and never a negative zero.
///
/// It is the logarithm of the larger over the smaller, so that swapping the two only flips the sign
/// and scaling both by a power of two changes nothing, to the last bit.
fn difference(a: f64, b: f64) -> f64 {
    if a == b && a.is_finite() {
        return 0.0;
    }
    let difference = if a > b { libm::log(a / b) } else { -libm::log(b / a) };
    // Nothing is known about the ratio of two values that may both be 0, or both be infinite.
    if difference.is_nan() { 0.0 } else { difference }
}

/// Returns the sign of `y` as a score: -1, 0 or 1.
#[inline]
pub fn sign(y: f64) -> f64 {
    if y > 0.0 {
        1.0
    } else if y < 0.0 {
        -1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const INF: f64 = f64::INFINITY;

    fn check(left: Reading, right: Reading, step: f64, expected: (f64, f64)) {
        let d = LogRatio::between(left, right, step, 0.01);
        assert!(close(d.low, expected.0) && close(d.high, expected.1), "{d:?} {expected:?}");
        let swapped = LogRatio::between(right, left, step, 0.01);
        assert_eq!(swapped, d.mirrored(), "swapping the contestants mirrors");
    }

    fn close(a: f64, b: f64) -> bool {
        a == b || (a - b).abs() < 1e-12
    }

    #[test]
    fn readings_become_intervals() {
        let exact = Reading::exact;
        let at_least = |low| Reading { low, high: INF };
        let ln2 = std::f64::consts::LN_2;
        check(exact(1e6), exact(2e6), 1.0, (ln2, ln2));
        check(exact(1e6), exact(1e6), 1.0, (0.0, 0.0));
        check(exact(1e6), at_least(2e6), 1.0, (ln2, INF));
        check(at_least(1e6), at_least(2e6), 1.0, (-INF, INF));
        // A step of 4% of the values: either could be 2% more or less.
        let widening = libm::log(102.0 / 98.0);
        check(exact(100.0), exact(100.0), 4.0, (-widening, widening));
        let least = libm::log(0.5 / 1.5);
        check(exact(1.0), exact(1.0), 1.0, (least, -least));
        check(exact(0.0), exact(100.0), 1.0, (-INF, INF));
        check(at_least(0.0), exact(5e6), 1.0, (-INF, INF));
    }

    #[test]
    fn parts_of_sums_are_compared_and_a_swap_mirrors_to_the_last_bit() {
        let sum = |value, parts, step| Sum { reading: Reading::exact(value), step, parts };
        fn check(left: Sum, right: Sum, expected: (f64, f64)) {
            let d = LogRatio::between_sums(left, right, 0.01);
            assert!(close(d.low, expected.0) && close(d.high, expected.1), "{d:?} {expected:?}");
            let back = LogRatio::between_sums(right, left, 0.01).mirrored();
            assert_eq!(
                (d.low.to_bits(), d.high.to_bits()),
                (back.low.to_bits(), back.high.to_bits())
            );
        }
        fn ln(ratio: f64) -> (f64, f64) {
            (libm::log(ratio), libm::log(ratio))
        }
        // 34 times the calls in the same time: 34 times as fast.
        check(sum(1e6, 34_000, 1.0), sum(1e6, 1000, 1.0), ln(34.0));
        check(sum(1e6, 7, 1.0), sum(1e6, 3, 1.0), ln(7.0 / 3.0));
        check(
            sum(1_234_567.0, 1013, 1.0),
            sum(7_654_321.0, 997, 1.0),
            ln(7_654_321.0 * 1013.0 / (1_234_567.0 * 997.0)),
        );
        check(sum(1e6, 0, 1.0), sum(1e6, 1, 1.0), (0.0, 0.0));
        // Each is half its own step wider, whatever it is a sum of.
        let least = libm::log(2.0 * 98.0 / 101.0);
        let most = libm::log(2.0 * 102.0 / 99.0);
        check(sum(100.0, 20, 2.0), sum(100.0, 10, 4.0), (least, most));
        check(sum(0.0, 20, 2.0), sum(100.0, 10, 4.0), (-INF, INF));
        // Equally many parts change nothing, to the last bit.
        for (left, right) in [(1e6 / 3.0, 1e7 / 7.0), (0.1, 0.3)] {
            let of =
                |parts| LogRatio::between_sums(sum(left, parts, 0.0), sum(right, parts, 0.0), 0.01);
            assert_eq!(of(997), of(1));
            assert_eq!(
                of(1),
                LogRatio::between(Reading::exact(left), Reading::exact(right), 0.0, 0.01)
            );
        }
    }

    #[test]
    fn the_middle_of_an_open_interval_is_its_open_end() {
        assert_eq!(LogRatio { low: -INF, high: 1.0 }.middle(), -INF);
        assert_eq!(LogRatio { low: -INF, high: INF }.middle(), 0.0);
        assert_eq!(LogRatio { low: 1.0, high: 3.0 }.middle(), 2.0);
        assert!(LogRatio { low: -0.0, high: -0.0 }.middle().is_sign_positive());
    }
}
