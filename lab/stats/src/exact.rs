//! The exact test by resampling: do two finished sets of numbers differ?
//!
//! Under the null hypothesis, the numbers of both sets, put together, might have been split in any
//! way. So the sets are split at random again and again ([`Resampler`]). `p` is the probability
//! that a split gives a difference ([`Statistic`]) at least as extreme as the observed one. The
//! splits themselves decide, as they come, how many are needed to distinguish `p` from the level
//! ([`ExactTest`]).
//!
//! This is for finished data. Repeated tests of data that grow, with a stop at any moment, multiply
//! the error; the engines of claims are for that.
//!
//! Random splits of the numbers of both sets make their spreads equal. If the spreads differ, the
//! difference of two means varies more, or less, than its splits do, and the test of equal
//! distributions reports that equal means differ. A statistic whose limit does not depend on the
//! spreads avoids this: its splits have that limit too. So the test stays exact for equal
//! distributions, and as the sets grow it becomes one of equal means, or quantiles (Janssen 1997;
//! Chung and Romano 2013).

#[cfg(test)]
mod tests;

use crate::beta;
use crate::coins::{Purpose, Seed, Stream};
use crate::rate;
use tiebreak_core::resampling::{Null, Sides};
use tiebreak_core::result::Histogram;

/// The upper end of the `p` that bets are made on, as a share of the level: the rest of the level
/// pays for stopping early.
const BET_SHARE: f64 = 0.9;
/// A bound above all rounding errors of a logarithm of the evidence.
const SLACK: f64 = 1e-9;

/// The ways in which an exact test can end before its last permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The sets differ, at the level of the test.
    Differs,
    /// `p` is above the level: more permutations would not help.
    Futile,
}

/// The sequential decision of an exact test.
///
/// Under the null hypothesis, the observed split is one among all, so the ranks of the differences
/// are exchangeable. Fischer and Ramdas (2024) bet on that: after `t` permutations of which `L`
/// were extreme, a bettor who spreads its bets over all `p` up to `c` has
/// `W = P(Binomial(t + 1, c) > L) / c`. The test ends with `Differs` when `W` reaches `1 / alpha`.
/// Under the null hypothesis, the probability that it ever does is at most `alpha`, however many
/// permutations are drawn. With `c = 0.9 alpha`, that takes 254 permutations at 1% if none is
/// extreme.
///
/// It ends with `Futile` when the evidence that `p` is above `alpha` reaches `1 / error`. That
/// evidence is the likelihood under a uniform mixture of all such `p` over that under `alpha`. The
/// statement is about `p` itself, and is wrong with probability at most `error`.
///
/// ```
/// use tiebreak_stats::exact::{Ending, ExactTest};
///
/// let mut test = ExactTest::new(0.01, 0.001);
/// let ended = (0..).find_map(|_| test.observe(false));
/// assert_eq!((ended, test.permutations), (Some(Ending::Differs), 254));
/// ```
#[derive(Clone, Debug)]
pub struct ExactTest {
    /// The level.
    pub alpha: f64,
    /// The error of statements about `p`.
    pub error: f64,
    /// The number of permutations taken.
    pub permutations: u64,
    /// The number of extreme permutations.
    pub extreme: u64,
    /// How it ended, if it has.
    pub ended: Option<Ending>,
}

impl ExactTest {
    /// Returns a test of level `alpha`, whose statements about `p` may be wrong with probability
    /// `error`; both lie between 0 and 1.
    pub fn new(alpha: f64, error: f64) -> ExactTest {
        ExactTest { alpha, error, permutations: 0, extreme: 0, ended: None }
    }

    /// Takes a permutation; those after the end are not evidence.
    pub fn observe(&mut self, is_extreme: bool) -> Option<Ending> {
        if self.ended.is_some() {
            return self.ended;
        }
        self.permutations += 1;
        self.extreme += u64::from(is_extreme);
        // Only an extreme permutation is evidence for a large p, and only another one for a small
        // p.
        self.ended = match is_extreme {
            true if self.log_against() - SLACK >= -libm::log(self.error) => Some(Ending::Futile),
            false if self.log_for() - SLACK >= -libm::log(self.alpha) => Some(Ending::Differs),
            _ => None,
        };
        self.ended
    }

    fn log_for(&self) -> f64 {
        log_wealth(self.permutations, self.extreme, self.alpha)
    }

    fn log_against(&self) -> f64 {
        log_evidence_above(self.permutations, self.extreme, self.alpha)
    }

    /// Returns the wealth of the bets against the null hypothesis.
    pub fn evidence_for(&self) -> f64 {
        libm::exp(self.log_for())
    }

