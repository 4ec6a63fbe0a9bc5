//! Differences divided by their own spread.
//!
//! Random splits of the numbers of both sets make their spreads equal. If the spreads differ, the
//! difference of two means varies more, or less, than its splits do, and the test of equal
//! distributions reports that equal means differ. A statistic whose limit does not depend on the
//! spreads avoids this: its splits have that limit too. So the test stays exact for equal
//! distributions, and as the sets grow it becomes one of equal means, or quantiles (Janssen 1997;
//! Chung and Romano 2013).

use super::statistic::{Difference, Statistic, mean, sum};

impl Statistic {
    /// Computes, for means, their difference, Y's minus X's, over its standard error (Welch 1947):
    /// infinite if the sets differ and neither has any spread.
    ///
    /// For quantiles, it is the root, with the sign of their difference, of the cost for both sets
    /// to have one quantile. The cost at a number is the sum over both sets of the squared
    /// standardised difference between how many numbers lie below it (with half of a number that
    /// equals it) and how many should. The number with the least cost counts. No density has to be
    /// estimated for that, and the limit is standard normal (Owen 1988).
    ///
    /// If several numbers are equal, the quantile may be that number wherever the share falls among
    /// them. So a set's cost is only the distance to the nearest of them, and for both sets it is
    /// half of the squared sum of their costs. That is at most the cost under any order of the
    /// equal numbers. Where that number is the quantile of both, it is nearly at most a standard
    /// normal variable.
    ///
    /// Both sets are not empty, and lose their order. The cost is linear, and for quantiles also a
    /// sort of the numbers between the two.
    pub fn studentised(self, x: &mut [f64], y: &mut [f64]) -> Difference {
        let difference = self.difference(x, y);
        let share = match self {
            Statistic::Mean => return over_error(difference, x, y),
            Statistic::Median => 0.5,
            Statistic::Quantile(share) => share,
        };
        let cost = match difference.value {
            value if value > 0.0 => cost_of_one_quantile(self, share, x, y),
            value if value < 0.0 => -cost_of_one_quantile(self, share, y, x),
            value => value,
        };
        Difference { value: cost, size: cost.abs() }
    }
}

fn over_error(difference: Difference, x: &[f64], y: &[f64]) -> Difference {
    let error = libm::sqrt(variance_of_mean(x) + variance_of_mean(y));
    let value = match difference.value / error {
        value if value.is_nan() && difference.value == 0.0 => 0.0,
        value => value,
    };
    // The rounding errors of the difference, and of the standard error as a share of itself.
    let size = match difference.size / error {
        relative if relative.is_finite() => relative * (1.0 + value.abs()) + value.abs(),
        _ => 0.0,
    };
    Difference { value, size }
}

fn variance_of_mean(values: &[f64]) -> f64 {
    let (count, mean) = (values.len() as f64, mean(values));
    let squares = sum(values.iter().map(|value| (value - mean) * (value - mean)));
    if values.len() < 2 { 0.0 } else { squares / (count - 1.0) / count }
}

/// Returns the root of the least cost at which `low` and `high`, whose quantile is above that of
/// `low`, have one quantile: a value between the two.
fn cost_of_one_quantile(
    statistic: Statistic,
    share: f64,
    low: &mut [f64],
    high: &mut [f64],
) -> f64 {
    let (from, to) = (statistic.of(low), statistic.of(high));
    let (low_count, high_count) = (low.len() as f64, high.len() as f64);
    let (of_low, of_high) = (inside(low, from, to), inside(high, from, to));
    let below = |set: &[f64]| set.iter().filter(|value| **value < from).count();
    let (mut low_below, mut high_below) = (below(low), below(high));
    let (mut i, mut j) = (0, 0);
    let mut least = f64::INFINITY;
    while i < of_low.len() || j < of_high.len() {
        // The next number of either set.
        let value = match (of_low.get(i), of_high.get(j)) {
            (Some(a), Some(b)) => a.min(*b),
            (a, b) => *a.or(b).unwrap_or(&to),
        };
        let passed =
            |set: &[f64], at: usize| set[at..].iter().take_while(|other| **other == value).count();
        let (more_low, more_high) = (passed(&of_low, i), passed(&of_high, j));
        let is_tied = more_low + more_high > 1;
        let off = |count: f64, below: usize, more: usize| {
            let (below, more) = (below as f64 - count * share, more as f64);
            let off = if is_tied { below.max(-below - more).max(0.0) } else { below + more / 2.0 };
            off / libm::sqrt(count)
        };
        let offs = [off(low_count, low_below, more_low), off(high_count, high_below, more_high)];
        let [low_off, high_off] = offs;
        least = least.min(if is_tied {
            (low_off + high_off) * (low_off + high_off) / 2.0
        } else {
            low_off * low_off + high_off * high_off
        });
        (low_below, high_below) = (low_below + more_low, high_below + more_high);
        (i, j) = (i + more_low, j + more_high);
    }
    let variance = share * (1.0 - share);
    if least.is_finite() && variance > 0.0 { libm::sqrt(least / variance) } else { 0.0 }
}

/// Returns the numbers from one value to another, in order.
fn inside(values: &[f64], from: f64, to: f64) -> Vec<f64> {
    let mut inside: Vec<f64> =
        values.iter().copied().filter(|value| (from..=to).contains(value)).collect();
    inside.sort_unstable_by(f64::total_cmp);
    inside
}
