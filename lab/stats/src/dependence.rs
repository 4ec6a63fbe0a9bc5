//! A diagnosis of whether failures come in bursts, or in spells. It guarantees no error (rule A12).

use crate::exact::Order;

/// The maximum factor by which runs of failures may be longer than by chance.
const BURST_MOST: f64 = 1.5;
/// The maximum number of standard deviations by which there may be fewer runs than by chance.
pub const RUNS_Z_MOST: f64 = 4.0;
/// The least number of failures after a failure for bursts: fewer are chance, whatever `z` is.
const REPEATS_LEAST: u64 = 3;
/// The least length of a block in bursts, so that blocks are nearly independent of each other.
pub const BURSTS_A_BLOCK: f64 = 30.0;
/// The least relative spread of the ranks. If so many observations are equal that their ranks vary
/// less than this share of their usual variance, they are not tested for following each other.
const SPREAD_LEAST: f64 = 0.25;

/// The way in which failures follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// The number of failures over the number of runs of failures; `None` without failures.
    pub mean_burst: Option<f64>,
    /// By how many standard deviations there are fewer runs of failures than if every order of the
    /// same trials were equally likely; `None` without successes or with fewer than two failures.
    pub runs_z: Option<f64>,
    /// The factor by which runs of failures are longer than by chance.
    excess: f64,
    /// Whether failures come in bursts, so that single trials are not independent observations:
    /// runs of failures are 1.5 times longer than by chance, or the runs test is off by more than
    /// four standard deviations; and at least three failures followed a failure.
    pub is_bursty: bool,
}

impl Dependence {
    /// Computes the dependence from the numbers of trials, of failures, and of runs of failures
    /// without a success in between.
    ///
    /// The number of runs of one kind among `n` trials with `s` of the other and `f` of this kind
    /// is hypergeometric (Stevens 1939; the test of Wald and Wolfowitz 1940 counts the runs of
    /// both): mean `f (s + 1) / n`, variance `f (f - 1) s (s + 1) / (n^2 (n - 1))`.
    pub fn of(trials: u64, failures: u64, failure_runs: u64) -> Dependence {
        let (n, f, runs) = (trials as f64, failures as f64, failure_runs as f64);
        let s = n - f;
        let mean_burst = (failure_runs > 0).then(|| f / runs);
        let variance = f * (f - 1.0) * s * (s + 1.0) / (n * n * (n - 1.0));
        let spread = (variance > 0.0).then(|| libm::sqrt(variance));
        let runs_z = spread.map(|spread| (f * (s + 1.0) / n - runs) / spread);
        // By chance alone, a run of failures is n / (s + 1) long: 1 if failures are rare.
        let excess = mean_burst.map_or(0.0, |burst| burst * (s + 1.0) / n);
        let is_long = excess > BURST_MOST;
        let is_odd = runs_z.is_some_and(|z| z > RUNS_Z_MOST);
        let repeats = failures.saturating_sub(failure_runs);
        let is_bursty = repeats >= REPEATS_LEAST && s > 0.0 && (is_long || is_odd);
        Dependence { mean_burst, runs_z, excess, is_bursty }
    }

    /// Returns whether values come in spells. Here the bar may be anywhere among the values, and
    /// chance alone makes runs of a few of them 1.5 times longer. So both
    /// [`Dependence::is_bursty_in`] and the runs test must agree.
    pub fn is_in_spells(&self, block: u64) -> bool {
        self.is_bursty_in(block) && self.runs_z.is_some_and(|z| z > RUNS_Z_MOST)
    }

    /// Returns whether blocks of this many trials are not independent observations either: failures
    /// come in bursts, and a block is less than [`BURSTS_A_BLOCK`] times as long as a burst,
    /// counted in runs of the length that chance gives.
    pub fn is_bursty_in(&self, block: u64) -> bool {
        self.is_bursty && BURSTS_A_BLOCK * self.excess > block as f64
    }
}

/// The variation of failures between blocks. It shows spells in which lines fail more often
/// although no run of failures is long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSpells {
    /// The length of runs of failures that would make blocks differ as much. For spells, it is a
    /// lower bound of their length.
    pub spell_lines: f64,
    /// Whether blocks differ too much: by more than with runs that are 1.5 times a thirtieth of a
    /// block long, and by more than four standard deviations more than with independent lines.
    pub is_long: bool,
}

impl BlockSpells {
    /// Computes the variation from the shares of failures in blocks of this many lines. Returns
    /// `None` for fewer than two blocks, or for lines that all succeed or all fail.
    ///
    /// If lines are independent, the failures of a block of `n` have the variance `n p q`; if they
    /// are a chain in which failures are rare and come `L` in a row, the variance is `2 L - 1`
    /// times that. Squared distances from the mean over `n p q` are nearly chi-squared, with
    /// `2 n p q / (2 n p q + 1)` times as many degrees of freedom as there are blocks less one (by
    /// the fourth moment of the binomial); its cube root is nearly normal (Wilson and Hilferty
    /// 1931).
    pub fn of(shares: &[f64], block: u64) -> Option<BlockSpells> {
        let (blocks, lines) = (shares.len() as f64, block as f64);
        let mean = shares.iter().sum::<f64>() / blocks;
        let by_chance = lines * mean * (1.0 - mean);
        if shares.len() < 2 || by_chance.is_nan() || by_chance <= 0.0 {
            return None;
        }
        let squares: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
        let times = squares / (blocks - 1.0) * lines * lines / by_chance;
        let spread = 2.0 / 9.0 / (blocks - 1.0) * (1.0 + 0.5 / by_chance);
        let z = (libm::cbrt(times) - (1.0 - spread)) / libm::sqrt(spread);
        let spell_lines = (times + 1.0) / 2.0;
        let is_long = BURSTS_A_BLOCK * spell_lines > BURST_MOST * lines;
        Some(BlockSpells { spell_lines, is_long: is_long && z > RUNS_Z_MOST })
    }
}

