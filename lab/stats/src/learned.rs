//! Scores that are learnt from the past: bets by those who have seen the shape of the noise.
//!
//! The bettors of a table must do with scores that never decrease, as they bet against all log
//! ratios up to a bar at once. Where noise has several modes, most of what a round says is lost: a
//! round may lie far above the bar and yet, by the mode that it is in, speak against it. Against a
//! single log ratio `theta` any odd score is fair. With a density `g` that is symmetric, and a
//! shift `delta`,
//!
//! ```text
//! k(y) = (g(y - delta) - g(y + delta)) / (g(y - delta) + g(y + delta))
//! ```
//!
//! is the score of who believes that `d - theta` has the density `g(y - delta)`: `1 + k` is its
//! likelihood ratio to the same density made symmetric, the best bet there is on signs that are
//! fair (Koning 2024). The shape `g` is a kernel estimate from rounds of the past, so the bet is
//! fair whatever the noise is; it is fast where the noise goes on as it was.
//!
//! All log ratios up to a bar are rejected if each of them is. [`Cell`] makes that a finite matter:
//! the wealth against a cell is at most the wealth against each log ratio in it.

use crate::observation::LogRatio;
use crate::past::Past;
use crate::whole_powers::{pow2, power};

/// The number of shifts that are bet on, each with the same share.
const SHIFTS: usize = 10;
/// The shifts, in scale units of the rounds before.
const SHIFT: [f64; SHIFTS] = [0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.8, 1.3, 2.2];
/// The stake: below 1, so that no single round takes everything.
const STAKE: f64 = 0.95;

/// The kernels that compete, by the width in scale units of four bins.
const KERNELS: [f64; 5] = [0.4, 0.2, 0.1, 0.05, 0.025];
/// The bins of a kernel's width, and how many passes of a moving mean over five bins smooth it.
const BINS_A_KERNEL: f64 = 4.0;
const PASSES: usize = 3;
/// The distance from the centre, in scale units, up to which a shape is known.
const REACH: f64 = 8.0;
/// The share of a shape that is spread evenly, so that nothing is impossible.
const EVEN: f64 = 0.05;

/// The rounds after which the first shape is made, the growth from one shape to the next, and the
/// rounds after which nothing is learnt or bet on any more: limits look at each round many times.
const FIRST: usize = 12;
const GROWTH: f64 = 1.1;
const LAST: usize = 1 << 15;

/// The share of the wealth that stays with the table for ever, and the part of the rest that does
/// at each new shape. Few rounds make a poor shape, so the learners get their share bit by bit.
const KEPT: f64 = 0.6;
const STAYS: f64 = 0.85;

/// The most bins in a window that are looked at one by one; a wider one counts as lost.
const WINDOW_BINS_MAX: usize = 16;
/// Wealth outside of these is cut off, which only lowers it.
const WEALTH_MAX: f64 = 1e250;
const WEALTH_MIN: f64 = 1e-250;

/// The log ratios from `low` to `high`, against all of which one bets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The lowest.
    pub low: f64,
    /// The highest: where the bets of a table are at their worst.
    pub high: f64,
}

impl Cell {
    /// Returns the cell of one log ratio.
    pub fn at(theta: f64) -> Cell {
        Cell { low: theta, high: theta }
    }
}

/// The shape of the noise, as the rounds before a round show it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The number of rounds before it is bet on.
    pub from: usize,
    /// The share of the table's wealth that moves to the learners when the shape comes, and the
    /// share that has stayed in all.
    moved: f64,
    kept: f64,
    bins: Bins,
    /// The shifts, in natural logarithms.
    shifts: [f64; SHIFTS],
}

/// A density by the distance from its centre: probabilities of bins, and of every bin beyond them.
/// Without bins, nothing is known.
#[derive(Clone, Debug, Default)]
struct Bins {
    a_unit: f64,
    density: Vec<f64>,
    beyond: f64,
}

