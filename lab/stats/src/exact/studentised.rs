//! Differences that are measured by their own spread.
//!
//! Splitting the numbers of both sets at random makes their spreads equal. Where they are not, the
//! difference of two means varies more, or less, than its splits do, and the test of equal
//! distributions says of equal means that they differ. A statistic whose limit is the same whatever
//! the spreads are does not: its splits have that limit too, so that the test, which stays exact
//! for equal distributions, is one of equal means, or quantiles, as the sets grow (Janssen 1997;
//! Chung and Romano 2013).

use super::statistic::{Difference, Statistic, mean, sum};

impl Statistic {
    /// Of means their difference, Y's minus X's, over its standard error (Welch 1947): infinite
    /// where the sets differ and neither has any spread.
    ///
    /// Of quantiles the root, with the sign of their difference, of what it costs both sets to have
    /// one quantile: at the number that costs the least, the sum over both of the squared
    /// standardised differences of how many numbers lie below it (half of one that equals it among
    /// them) and how many should. No density has to be estimated for that, and its limit is
    /// standard normal (Owen 1988).
    ///
    /// A number that others equal may be the quantile wherever among these the share falls, so it
    /// costs a set only what is missing to the nearest of them, and both sets half of the squared
    /// sum of what it costs each. That is at most what any order of equal numbers makes it, and
    /// where that number is the quantile of both, it is at most a standard normal variable, nearly.
    ///
    /// Both sets are not empty, and lose their order. Linear, and of quantiles a sort of the
    /// numbers between the two.
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
    // Rounding errors of the difference, and of the standard error as a share of itself.
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

/// The root of the least cost at which `low` and `high`, whose quantile is above that of `low`,
/// have one quantile: a value between the two.
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
        // The next number that is in either.
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

/// The numbers from one value to another, in order.
fn inside(values: &[f64], from: f64, to: f64) -> Vec<f64> {
    let mut inside: Vec<f64> =
        values.iter().copied().filter(|value| (from..=to).contains(value)).collect();
    inside.sort_unstable_by(f64::total_cmp);
    inside
}
