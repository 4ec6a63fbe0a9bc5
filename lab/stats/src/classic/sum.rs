//! Sums that are never too small.

use super::rounding::next;

/// An upper bound of a sum, as two numbers of which the first alone is the rounded sum: Kahan's
/// compensated summation, with its one rounding step made to round up (Shewchuk 1997, theorem 6).
/// Starts as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SumUp {
    /// The sum, rounded.
    pub value: f64,
    /// The remainder of the rounding.
    pub rest: f64,
}

impl SumUp {
    /// Adds a finite term.
    pub fn include(&mut self, term: f64) {
        let (large, small) =
            if self.value.abs() < term.abs() { (term, self.value) } else { (self.value, term) };
        let shifted = next(small + self.rest);
        // Without a rest above 0, the term alone is an upper bound as well.
        let small = if self.rest <= 0.0 { small.min(shifted) } else { shifted };
        // The exact sum of two numbers, the larger one first (Dekker 1971).
        self.value = large + small;
        self.rest = small - (self.value - large);
    }

    /// Returns one number that is at least the sum of all terms.
    pub fn finish(self) -> f64 {
        let bound = next(self.value + self.rest);
        if self.rest > 0.0 { bound } else { self.value.min(bound) }
    }
}

/// Returns an upper bound of the sum of finite terms, off by at most one or two units in the last
/// place of the largest partial sum.
pub fn sum_up(terms: &[f64]) -> f64 {
    let mut sum = SumUp::default();
    for term in terms {
        sum.include(*term);
    }
    sum.finish()
}