/// What the shapes of a run have been, and how the next one is found.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The shapes so far.
    pub all: Vec<Shape>,
    /// The centre and the candidates of the latest shape, and how well those of each kernel
    /// predicted the rounds after them, as a log likelihood.
    centre: f64,
    candidates: Vec<Bins>,
    predicted: [f64; KERNELS.len()],
    /// The rounds so far that were looked at as predictions, and those at which the next shape is
    /// made.
    seen: usize,
    next: usize,
}

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes {
            all: Vec::new(),
            centre: 0.0,
            candidates: Vec::new(),
            predicted: [0.0; KERNELS.len()],
            seen: 0,
            next: FIRST,
        }
    }
}

impl Shapes {
    /// Takes the log ratios so far, in their order, whose median and scale are those of `past`.
    /// Returns the next shape if one is due.
    ///
    /// Of the kernels, the one is taken whose shapes have predicted best so far (Dawid 1984). Costs
    /// some passes over the rounds each time that their number has grown by a tenth.
    pub fn learn(
        &mut self,
        rounds: impl ExactSizeIterator<Item = LogRatio> + Clone,
        past: &Past,
    ) -> Option<&Shape> {
        if rounds.len() < self.next || self.next > LAST {
            return None;
        }
        for round in rounds.clone().skip(self.seen) {
            let distance = (round.middle() - self.centre).abs();
            for (predicted, bins) in self.predicted.iter_mut().zip(&self.candidates) {
                *predicted += libm::log(bins.at(distance) * bins.a_unit);
            }
        }
        self.seen = rounds.len();
        self.next = (rounds.len() as f64 * GROWTH) as usize + 1;
        let (centre, scale) = past.median().zip(past.scale())?;
        self.centre = centre;
        let bins = if self.next > LAST {
            Bins::default()
        } else {
            self.candidates =
                KERNELS.map(|kernel| Bins::new(rounds.clone(), centre, scale, kernel)).into();
            let best = (1..KERNELS.len()).fold(0, |best, kernel| {
                if self.predicted[kernel] > self.predicted[best] { kernel } else { best }
            });
            self.candidates[best].clone()
        };
        let had = self.all.last().map_or(1.0, |shape| shape.kept);
        let kept = KEPT + (had - KEPT) * STAYS;
        let shifts = SHIFT.map(|shift| shift * scale);
        self.all.push(Shape { from: rounds.len(), moved: had - kept, kept, bins, shifts });
        self.all.last()
    }

    /// Returns the least that all can have after `rounds`, the table's wealth being `table`: the
    /// part that is still with the table, if the learners lost theirs.
    pub fn least(&self, table: f64, rounds: u64, charges: u64) -> f64 {
        let kept = self.all.last().map_or(1.0, |shape| shape.kept);
        rounded_down(kept * table, rounds, charges)
    }

    /// Returns the scale of the latest shape, in natural logarithms.
    pub fn scale(&self) -> Option<f64> {
        Some(self.all.last()?.shifts[SHIFTS - 1] / SHIFT[SHIFTS - 1])
    }
}

impl Bins {
    /// Estimates the density of the distance from a centre: a histogram, smoothed by moving means.
    fn new(
        rounds: impl ExactSizeIterator<Item = LogRatio>,
        centre: f64,
        scale: f64,
        kernel: f64,
    ) -> Bins {
        let all = rounds.len() as f64 + 1.0;
        let a_unit = BINS_A_KERNEL / (kernel * scale);
        let count = (REACH * BINS_A_KERNEL / kernel) as usize;
        // Both sides of the centre, so that what is smoothed across it comes back.
        let mut sides = vec![0.0; 2 * count];
        for round in rounds {
            let bin = ((round.middle() - centre).abs() * a_unit) as usize;
            if bin < count {
                sides[count + bin] += 1.0;
                sides[count - 1 - bin] += 1.0;
            }
        }
        (0..PASSES).for_each(|_| smooth(&mut sides));
        let beyond = EVEN / count as f64;
        let density = sides[count..].iter().map(|one| one / all + beyond).collect();
        Bins { a_unit, density, beyond }
    }

