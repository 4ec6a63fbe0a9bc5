//! Random splits of the numbers of two sets, as the null hypothesis allows.

use super::{Difference, Statistic};
use crate::coins::{Purpose, Seed, Stream};
use tiebreak_core::resampling::Null;

/// The exchanges that change nothing if there is no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Any number may be exchanged for any other.
    Sets,
    /// The two numbers of a pair, at the same index of their sets, may be exchanged: the difference
    /// of each pair is as likely to have either sign.
    Pairs,
}

impl Design {
    /// Returns the smallest possible `p`: one over the number of ways in which sets of these sizes
    /// can be drawn, because the observed way is one of them.
    pub fn least_p(self, x_count: u64, y_count: u64) -> f64 {
        let (x, y) = (x_count as f64, y_count as f64);
        match self {
            Design::Sets => {
                libm::exp(libm::lgamma(x + 1.0) + libm::lgamma(y + 1.0) - libm::lgamma(x + y + 1.0))
                    .min(1.0)
            }
            Design::Pairs => libm::exp2(-x),
        }
    }
}

/// A sampler that draws pairs of sets of the sizes of X and Y, without replacement, from all their
/// numbers.
///
/// The effect that the null hypothesis states is first removed from the numbers of Y, so that they
/// could as well be numbers of X. Each permutation has its own stream of coins.
#[derive(Clone, Debug)]
pub struct Resampler {
    /// All numbers; those of the last X first.
    pool: Vec<f64>,
    design: Design,
    x_count: usize,
    null: Null,
    seed: Seed,
    drawn: u64,
    /// Distinct numbers in place of those of the pool, if some of these are equal.
    places: Option<Vec<f64>>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Resampler {
    /// Starts with the sets as they are. Both contain at least one number; for pairs, equally many.
    pub fn new(design: Design, x: &[f64], y: &[f64], null: Null, seed: Seed) -> Resampler {
        let mut pool = x.to_vec();
        pool.extend(y.iter().map(|value| match null {
            Null::Same => *value,
            Null::Shift { by } => value - by,
            Null::Ratio { factor } => value / factor,
        }));
        let (x, y) = (x.to_vec(), pool[x.len()..].to_vec());
        let places = has_ties(&pool).then(|| (0..pool.len()).map(|place| place as f64).collect());
        Resampler { pool, design, x_count: x.len(), null, seed, drawn: 0, places, x, y }
    }

    /// Returns the last sets drawn (at first, the observed ones), without the stated effect.
    pub fn aligned(&self) -> (&[f64], &[f64]) {
        (&self.x, &self.y)
    }

    /// Computes the statistic of the last sets drawn: for pairs, of their differences; for sets,
    /// the difference of both, divided by its own spread if it `is_studentised`. The sets lose
    /// their order.
    ///
    /// Quantiles divided by their own spread depend only on the order of the numbers. Where some
    /// numbers are equal, the sets drawn are measured as if they stood in any order, each equally
    /// likely. Whenever the test reports that the observed sets differ, it also does for one of
    /// these orders, so it stays exact.
    pub fn difference(&mut self, statistic: Statistic, is_studentised: bool) -> Difference {
        match self.design {
            Design::Sets if is_studentised => {
                if let (false, Some(places)) = (statistic == Statistic::Mean, &self.places)
                    && self.drawn > 0
                {
                    let (x, y) = places.split_at(self.x_count);
                    self.x.copy_from_slice(x);
                    self.y.copy_from_slice(y);
                }
                statistic.studentised(&mut self.x, &mut self.y)
            }
            Design::Sets => statistic.difference(&mut self.x, &mut self.y),
            Design::Pairs => {
                let differences = self.y.iter_mut().zip(&self.x);
                differences.for_each(|(y, x)| *y -= x);
                statistic.of_pairs(&mut self.y)
            }
        }
    }

    /// Returns [`Resampler::aligned`] with the stated effect added again: X and Y as they might
    /// have been under the null hypothesis.
    pub fn as_observed(&self) -> (&[f64], Vec<f64>) {
        let add = |value: &f64| match self.null {
            Null::Same => *value,
            Null::Shift { by } => value + by,
            Null::Ratio { factor } => value * factor,
        };
        (&self.x, self.y.iter().map(add).collect())
    }

    /// Draws the next pair of sets. The smaller set comes uniformly from all numbers, and the other
    /// one is the rest; each pair is kept or exchanged. Costs as many coins as the smaller set has
    /// numbers, and a copy of all.
    pub fn draw(&mut self) {
        let mut coins = Stream::new(self.seed, Purpose::Permutations, self.drawn, 0);
        self.drawn += 1;
        match self.design {
            Design::Sets => self.split(&mut coins),
            Design::Pairs => {
                for pair in 0..self.x_count {
                    if coins.sign() < 0.0 {
                        self.pool.swap(pair, self.x_count + pair);
                    }
                }
            }
        }
        let (x, y) = self.pool.split_at(self.x_count);
        self.x.copy_from_slice(x);
        self.y.copy_from_slice(y);
    }

    fn split(&mut self, coins: &mut Stream) {
        let count = self.pool.len();
        let y_count = count - self.x_count;
        if self.x_count <= y_count {
            for at in 0..self.x_count {
                self.swap(at, at + coins.below((count - at) as u64) as usize);
            }
        } else {
            for left in (self.x_count + 1..=count).rev() {
                self.swap(left - 1, coins.below(left as u64) as usize);
            }
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.pool.swap(one, other);
        if let Some(places) = &mut self.places {
            places.swap(one, other);
        }
    }
}

fn has_ties(values: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.windows(2).any(|two| two[0] == two[1])
}
