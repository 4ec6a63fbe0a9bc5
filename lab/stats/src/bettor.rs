//! The two tables of bettors, the score by which they bet, and their wealth: evidence that the log
//! ratio is above a bar.
//!
//! A bettor holds the stake `a` in (0, 1) for ever. On a round whose log ratio lies `y` above the
//! bar, it multiplies its wealth by `1 + a h(y)` when it bets that the ratio is above the bar, and
//! by `1 - a h(y)` when it bets that it is below. The score `h` is odd, nondecreasing and at most 1
//! in size. Validity needs no more than that: if the noise has either sign with the same
//! probability, such a factor has no expected gain (Efron 1969; de la Pena 1999; Howard, Ramdas,
//! McAuliffe and Sekhon 2020, lemma 3; Perez-Ortiz and others 2024; Koning 2024). The theorems, and
//! what they assume, are in `docs/manual/evidence.md`.

use crate::learned::{Cell, Learned, Shape};
use crate::observation::{LogRatio, sign};
use crate::whole_powers::{pow2, power};
use tiebreak_core::plan::Centre;

/// The most bettors in a table; shorter tables are filled with bettors that stake nothing.
pub const BETTORS: usize = 11;

/// The index of the first bettor of a table that may use sizes. The bettors before it use only
/// signs, so that the loops over either kind have a length that the compiler knows.
const FIRST_ON_SIZE: usize = 4;

/// A table of bettors.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// The name in papers.
    pub name: &'static str,
    /// The number of bettors, those that stake nothing included.
    pub bettors: usize,
    /// The stakes.
    pub stake: [f64; BETTORS],
    /// The share of the initial wealth that each bettor holds; they sum to 1.
    pub weight: [f64; BETTORS],
    /// The slopes at which the scores of the bettors from the fifth on rise with the distance in
    /// scale units; `None` for a table on signs only.
    pub slope: Option<[f64; BETTORS - FIRST_ON_SIZE]>,
    /// Whether the verdict must also agree with the median (rule A1: where sizes are used).
    pub asks_the_median: bool,
    /// Whether learners of the noise's shape share the wealth.
    pub learns: bool,
}

/// The table for a constant factor between two contestants: four bettors on the sign of the log
/// ratio and five on its size, capped at three scale units so that no outlier decides.
///
/// Stakes, slopes and weights were picked by hand, out of eight candidates, for the fewest rounds
/// on four synthetic kinds of noise (normal; with spikes; in two modes; all of these with a drift).
/// The table's validity does not depend on that choice; its speed on other noise does.
pub static M3R: Table = Table {
    name: "M3r",
    bettors: 9,
    stake: [0.90, 0.60, 0.35, 0.15, 0.90, 0.60, 0.35, 0.17, 0.07, 0.0, 0.0],
    weight: [0.15, 0.12, 0.12, 0.06, 0.15, 0.15, 0.12, 0.08, 0.05, 0.0, 0.0],
    slope: Some([1.5, 1.2, 1.0, 0.9, 0.9, 0.0, 0.0]),
    asks_the_median: true,
    learns: false,
};

/// The table for a constant factor since version 3 of the engine: M3r, two bettors with stakes for
/// effects of a few hundredths of a scale unit, and learners.
pub static M4: Table = Table {
    name: "M4",
    bettors: 11,
    stake: [0.90, 0.60, 0.35, 0.15, 0.90, 0.60, 0.35, 0.17, 0.07, 0.03, 0.012],
    weight: [0.145, 0.115, 0.115, 0.055, 0.145, 0.145, 0.115, 0.08, 0.045, 0.02, 0.02],
    slope: Some([1.5, 1.2, 1.0, 0.9, 0.9, 0.9, 0.9]),
    asks_the_median: true,
    learns: true,
};

/// The table for the median of the paired ratios, without an assumption of symmetry: signs only.
pub static S: Table = Table {
    name: "S",
    bettors: 9,
    stake: [0.95, 0.80, 0.60, 0.40, 0.25, 0.12, 0.05, 0.0, 0.0, 0.0, 0.0],
    weight: [0.12, 0.16, 0.20, 0.20, 0.14, 0.10, 0.08, 0.0, 0.0, 0.0, 0.0],
    slope: None,
    asks_the_median: false,
    learns: false,
};

