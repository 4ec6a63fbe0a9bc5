//! Bets about the long-run share of a chain of two states: hits and misses, each of which depends
//! only on the one before.
//!
//! Universal inference (Wasserman, Ramdas and Balakrishnan 2020, section 8) uses a ratio of two
//! likelihoods of the data. The numerator is under any law that was fixed beforehand or learnt from
//! earlier data, the denominator is the largest likelihood under the hypothesis. If the hypothesis
//! is true, the ratio is at most a likelihood ratio against the true law, so at most a martingale
//! that begins with 1. By Ville's inequality, the probability that it ever reaches `1/e` is at most
//! `e`. Here the numerator is the mixture of all chains by Jeffreys' prior (Krichevsky and Trofimov
//! 1981) on either rate. The denominator is the largest likelihood of the chains whose long-run
//! share of hits is at most the bar. Likelihoods are conditional on the first line, so nothing is
//! assumed about how the chain began.
//!
//! There is also a test of whether lines that are taken for a chain remember more than the line
//! before. In a chain, the length of a run of successes, or of failures, does not matter: the next
//! line ends it with the same probability. The test splits runs at each age. The numerator is the
//! likelihood of how the runs of one kind continued, with one rate of ending for the young and
//! another for the old (each mixed by Jeffreys' prior). The denominator is the largest likelihood
//! with one rate for both. If the lines are a chain, this ratio is at most a martingale that begins
//! with 1, and so is its mean over ages and kinds. By Ville's inequality, the probability that it
//! ever reaches `1/e` for a chain is at most `e` (universal inference; Wasserman, Ramdas and
//! Balakrishnan 2020).

use super::side::{Odds, least};
use crate::bisection::last_rejected_share;
use crate::mean_test::log_mean;
use crate::rate::times;
use tiebreak_core::transitions::{ByAge, Transitions};

/// The relative error of each term of a logarithm, and the slack for all terms together: `libm` is
/// right to a few units in the last place, and each term takes a few steps.
const TERM_SLACK: f64 = 1.0 / (1u64 << 49) as f64;
const SLACK: f64 = 1e-9;
/// The maximum number of single misses in the search for the least number of trials that suffice.
const MISSES_MAX: u64 = 64;

/// Bets against "the long-run share of hits is at most the bar".
#[derive(Clone, Debug)]
pub struct ChainBets {
    odds: Odds,
    /// The transitions, where hits are good.
    counts: Transitions,
}

/// A sum with a bound of its error.
#[derive(Clone, Copy, Default)]
struct Sum {
    value: f64,
    slack: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        self.value += term;
        self.slack += term.abs() * TERM_SLACK;
    }

    /// Subtracts the logarithm of the largest likelihood of `x` and `y` events of the two kinds.
    fn take_off_best(&mut self, x: f64, y: f64) {
        self.add(-times(x, libm::log(x / (x + y))));
        self.add(-times(y, libm::log(y / (x + y))));
    }

    fn rounded_down(self) -> f64 {
        self.value - self.slack - SLACK
    }
}

impl ChainBets {
    pub fn new(odds: Odds) -> ChainBets {
        ChainBets { odds, counts: Transitions::default() }
    }

    pub fn follow(&mut self, hits_and_misses: &Transitions) {
        self.counts.add(hits_and_misses);
    }

    /// Returns the logarithm of the wealth of the bets at the bar, rounded down.
    pub fn log_evidence(&self) -> f64 {
        log_evidence(&self.counts, self.odds)
    }

    /// Returns the largest share that is rejected together with all smaller ones. The hypotheses
    /// "at most this" are nested, so the evidence falls with the bar.
    pub fn lower_limit(&self, log_needed: f64) -> Option<f64> {
        last_rejected_share(self.odds.hit, self.log_evidence() >= log_needed, |bar| {
            log_evidence(&self.counts, Odds::of(bar)) >= log_needed
        })
    }

    /// Returns the least number of trials that suffice if each miss is followed by a hit. Without
    /// any miss, nothing is known about how long misses last.
    pub fn least_trials(&self, log_needed: f64) -> u64 {
        let trials = |misses| {
            let hits = least(|stayed_good| {
                let counts =
                    Transitions { stayed_good, broke: misses, recovered: misses, stayed_bad: 0 };
                log_evidence(&counts, self.odds) >= log_needed
            });
            hits.saturating_add(2 * misses + 1)
        };
        (1..=MISSES_MAX).map(trials).min().unwrap_or(u64::MAX)
    }
}

