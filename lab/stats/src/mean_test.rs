//! One claim about a mean from its first value to its verdict.

pub(crate) mod bets;
pub(crate) mod stakes;

use crate::decide::Settled;
use crate::dependence::{Dependence, Sides, is_serial, serial_z};
use crate::limits::Limits;
use bets::MeanBets;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::sample::Reading;
use tiebreak_core::verdict::Verdict;

/// Sequential evidence about one mean of values of at least 0.
///
/// That a mean is above a bar can be proven of any such values. That it is below cannot, because a
/// single rare value might be as large as it likes (Bahadur and Savage 1956), unless there is a
/// cap: values above it count as the cap, and the claim is about the mean of what is left. A value
/// costs some forty operations and sixteen bytes, [`MeanTest::limits`] some fifty passes over all
/// values.
///
/// The bets need no more than that the conditional mean of an observation, given the past, is at
/// most (at least) the bar; observations that depend on each other are made into blocks.
#[derive(Clone, Debug)]
pub struct MeanTest {
    bar: f64,
    is_below: bool,
    cap: Option<f64>,
    error: f64,
    above: MeanBets,
    /// On what is left to the cap.
    below: Option<MeanBets>,
    block: Block,
    sides: Sides,
    rounds: u64,
    lost: u64,
    /// Of the values as they count.
    sum: f64,
    settled: Option<Settled>,
}

/// The values of the block in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    length: u64,
    values: u64,
    low: f64,
    left_to_cap: f64,
}

impl MeanTest {
    /// The claim that the mean is below `bar`, or above it, with its share of the error. `bar` is
    /// above 0 and `cap` above `bar`; with a cap at or below the bar, as without one, nothing can
    /// prove that the mean is below. The mean of `block` values is one observation.
    pub fn new(bar: f64, is_below: bool, cap: Option<f64>, block: u64, error: f64) -> MeanTest {
        let room = cap.map(|cap| cap - bar.next_down()).filter(|room| *room > 0.0);
        MeanTest {
            bar,
            is_below,
            cap,
            error,
            above: MeanBets::new(bar.next_up()),
            below: room.map(MeanBets::new),
            block: Block { length: block.max(1), ..Block::default() },
            sides: Sides::default(),
            rounds: 0,
            lost: 0,
            sum: 0.0,
            settled: None,
        }
    }

    /// Takes a value into the evidence and settles the claim if that suffices. Bets that the mean
    /// is high use the lower bound of the reading, bets that it is low the upper one. Values after
    /// the verdict are not evidence, and are not counted.
    ///
    /// No value may be below 0: the caller refuses such data, and what comes here counts as 0.
    pub fn observe(&mut self, reading: Reading) -> Option<Settled> {
        if self.settled.is_none() {
            let most = self.cap.unwrap_or(f64::MAX);
            let low = reading.low.max(0.0).min(most);
            let high = reading.high.min(most).max(low);
            self.rounds += 1;
            self.sides.observe(high > self.bar);
            self.sum += if reading.high.is_finite() { low + (high - low) / 2.0 } else { low };
            self.bet(low, most - high);
        }
        self.settled
    }

    /// Counts an attempt that was cut off: both sides lose on it, as on a value of which nothing is
    /// known.
    pub fn lose_attempt(&mut self) {
        if self.settled.is_none() {
            self.lost += 1;
            self.bet(0.0, 0.0);
        }
    }

    fn bet(&mut self, low: f64, left_to_cap: f64) {
        self.block.values += 1;
        self.block.low += low;
        self.block.left_to_cap += left_to_cap;
        if self.block.values < self.block.length {
            return;
        }
        let values = self.block.values as f64;
        self.above.observe(self.block.low / values);
        if let Some(below) = &mut self.below {
            below.observe(self.block.left_to_cap / values);
        }
        self.block = Block { length: self.block.length, ..Block::default() };
        self.settled = self.settled_at(self.error);
    }

    /// The verdict, once there is one.
    pub fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// Settles the claim at another error if the evidence as it is now suffices for that, and from
    /// then on gives limits, and what the bets must win, at that error too.
    pub fn relax(&mut self, error: f64) -> Option<Settled> {
        if self.settled.is_none()
            && let Some(settled) = self.settled_at(error)
        {
            self.settled = Some(settled);
            self.error = error;
        }
        self.settled
    }

