//! The summary of a contestant's samples for a table and a picture.
//!
//! These numbers describe a run. The error of its claims does not cover them (rule A11), because no
//! randomisation protects the median of a single contestant.

use tiebreak_core::result::{Ecdf, Histogram, MetricSummary};

/// The confidence of the interval of a median; each tail has at most half of the rest.
const MEDIAN_CONFIDENCE: f64 = 0.99;

/// Sorts the values and summarises them. Infinite values sort to the end; quantiles that fall on
/// one are `None`. The median's interval is never narrower than one step of the metric in either
/// direction.
pub fn summarise(values: &mut [f64], step: f64) -> MetricSummary {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let at = |index: usize| values.get(index).copied().filter(|value| value.is_finite());
    let middle = at(n / 2).and(at(n.saturating_sub(1) / 2));
    let median = middle.and_then(|_| median_of_sorted(values));
    let rank = median_rank(n as u64);
    let low = rank.and_then(|rank| at(rank as usize)).zip(median);
    let high = rank.and_then(|rank| at(n - 1 - rank as usize)).zip(median);
    MetricSummary {
        median,
        low: low.map(|(low, median)| low.min((median - step).max(0.0))),
        high: high.map(|(high, median)| high.max(median + step)),
        p10: quantile_index(n, 10).and_then(at),
        p90: quantile_index(n, 90).and_then(at),
    }
}

/// Returns the median of sorted values, the mean of the two in the middle if their number is even;
/// `None` if there is none.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let high = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(high);
    }
    let low = sorted[sorted.len() / 2 - 1];
    Some(low + (high - low) / 2.0)
}

/// Returns the index of the smallest sorted value at or below which `percent` of `n` values lie.
fn quantile_index(n: usize, percent: usize) -> Option<usize> {
    if n == 0 { None } else { Some((n * percent).div_ceil(100).max(1) - 1) }
}