/// Returns the logarithm of the evidence against "the long-run share of hits is at most
/// `odds.hit`", rounded down.
fn log_evidence(counts: &Transitions, odds: Odds) -> f64 {
    let Transitions { stayed_good, broke, recovered, stayed_bad } = *counts;
    let [stayed, lost, won, missed] =
        [stayed_good, broke, recovered, stayed_bad].map(|count| count as f64);
    let mut sum = Sum::default();
    log_mixture(&mut sum, won, missed);
    log_mixture(&mut sum, lost, stayed);
    // If a is the rate of hits after misses and b that of misses after hits, the long-run share of
    // hits is a / (a + b), which is at most the bar where a <= o b.
    let o = odds.hit / odds.miss;
    let (after_misses, after_hits) = (won + missed, lost + stayed);
    if won * after_hits <= o * lost * after_misses || won == 0.0 {
        sum.take_off_best(won, missed);
        sum.take_off_best(lost, stayed);
    } else {
        let b = on_the_edge(won + lost, missed, stayed, o);
        sum.add(-times(won, libm::log(o * b)));
        sum.add(-times(missed, libm::log1p(-o * b)));
        sum.add(-times(lost, libm::log(b)));
        sum.add(-times(stayed, libm::log1p(-b)));
    }
    sum.rounded_down()
}

/// Returns the rate of misses after hits with the largest likelihood if the rate of hits after
/// misses is `o` times as large. Likelihoods are concave, so if the most likely chain is outside
/// the hypothesis, the most likely one inside lies on its edge. The derivative
/// `moves / b - missed o / (1 - o b) - stayed / (1 - b)` is zero at the smaller root of a
/// quadratic. The likelihood is flat there, so the root's own rounding errors do not count.
fn on_the_edge(moves: f64, missed: f64, stayed: f64, o: f64) -> f64 {
    let a = o * (moves + missed + stayed);
    let b = moves * (1.0 + o) + missed * o + stayed;
    let root = libm::sqrt((b * b - 4.0 * a * moves).max(0.0));
    (2.0 * moves / (b + root)).min(1.0).min(1.0 / o)
}

/// Adds the logarithm of the likelihood of `x` and `y` events of the two kinds, mixed over all
/// rates by Jeffreys' prior: `B(x + 1/2, y + 1/2) / B(1/2, 1/2)`.
fn log_mixture(sum: &mut Sum, x: f64, y: f64) {
    sum.add(libm::lgamma(x + 0.5));
    sum.add(libm::lgamma(y + 0.5));
    sum.add(-libm::lgamma(x + y + 1.0));
    sum.add(-libm::log(std::f64::consts::PI));
}

/// The probability that lines that are a chain are ever reported not to be one.
pub const MEMORY_ERROR: f64 = 0.01;

/// The numbers of times that something ended, and continued.
type Ends = [f64; 2];

/// Returns the logarithm of the evidence that the lines are not a chain.
pub fn log_evidence_of_memory(by_age: &ByAge) -> f64 {
    let ends = [
        by_age.0.map(|class| [class.broke as f64, class.stayed_good as f64]),
        by_age.0.map(|class| [class.recovered as f64, class.stayed_bad as f64]),
    ];
    let logs: Vec<f64> = ends
        .iter()
        .flat_map(|ends| (1..ends.len()).map(|old| of_split(&ends[..old], &ends[old..])))
        .collect();
    log_mean(&logs)
}