    /// Returns the evidence that `p` is above the level.
    pub fn evidence_against(&self) -> f64 {
        libm::exp(self.log_against()).min(f64::MAX)
    }

    /// Returns limits of `p`. With probability at least `1 - error`, both are right at every
    /// moment.
    pub fn limits(&self) -> (f64, f64) {
        rate::limits(self.permutations, self.extreme, self.error)
    }
}

/// Returns the least number of permutations that can prove a difference at this level, if none is
/// extreme: the least `t` with `1 - (1 - c)^(t + 1) >= c / alpha`.
pub fn least_permutations(alpha: f64) -> u64 {
    let share = BET_SHARE * alpha;
    let about = libm::log1p(-BET_SHARE) / libm::log1p(-share);
    let mut least = (about as u64).saturating_sub(2);
    while log_wealth(least, 0, alpha) - SLACK < -libm::log(alpha) {
        least += 1;
    }
    least
}

/// Returns the logarithm of the wealth of the bets of a test of level `alpha`.
fn log_wealth(permutations: u64, extreme: u64, alpha: f64) -> f64 {
    let share = BET_SHARE * alpha;
    beta::log_binomial_above(permutations + 1, extreme, share) - libm::log(share)
}

/// Returns the logarithm of the evidence that `p` is above `alpha`.
fn log_evidence_above(permutations: u64, extreme: u64, alpha: f64) -> f64 {
    let (successes, failures) = (extreme as f64 + 1.0, (permutations - extreme) as f64 + 1.0);
    // The density of a Beta distribution is the likelihood over that of a uniform mixture.
    let mass = beta::log_tails(successes, failures, alpha).above;
    mass - beta::log_density(successes, failures, alpha) - libm::log1p(-alpha)
}

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
        let mut sorted = pool.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let has_ties = sorted.windows(2).any(|two| two[0] == two[1]);
        let places = has_ties.then(|| (0..pool.len()).map(|place| place as f64).collect());
        Resampler { pool, design, x_count: x.len(), null, seed, drawn: 0, places, x, y }
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
        if self.design == Design::Pairs {
            self.y.iter_mut().zip(&self.x).for_each(|(y, x)| *y -= x);
            return statistic.of_pairs(&mut self.y);
        }
        if !is_studentised {
            return statistic.difference(&mut self.x, &mut self.y);
        }
        let is_quantile = statistic != Statistic::Mean;
        if let Some(places) = self.places.as_ref().filter(|_| is_quantile && self.drawn > 0) {
            self.x.copy_from_slice(&places[..self.x_count]);
            self.y.copy_from_slice(&places[self.x_count..]);
        }
        statistic.studentised(&mut self.x, &mut self.y)
    }

    /// Returns the last sets drawn (at first, the observed ones), with the stated effect added
    /// again: X and Y as they might have been under the null hypothesis.
    pub fn as_observed(&self) -> (&[f64], Vec<f64>) {
        let y = self.y.iter().map(|value| match self.null {
            Null::Same => *value,
            Null::Shift { by } => value + by,
            Null::Ratio { factor } => value * factor,
        });
        (&self.x, y.collect())
    }

    /// Draws the next pair of sets. The smaller set comes uniformly from all numbers, and the other
    /// one is the rest; each pair is kept or exchanged. Costs as many coins as the smaller set has
    /// numbers, and a copy of all.
    pub fn draw(&mut self) {
        let mut coins = Stream::new(self.seed, Purpose::Permutations, self.drawn, 0);
        self.drawn += 1;
        let (x_count, count) = (self.x_count, self.pool.len());
        if self.design == Design::Pairs {
            for pair in (0..x_count).filter(|_| coins.sign() < 0.0) {
                self.pool.swap(pair, x_count + pair);
            }
        } else if x_count <= count - x_count {
            for at in 0..x_count {
                self.swap(at, at + coins.below((count - at) as u64) as usize);
            }
        } else {
            for left in (x_count + 1..=count).rev() {
                self.swap(left - 1, coins.below(left as u64) as usize);
            }
        }
        self.x.copy_from_slice(&self.pool[..x_count]);
        self.y.copy_from_slice(&self.pool[x_count..]);
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.pool.swap(one, other);
        if let Some(places) = &mut self.places {
            places.swap(one, other);
        }
    }
}

/// The rounding errors by which two computations of the same difference may differ, in units of the
/// last place of their inputs. The numbers themselves, the stated effect removed from them, two
/// sums and a division have half a unit each, for each set and in either direction.
const ROUNDING_UNITS: f64 = 8.0;