/// Returns by how many standard deviations neighbouring observations are more alike than by chance
/// (Bartels 1982); `None` where most are equal. Costs a sort.
pub(crate) fn serial_z(values: &[f64]) -> Option<f64> {
    Order::of(values).filter(|order| order.spread >= SPREAD_LEAST).map(|order| order.z)
}

/// Returns whether observations follow each other, by that deviation, with the same bound as for
/// runs.
pub fn is_serial(z: f64) -> bool {
    z > RUNS_Z_MOST
}

/// A counter of runs of failures as trials arrive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Runs {
    pub(crate) failure_runs: u64,
    in_failure: bool,
}

impl Runs {
    pub(crate) fn observe(&mut self, is_failure: bool) {
        self.failure_runs += u64::from(is_failure && !self.in_failure);
        self.in_failure = is_failure;
    }

    /// Takes trials whose order is unknown except for their number of runs.
    pub(crate) fn observe_many(&mut self, failure_runs: u64) {
        self.failure_runs += failure_runs;
        self.in_failure = false;
    }
}

/// A counter of values on either side of a bar, and of their runs, as they arrive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sides {
    /// The numbers of values above the bar, and not above it.
    values: [u64; 2],
    runs: [Runs; 2],
}

impl Sides {
    pub(crate) fn observe(&mut self, is_above: bool) {
        self.values[usize::from(!is_above)] += 1;
        self.runs[0].observe(is_above);
        self.runs[1].observe(!is_above);
    }

    /// Takes values whose order is unknown except for their runs: above the bar, and not above it.
    pub(crate) fn observe_many(&mut self, values: [u64; 2], runs: [u64; 2]) {
        for side in 0..2 {
            self.values[side] += values[side];
            self.runs[side].observe_many(runs[side]);
        }
    }

    /// Returns the side with fewer values.
    fn rarer_side(&self) -> usize {
        usize::from(self.values[0] > self.values[1])
    }

    /// Returns the number of values on that side.
    pub(crate) fn rarer(&self) -> u64 {
        self.values[self.rarer_side()]
    }

    /// Returns how these values follow each other.
    pub(crate) fn dependence(&self) -> Dependence {
        let runs = self.runs[self.rarer_side()].failure_runs;
        Dependence::of(self.values[0] + self.values[1], self.rarer(), runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, burst: Option<f64>, z: Option<f64>, is_bursty: bool) {
        let mut runs = Runs::default();
        text.bytes().for_each(|byte| runs.observe(byte == b'0'));
        let failures = text.bytes().filter(|byte| *byte == b'0').count() as u64;
        let found = Dependence::of(text.len() as u64, failures, runs.failure_runs);
        assert_eq!(found.mean_burst, burst);
        let close = match (found.runs_z, z) {
            (Some(found), Some(z)) => (found - z).abs() < 1e-9,
            (found, z) => found == z,
        };
        assert!(close, "{:?} instead of {z:?}", found.runs_z);
        assert_eq!(found.is_bursty, is_bursty);
    }

    #[test]
    fn bursts_are_found_and_chance_is_not() {
        check("", None, None, false);
        check("111", None, None, false);
        check("000", Some(3.0), None, false);
        check("101", Some(1.0), None, false);
        // Two failures among four, by all six orders: runs 1, 2, 2, 2, 1, 1; mean 1.5, sd 0.5.
        check("1001", Some(2.0), Some(1.0), false);
        check("0101", Some(1.0), Some(-1.0), false);
        let ones = "1".repeat(100);
        // Two in a row prove nothing, despite the tiny standard deviation.
        let two = [ones.as_str(), "00", ones.as_str()].concat();
        let z =
            (2.0 * 201.0 / 202.0 - 1.0) / libm::sqrt(2.0 * 200.0 * 201.0 / (202.0 * 202.0 * 201.0));
        check(&two, Some(2.0), Some(z), false);
        let bursts = [ones.as_str(), "0000", ones.as_str(), "0000"].concat();
        let found = Dependence::of(bursts.len() as u64, 8, 2);
        assert!(found.is_bursty, "{found:?}");
    }

    #[test]
    fn long_runs_of_frequent_failures_are_no_bursts() {
        // Fair coins: runs of failures are two long on average.
        assert!(!Dependence::of(10_000, 5000, 2500).is_bursty);
        assert!(Dependence::of(10_000, 5000, 1600).is_bursty);
    }
}