fn of_split(young: &[Ends], old: &[Ends]) -> f64 {
    let [[young_ends, young_stay], [old_ends, old_stay]] =
        [young, old].map(|ends| ends.iter().fold([0.0; 2], |[x, y], one| [x + one[0], y + one[1]]));
    let mut log = Sum::default();
    log_mixture(&mut log, young_ends, young_stay);
    log_mixture(&mut log, old_ends, old_stay);
    log.take_off_best(young_ends + old_ends, young_stay + old_stay);
    log.rounded_down()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::transitions::Walk;

    fn counts(stayed_good: u64, broke: u64, recovered: u64, stayed_bad: u64) -> Transitions {
        Transitions { stayed_good, broke, recovered, stayed_bad }
    }

    /// Computes the largest likelihood of the hypothesis from all chains of a fine grid.
    fn by_grid(counts: &Transitions, bar: f64) -> f64 {
        let o = bar / (1.0 - bar);
        let rates: Vec<f64> = (1..4000).map(|i| f64::from(i) / 4000.0).collect();
        fn log(count: u64, rate: f64) -> f64 {
            times(count as f64, libm::log(rate))
        }
        let mut best = f64::NEG_INFINITY;
        for b in &rates {
            let after_hit = log(counts.broke, *b) + log(counts.stayed_good, 1.0 - b);
            let within = rates
                .iter()
                .filter(|a| **a <= o * b)
                .map(|a| log(counts.recovered, *a) + log(counts.stayed_bad, 1.0 - a) + after_hit);
            best = within.fold(best, f64::max);
        }
        best
    }

    #[test]
    fn the_denominator_is_the_largest_likelihood() {
        for (counts, bar) in [
            (counts(400, 9, 9, 30), 0.9),
            (counts(400, 9, 9, 0), 0.95),
            (counts(40, 9, 8, 30), 0.1),
            (counts(3, 9, 8, 30), 0.9),
            (counts(100, 0, 1, 0), 0.5),
        ] {
            let mut mixture = Sum::default();
            log_mixture(&mut mixture, counts.recovered as f64, counts.stayed_bad as f64);
            log_mixture(&mut mixture, counts.broke as f64, counts.stayed_good as f64);
            let found = mixture.value - log_evidence(&counts, Odds::of(bar));
            let expected = by_grid(&counts, bar);
            assert!(found >= expected - 1e-6, "{counts:?} {bar}: {found} below {expected}");
            assert!(found <= expected + 0.05, "{counts:?} {bar}: {found} above {expected}");
        }
    }

    /// Over all streams of a length, the evidence has a mean of at most 1 at every chain whose
    /// share is at most the bar.
    #[test]
    fn the_mean_of_the_evidence_is_at_most_one() {
        let length = 14;
        for (bar, a, b) in [(0.5, 0.3, 0.3), (0.9, 0.9, 0.1), (0.9, 0.45, 0.05), (0.8, 0.2, 0.2)] {
            let mut mean = 0.0;
            for stream in 0u32..1 << length {
                let (mut probability, mut counts) = (1.0, Transitions::default());
                for at in 1..length {
                    let [before, now] = [at - 1, at].map(|at| stream >> at & 1 == 1);
                    counts.count(!before, !now);
                    let hit = if before { 1.0 - b } else { a };
                    probability *= if now { hit } else { 1.0 - hit };
                }
                // Either first line, each given.
                mean += 0.5 * probability * libm::exp(log_evidence(&counts, Odds::of(bar)));
            }
            assert!(mean <= 1.0, "{bar} {a} {b}: {mean}");
        }
    }

    #[test]
    fn limits_stand_where_the_evidence_does() {
        let needed = libm::log(100.0);
        let mut bets = ChainBets::new(Odds::of(0.9));
        bets.follow(&counts(5000, 40, 40, 60));
        assert!(bets.log_evidence() >= needed);
        let low = bets.lower_limit(needed).unwrap();
        assert!(low > 0.9 && low < 1.0 - 100.0 / 5140.0, "{low}");
        let mut clean = ChainBets::new(Odds::of(0.9));
        clean.follow(&counts(1_000_000, 0, 0, 0));
        assert!(clean.log_evidence() <= 0.0, "no failure says nothing of how long they last");
        assert_eq!(clean.lower_limit(needed), None);
    }

    /// Over all streams of a length, the evidence has a mean of at most 1 at every chain.
    #[test]
    fn the_mean_of_the_evidence_of_memory_is_at_most_one() {
        let length = 14;
        for (recover, fail) in [(0.3, 0.3), (0.9, 0.1), (0.1, 0.05), (0.5, 0.02)] {
            let mut mean = 0.0;
            for stream in 0u32..1 << length {
                let (mut probability, mut before) = (0.5, None);
                let (mut walk, mut counts) = (Walk::default(), ByAge::default());
                for has_failed in (0..length).map(|at| stream >> at & 1 == 1) {
                    let fails = match before.replace(has_failed) {
                        None => 0.5,
                        Some(false) => fail,
                        Some(true) => 1.0 - recover,
                    };
                    let is_first = counts.is_none() && walk.last_failed.is_none();
                    if !is_first {
                        probability *= if has_failed { fails } else { 1.0 - fails };
                    }
                    walk.step(has_failed, &mut counts);
                }
                mean += probability * libm::exp(log_evidence_of_memory(&counts));
            }
            assert!(mean <= 1.0 && mean > 0.1, "{recover} {fail}: {mean}");
        }
    }
}