/// The statistic of each set. Adding a number to all values adds it to the statistic, and
/// multiplying all values multiplies it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The median; for an even count, the mean of the two in the middle.
    Median,
    /// The smallest value such that at least this share of the values, in (0, 1], is at most it.
    Quantile(f64),
}

/// A difference of two numbers, and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The statistic of Y minus that of X, or that over its standard error.
    pub value: f64,
    /// The size of its inputs: the error of the value is about `2^-53` of this.
    pub size: f64,
}

impl Statistic {
    /// Computes the statistic of a set that is not empty. Changes the order of the values. The cost
    /// is linear.
    pub fn of(self, values: &mut [f64]) -> f64 {
        match self {
            Statistic::Mean => mean(values),
            Statistic::Median => median(values),
            Statistic::Quantile(share) => {
                let rank = libm::ceil(share * values.len() as f64) as usize;
                nth(values, rank.clamp(1, values.len()) - 1)
            }
        }
    }

    /// Computes the statistic of one set, as a difference from 0. The set loses its order.
    pub fn of_pairs(self, differences: &mut [f64]) -> Difference {
        let value = self.of(differences);
        let size = match self {
            Statistic::Mean => {
                differences.iter().map(|value| value.abs()).sum::<f64>() / differences.len() as f64
            }
            Statistic::Median | Statistic::Quantile(_) => value.abs(),
        };
        Difference { value, size }
    }

    /// Computes the statistic of Y minus that of X. Both sets are not empty, and lose their order.
    pub fn difference(self, x: &mut [f64], y: &mut [f64]) -> Difference {
        let (of_x, of_y) = (self.of_pairs(x), self.of_pairs(y));
        Difference { value: of_y.value - of_x.value, size: of_x.size + of_y.size }
    }
}

fn mean(values: &[f64]) -> f64 {
    sum(values.iter().copied()) / values.len() as f64
}

/// Computes the sum with a running correction (Neumaier 1974): its error hardly grows with the
/// count.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for value in values {
        let total = sum + value;
        let (large, small) = if sum.abs() >= value.abs() { (sum, value) } else { (value, sum) };
        lost += (large - total) + small;
        sum = total;
    }
    // The correction is not a number if the sum overflows.
    if lost.is_finite() { sum + lost } else { sum }
}

/// Returns the value that would be at `index` if the values were sorted.
fn nth(values: &mut [f64], index: usize) -> f64 {
    *values.select_nth_unstable_by(index, f64::total_cmp).1
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let upper = nth(values, middle);
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}

/// Returns whether a difference is at least as extreme as the observed one.
///
/// Two equal differences whose parts were added in another order may differ in their last digits.
/// So differences within the rounding errors of both count as equal, and equal ones as extreme: in
/// doubt, the test is stricter. A difference that is not a number also counts as extreme.
pub fn is_extreme(sides: Sides, resampled: Difference, observed: Difference) -> bool {
    let slack = ROUNDING_UNITS * f64::EPSILON * resampled.size.max(observed.size);
    let is_less_extreme = match sides {
        Sides::Two => resampled.value.abs() < observed.value.abs() - slack,
        Sides::Greater => resampled.value < observed.value - slack,
        Sides::Less => resampled.value > observed.value + slack,
    };
    // The condition has this form because a value that is not a number is neither less nor more.
    !is_less_extreme
}

impl Statistic {
    /// Computes, for means, their difference, Y's minus X's, over its standard error (Welch 1947):
    /// infinite if the sets differ and neither has any spread.
    ///
    /// For quantiles, it is the root, with the sign of their difference, of the cost for both sets
    /// to have one quantile. The cost at a number is the sum over both sets of the squared
    /// standardised difference between how many numbers lie below it (with half of a number that
    /// equals it) and how many should. The number with the least cost counts. No density has to be
    /// estimated for that, and the limit is standard normal (Owen 1988).
    ///
    /// If several numbers are equal, the quantile may be that number wherever the share falls among
    /// them. So a set's cost is only the distance to the nearest of them, and for both sets it is
    /// half of the squared sum of their costs. That is at most the cost under any order of the
    /// equal numbers. Where that number is the quantile of both, it is nearly at most a standard
    /// normal variable.
    ///
    /// Both sets are not empty, and lose their order. The cost is linear, and for quantiles also a
    /// sort of the numbers between the two.
    pub fn studentised(self, x: &mut [f64], y: &mut [f64]) -> Difference {
        let difference = self.difference(x, y);
        let share = match self {
            Statistic::Mean => return over_error(difference, x, y),
            Statistic::Median => 0.5,
            Statistic::Quantile(share) => share,
        };
        let cost = match difference.value {
            value if value > 0.0 => cost_of_one_quantile(self, share, x, y),
            value if value < 0.0 => -cost_of_one_quantile(self, share, y, x),
            value => value,
        };
        Difference { value: cost, size: cost.abs() }
    }
}