    /// What the evidence as it is now settles at this error; the side with more evidence, if both
    /// have enough.
    pub fn settled_at(&self, error: f64) -> Option<Settled> {
        let (above, below) = self.log_sides();
        if above.max(below) < -libm::log(error) {
            return None;
        }
        let is_below = below > above;
        let verdict = if is_below == self.is_below { Verdict::Holds } else { Verdict::Refuted };
        Some(Settled { verdict, left_wins: None })
    }

    /// What bets that the mean is above and below the bar have won.
    fn log_sides(&self) -> (f64, f64) {
        let below = self.below.as_ref().map_or(0.0, MeanBets::log_evidence);
        (self.above.log_evidence(), below)
    }

    /// What the bets have won: for the claim, and against it. Infinite beyond the range of numbers;
    /// 1 for a side on which nobody can bet.
    pub fn evidence(&self) -> (f64, f64) {
        let (for_claim, against) = self.log_evidence();
        (libm::exp(for_claim), libm::exp(against))
    }

    /// The natural logarithms of [`MeanTest::evidence`], which are always finite.
    pub fn log_evidence(&self) -> (f64, f64) {
        let (above, below) = self.log_sides();
        if self.is_below { (below, above) } else { (above, below) }
    }

    /// What either must reach.
    pub fn evidence_needed(&self) -> f64 {
        1.0 / self.error
    }

    /// The claim's share of the error.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Values so far, those of a block that is not complete among them, lost attempts not.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Values at the end that make no whole block, lost attempts among them, and are no evidence.
    pub fn left_over(&self) -> u64 {
        self.block.values
    }

    /// How many values make one observation.
    pub fn block(&self) -> u64 {
        self.block.length
    }

    /// Values on that side of the bar (above it, or not) on which fewer are.
    pub fn rarer(&self) -> u64 {
        self.sides.rarer()
    }

    /// How these follow each other.
    pub fn dependence(&self) -> Dependence {
        self.sides.dependence()
    }

    /// By how many standard deviations observations that stand next to each other are more alike
    /// than chance makes them (Bartels 1982); `None` where most are equal. Costs a sort.
    pub fn values_z(&self) -> Option<f64> {
        serial_z(self.above.values())
    }

    /// Whether values come in spells that are long for what is one observation, or observations
    /// follow each other, so that nothing can be promised: a diagnosis, whose silence promises
    /// nothing. Costs a sort.
    pub fn is_dependent(&self) -> bool {
        self.dependence().is_in_spells(self.block.length) || self.values_z().is_some_and(is_serial)
    }

    /// The limits of the mean, each wrong with probability at most the error, whenever one looks;
    /// no upper one without a cap. One lies beyond the bar if and only if the evidence of its side
    /// suffices: the bets are made a last bit beyond the bar.
    pub fn limits(&self) -> Limits {
        let log_needed = -libm::log(self.error);
        let low = self.above.lower_limit(log_needed).map(|low| {
            let is_proven = self.above.log_evidence() >= log_needed;
            if is_proven { low.max(self.bar.next_up()) } else { low.min(self.bar) }
        });
        let high = self.below.as_ref().zip(self.cap).and_then(|(below, cap)| {
            let high = cap - below.lower_limit(log_needed)?;
            let is_proven = below.log_evidence() >= log_needed;
            Some(if is_proven { high.min(self.bar.next_down()) } else { high.max(self.bar) })
        });
        Limits { low, high }
    }

    /// Everything that is known about the mean now. The estimate counts a value that is not known
    /// as the middle of its reading, and as the lower bound if there is no upper one.
    pub fn summary(&self) -> Evidence {
        let limits = self.limits();
        let (evidence_for, evidence_against) = self.evidence();
        Evidence {
            rounds: self.rounds,
            lost: self.lost,
            estimate: (self.rounds > 0).then(|| self.sum / self.rounds as f64),
            low: limits.low,
            high: limits.high,
            confidence: 1.0 - 2.0 * self.error,
            evidence_for,
            evidence_against,
            evidence_needed: self.evidence_needed(),
        }
    }
}
