//! The log ratios so far: their median and their scale.

use crate::observation::{LogRatio, sign};
use crate::sorted::Sorted;

/// The number of past rounds that a bettor needs before it uses the size of a ratio, not only its
/// sign.
pub const ROUNDS_BEFORE_SCALE: usize = 6;

/// The interquartile range of a normal distribution in standard deviations.
const IQR_PER_SD: f64 = 1.349;

/// The log ratios so far, sorted, with their scale and their median.
#[derive(Clone, Debug, Default)]
pub struct Past {
    sorted: Sorted,
    /// The sign of the first log ratio that was not 0. The quartiles are read in its direction, so
    /// that swapping the contestants leaves the scale unchanged to the last bit.
    direction: f64,
}

impl Past {
    /// Adds a round. An interval counts as its middle, a half-open one as its finite end.
    pub fn insert(&mut self, d: LogRatio) {
        let d = d.middle();
        if self.direction == 0.0 {
            self.direction = sign(d);
        }
        self.sorted.insert(d);
    }

    /// Returns the number of rounds so far.
    pub fn rounds(&self) -> usize {
        self.sorted.count()
    }

    /// Returns `(sorted[3i/4] - sorted[i/4]) / 1.349` of the `i` rounds so far, or `None` if there
    /// are fewer than six of them or it is not a positive finite number: then bettors use signs.
    pub fn scale(&self) -> Option<f64> {
        let (sorted, rounds) = (&self.sorted, self.rounds());
        if rounds < ROUNDS_BEFORE_SCALE {
            return None;
        }
        let (upper, lower) = (3 * rounds / 4, rounds / 4);
        let range = if self.direction < 0.0 {
            // The same order statistics of the mirrored rounds.
            sorted.get(rounds - 1 - lower)? - sorted.get(rounds - 1 - upper)?
        } else {
            sorted.get(upper)? - sorted.get(lower)?
        };
        let scale = range / IQR_PER_SD;
        (scale > 0.0 && scale.is_finite()).then_some(scale)
    }

    /// Returns the median, the mean of the two in the middle if their number is even; `None` if
    /// there are no rounds or it is not finite.
    pub fn median(&self) -> Option<f64> {
        self.sorted.median()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(values: &[f64]) -> Past {
        let mut past = Past::default();
        values.iter().for_each(|d| past.insert(LogRatio::exact(*d)));
        past
    }

    #[test]
    fn there_is_no_scale_before_the_seventh_round() {
        assert_eq!(past(&[1.0, 2.0, 3.0, 4.0, 5.0]).scale(), None);
        assert_eq!(past(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).scale(), Some(3.0 / 1.349));
    }

    #[test]
    fn equal_values_and_infinite_quartiles_give_no_scale() {
        assert_eq!(past(&[0.5; 20]).scale(), None);
        let mostly_timed_out = [f64::INFINITY; 8];
        assert_eq!(past(&mostly_timed_out).scale(), None);
    }

    #[test]
    fn mirrored_rounds_have_the_same_scale_and_the_opposite_median() {
        let values: Vec<f64> = (0..50).map(|i| f64::from((i * 37) % 50) * 0.1 - 1.7).collect();
        for n in 1..values.len() {
            let mirrored: Vec<f64> = values[..n].iter().map(|d| -d).collect();
            let (a, b) = (past(&values[..n]), past(&mirrored));
            assert_eq!(a.scale(), b.scale(), "{n}");
            assert_eq!(a.median(), b.median().map(|m| -m), "{n}");
        }
    }
}
