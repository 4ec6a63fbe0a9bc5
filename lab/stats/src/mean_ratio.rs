//! The ratio of two means, by bounded bets on differences.
//!
//! The ratio is `r = E[b] / E[a]`, the mean of the right contestant over that of the left one,
//! values above a cap counting as the cap. A bettor against "`E[b]` is at most `r E[a]`" puts
//! the share `s` of its wealth on `v = ((cap - a) + b / r) / cap`, which is never below 0 and is
//! expected to be at most 1, whatever happened before: it multiplies its wealth by `1 + s (b / r -
//! a) / cap`. That needs no symmetry, and no mean to stay what it is as long as in each round the
//! one is at most `r` times the other, given the rounds before (Waudby-Smith and Ramdas 2024). The
//! wealth falls with `r`, so the limits are found by bisection. Without a cap on `a` one run in a
//! million might outweigh all others (Bahadur and Savage 1956), and nothing could be proven.

use crate::limits::{LIMIT_WIDTH, Limits};
use crate::mean_test::stakes::Stakes;
use tiebreak_core::sample::Reading;

/// Where a rejected ratio is looked for first, as distances from the one that was seen.
const STARTS: [f64; 7] = [0.01, 0.0625, 0.25, 1.0, 4.0, 16.0, 64.0];

/// Bets on the two values of each round, left and right, as shares of the cap.
#[derive(Clone, Debug, Default)]
pub struct MeanRatioBets {
    /// What counts for a higher ratio: the least `b` and the greatest `a`.
    least: Vec<(f64, f64)>,
    /// What counts for a lower one.
    most: Vec<(f64, f64)>,
    sums: (f64, f64),
}

impl MeanRatioBets {
    /// The two values of a round, in units of the cap, each known to lie between two bounds.
    pub fn push(&mut self, left: Reading, right: Reading, cap: f64) {
        let within = |value: f64| (value / cap).clamp(0.0, 1.0);
        let [a, b] = [left, right].map(|r| (within(r.low), within(r.high)));
        self.least.push((a.1, b.0));
        self.most.push((a.0, b.1));
        self.sums.0 += (a.0 + a.1) / 2.0;
        self.sums.1 += (b.0 + b.1) / 2.0;
    }

    /// The logarithm of the ratio of the means that were seen.
    pub fn estimate(&self) -> Option<f64> {
        let ratio = self.sums.1 / self.sums.0;
        (ratio > 0.0 && ratio.is_finite()).then(|| libm::log(ratio))
    }

    /// The limits of the logarithm of the ratio, each wrong with probability at most `error`. Costs
    /// some hundred passes over the rounds.
    pub fn limits(&self, error: f64) -> Limits {
        let Some(estimate) = self.estimate() else { return Limits { low: None, high: None } };
        let needed = -libm::log(error);
        let low = |theta: f64| log_won(&self.least, theta) >= needed;
        let mirrored: Vec<(f64, f64)> = self.most.iter().map(|(a, b)| (*b, *a)).collect();
        let high = |theta: f64| log_won(&mirrored, theta) >= needed;
        Limits {
            low: furthest(estimate, low),
            high: furthest(-estimate, high).map(|limit| 0.0 - limit),
        }
    }
}

/// One round's value of the bets that the ratio is above the one whose inverse is given; expected
/// to be at most 1 if it is not.
fn value((a, b): (f64, f64), inverse: f64) -> f64 {
    (1.0 - a) + b * inverse
}

/// The logarithm of what bets that the log ratio is above `theta` have won.
fn log_won(rounds: &[(f64, f64)], theta: f64) -> f64 {
    let mut wealth = Stakes::default();
    let inverse = libm::exp(-theta);
    rounds.iter().for_each(|round| wealth.bet(value(*round, inverse)));
    wealth.log_total()
}

/// The largest `theta` below `estimate`, to within [`LIMIT_WIDTH`] below, that is rejected.
fn furthest(estimate: f64, is_rejected: impl Fn(f64) -> bool) -> Option<f64> {
    let starts = STARTS.into_iter().map(|distance| estimate - distance);
    let mut rejected = starts.into_iter().find(|theta| is_rejected(*theta))?;
    let mut open = estimate;
    while open - rejected > LIMIT_WIDTH {
        let middle = rejected + (open - rejected) / 2.0;
        if middle <= rejected || middle >= open {
            break;
        }
        *(if is_rejected(middle) { &mut rejected } else { &mut open }) = middle;
    }
    Some(rejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins::{Purpose, Seed, Stream};

    fn bets(rounds: usize, cap: f64, values: impl Fn(usize) -> (f64, f64)) -> MeanRatioBets {
        let mut bets = MeanRatioBets::default();
        for (a, b) in (0..rounds).map(values) {
            bets.push(Reading::exact(a), Reading::exact(b), cap);
        }
        bets
    }

    #[test]
    fn the_slow_tenth_counts_in_the_mean() {
        let values = |i: usize| (if i % 10 == 3 { 6.0 } else { 2.0 }, 2.0);
        let limits = bets(3000, 10.0, values).limits(0.005);
        let truth = -libm::log(1.2);
        assert!(limits.low.is_some_and(|low| low < truth), "{limits:?}");
        assert!(limits.high.is_some_and(|high| truth < high && high < 0.0), "{limits:?}");
        let swapped = bets(3000, 10.0, |i| (values(i).1, values(i).0)).limits(0.005);
        let mirrored = swapped.low.zip(limits.high).map(|(low, high)| (low + high).abs());
        assert!(mirrored.is_some_and(|distance| distance < 1e-9), "{swapped:?} {limits:?}");
    }

    #[test]
    fn what_timed_out_counts_as_the_cap() {
        let mut bets = MeanRatioBets::default();
        let at_least = Reading { low: 10.0, high: f64::INFINITY };
        bets.push(at_least, Reading::exact(5.0), 10.0);
        assert_eq!(bets.estimate(), Some(libm::log(0.5)));
        let limits = bets.limits(0.01);
        assert!(limits.low < bets.estimate() && bets.estimate() < limits.high, "{limits:?}");
    }

    /// The means follow the rounds before, and a tenth of the runs is slow.
    #[test]
    fn limits_miss_the_ratio_no_more_often_than_they_may() {
        let truth = libm::log(1.1);
        let misses = |stream: &u64| {
            let mut chance = Stream::new(Seed::from_text("means"), Purpose::Simulation, *stream, 0);
            let mut bets = MeanRatioBets::default();
            let mut level = 1.0;
            (0..300).any(|round| {
                let mut run = || if chance.next_u32().is_multiple_of(10) { 3.0 } else { 1.0 };
                let (a, b) = (level * run(), level * run());
                level = if b > a { 0.8 } else { 1.2 };
                bets.push(Reading::exact(a), Reading::exact(1.1 * b), 5.0);
                let limits = || bets.limits(0.05);
                round % 50 == 49 && {
                    let limits = limits();
                    limits.low.is_some_and(|low| low > truth)
                        || limits.high.is_some_and(|high| high < truth)
                }
            })
        };
        let missed = (0..200).filter(misses).count();
        println!("missed {missed} of 200 at 5% a side");
        assert!(missed <= 32, "{missed}");
    }
}
