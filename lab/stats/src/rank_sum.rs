//! The exact rank-sum test of whether one handful of measurements lies above another.
//!
//! Mann and Whitney 1947, "On a test of whether one of two random variables is stochastically
//! larger than the other", Annals of Mathematical Statistics 18(1). If `n` and `m` measurements are
//! exchangeable, each of the `C(n + m, n)` ways in which those of one side can lie among all is
//! equally likely, and `f(n, m, u) = f(n - 1, m, u - m) + f(n, m - 1, u)` of them have `u` pairs in
//! which that side's is the larger.

/// The number of measurements to which a longer side is thinned out.
const MOST: usize = 40;

/// Returns the probability, if the left measurements were no larger than `factor` times the right
/// ones, of at least as many pairs with a larger left measurement as there are pairs with
/// `left > factor x right`. It is an upper bound of the chance to see this where they are not
/// larger. An equal pair counts for the right, so ties only increase it. Returns 1 if a side is
/// empty, or if a measurement is not finite.
///
/// Cost: the product of the numbers, squared; more than 40 per side are thinned out.
pub fn chance_above(left: &[f64], right: &[f64], factor: f64) -> f64 {
    let (left, right) = (thinned(left), thinned(right));
    let pairs = left.iter().flat_map(|above| right.iter().map(move |below| (above, below)));
    let pairs = pairs.filter(|(above, below)| **above > factor * **below).count();
    let all_finite = left.iter().chain(&right).all(|value| value.is_finite());
    if left.is_empty() || right.is_empty() || !all_finite {
        return 1.0;
    }
    let counts = arrangements(left.len(), right.len());
    let sum: f64 = counts.iter().sum();
    counts[pairs..].iter().sum::<f64>() / sum
}

fn thinned(values: &[f64]) -> Vec<f64> {
    let step = values.len().div_ceil(MOST).max(1);
    values.iter().step_by(step).copied().collect()
}

/// Returns `f(n, m, u)` for each `u` from 0 to `n m`.
fn arrangements(n: usize, m: usize) -> Vec<f64> {
    // Row by row of the recursion: `of[m]` is f(rows so far, m, .).
    let mut of: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for row in 1..=n {
        let mut next: Vec<Vec<f64>> = Vec::with_capacity(m + 1);
        for column in 0..=m {
            let mut counts = vec![0.0; row * column + 1];
            for (u, count) in of[column].iter().enumerate() {
                counts[u + column] += count;
            }
            if let Some(fewer) = column.checked_sub(1).map(|fewer| &next[fewer]) {
                fewer.iter().enumerate().for_each(|(u, count)| counts[u] += count);
            }
            next.push(counts);
        }
        of = next;
    }
    of.swap_remove(m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins::{Purpose, Seed, Stream};

    #[test]
    fn counts_are_those_of_all_arrangements() {
        // All ways to choose 2 of 5 places, by how many of the 3 others lie below.
        assert_eq!(arrangements(2, 3), [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0]);
        fn choose(n: usize, m: usize) -> f64 {
            arrangements(n, m).iter().sum::<f64>()
        }
        assert_eq!((choose(12, 12), choose(8, 3)), (2_704_156.0, 165.0));
    }

    #[test]
    fn chances_are_exact() {
        let check = |left: &[f64], right: &[f64], factor, expected: f64| {
            assert!((chance_above(left, right, factor) - expected).abs() < 1e-12, "{left:?}");
        };
        check(&[4.0, 5.0], &[1.0, 2.0, 3.0], 1.0, 0.1);
        check(&[3.5, 2.5], &[1.0, 2.0, 3.0], 1.0, 0.2);
        // A tie counts for the right.
        check(&[3.0, 4.0], &[1.0, 2.0, 3.0], 1.0, 0.2);
        check(&[1.0, 1.0], &[1.0, 1.0], 1.0, 1.0);
        check(&[4.0, 5.0], &[1.0, 2.0, 3.0], 1.4, 0.2);
        check(&[], &[1.0], 1.0, 1.0);
        check(&[f64::NAN], &[1.0], 1.0, 1.0);
        check(&[2.0; 200], &[1.0; 200], 1.0, 1.0 / arrangements(40, 40).iter().sum::<f64>());
    }

    #[test]
    fn equal_sides_are_seldom_told_apart() {
        let mut stream = Stream::new(Seed::from_text("rank sum"), Purpose::Simulation, 0, 0);
        let false_ones = (0..4000).filter(|_| {
            let mut side = || -> Vec<f64> { (0..9).map(|_| libm::exp(stream.normal())).collect() };
            let (left, right) = (side(), side());
            chance_above(&left, &right, 1.0) <= 0.05
        });
        // 5% or slightly less, because the counts are whole numbers: 200 and 3 times 14.
        assert!((100..=242).contains(&false_ones.count()));
    }
}
