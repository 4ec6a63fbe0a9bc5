//! One claim about the ratio of two means, from its first round to its verdict.

use crate::conditions::Conditions;
use crate::decide::{Bars, Proof, Settled};
use crate::limits::{LIMIT_WIDTH, Limits};
use crate::mean_ratio::{BetsAbove, MeanRatioBets};
use tiebreak_core::claim::Relation;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::sample::Reading;

/// How far beyond a bar the bets of every round stand, so that limits that are then computed lie
/// strictly beyond it.
const NUDGE: f64 = 2.0 * LIMIT_WIDTH;

/// Sequential evidence about the ratio of the mean of the right contestant to that of the left one,
/// values above a cap counting as the cap ([`crate::mean_ratio`]).
///
/// Bars, limits and verdicts are those of [`crate::ratio_test::RatioTest`] (rule A2); of the rounds
/// nothing is learnt, as stakes are fixed and the cap is the scale. A round costs some eighty
/// multiplications and 32 bytes; limits are only computed when the bets at the bars say that the
/// claim can be settled, or when somebody asks.
#[derive(Clone, Debug)]
pub struct MeanRatioTest {
    bars: Bars,
    cap: f64,
    /// The claim's share of the error, and what one limit may use of it.
    error: f64,
    error_a_side: f64,
    bets: MeanRatioBets,
    /// Bets that the log ratio is above each bar that the lower limit may have to pass.
    above: Vec<BetsAbove>,
    /// Bets, contestants swapped, that it is below each bar of the upper limit.
    below: Vec<BetsAbove>,
    /// The rounds of the block of primers that is not over.
    block: Vec<(Reading, Reading, Conditions)>,
    rounds: u64,
    lost: u64,
    /// Of a question for the size: no limits are computed in fewer rounds than these.
    next_look: u64,
    settled: Option<Settled>,
}

impl MeanRatioTest {
    /// A claim of this form, with its share of the error, at this resolution (a fraction). Values
    /// above `cap` count as it; it is above 0.
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

    /// Counts an attempt at a round that was cut off: every bet loses what it can (rule A9).
    pub fn lose_attempt(&mut self) {
        if self.settled.is_none() {
            self.lost += 1;
            self.bets.push_lost();
            self.bets.lay_latest(&mut self.above, &mut self.below);
        }
    }

    /// Takes the two values of a round into the evidence, with those before it in its block of
    /// primers, and settles the claim if that suffices. A round after which the block goes on waits
    /// for the others (rule A3). Rounds after the verdict are not evidence.
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
            // Limits move by little in a twentieth of the rounds, and are what costs.
            self.next_look = self.rounds + 1 + self.rounds / 20;
            self.settled = self.settle_at(self.error_a_side);
        }
        self.settled
    }

    /// What is settled if each limit may use so much of the error.
    fn settle_at(&self, error_a_side: f64) -> Option<Settled> {
        let settle = |limits| self.bars.settle(&Proof::new(limits, None, false));
        if !self.bars.asks_for_width() {
            settle(self.believed(error_a_side))?;
        }
        settle(self.bets.limits(error_a_side))
    }

    /// The limits as far as the bets at the bars tell them: each on the side of its bar that they
    /// say, so that these are all that need be looked at.
    fn believed(&self, error_a_side: f64) -> Limits {
        let needed = -libm::log(error_a_side);
        let passed = |bets: &[BetsAbove]| {
            let passed = bets.iter().filter(|bets| bets.log_won() >= needed);
            passed.map(BetsAbove::theta).reduce(f64::max)
        };
        Limits { low: passed(&self.above), high: passed(&self.below).map(|theta| 0.0 - theta) }
    }

    /// The verdict, once there is one.
    pub fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// What the evidence now would settle if the claim's share of the error were `error`.
    pub fn settled_at(&self, error: f64) -> Option<Settled> {
        self.settle_at(self.bars.error_a_side(error))
    }

    /// Settles the claim at another error if the evidence as it is now suffices for that, and from
    /// then on gives limits, and what the bets must win, at that error too.
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

    /// What the bets at the bar have won: for the claim, and against it. Infinite beyond the range
    /// of numbers. `within` is proven by the weaker of its two bets and refuted by the stronger of
    /// theirs.
    pub fn evidence(&self) -> (f64, f64) {
        // The first of each list is the bar; of `within` the first two are its edges.
        let won = |bets: &[BetsAbove], edge: usize| libm::exp(bets[edge].log_won());
        let first = (won(&self.above, 0), won(&self.below, 0));
        if self.bars.has_two_edges() {
            (first.0.min(first.1), won(&self.above, 1).max(won(&self.below, 1)))
        } else {
            first
        }
    }

    /// What the bets of one side must win.
    pub fn evidence_needed(&self) -> f64 {
        1.0 / self.error_a_side
    }

    /// The claim's share of the error.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Rounds in the evidence.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Whether lost attempts are being charged.
    pub fn is_charged(&self) -> bool {
        self.lost > 0
    }

    /// Both limits of the log ratio, from all rounds so far; always in order, with the estimate
    /// between them.
    pub fn limits(&self) -> Limits {
        self.bets.limits(self.error_a_side)
    }

    /// Everything that is known about the ratio now. The estimate is the ratio of the means of the
    /// rounds that were bet on; a value that is not known counts as the middle of its reading.
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