    #[inline]
    fn at(&self, distance: f64) -> f64 {
        self.density.get((distance * self.a_unit) as usize).copied().unwrap_or(self.beyond)
    }

    /// Returns the least and the greatest density from `low` to `high`, either side of the centre.
    #[inline]
    fn range(&self, low: f64, high: f64) -> (f64, f64) {
        if low == high {
            let density = self.at(low.abs());
            return (density, density);
        }
        let far = low.abs().max(high.abs());
        let near = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
        // The bin after the known ones stands for all that lie beyond.
        let known = self.density.len();
        let [first, last] = [near, far].map(|end| ((end * self.a_unit) as usize).min(known));
        if last - first > WINDOW_BINS_MAX {
            return (0.0, 1.0);
        }
        let beyond = if last < known { &[][..] } else { std::slice::from_ref(&self.beyond) };
        let bins = &self.density[first..known.min(last + 1)];
        let all = bins.iter().chain(beyond);
        all.fold((1.0, 0.0), |(least, most), one| (one.min(least), one.max(most)))
    }
}

/// Replaces each number by the mean of it and two neighbours on either side; 0 stands beyond the
/// ends. The sums are of the same numbers in the same order on both sides of the middle.
fn smooth(numbers: &mut Vec<f64>) {
    let padded: Vec<f64> = [[0.0; 2].as_slice(), numbers, &[0.0; 2]].concat();
    numbers.clear();
    numbers.extend(padded.windows(5).map(|at| (at[2] + (at[1] + at[3]) + (at[0] + at[4])) / 5.0));
}

/// The wealth of the learners against a cell, and of the table's wealth the share that it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    wealth: [f64; SHIFTS],
    kept: f64,
    updates: u64,
}

impl Default for Learned {
    fn default() -> Learned {
        Learned { wealth: [0.0; SHIFTS], kept: 1.0, updates: 0 }
    }
}

impl Learned {
    /// Takes the learners' share of the table's wealth when a shape comes.
    pub fn invest(&mut self, shape: &Shape, table: f64) {
        self.kept = shape.kept;
        for wealth in &mut self.wealth {
            *wealth = (*wealth + shape.moved * table / SHIFTS as f64).min(WEALTH_MAX);
        }
    }

    /// Bets a share of each stake on a round that lies between `low` and `high` above the cell's
    /// log ratios: the least that any of these values would have given.
    #[inline]
    pub fn bet(&mut self, shape: &Shape, (low, high): (f64, f64), weight: f64) {
        self.updates += 1;
        if shape.bins.density.is_empty() {
            return;
        }
        for (wealth, shift) in self.wealth.iter_mut().zip(shape.shifts) {
            let (for_it, _) = shape.bins.range(low - shift, high - shift);
            let (_, against) = shape.bins.range(low + shift, high + shift);
            let score = (for_it - against) / (for_it + against);
            *wealth *= 1.0 + STAKE * weight * score;
            if *wealth > WEALTH_MAX {
                *wealth = WEALTH_MAX;
            } else if *wealth < WEALTH_MIN {
                *wealth = 0.0;
            }
        }
    }

    /// Returns the wealth of all, that of the table being `table`, as if `charges` further rounds
    /// had the worst loss. It is rounded down: a factor is off by less than `2^-51`.
    pub fn total(&self, table: f64, charges: u64) -> f64 {
        let learned = self.wealth.iter().sum::<f64>() * power(1.0 - STAKE, charges);
        rounded_down(self.kept * table + learned, self.updates, charges)
    }
}

/// Takes off a wealth what the rounding of so many updates and charges may have added.
fn rounded_down(wealth: f64, updates: u64, charges: u64) -> f64 {
    let operations = (updates + charges + 64) as f64;
    let slack = (1.0 - operations * pow2(-50)).max(0.0);
    (wealth * slack).min(f64::MAX)
}