fn over_error(difference: Difference, x: &[f64], y: &[f64]) -> Difference {
    let error = libm::sqrt(variance_of_mean(x) + variance_of_mean(y));
    let value = match difference.value / error {
        value if value.is_nan() && difference.value == 0.0 => 0.0,
        value => value,
    };
    // The rounding errors of the difference, and of the standard error as a share of itself.
    let size = match difference.size / error {
        relative if relative.is_finite() => relative * (1.0 + value.abs()) + value.abs(),
        _ => 0.0,
    };
    Difference { value, size }
}

fn variance_of_mean(values: &[f64]) -> f64 {
    let (count, mean) = (values.len() as f64, mean(values));
    let squares = sum(values.iter().map(|value| (value - mean) * (value - mean)));
    if values.len() < 2 { 0.0 } else { squares / (count - 1.0) / count }
}

/// Returns the root of the least cost at which `low` and `high`, whose quantile is above that of
/// `low`, have one quantile: a value between the two.
fn cost_of_one_quantile(
    statistic: Statistic,
    share: f64,
    low: &mut [f64],
    high: &mut [f64],
) -> f64 {
    let (from, to) = (statistic.of(low), statistic.of(high));
    let (low_count, high_count) = (low.len() as f64, high.len() as f64);
    let (of_low, of_high) = (inside(low, from, to), inside(high, from, to));
    let [mut low_below, mut high_below] =
        [&*low, &*high].map(|set| set.iter().filter(|value| **value < from).count());
    let (mut i, mut j) = (0, 0);
    let mut least = f64::INFINITY;
    while i < of_low.len() || j < of_high.len() {
        // The next number of either set.
        let value = match (of_low.get(i), of_high.get(j)) {
            (Some(a), Some(b)) => a.min(*b),
            (a, b) => *a.or(b).unwrap_or(&to),
        };
        let [more_low, more_high] = [&of_low[i..], &of_high[j..]]
            .map(|set| set.iter().take_while(|other| **other == value).count());
        let is_tied = more_low + more_high > 1;
        let sets = [(low_count, low_below, more_low), (high_count, high_below, more_high)];
        let [low_off, high_off] = sets.map(|(count, below, more)| {
            let (below, more) = (below as f64 - count * share, more as f64);
            let off = if is_tied { below.max(-below - more).max(0.0) } else { below + more / 2.0 };
            off / libm::sqrt(count)
        });
        least = least.min(if is_tied {
            (low_off + high_off) * (low_off + high_off) / 2.0
        } else {
            low_off * low_off + high_off * high_off
        });
        (low_below, high_below) = (low_below + more_low, high_below + more_high);
        (i, j) = (i + more_low, j + more_high);
    }
    let variance = share * (1.0 - share);
    if least.is_finite() && variance > 0.0 { libm::sqrt(least / variance) } else { 0.0 }
}

/// Returns the numbers from one value to another, in order.
fn inside(values: &[f64], from: f64, to: f64) -> Vec<f64> {
    let mut inside = values.to_vec();
    inside.retain(|value| (from..=to).contains(value));
    inside.sort_unstable_by(f64::total_cmp);
    inside
}

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

/// The maximum stretch of the scale towards the observed difference, in multiples of its width, so
/// that a distant observed difference does not squeeze all others into one bin.
const STRETCH_MAX: f64 = 1.0;

/// Counts differences in `bins` bins of equal width, on a scale from the least to the greatest of
/// them, stretched towards the observed one. Returns `None` if there is none, or if one is not
/// finite.
pub fn histogram(differences: &[f64], observed: f64, bins: usize) -> Option<Histogram> {
    let low = differences.iter().copied().fold(f64::INFINITY, f64::min);
    let high = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let are_numbers = differences.iter().chain([&observed]).all(|value| value.is_finite());
    if bins == 0 || !are_numbers || !(high - low).is_finite() {
        return None;
    }
    let width = if high > low { high - low } else { low.abs().max(1.0) * 1e-3 };
    let stretch = STRETCH_MAX * width;
    let low = low.min(observed.max(low - stretch));
    let high = high.max(observed.min(high + stretch)).max(low + width);
    let mut counts = vec![0; bins];
    for difference in differences {
        let bin = (difference - low) / (high - low) * bins as f64;
        counts[(bin as usize).min(bins - 1)] += 1;
    }
    Some(Histogram { low, high, counts, beyond: 0 })
}
