//! One claim about a mean, from its first value to its verdict.

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
/// A claim that a mean is above a bar can be proven for any such values. A claim that it is below
/// cannot, because a single rare value might be arbitrarily large (Bahadur and Savage 1956), unless
/// there is a cap: values above it count as the cap, and the claim is about the mean of these
/// values. A value costs about forty operations and sixteen bytes, [`MeanTest::limits`] about fifty
/// passes over all values.
///
/// The bets only need that the conditional mean of an observation, given the past, is at most (at
/// least) the bar. Observations that depend on each other are grouped into blocks.
#[derive(Clone, Debug)]
pub struct MeanTest {
    bar: f64,
    is_below: bool,
    cap: Option<f64>,
    error: f64,
    above: MeanBets,
    /// Bets on the distance to the cap.
    below: Option<MeanBets>,
    block: Block,
    sides: Sides,
    rounds: u64,
    lost: u64,
    /// The sum of the values as they count.
    sum: f64,
    settled: Option<Settled>,
}

/// The values of the unfinished block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    length: u64,
    values: u64,
    low: f64,
    left_to_cap: f64,
}

impl MeanTest {
    /// Returns a test of the claim that the mean is below `bar`, or above it, with its share of the
    /// error. `bar` is above 0 and `cap` above `bar`. With a cap at or below the bar, as without
    /// one, nothing can prove that the mean is below. The mean of `block` values is one
    /// observation.
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
    /// No value may be below 0: the caller refuses such data, and here they count as 0.
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

    /// Counts an attempt that was cut off: both sides lose on it, as on an unknown value.
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

    /// Returns the verdict, once there is one.
    pub fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// Settles the claim at another error if the present evidence suffices for that. From then on,
    /// the limits and the wealth needed are for that error too.
    pub fn relax(&mut self, error: f64) -> Option<Settled> {
        if self.settled.is_none()
            && let Some(settled) = self.settled_at(error)
        {
            self.settled = Some(settled);
            self.error = error;
        }
        self.settled
    }

    /// Returns what the present evidence settles at this error; the side with more evidence, if
    /// both have enough.
    pub fn settled_at(&self, error: f64) -> Option<Settled> {
        let (above, below) = self.log_sides();
        if above.max(below) < -libm::log(error) {
            return None;
        }
        let is_below = below > above;
        let verdict = if is_below == self.is_below { Verdict::Holds } else { Verdict::Refuted };
        Some(Settled { verdict, left_wins: None })
    }

    /// Returns the logarithms of the wealth of bets that the mean is above and below the bar.
    fn log_sides(&self) -> (f64, f64) {
        let below = self.below.as_ref().map_or(0.0, MeanBets::log_evidence);
        (self.above.log_evidence(), below)
    }

    /// Returns the wealth of the bets: for the claim, and against it. Infinite on overflow; 1 for a
    /// side on which no bet is possible.
    pub fn evidence(&self) -> (f64, f64) {
        let (for_claim, against) = self.log_evidence();
        (libm::exp(for_claim), libm::exp(against))
    }

    /// Returns the natural logarithms of [`MeanTest::evidence`], which are always finite.
    pub fn log_evidence(&self) -> (f64, f64) {
        let (above, below) = self.log_sides();
        if self.is_below { (below, above) } else { (above, below) }
    }

    /// Returns the wealth that either side needs.
    pub fn evidence_needed(&self) -> f64 {
        1.0 / self.error
    }

    /// Returns the claim's share of the error.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the number of values so far, including those of an unfinished block, without lost
    /// attempts.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Returns the number of values at the end that do not fill a block and are not evidence,
    /// including lost attempts.
    pub fn left_over(&self) -> u64 {
        self.block.values
    }

    /// Returns the number of values that make one observation.
    pub fn block(&self) -> u64 {
        self.block.length
    }

    /// Returns the number of values on the side of the bar (above it, or not) that has fewer.
    pub fn rarer(&self) -> u64 {
        self.sides.rarer()
    }

    /// Returns how these follow each other.
    pub fn dependence(&self) -> Dependence {
        self.sides.dependence()
    }

    /// Returns by how many standard deviations neighbouring observations are more alike than by
    /// chance (Bartels 1982); `None` where most are equal. Costs a sort.
    pub fn values_z(&self) -> Option<f64> {
        serial_z(self.above.values())
    }

    /// Returns whether values come in spells that are long compared with one observation, or
    /// observations follow each other, so that no error is guaranteed. It is a diagnosis: the
    /// result false guarantees nothing. Costs a sort.
    pub fn is_dependent(&self) -> bool {
        self.dependence().is_in_spells(self.block.length) || self.values_z().is_some_and(is_serial)
    }

    /// Returns the limits of the mean, each wrong with probability at most the error at every
    /// moment; without a cap, there is no upper one. A limit lies beyond the bar if and only if the
    /// evidence of its side suffices: the bets are made one last bit beyond the bar.
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

    /// Returns the evidence about the mean now. The estimate counts an unknown value as the middle
    /// of its reading, and as the lower bound if there is no upper one.
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
