//! The Beta distribution in the log domain: its density, and the regularised incomplete Beta
//! function, which is also the tail of the binomial distribution.
//!
//! Everything is a logarithm, so that tails far below the smallest `f64` keep their digits. The
//! code uses only `libm` and IEEE 754 operations, so the bits are the same on every machine.

use libm::{exp, fabs, lgamma, log, log1p};

/// Half the logarithm of `2 pi`.
const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;
/// The maximum number of terms. The continued fraction needs about as many terms as the square root
/// of the larger parameter; this is enough for parameters of `1e11`.
const TERMS_MAX: u32 = 1_000_000;
/// The bound below which the error of Stirling's formula is taken from `lgamma`.
const STIRLING_FROM: f64 = 16.0;

/// The logarithms of the two tails of a Beta distribution at a point; the tails sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogTails {
    /// `ln I_x(a, b)`: the probability below the point.
    pub below: f64,
    /// `ln (1 - I_x(a, b))`: the probability above the point.
    pub above: f64,
}

/// Returns the error of Stirling's formula: `ln(n!) - ln(sqrt(2 pi n) (n/e)^n)`, for `n > 0`.
fn stirling_error(n: f64) -> f64 {
    if n < STIRLING_FROM {
        return lgamma(n + 1.0) - (n + 0.5) * log(n) + n - HALF_LN_2PI;
    }
    let square = n * n;
    let series = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0];
    series.iter().rev().fold(0.0, |sum, term| sum / square + term) / n
}

/// Returns `x ln(x / m) + m - x`, for positive numbers, without cancellation where they are close.
fn deviance(x: f64, m: f64) -> f64 {
    let distance = x - m;
    if fabs(distance) >= 0.1 * (x + m) {
        return x * log(x / m) + m - x;
    }
    let v = distance / (x + m);
    let mut sum = distance * v;
    let mut power = 2.0 * x * v;
    let mut denominator = 1.0;
    loop {
        power *= v * v;
        denominator += 2.0;
        let next = sum + power / denominator;
        if next == sum {
            return next;
        }
        sum = next;
    }
}

/// Returns `ln(x^a (1 - x)^b / B(a, b))` for `a, b > 0` and `0 < x < 1`, where `y = 1 - x`.
///
/// Loader (2000), "Fast and accurate computation of binomial probabilities": the large parts of the
/// factorials cancel before anything is rounded, so that the error stays small for any counts.
fn log_prefix(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let stirling = stirling_error(n) - stirling_error(a) - stirling_error(b);
    stirling - deviance(a, n * x) - deviance(b, n * y) + 0.5 * log(a * (b / n)) - HALF_LN_2PI
}

/// Returns the logarithm of the density of the Beta distribution with parameters `a, b > 0` at `x`;
/// minus infinity outside 0 to 1.
///
/// ```
/// let density = tiebreak_stats::beta::log_density(2.0, 3.0, 0.25).exp();
/// assert!((density - 12.0 * 0.25 * 0.75 * 0.75).abs() < 1e-14);
/// ```
pub fn log_density(a: f64, b: f64, x: f64) -> f64 {
    if !(0.0..=1.0).contains(&x) {
        return f64::NEG_INFINITY;
    }
    if x > 0.0 && x < 1.0 {
        return log_prefix(a, b, x, 1.0 - x) - log(x) - log1p(-x);
    }
    let (at_edge, other) = if x == 0.0 { (a, b) } else { (b, a) };
    match at_edge.total_cmp(&1.0) {
        std::cmp::Ordering::Less => f64::INFINITY,
        // x^0 (1 - x)^(b - 1) / B(1, b), and B(1, b) = 1/b.
        std::cmp::Ordering::Equal => log(other),
        std::cmp::Ordering::Greater => f64::NEG_INFINITY,
    }
}

