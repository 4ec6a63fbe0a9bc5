//! A test of whether the numbers of a set follow each other.

/// The least count of numbers for the normal approximation.
const LEAST: usize = 8;
/// The value that a standard normal variable exceeds in half a percent of cases.
const Z_MOST: f64 = 2.575_829_303_548_901;

/// The degree to which neighbouring numbers are more alike than by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// The degree in standard deviations; that of independent numbers exceeds 2.58 in half a
    /// percent of cases.
    pub z: f64,
    /// The variance of the ranks over its value without equal numbers: 1 if no two numbers are
    /// equal. It is near 0 if nearly all are equal; `z` is then not normal.
    pub spread: f64,
}

impl Order {
    /// Computes `z` from von Neumann's ratio on ranks (Bartels 1982): the squared differences of
    /// neighbouring ranks over the squared distances of all ranks from their middle. The ratio is 2
    /// on average for numbers in any order, and less if each is like the one before, through drift
    /// or memory. Equal numbers get the middle of their ranks. Returns `None` for fewer than eight
    /// numbers, or if all are equal.
    pub fn of(values: &[f64]) -> Option<Order> {
        let ranks = ranks(values);
        let n = values.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let all: f64 = ranks.iter().map(|rank| (rank - middle) * (rank - middle)).sum();
        let steps: f64 = ranks.windows(2).map(|two| (two[0] - two[1]) * (two[0] - two[1])).sum();
        if values.len() < LEAST || all == 0.0 {
            return None;
        }
        let variance = 4.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0)
            / (5.0 * n * (n + 1.0) * (n - 1.0) * (n - 1.0));
        let spread = 12.0 * all / (n * (n * n - 1.0));
        Some(Order { z: (2.0 - steps / all) / libm::sqrt(variance), spread })
    }

    /// Returns whether `z` is larger than that of independent numbers in 99.5% of cases.
    pub fn is_serial(self) -> bool {
        self.z > Z_MOST
    }
}

/// Returns the rank of each number from 0; equal numbers get the middle of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = first as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|index| ranks[*index] = rank);
        first += equal.len();
    }
    ranks
}
