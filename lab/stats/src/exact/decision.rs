//! When enough permutations were drawn.

use crate::beta;
use crate::rate;

/// The bets are on `p` up to this share of the level: what is left of it pays for stopping early.
const BET_SHARE: f64 = 0.9;
/// More than all rounding errors of a logarithm of the evidence.
const SLACK: f64 = 1e-9;

/// How an exact test can end before its last permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The sets differ, at the level of the test.
    Differs,
    /// `p` is above the level: more permutations would not help.
    Futile,
}

/// The sequential decision of an exact test.
///
/// Under the null hypothesis the observed split is one among all, so that the ranks of the
/// differences are exchangeable. Fischer and Ramdas (2024) bet on that: after `t` permutations of
/// which `L` were extreme, a bettor who spreads its bets over all `p` up to `c` has
/// `W = P(Binomial(t + 1, c) > L) / c`. The test says `Differs` when `W` reaches `1 / alpha`, which
/// under the null hypothesis it ever does with probability at most `alpha`, however many
/// permutations are drawn. With `c = 0.9 alpha` that takes 254 permutations at 1% if none is
/// extreme.
///
/// It says `Futile` when the evidence that `p` is above `alpha`, the likelihood under a uniform
/// mixture of all such `p` over that under `alpha`, reaches `1 / error`: a statement about `p`
/// itself, wrong with probability at most `error`.
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
    /// A test of level `alpha`, whose statements about `p` may be wrong with probability `error`;
    /// both lie between 0 and 1.
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
        // Only what is extreme speaks for a large p, and only what is not for a small one.
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

    /// What the bets against the null hypothesis have won.
    pub fn evidence_for(&self) -> f64 {
        libm::exp(self.log_for())
    }

    /// The evidence that `p` is above the level.
    pub fn evidence_against(&self) -> f64 {
        libm::exp(self.log_against()).min(f64::MAX)
    }

    /// The level.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The error of statements about `p`.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Permutations taken.
    pub fn permutations(&self) -> u64 {
        self.permutations
    }

    /// Of those, extreme ones.
    pub fn extreme(&self) -> u64 {
        self.extreme
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Ending> {
        self.ended
    }

    /// Limits of `p`, both right with probability at least `1 - error` whenever one looks.
    pub fn limits(&self) -> (f64, f64) {
        rate::limits(self.permutations, self.extreme, self.error)
    }
}

/// The fewest permutations that can prove a difference at this level, none of them extreme: the
/// least `t` with `1 - (1 - c)^(t + 1) >= c / alpha`.
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

/// The logarithm of what the bets of a test of level `alpha` have won.
pub(super) fn log_wealth(permutations: u64, extreme: u64, alpha: f64) -> f64 {
    let share = BET_SHARE * alpha;
    beta::log_binomial_above(permutations + 1, extreme, share) - libm::log(share)
}

/// The logarithm of the evidence that `p` is above `alpha`.
pub(super) fn log_evidence_above(permutations: u64, extreme: u64, alpha: f64) -> f64 {
    let (successes, failures) = (extreme as f64 + 1.0, (permutations - extreme) as f64 + 1.0);
    // The density of a Beta distribution is the likelihood over that of a uniform mixture.
    let mass = beta::log_tails(successes, failures, alpha).above;
    mass - beta::log_density(successes, failures, alpha) - libm::log1p(-alpha)
}
