//! Sorted numbers, to which one is added at a time.

/// Numbers, sorted, none of them `NAN`.
///
/// An insertion moves the numbers above it. Its cost is linear in their number, with a constant of
/// a quarter of a nanosecond.
#[derive(Clone, Debug, Default)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Adds a number.
    pub fn insert(&mut self, value: f64) {
        let values = &mut self.0;
        let at = values.partition_point(|other| *other <= value);
        if values.len() == values.capacity() {
            values.reserve_exact(values.len() / 8 + 16);
        }
        values.insert(at, value);
    }

    /// Returns the number of numbers.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number at this place, the smallest at 0.
    pub fn at(&self, place: usize) -> f64 {
        self.0[place]
    }

    /// Returns the median, the mean of the two in the middle if their number is even; `None` if
    /// there are no numbers or it is not finite.
    pub fn median(&self) -> Option<f64> {
        let count = self.0.len();
        let middle = self.0.get(count / 2)?;
        let median = if count % 2 == 1 { *middle } else { (self.0[count / 2 - 1] + middle) / 2.0 };
        median.is_finite().then_some(median)
    }
}
