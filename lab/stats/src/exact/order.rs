//! Whether the numbers of a set follow each other.

/// From as many numbers on the normal approximation is used.
const LEAST: usize = 8;
/// The point that a standard normal variable exceeds in half a percent of cases.
const Z_MOST: f64 = 2.575_829_303_548_901;

/// How much more alike numbers that stand next to each other are than chance makes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// In standard deviations; that of independent numbers exceeds 2.58 in half a percent of cases.
    pub z: f64,
    /// The variance of the ranks over what it is where no two numbers are equal: 1 then, and near 0
    /// where nearly all are, so that `z` is not normal.
    pub spread: f64,
}

impl Order {
    /// The ratio of von Neumann on ranks (Bartels 1982): squared differences of ranks that stand
    /// next to each other over squared distances of all from their middle, 2 on average for numbers
    /// in any order, and less where each is like the one before, be it drift or memory. Equal
    /// numbers have the middle of their ranks. `None` for fewer than eight numbers, or equal ones.
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

    /// Whether that is more than chance makes of independent numbers in 99.5% of cases.
    pub fn is_serial(self) -> bool {
        self.z > Z_MOST
    }
}

/// The rank of each number from 0, of equal ones the middle of theirs.
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