/// Computes the continued fraction of `I_x(a, b) B(a, b) / (x^a (1 - x)^b)`, times `a`: Abramowitz
/// and Stegun (1964) 26.5.8, by Lentz's algorithm. It converges fast for
/// `x < (a + 1) / (a + b + 2)`.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut c = 1.0;
    let mut d = 1.0 / clamped(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for term in 1..=TERMS_MAX {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / clamped(1.0 + even * d);
        c = clamped(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / clamped(1.0 + odd * d);
        c = clamped(1.0 + odd / c);
        let factor = d * c;
        fraction *= factor;
        if fabs(factor - 1.0) < 2.0 * f64::EPSILON {
            break;
        }
    }
    fraction
}

/// Keeps a denominator away from 0.
fn clamped(value: f64) -> f64 {
    if fabs(value) < 1e-300 { 1e-300 } else { value }
}

/// Computes both tails of the Beta distribution with parameters `a, b > 0` at `x`.
///
/// The continued fraction gives the tail on the side of the mean where `x` lies, to about 13
/// digits; the other tail is the difference to 1. Costs about the square root of the larger
/// parameter. Points outside 0 to 1 count as the nearer end.
///
/// ```
/// use tiebreak_stats::beta::log_tails;
///
/// // I_x(1, b) = 1 - (1 - x)^b
/// let tails = log_tails(1.0, 101.0, 0.009);
/// assert!((tails.above - 101.0 * (-0.009f64).ln_1p()).abs() < 1e-13);
/// ```
pub fn log_tails(a: f64, b: f64, x: f64) -> LogTails {
    let nothing = f64::NEG_INFINITY;
    if x <= 0.0 {
        return LogTails { below: nothing, above: 0.0 };
    }
    if x >= 1.0 {
        return LogTails { below: 0.0, above: nothing };
    }
    let y = 1.0 - x;
    let prefix = log_prefix(a, b, x, y);
    if x < (a + 1.0) / (a + b + 2.0) {
        let below = (prefix + log(continued_fraction(a, b, x)) - log(a)).min(0.0);
        LogTails { below, above: log_complement(below) }
    } else {
        let above = (prefix + log(continued_fraction(b, a, y)) - log(b)).min(0.0);
        LogTails { below: log_complement(above), above }
    }
}

/// Returns `ln(1 - exp(l))` for `l <= 0`.
fn log_complement(l: f64) -> f64 {
    if l > -std::f64::consts::LN_2 { log(-libm::expm1(l)) } else { log1p(-exp(l)) }
}

/// Returns `ln P(Binomial(n, p) > s)`: the probability of more than `s` successes, which is
/// `I_p(s + 1, n - s)`; minus infinity if `s >= n`.
pub fn log_binomial_above(n: u64, s: u64, p: f64) -> f64 {
    if s >= n {
        return f64::NEG_INFINITY;
    }
    log_tails(s as f64 + 1.0, (n - s) as f64, p).below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: f64, b: f64, x: f64, expected: f64, relative: f64) {
        let found = exp(log_tails(a, b, x).below);
        assert!(fabs(found / expected - 1.0) < relative, "I_{x}({a}, {b}) = {found:e}");
    }

    /// The published quantiles (statistics facts 1.4, column "truth", from scipy's `betaincinv`),
    /// which are given to 9 digits or more, have their probability.
    #[test]
    fn published_quantiles_have_their_probability() {
        for (a, b, alpha, low, high, relative) in [
            (5.0, 5.0, 0.01, 0.170_965_105_48, 0.829_034_894_52, 1e-9),
            (1e4, 10.0, 1e-4, 0.997_385_303_415_15, 0.999_780_364_822_33, 1e-7),
            (100.0, 1e6, 1e-8, 5.361_735_698_508_84e-5, 1.666_077_240_191_56e-4, 1e-9),
            (3972.0, 28.0, 0.001, 0.988_219_351_468_656_7, 0.996_383_266_042_268, 1e-9),
            (3973.0, 29.0, 0.001, 0.987_904_274_3, 0.996_206_739_0, 1e-6),
            (1.0, 1.0, 0.05, 0.05, 0.95, 1e-14),
        ] {
            check(a, b, low, alpha, relative);
            let above = exp(log_tails(a, b, high).above);
            assert!(fabs(above / alpha - 1.0) < relative, "{a} {b} {high}: {above:e}");
        }
    }

    /// Published upper bounds of the incomplete Beta function (statistics facts 1.4, `incbeta`)
    /// lie a little above it.
    #[test]
    fn published_values_of_the_function() {
        check(5.0, 5.0, 0.1, 0.000_891_488_191_146_199_7, 2e-3);
        check(5.0, 5.0, 0.001, 1.256_603_005_928_718_7e-13, 1e-2);
        check(100.0, 1e6, 1e-5, 5.425_169_831_898_25e-63, 1e-2);
        check(1e4, 1.0, 0.999, libm::pow(0.999, 1e4), 1e-12);
    }

    #[test]
    fn closed_forms() {
        for x in [1e-6, 0.001, 0.3, 0.5, 0.77, 0.999] {
            check(1.0, 40.0, x, -libm::expm1(40.0 * log1p(-x)), 1e-12);
            check(37.0, 1.0, x, exp(37.0 * log(x)), 1e-12);
            // I_x(2, 2) = 3x^2 - 2x^3
            check(2.0, 2.0, x, x * x * (3.0 - 2.0 * x), 1e-12);
        }
        // Far below the range of an f64, only x^a is left.
        let deep = log_tails(1e5, 1.0, 0.5).below;
        assert!(fabs(deep + 1e5 * std::f64::consts::LN_2) < 1e-9, "{deep}");
    }

    #[test]
    fn mirrored_parameters_swap_the_tails() {
        for (a, b) in [(0.5, 0.5), (3.0, 17.0), (2000.5, 11.0), (1e6, 2e6)] {
            for x in [0.0, 0.125, 0.25, 0.375, 0.5, 0.875, 1.0] {
                let (tails, mirrored) = (log_tails(a, b, x), log_tails(b, a, 1.0 - x));
                fn close(a: f64, b: f64) -> bool {
                    a == b || fabs(a - b) < 1e-10 * (1.0 + fabs(a))
                }
                assert!(close(tails.below, mirrored.above), "{a} {b} {x}: {tails:?} {mirrored:?}");
                assert!(fabs(exp(tails.below) + exp(tails.above) - 1.0) < 1e-13);
            }
        }
    }

    /// `P(Binomial(n, p) > s)` is a sum of `n - s` probabilities.
    #[test]
    fn the_binomial_tail_is_a_sum() {
        for (n, p) in [(12u64, 0.25), (60, 0.9), (100, 0.01)] {
            let mut sum = 0.0;
            for s in (0..n).rev() {
                // The density of the Beta distribution is a binomial probability, times n + 1.
                let k = s as f64 + 1.0;
                sum += exp(log_density(k + 1.0, n as f64 - k + 1.0, p)) / (n as f64 + 1.0);
                let found = exp(log_binomial_above(n, s, p));
                assert!(fabs(found / sum - 1.0) < 1e-11, "{n} {s} {p}: {found:e} {sum:e}");
            }
        }
        assert_eq!(log_binomial_above(5, 5, 0.5), f64::NEG_INFINITY);
    }

    #[test]
    fn densities_at_the_edges_and_in_between() {
        assert_eq!(log_density(2.0, 2.0, 0.0), f64::NEG_INFINITY);
        assert_eq!(log_density(1.0, 3.0, 0.0), log(3.0));
        assert_eq!(log_density(0.5, 3.0, 0.0), f64::INFINITY);
        assert_eq!(log_density(3.0, 1.0, 1.0), log(3.0));
        assert_eq!(log_density(3.0, 3.0, 1.5), f64::NEG_INFINITY);
        // The trapezium rule over a smooth density that is 0 at both ends.
        let (steps, a, b) = (4000, 29.0, 40.0);
        let at = |i: i32| exp(log_density(a, b, f64::from(i) / f64::from(steps)));
        let mass: f64 = (1..steps).map(at).sum::<f64>() / f64::from(steps);
        assert!(fabs(mass - 1.0) < 1e-12, "{mass}");
    }
}