/// The table for the median since version 3 of the engine: S, and two bettors with stakes for
/// medians that are passed by a hundredth more than half of the rounds.
pub static S2: Table = Table {
    name: "S2",
    bettors: 9,
    stake: [0.95, 0.80, 0.60, 0.40, 0.25, 0.12, 0.05, 0.02, 0.008, 0.0, 0.0],
    weight: [0.12, 0.16, 0.20, 0.195, 0.135, 0.10, 0.07, 0.01, 0.01, 0.0, 0.0],
    slope: None,
    asks_the_median: false,
    learns: false,
};

/// Computes a rational approximation of the hyperbolic tangent: `|v| (27 + v^2) / (27 + 9 v^2)`, 1
/// from 3 on.
///
/// It is odd and nondecreasing (its derivative is proportional to `(v^2 - 9)^2`), and uses
/// operations that IEEE 754 defines to the last bit.
#[inline]
pub fn rational_score(v: f64) -> f64 {
    let size = v.abs();
    let square = size * size;
    let score = size * (27.0 + square) / (27.0 + 9.0 * square);
    (if size >= 3.0 { 1.0 } else { score }).copysign(v)
}

impl Table {
    /// Returns the table by which a version of the engine estimates a centre. A ratio of means has
    /// its own test, which uses the values; this one uses only signs.
    pub fn of(centre: Centre, version: u32) -> &'static Table {
        match (centre, version) {
            (Centre::Factor, ..3) => &M3R,
            (Centre::Factor, _) => &M4,
            (Centre::Median | Centre::Mean, ..3) => &S,
            (Centre::Median | Centre::Mean, _) => &S2,
        }
    }

    /// Returns the least number of rounds, all on one side of the bar, after which the wealth of
    /// the bets reaches `1 / error_a_side`. No run of fewer rounds settles anything.
    pub fn fewest_rounds(&self, error_a_side: f64) -> u64 {
        let mut wealth = self.weight;
        let mut rounds = 0;
        while wealth.iter().sum::<f64>() < 1.0 / error_a_side && rounds < 10_000 {
            wealth.iter_mut().zip(self.stake).for_each(|(wealth, stake)| *wealth *= 1.0 + stake);
            rounds += 1;
        }
        rounds
    }

    /// Returns the scores of all bettors for a round that lies `y` above the bar. The scale is that
    /// of the rounds before it; with `None`, every bettor uses the sign.
    #[inline]
    pub fn scores(&self, y: f64, scale: Option<f64>) -> [f64; BETTORS] {
        let sign = sign(y);
        let mut scores = [sign; BETTORS];
        if let (Some(slope), Some(scale)) = (&self.slope, scale) {
            let distance = y / scale;
            for (score, slope) in scores[FIRST_ON_SIZE..].iter_mut().zip(slope) {
                *score = rational_score(slope * distance);
            }
        }
        scores
    }
}

/// A round as the bets see it. Every number is a function of the rounds before it and of its own
/// [`Conditions`](crate::conditions::Conditions), so the bets stay fair (rule A8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bet {
    /// The log ratio, without the believed cost of its order.
    pub d: LogRatio,
    /// The scale of the rounds before it.
    pub scale: Option<f64>,
    /// The share of each stake that is bet, from 0 to 1.
    pub weight: f64,
}

/// The exponent at which wealth is brought back towards 1 by a power of two, when it leaves
/// `2^-500 ..= 2^500`.
const RESCALE_EXPONENT: i64 = 500;
/// The number of updates between two checks of the exponent: the smallest factor, 0.05, leaves
/// `2^-139` of a wealth.
const UPDATES_BETWEEN_LOOKS: u64 = 32;

/// The wealth of each bettor as `mantissa * 2^exponent`, starting from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Wealth {
    mantissa: [f64; BETTORS],
    exponent: [i64; BETTORS],
    updates: u64,
}

