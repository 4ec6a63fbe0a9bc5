//! The statistic of a set of numbers, and the extreme differences.

use tiebreak_core::resampling::Sides;

/// The rounding errors by which two computations of the same difference may differ, in units of the
/// last place of their inputs. The numbers themselves, the stated effect removed from them, two
/// sums and a division have half a unit each, for each set and in either direction.
const ROUNDING_UNITS: f64 = 8.0;

/// The statistic of each set. Adding a number to all values adds it to the statistic, and
/// multiplying all values multiplies it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The median; for an even count, the mean of the two in the middle.
    Median,
    /// The smallest value such that at least this share of the values, in (0, 1], is at most it.
    Quantile(f64),
}

/// A difference of two numbers, and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The statistic of Y minus that of X, or that over its standard error.
    pub value: f64,
    /// The size of its inputs: the error of the value is about `2^-53` of this.
    pub size: f64,
}

impl Statistic {
    /// Computes the statistic of a set that is not empty. Changes the order of the values. The cost
    /// is linear.
    pub fn of(self, values: &mut [f64]) -> f64 {
        match self {
            Statistic::Mean => mean(values),
            Statistic::Median => median(values),
            Statistic::Quantile(share) => {
                let rank = libm::ceil(share * values.len() as f64) as usize;
                nth(values, rank.clamp(1, values.len()) - 1)
            }
        }
    }

    /// Computes the statistic of one set, as a difference from 0. The set loses its order.
    pub fn of_pairs(self, differences: &mut [f64]) -> Difference {
        let value = self.of(differences);
        let size = match self {
            Statistic::Mean => mean_size(differences),
            Statistic::Median | Statistic::Quantile(_) => value.abs(),
        };
        Difference { value, size }
    }

    /// Computes the statistic of Y minus that of X. Both sets are not empty, and lose their order.
    pub fn difference(self, x: &mut [f64], y: &mut [f64]) -> Difference {
        let (of_x, of_y) = (self.of_pairs(x), self.of_pairs(y));
        Difference { value: of_y.value - of_x.value, size: of_x.size + of_y.size }
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    sum(values.iter().copied()) / values.len() as f64
}

/// Computes the sum with a running correction (Neumaier 1974): its error hardly grows with the
/// count.
pub(super) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for value in values {
        let total = sum + value;
        let (large, small) = if sum.abs() >= value.abs() { (sum, value) } else { (value, sum) };
        lost += (large - total) + small;
        sum = total;
    }
    // The correction is not a number if the sum overflows.
    if lost.is_finite() { sum + lost } else { sum }
}

fn mean_size(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).sum::<f64>() / values.len() as f64
}

/// Returns the value that would be at `index` if the values were sorted.
fn nth(values: &mut [f64], index: usize) -> f64 {
    *values.select_nth_unstable_by(index, f64::total_cmp).1
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let upper = nth(values, middle);
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}

/// Returns whether a difference is at least as extreme as the observed one.
///
/// Two equal differences whose parts were added in another order may differ in their last digits.
/// So differences within the rounding errors of both count as equal, and equal ones as extreme: in
/// doubt, the test is stricter. A difference that is not a number also counts as extreme.
pub fn is_extreme(sides: Sides, resampled: Difference, observed: Difference) -> bool {
    let slack = ROUNDING_UNITS * f64::EPSILON * resampled.size.max(observed.size);
    let is_less_extreme = match sides {
        Sides::Two => resampled.value.abs() < observed.value.abs() - slack,
        Sides::Greater => resampled.value < observed.value - slack,
        Sides::Less => resampled.value > observed.value + slack,
    };
    // The condition has this form because a value that is not a number is neither less nor more.
    !is_less_extreme
}
