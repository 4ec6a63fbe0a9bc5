//! Splitting the numbers of two sets at random, as the null hypothesis allows.

use super::{Difference, Statistic};
use crate::coins::{Purpose, Seed, Stream};
use tiebreak_core::resampling::Null;

/// What may be exchanged for what if there is no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Any number for any other.
    Sets,
    /// The two numbers of a pair, which stand at the same place of their sets: the difference of
    /// each pair is as likely to have either sign.
    Pairs,
}

impl Design {
    /// No `p` is smaller than one over the number of ways in which sets of these sizes can be
    /// drawn: the observed way is one of them.
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

/// Draws pairs of sets of the sizes of X and Y, without replacement, from all their numbers.
///
/// What the null hypothesis says of Y is taken off its numbers first, so that they could as well be
/// numbers of X. Each permutation has a stream of coins of its own.
#[derive(Clone, Debug)]
pub struct Resampler {
    /// All numbers; those of the last X first.
    pool: Vec<f64>,
    design: Design,
    x_count: usize,
    null: Null,
    seed: Seed,
    drawn: u64,
    /// Numbers that all differ, in the place of those of the pool, if some of these are equal.
    places: Option<Vec<f64>>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Resampler {
    /// Starts with the sets as they are; both hold at least one number, of pairs equally many.
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

    /// The sets that were drawn last (at first those that were observed), with what the null
    /// hypothesis says of Y taken off.
    pub fn aligned(&self) -> (&[f64], &[f64]) {
        (&self.x, &self.y)
    }

    /// What a statistic makes of the sets that were drawn last: of pairs, of their differences; of
    /// sets the difference of both, by its own spread if it `is_studentised`. They lose their
    /// order.
    ///
    /// Quantiles by their own spread tell of the order of the numbers alone. Where some are equal,
    /// the sets that were drawn are measured as if they stood in any order, each as likely: as
    /// often as it is said of the observed ones that they differ, it is so of one of these orders,
    /// so that the test stays exact.
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

    /// [`Resampler::aligned`] with it added again: what X and Y might have been under the null
    /// hypothesis.
    pub fn as_observed(&self) -> (&[f64], Vec<f64>) {
        let add = |value: &f64| match self.null {
            Null::Same => *value,
            Null::Shift { by } => value + by,
            Null::Ratio { factor } => value * factor,
        };
        (&self.x, self.y.iter().map(add).collect())
    }

    /// Draws the next pair of sets: the smaller set uniformly from all numbers, the other one is
    /// what is left; or each pair the one way round or the other. Costs as many coins as the
    /// smaller set has numbers, and a copy of all.
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