/// Returns the index `r` such that the median lies between sorted values `r` and `n - 1 - r` with
/// [`MEDIAN_CONFIDENCE`]: the largest with `P(Binomial(n, 1/2) <= r) <= 0.005`. Returns `None`
/// below 8 values.
fn median_rank(n: u64) -> Option<u64> {
    let tail = (1.0 - MEDIAN_CONFIDENCE) / 2.0;
    let mut log_probability = -(n as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    let mut rank = None;
    for successes in 0..n / 2 {
        sum += libm::exp(log_probability);
        if sum > tail {
            break;
        }
        rank = Some(successes);
        log_probability += libm::log((n - successes) as f64 / (successes + 1) as f64);
    }
    rank
}

/// The maximum end of a picture, in multiples of the 90th percentile.
const FURTHEST_BEYOND_P90: f64 = 1.5;

/// Counts the values of each contestant in bins that all contestants share.
///
/// The scale reaches from the least value to the greatest 98th percentile, but at most half beyond
/// the 90th, so that outliers do not squeeze everything else into one bin. Values above it are
/// counted separately. `sorted` holds one sorted slice per contestant. The result has one histogram
/// each, or is empty without finite values.
pub fn histograms(sorted: &[&[f64]], bins: usize) -> Vec<Histogram> {
    let lows = sorted.iter().filter_map(|v| v.first().copied()).filter(|v| v.is_finite());
    let highs = sorted.iter().filter_map(|values| {
        let finite = values.iter().take_while(|value| value.is_finite()).count();
        let p98 = values.get(quantile_index(finite, 98)?)?;
        Some(p98.min(FURTHEST_BEYOND_P90 * values.get(quantile_index(finite, 90)?)?))
    });
    let low = lows.fold(f64::INFINITY, f64::min);
    let mut high = highs.fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() || !high.is_finite() || bins == 0 {
        return Vec::new();
    }
    if high <= low {
        high = low + low.abs().max(1.0) * 1e-3;
    }
    let width = (high - low) / bins as f64;
    let histograms = sorted.iter().map(|values| {
        let mut counts = vec![0; bins];
        let mut beyond = 0;
        for value in values.iter() {
            match ((value - low) / width) as usize {
                bin if bin < bins => counts[bin] += 1,
                _ if *value <= high => counts[bins - 1] += 1,
                _ => beyond += 1,
            }
        }
        Histogram { low, high, counts, beyond }
    });
    histograms.collect()
}

/// Returns the empirical distribution function of sorted values: all of them up to `most`, which is
/// at least 2; above that, `most` of them at ranks that are spread evenly, with the least and the
/// greatest. Returns `None` if there are no values, or if one is infinite.
pub fn ecdf(sorted: &[f64], most: usize) -> Option<Ecdf> {
    sorted.last().filter(|greatest| greatest.is_finite())?;
    let mut ecdf =
        Ecdf { count: sorted.len() as u64, values: vec![0.0; sorted.len().min(most.max(2))] };
    for index in 0..ecdf.values.len() {
        ecdf.values[index] = sorted[ecdf.rank(index) as usize - 1];
    }
    Some(ecdf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_small_and_infinite_samples() {
        let summary = summarise(&mut [], 0.0);
        assert_eq!((summary.median, summary.p10), (None, None));
        let summary = summarise(&mut [3.0, 1.0], 0.0);
        assert_eq!((summary.median, summary.low), (Some(2.0), None));
        let mut values: Vec<f64> = (1..=100).map(f64::from).collect();
        values.push(f64::INFINITY);
        let summary = summarise(&mut values, 0.0);
        assert_eq!(summary.median, Some(51.0));
        assert_eq!((summary.p10, summary.p90), (Some(11.0), Some(91.0)));
        // P(Bin(101, 1/2) <= 37) = 0.0046, P(<= 38) = 0.0083.
        assert_eq!((summary.low, summary.high), (Some(38.0), Some(64.0)));
        assert_eq!(summarise(&mut [f64::INFINITY; 3], 0.0).median, None);
    }

    #[test]
    fn an_interval_is_never_narrower_than_the_clock_tells() {
        let summary = summarise(&mut [5.0; 50], 2.0);
        assert_eq!((summary.low, summary.high), (Some(3.0), Some(7.0)));
    }

    #[test]
    fn the_rank_of_the_median_holds_for_many_values() {
        // The normal approximation: n/2 - 2.5758 sqrt(n)/2.
        let rank = median_rank(1_000_000).unwrap() as f64;
        assert!((rank - (500_000.0 - 1287.9)).abs() < 3.0, "{rank}");
        assert_eq!(median_rank(7), None);
        assert_eq!(median_rank(8), Some(0));
    }

    #[test]
    fn a_distribution_function_keeps_both_ends_and_steps_once_a_value() {
        let steps = |values: &[f64], most| {
            ecdf(values, most).map(|ecdf| ecdf.steps().collect::<Vec<_>>()).unwrap_or_default()
        };
        assert_eq!(steps(&[], 9), []);
        assert_eq!(steps(&[1.0, f64::INFINITY], 9), []);
        assert_eq!(steps(&[3.0], 9), [(3.0, 1.0)]);
        assert_eq!(steps(&[1.0, 2.0, 2.0, 4.0], 4), [(1.0, 0.25), (2.0, 0.75), (4.0, 1.0)]);
        let many: Vec<f64> = (1..=10_001).map(f64::from).collect();
        let kept = ecdf(&many, 400).unwrap();
        assert_eq!((kept.count, kept.values.len()), (10_001, 400));
        for (value, share) in kept.steps() {
            // The value is its own rank here.
            assert_eq!(share, value / 10_001.0);
        }
        let widest = kept.values.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        assert!(widest <= 26.0, "{widest}");
        assert_eq!((kept.values[0], kept.values[399]), (1.0, 10_001.0));
    }

    #[test]
    fn histograms_share_their_scale_and_lose_nothing() {
        let a: Vec<f64> = (0..100).map(|i| 10.0 + f64::from(i) * 0.01).collect();
        let mut b = a.clone();
        b.push(1000.0);
        b.push(f64::INFINITY);
        let both = histograms(&[&a, &b], 20);
        assert_eq!((both[0].low, both[0].high), (both[1].low, both[1].high));
        for (values, histogram) in [(&a, &both[0]), (&b, &both[1])] {
            let total = histogram.counts.iter().sum::<u64>() + histogram.beyond;
            assert_eq!(total, values.len() as u64);
        }
        assert_eq!(both[1].beyond, 3);
        assert_eq!(histograms(&[&[5.0; 4]], 4)[0].counts.iter().sum::<u64>(), 4);
        assert!(histograms(&[&[], &[f64::INFINITY]], 4).is_empty());
    }
}
