//! The decision to stop drawing permutations.

use crate::beta;
use crate::rate;

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
/// assert_eq!((ended, test.permutations()), (Some(Ending::Differs), 254));
/// ```
#[derive(Clone, Debug)]
pub struct ExactTest {
    alpha: f64,
    error: f64,
    permutations: u64,
    extreme: u64,
    ended: Option<Ending>,
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

    /// Returns the level.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the error of statements about `p`.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the number of permutations taken.
    pub fn permutations(&self) -> u64 {
        self.permutations
    }

    /// Returns the number of extreme permutations.
    pub fn extreme(&self) -> u64 {
        self.extreme
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<Ending> {
        self.ended
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
    let proves = |permutations| log_wealth(permutations, 0, alpha) - SLACK >= -libm::log(alpha);
    let share = BET_SHARE * alpha;
    let about = libm::log1p(-BET_SHARE) / libm::log1p(-share);
    let mut least = (about as u64).saturating_sub(2);
    while !proves(least) {
        least += 1;
    }
    least
}

/// Returns the logarithm of the wealth of the bets of a test of level `alpha`.
pub(super) fn log_wealth(permutations: u64, extreme: u64, alpha: f64) -> f64 {
    let share = BET_SHARE * alpha;
    beta::log_binomial_above(permutations + 1, extreme, share) - libm::log(share)
}

/// Returns the logarithm of the evidence that `p` is above `alpha`.
pub(super) fn log_evidence_above(permutations: u64, extreme: u64, alpha: f64) -> f64 {
    let (successes, failures) = (extreme as f64 + 1.0, (permutations - extreme) as f64 + 1.0);
    // The density of a Beta distribution is the likelihood over that of a uniform mixture.
    let mass = beta::log_tails(successes, failures, alpha).above;
    mass - beta::log_density(successes, failures, alpha) - libm::log1p(-alpha)
}
