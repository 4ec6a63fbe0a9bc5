//! The points at which a sequence of numbers changes its level.
//!
//! A sequence is cut into segments such that the sum of their costs, plus a penalty for each, is
//! least: optimal partitioning (Jackson and others 2005, "An algorithm for optimal partitioning of
//! data on an interval", IEEE Signal Processing Letters 12(2), equation 2), which examines all cuts
//! by dynamic programming. There are two costs:
//!
//! - [`levels`]: values whose ratios matter, such as latencies. The cost of a segment is the sum of
//!   the squares of its logarithms about their mean.
//! - [`shares`]: counts out of totals. The cost is minus the log likelihood of the segment's counts
//!   under one share for all of them.
//!
//! Cost in time: the square of the number of points, which is a few hundred at most.

use crate::modes::is_usable;

#[cfg(test)]
mod tests;

/// The least ratio of two neighbouring levels.
pub const LEAST_RATIO: f64 = 1.25;

/// A run of values of about the same level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The index of its first value.
    pub first: usize,
    /// The index of its last value.
    pub last: usize,
    /// The geometric mean of its values.
    pub value: f64,
}

impl Level {
    /// Returns the number of values.
    pub fn count(&self) -> usize {
        self.last - self.first + 1
    }
}

/// Returns the levels of values that rise from level to level, as latency does with the size of the
/// data.
///
/// The penalty of a segment is `max(2 (ln 1.25)^2, 2 s^2 ln n)`. The first term separates two
/// levels of four values each whose ratio is 1.25. The second is Schwarz' criterion (Yao 1988,
/// "Estimating the number of change-points via Schwarz' criterion", Statistics and Probability
/// Letters 6) for noise of standard deviation `s`, which is estimated by the median of the absolute
/// differences of neighbours, over `0.6745 sqrt 2`. A segment of one value between two others is a
/// step from one level to the next, not a level, and is left out. A segment that is not
/// [`LEAST_RATIO`] times as high as the one before is merged into it.
///
/// Values must be positive and finite. The result is empty if there are none, or if any value is
/// not.
pub fn levels(values: &[f64]) -> Vec<Level> {
    if !values.iter().all(is_usable) {
        return Vec::new();
    }
    let logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    let sums = Sums::of(&logs);
    let least = libm::log(LEAST_RATIO);
    let noise = noise(&logs);
    let schwarz = 2.0 * noise * noise * libm::log(logs.len().max(1) as f64);
    let segments = partition(logs.len(), (2.0 * least * least).max(schwarz), |first, end| {
        sums.squares_about_mean(first, end)
    });
    let mut levels: Vec<(usize, usize)> = Vec::new();
    for (first, end) in segments {
        if end - first == 1 && first > 0 && end < logs.len() {
            continue;
        }
        match levels.last_mut() {
            Some((before, end_before))
                if sums.mean(first, end) - sums.mean(*before, *end_before) < least =>
            {
                *end_before = end;
            }
            _ => levels.push((first, end)),
        }
    }
    let levels = levels.into_iter().map(|(first, end)| {
        let value = libm::exp(sums.mean(first, end));
        Level { first, last: end - 1, value }
    });
    levels.collect()
}

/// Returns the segments with about the same share of `counts[i]` out of `totals[i]`, as the indices
/// of their first value and of one past their last.
///
/// The penalty of a segment is `3 ln N` for a sum `N` of all totals: each segment has one share and
/// one place. The result is empty if the lengths differ, or if a count is above its total.
pub fn shares(counts: &[u64], totals: &[u64]) -> Vec<(usize, usize)> {
    let is_possible = counts.iter().zip(totals).all(|(count, total)| count <= total);
    if counts.len() != totals.len() || !is_possible {
        return Vec::new();
    }
    let [hits, all] = [counts, totals].map(|values| {
        let mut sums = vec![0; values.len() + 1];
        values.iter().enumerate().for_each(|(index, value)| sums[index + 1] = sums[index] + value);
        sums
    });
    let penalty = 3.0 * libm::log(all.last().copied().unwrap_or(0).max(2) as f64);
    partition(counts.len(), penalty, |first, end| {
        let (hit, all) = ((hits[end] - hits[first]) as f64, (all[end] - all[first]) as f64);
        let [hits, misses] = [hit, all - hit]
            .map(|part| if part > 0.0 { -part * libm::log(part / all) } else { 0.0 });
        hits + misses
    })
}

/// Returns the segments, each by its first value and the place past its last, whose costs and
/// penalties have the least sum:
/// `best(end) = min over first of best(first) + cost(first, end) + penalty`.
fn partition(
    count: usize,
    penalty: f64,
    cost: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    let mut best = vec![0.0; count + 1];
    let mut from = vec![0; count + 1];
    for end in 1..=count {
        let totals = (0..end).map(|first| (best[first] + cost(first, end) + penalty, first));
        let least = totals.min_by(|a, b| a.0.total_cmp(&b.0));
        (best[end], from[end]) = least.unwrap_or_default();
    }
    let mut segments = Vec::new();
    let mut end = count;
    while end > 0 {
        segments.push((from[end], end));
        end = from[end];
    }
    segments.reverse();
    segments
}

/// Running sums, for the means and squares of any segment in constant time.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Sums {
        let mut sums = Sums { values: vec![0.0], squares: vec![0.0] };
        let (mut sum, mut squares) = (0.0, 0.0);
        for value in values {
            sum += value;
            squares += value * value;
            sums.values.push(sum);
            sums.squares.push(squares);
        }
        sums
    }

    fn mean(&self, first: usize, end: usize) -> f64 {
        (self.values[end] - self.values[first]) / (end - first) as f64
    }

    fn squares_about_mean(&self, first: usize, end: usize) -> f64 {
        let mean = self.mean(first, end);
        let squares = self.squares[end] - self.squares[first];
        (squares - mean * mean * (end - first) as f64).max(0.0)
    }
}

/// Estimates the standard deviation of the noise from the differences of neighbours. Steps are few,
/// so their median is a difference within a level.
fn noise(logs: &[f64]) -> f64 {
    let mut steps: Vec<f64> = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    steps.sort_by(f64::total_cmp);
    let median = steps.get(steps.len() / 2).copied().unwrap_or(0.0);
    median / (0.6745 * std::f64::consts::SQRT_2)
}