impl Default for Wealth {
    fn default() -> Self {
        Wealth { mantissa: [1.0; BETTORS], exponent: [0; BETTORS], updates: 0 }
    }
}

impl Wealth {
    /// Multiplies every wealth by `1 + stake * score`.
    #[inline]
    pub fn bet(&mut self, table: &Table, scores: &[f64; BETTORS]) {
        let bets = table.stake.iter().zip(scores);
        for (mantissa, (stake, score)) in self.mantissa.iter_mut().zip(bets) {
            *mantissa *= 1.0 + stake * score;
        }
        self.updates += 1;
        if self.updates.is_multiple_of(UPDATES_BETWEEN_LOOKS) {
            self.rescale();
        }
    }

    #[cold]
    fn rescale(&mut self) {
        let (up, down) = (pow2(RESCALE_EXPONENT), pow2(-RESCALE_EXPONENT));
        for (mantissa, exponent) in self.mantissa.iter_mut().zip(&mut self.exponent) {
            if *mantissa > up {
                *mantissa *= down;
                *exponent += RESCALE_EXPONENT;
            } else if *mantissa < down {
                *mantissa *= up;
                *exponent -= RESCALE_EXPONENT;
            }
        }
    }

    /// Returns the weighted sum of the wealth, each bettor charged as if it had lost `charges`
    /// further rounds. It is rounded down by more than all rounding errors so far can have added.
    ///
    /// A factor is off by at most `2^-53` and its product by a relative `2^-53`, so `n` rounds and
    /// the sum are off by at most `(n + 9) 2^-52`; the function subtracts twice that.
    pub fn total(&self, table: &Table, charges: u64) -> f64 {
        let top = self.exponent[..table.bettors].iter().copied().max().unwrap_or(0);
        let mut sum = 0.0;
        for k in 0..table.bettors {
            let loss = power(1.0 - table.stake[k], charges);
            let part = table.weight[k] * loss * self.mantissa[k];
            sum += part * pow2(self.exponent[k] - top);
        }
        let operations = (self.updates + charges + table.bettors as u64 + 4) as f64;
        let slack = (1.0 - operations * pow2(-51)).max(0.0);
        // The largest finite number stands for larger ones.
        if top > 1500 {
            return f64::MAX;
        }
        let half = top / 2;
        (sum * slack * pow2(half) * pow2(top - half)).min(f64::MAX)
    }
}

/// The wealth against "the log ratio is at most the bar": that of a table's bettors, shared with
/// the learners where there are any. Where it bets against a cell of log ratios, it is at most the
/// wealth against each of them.
///
/// Under the hypothesis, the expectation of the total never exceeds 1, so the probability that it
/// ever reaches `1/e` is at most `e`. The bet that the log ratio lies *below* a bar is the same on
/// mirrored rounds: observe `-d` against `-bar`.
#[derive(Clone, Debug)]
pub struct EProcess {
    table: &'static Table,
    cell: Cell,
    wealth: Wealth,
    learned: Option<Learned>,
}

impl EProcess {
    /// Starts with a wealth of 1 against one log ratio.
    pub fn new(table: &'static Table, bar: f64) -> EProcess {
        EProcess::against(table, Cell::at(bar))
    }

    /// Starts with a wealth of 1 against every log ratio of a cell.
    pub fn against(table: &'static Table, cell: Cell) -> EProcess {
        let learned = table.learns.then(Learned::default);
        EProcess { table, cell, wealth: Wealth::default(), learned }
    }

    /// Returns the bar: the highest log ratio that it bets against.
    pub fn bar(&self) -> f64 {
        self.cell.high
    }

    /// Lets the learners take their share, before they bet on this shape.
    pub fn learn(&mut self, shape: &Shape) {
        if let Some(learned) = &mut self.learned {
            learned.invest(shape, self.wealth.total(self.table, 0));
        }
    }

