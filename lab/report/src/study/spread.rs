//! The scale on which all distributions of a workload are drawn.

use super::block::Block;
use crate::chart::Span;
use crate::histogram::level;
use crate::look::Look;
use tiebreak_core::result::Histogram;

/// The scale of the distributions of a block, in nanoseconds for one call; `None` if there is none:
/// linear if they come with the same bins, else logarithmic, because then they are too far apart
/// for a linear one.
pub(crate) fn spread_of(block: &Block) -> Option<Span> {
    let known = block.rows.iter().filter_map(|row| row.distribution.as_ref());
    let all: Vec<&Histogram> = known.filter(|histogram| is_drawn(histogram)).collect();
    let first = all.first()?;
    let low = all.iter().map(|one| one.low).fold(f64::INFINITY, f64::min);
    let high = all.iter().map(|one| one.high).fold(f64::NEG_INFINITY, f64::max);
    let is_shared = all.iter().all(|one| (one.low, one.high) == (first.low, first.high));
    Some(Span { low, high, is_log: !is_shared && low > 0.0 })
}

/// How much of a distribution lies in each of some columns of equal width: a bin that lies in
/// several is divided between them.
pub(crate) fn shares(spread: Span, histogram: &Histogram, columns: usize) -> Vec<f64> {
    let mut shares = vec![0.0; columns];
    let width = (histogram.high - histogram.low) / histogram.counts.len().max(1) as f64;
    for (bin, count) in histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let from = histogram.low + bin as f64 * width;
        let ends = [from, from + width].map(|end| spread.place(end) * columns as f64);
        let [first, last] = ends.map(|end| end.clamp(0.0, columns as f64));
        let size = (last - first).max(f64::MIN_POSITIVE);
        for (column, share) in shares.iter_mut().enumerate() {
            let inside = last.min(column as f64 + 1.0) - first.max(column as f64);
            if inside > 1e-9 * size {
                *share += *count as f64 * inside / size;
            }
        }
    }
    shares
}

/// A distribution as a line of blocks, the highest of them full.
pub(crate) fn bars(spread: Span, histogram: &Histogram, columns: usize, look: Look) -> String {
    let shares = shares(spread, histogram, columns);
    let most = shares.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    shares.iter().map(|share| level(share / most, look)).collect()
}

/// Whether there is something to draw.
fn is_drawn(histogram: &Histogram) -> bool {
    let Histogram { low, high, counts, .. } = histogram;
    low.is_finite() && high.is_finite() && low < high && counts.iter().any(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spread: Span, histogram: Histogram, expected: &str) {
        let look = Look { width: 80, color: false, unicode: false };
        assert_eq!(bars(spread, &histogram, expected.len(), look), expected);
    }

    #[test]
    fn bins_lie_where_their_values_are() {
        let histogram =
            |low, high, counts: &[u64]| Histogram { low, high, counts: counts.to_vec(), beyond: 0 };
        let linear = Span { low: 0.0, high: 8.0, is_log: false };
        check(linear, histogram(0.0, 8.0, &[0, 1, 8, 0]), "  ..@@  ");
        check(linear, histogram(0.0, 8.0, &[1, 0, 0, 1]), "@  @");
        let log = Span { low: 1.0, high: 10_000.0, is_log: true };
        check(log, histogram(1.0, 10.0, &[1]), "@@      ");
        check(log, histogram(1_000.0, 10_000.0, &[1]), "      @@");
        check(log, histogram(20_000.0, 30_000.0, &[1]), "    ");
    }
}
