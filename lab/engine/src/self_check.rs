//! `tiebreak aa`: compares a thing with itself repeatedly.

use crate::claim_test;
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::Plan;
use tiebreak_core::result::{SelfCheckResult, SmallestDifference};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;
use tiebreak_stats::{power, rate};

/// The probability that the limits of the false-alarm rate are both right.
const RATE_CONFIDENCE: f64 = 0.95;
/// The lengths of comparisons, in seconds, for which the smallest difference is reported.
const LENGTHS_SECONDS: [f64; 2] = [1.0, 10.0];
/// More rounds than this are not simulated: the differences that they would find are far below any
/// resolution.
const ROUNDS_MAX: u64 = 50_000;
/// The latest log ratios that stand for the machine's noise.
const NOISE_ROUNDS: usize = 4096;

/// Comparisons of a thing with itself, one after the other, each with its own evidence.
#[derive(Clone, Debug)]
pub struct SelfCheck {
    fresh: RatioTest,
    current: RatioTest,
    comparisons: u64,
    rounds_each: u64,
    finished: u64,
    false_verdicts: u64,
    too_close: u64,
    /// The latest log ratios, a ring once it is full.
    noise: Vec<f64>,
    oldest: usize,
}

impl SelfCheck {
    /// Starts the first of `comparisons` comparisons of at most `rounds_each` rounds.
    pub fn new(plan: &Plan, comparisons: u32, rounds_each: u32) -> SelfCheck {
        let test = claim_test::ratio_test(plan, Relation::Order, plan.error);
        SelfCheck {
            fresh: test.clone(),
            current: test,
            comparisons: comparisons.into(),
            rounds_each: rounds_each.into(),
            finished: 0,
            false_verdicts: 0,
            too_close: 0,
            noise: Vec::new(),
            oldest: 0,
        }
    }

    /// Adds a round. At its verdict, or its last round, a comparison ends and the next begins.
    /// Returns the wealth of the comparison's bets for the left side, and for the right one.
    pub fn observe(&mut self, d: LogRatio, conditions: &Conditions) -> (f64, f64) {
        if self.noise.len() < NOISE_ROUNDS {
            self.noise.push(d.middle());
        } else {
            self.noise[self.oldest] = d.middle();
            self.oldest = (self.oldest + 1) % NOISE_ROUNDS;
        }
        let settled = self.current.observe(d, conditions);
        let evidence = self.current.evidence();
        match settled.map(|settled| settled.verdict) {
            Some(Verdict::TooClose) => self.too_close += 1,
            Some(_) => self.false_verdicts += 1,
            None if self.current.rounds() < self.rounds_each => return evidence,
            None => {}
        }
        self.finished += 1;
        self.current = self.fresh.clone();
        evidence
    }

    /// Charges the current comparison for an attempt that was cut off.
    pub fn lose_attempt(&mut self) {
        self.current.lose_attempt();
    }

    /// Returns whether all comparisons are made.
    pub fn is_finished(&self) -> bool {
        self.finished >= self.comparisons
    }

    /// Returns the rate of false verdicts so far with its limits, without the smallest differences.
    pub fn rates(&self) -> SelfCheckResult {
        let (trials, false_verdicts) = (self.finished, self.false_verdicts);
        let (rate_low, rate_high) = rate::limits(trials, false_verdicts, 1.0 - RATE_CONFIDENCE);
        SelfCheckResult {
            comparisons: trials,
            false_verdicts,
            too_close: self.too_close,
            undecided: trials - false_verdicts - self.too_close,
            error: self.fresh.error(),
            rate: false_verdicts as f64 / (trials.max(1)) as f64,
            rate_low,
            rate_high,
            confidence: RATE_CONFIDENCE,
            smallest: Vec::new(),
        }
    }

    /// Returns the rates, and the smallest differences that a comparison can find in this machine's
    /// noise if a round takes `seconds_a_round`. Costs some hundred milliseconds.
    pub fn result(&self, seed: &str, seconds_a_round: f64) -> SelfCheckResult {
        let seed = Seed::from_text(seed);
        let smallest =
            LENGTHS_SECONDS.into_iter().filter(|_| seconds_a_round > 0.0).map(|seconds| {
                let rounds = ((seconds / seconds_a_round) as u64).min(ROUNDS_MAX);
                let error = self.fresh.error();
                let found = power::smallest_difference(&self.noise, rounds, error, seed);
                SmallestDifference {
                    seconds,
                    rounds,
                    fraction: found.map(|one| one.fraction),
                    is_bound: found.is_some_and(|one| one.is_bound),
                }
            });
        SelfCheckResult { smallest: smallest.collect(), ..self.rates() }
    }
}