    /// Bets on a round whose log ratio `d` counts in the direction of this bet. The latest shape
    /// that was learnt is `shape`.
    #[inline]
    pub fn observe(&mut self, d: LogRatio, bet: &Bet, shape: Option<&Shape>) {
        let low = d.low - self.cell.high;
        let mut scores = self.table.scores(low, bet.scale);
        if bet.weight != 1.0 {
            scores = scores.map(|score| score * bet.weight);
        }
        self.wealth.bet(self.table, &scores);
        if let (Some(learned), Some(shape)) = (&mut self.learned, shape) {
            learned.bet(shape, (low, d.high - self.cell.low), bet.weight);
        }
    }

    /// Returns the wealth, as if `charges` further rounds had the worst loss.
    pub fn value(&self, charges: u64) -> f64 {
        let table = self.table_value(charges);
        self.learned.as_ref().map_or(table, |learned| learned.total(table, charges))
    }

    /// Returns the wealth of the table's bettors alone, which never rises with the bar.
    pub fn table_value(&self, charges: u64) -> f64 {
        self.wealth.total(self.table, charges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_stakes_stay_below_it() {
        for table in [&M3R, &M4, &S, &S2] {
            let sum: f64 = table.weight.iter().sum();
            assert!((sum - 1.0).abs() < 1e-15, "{}: {sum}", table.name);
            assert!(table.stake.iter().all(|a| (0.0..1.0).contains(a)));
        }
    }

    #[test]
    fn the_fewest_rounds_are_those_of_unanimous_bets() {
        // Ten rounds at 1%, two-sided, as a race of unanimous rounds needs (lab/engine).
        assert_eq!(M3R.fewest_rounds(0.005), 10);
        assert_eq!(S.fewest_rounds(1.0), 0);
        assert_eq!(S.fewest_rounds(0.005), 11);
        assert_eq!(S.fewest_rounds(0.01 / 158.0), 18);
    }

    #[test]
    fn the_score_is_odd_and_nondecreasing_and_capped() {
        let mut last = -1.0;
        for i in -50_000..=50_000 {
            let v = f64::from(i) * 1e-4;
            let h = rational_score(v);
            assert!(h >= last, "decreases at {v}");
            assert_eq!(h, -rational_score(-v));
            assert!(h.abs() <= 1.0);
            last = h;
        }
        assert_eq!(rational_score(0.0), 0.0);
        assert_eq!(rational_score(f64::INFINITY), 1.0);
        assert_eq!(rational_score(-3.0), -1.0);
    }

    #[test]
    fn wealth_starts_at_one_and_survives_long_luck() {
        let mut wealth = Wealth::default();
        assert!((wealth.total(&M3R, 0) - 1.0).abs() < 1e-14);
        let mut loser = Wealth::default();
        for _ in 0..100_000 {
            wealth.bet(&S, &[1.0; BETTORS]);
            loser.bet(&S, &[-1.0; BETTORS]);
        }
        assert_eq!(wealth.total(&S, 0), f64::MAX);
        assert_eq!(loser.total(&S, 0), 0.0);
        for _ in 0..300_000 {
            wealth.bet(&S, &[-1.0; BETTORS]);
        }
        assert!(wealth.total(&S, 0) < 1.0);
    }

    #[test]
    fn scaling_is_exact() {
        // Up and down again across the threshold: powers of two leave no trace in the mantissa.
        let mut plain = 1.0f64;
        let mut wealth = Wealth::default();
        for i in 0..2000 {
            let score = if i % 2 == 0 { 1.0 } else { -0.25 };
            wealth.bet(&S, &[score; BETTORS]);
            plain *= 1.0 + S.stake[6] * score;
        }
        let scaled = wealth.mantissa[6] * pow2(wealth.exponent[6]);
        assert_eq!(scaled, plain);
    }

    #[test]
    fn each_charge_costs_every_bettor_its_stake() {
        let wealth = Wealth::default();
        let charged = wealth.total(&S, 1);
        let expected: f64 = (0..BETTORS).map(|k| S.weight[k] * (1.0 - S.stake[k])).sum();
        assert!((charged - expected).abs() < 1e-14);
    }
}
