//! One claim about the ratio of two means, from its first round to its verdict.

use crate::conditions::Conditions;
use crate::decide::{Bars, Proof, Settled};
use crate::limits::{LIMIT_WIDTH, Limits};
use crate::mean_ratio::{BetsAbove, MeanRatioBets};
use tiebreak_core::claim::Relation;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::sample::Reading;

/// The distance beyond a bar at which the bets of every round stand, so that limits that are then
/// computed lie strictly beyond the bar.
const NUDGE: f64 = 2.0 * LIMIT_WIDTH;

/// Sequential evidence about the ratio of the mean of the right contestant to that of the left one.
/// Values above a cap count as the cap ([`crate::mean_ratio`]).
///
/// Bars, limits and verdicts are those of [`crate::ratio_test::RatioTest`] (rule A2). Nothing is
/// learnt from the rounds, because stakes are fixed and the cap is the scale. A round costs about
/// eighty multiplications and 32 bytes. Limits are computed only when the bets at the bars indicate
/// that the claim can be settled, or when a caller asks for them.
#[derive(Clone, Debug)]
pub struct MeanRatioTest {
    bars: Bars,
    cap: f64,
    /// The claim's share of the error, and the part of it that one limit may use.
    error: f64,
    error_a_side: f64,
    bets: MeanRatioBets,
    /// Bets that the log ratio is above each bar that the lower limit may have to pass.
    above: Vec<BetsAbove>,
    /// Bets, with the contestants swapped, that it is below each bar of the upper limit.
    below: Vec<BetsAbove>,
    /// The rounds of the unfinished block of primers.
    block: Vec<(Reading, Reading, Conditions)>,
    rounds: u64,
    lost: u64,
    /// For a question about the size: the least number of rounds at which limits are computed.
    next_look: u64,
    settled: Option<Settled>,
}

impl MeanRatioTest {
    /// Returns a test of a claim of this form, with its share of the error, at this resolution (a
    /// fraction). Values above `cap`, which is above 0, count as the cap.
    pub fn new(relation: Relation, cap: f64, error: f64, resolution: f64) -> MeanRatioTest {
        let bars = Bars::new(relation, resolution);
        let (low, high) = bars.passed_by();
        let bets = |bars: &[f64], sign: f64| {
            bars.iter().map(|bar| BetsAbove::new(sign * bar + NUDGE)).collect()
        };
        MeanRatioTest {
            bars,
            cap,
            error,
            error_a_side: bars.error_a_side(error),
            bets: MeanRatioBets::default(),
            above: bets(&low, 1.0),
            below: bets(&high, -1.0),
            block: Vec::new(),
            rounds: 0,
            lost: 0,
            next_look: 0,
            settled: None,
        }
    }

    /// Counts an attempt at a round that was cut off: every bet loses as much as it can (rule A9).
    pub fn lose_attempt(&mut self) {
        if self.settled.is_none() {
            self.lost += 1;
            self.bets.push_lost();
            self.bets.lay_latest(&mut self.above, &mut self.below);
        }
    }

    /// Takes the two values of a round into the evidence, with those before it in its block of
    /// primers, and settles the claim if that suffices. A round whose block continues waits for the
    /// others (rule A3). Rounds after the verdict are not evidence.
    pub fn observe(
        &mut self,
        left: Reading,
        right: Reading,
        conditions: &Conditions,
    ) -> Option<Settled> {
        if self.settled.is_some() {
            return self.settled;
        }
        self.block.push((left, right, *conditions));
        if conditions.goes_on {
            return None;
        }
        for (left, right, conditions) in std::mem::take(&mut self.block) {
            self.rounds += 1;
            if !conditions.rests {
                self.bets.push(left, right, self.cap);
                self.bets.lay_latest(&mut self.above, &mut self.below);
            }
        }
        if !self.bars.asks_for_width() {
            self.settled = self.settle_at(self.error_a_side);
        } else if self.rounds >= self.next_look {
            // Limits hardly change in a twentieth of the rounds, and they are the main cost.
            self.next_look = self.rounds + 1 + self.rounds / 20;
            self.settled = self.settle_at(self.error_a_side);
        }
        self.settled
    }

    /// Returns what is settled if each limit may use this error.
    fn settle_at(&self, error_a_side: f64) -> Option<Settled> {
        let settle = |limits| self.bars.settle(&Proof::new(limits, None, false));
        if !self.bars.asks_for_width() {
            settle(self.believed(error_a_side))?;
        }
        settle(self.bets.limits(error_a_side))
    }

    /// Returns the limits as indicated by the bets at the bars: each on the indicated side of its
    /// bar, so that only these need to be checked.
    fn believed(&self, error_a_side: f64) -> Limits {
        let needed = -libm::log(error_a_side);
        let passed = |bets: &[BetsAbove]| {
            let passed = bets.iter().filter(|bets| bets.log_won() >= needed);
            passed.map(BetsAbove::theta).reduce(f64::max)
        };
        Limits { low: passed(&self.above), high: passed(&self.below).map(|theta| 0.0 - theta) }
    }

    /// Returns the verdict, once there is one.
    pub fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// Returns what the evidence now would settle if the claim's share of the error were `error`.
    pub fn settled_at(&self, error: f64) -> Option<Settled> {
        self.settle_at(self.bars.error_a_side(error))
    }

    /// Settles the claim at another error if the present evidence suffices for that. From then on,
    /// the limits and the wealth needed are for that error too.
    pub fn relax(&mut self, error: f64) -> Option<Settled> {
        if self.settled.is_none()
            && let Some(settled) = self.settled_at(error)
        {
            self.settled = Some(settled);
            self.error = error;
            self.error_a_side = self.bars.error_a_side(error);
        }
        self.settled
    }

    /// Returns the wealth of the bets at the bar: for the claim, and against it. Infinite on
    /// overflow. `within` is proven by the weaker of its two bets and refuted by the stronger of
    /// theirs.
    pub fn evidence(&self) -> (f64, f64) {
        // The first of each list is the bar; for `within`, the first two are its edges.
        let won = |bets: &[BetsAbove], edge: usize| libm::exp(bets[edge].log_won());
        let first = (won(&self.above, 0), won(&self.below, 0));
        if self.bars.has_two_edges() {
            (first.0.min(first.1), won(&self.above, 1).max(won(&self.below, 1)))
        } else {
            first
        }
    }

    /// Returns the wealth that the bets of one side need.
    pub fn evidence_needed(&self) -> f64 {
        1.0 / self.error_a_side
    }

    /// Returns the claim's share of the error.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the number of rounds in the evidence.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Returns whether lost attempts are being charged.
    pub fn is_charged(&self) -> bool {
        self.lost > 0
    }

    /// Returns both limits of the log ratio, from all rounds so far. They are always in order, with
    /// the estimate between them.
    pub fn limits(&self) -> Limits {
        self.bets.limits(self.error_a_side)
    }

    /// Returns the evidence about the ratio now. The estimate is the ratio of the means of the
    /// rounds that were bet on; an unknown value counts as the middle of its reading.
    pub fn summary(&self) -> Evidence {
        let limits = self.limits();
        let (evidence_for, evidence_against) = self.evidence();
        Evidence {
            rounds: self.rounds,
            lost: self.lost,
            estimate: self.bets.estimate(),
            low: limits.low,
            high: limits.high,
            confidence: 1.0 - 2.0 * self.error_a_side,
            evidence_for,
            evidence_against,
            evidence_needed: self.evidence_needed(),
        }
    }
}
