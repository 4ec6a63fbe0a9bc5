//! One claim about a mean, from its first value to its verdict.
//!
//! The bets are those of Waudby-Smith and Ramdas (2024), with stakes fixed beforehand: a bettor
//! puts the share `phi` of its wealth on each value `v` and keeps the rest, so it multiplies its
//! wealth by `(1 - phi) + phi v / m`. If the conditional mean of `v` is at most `m`, whatever
//! happened before, no bettor has an expected gain. Bets that a mean is *below* a bar are the same
//! bets on the distance to a cap: `cap - v` against `cap - m`.

use crate::bisection::last_rejected;
use crate::decide::{Course, SequentialTest, Settled};
use crate::dependence::{Sides, is_serial, serial_z};
use crate::limits::{Limits, beyond};
use crate::sorted::reserve_one;
use crate::whole_powers::pow2;
use tiebreak_core::result::SpellsResult;
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
    course: Course,
    above: MeanBets,
    /// Bets on the distance to the cap.
    below: Option<MeanBets>,
    block: Block,
    sides: Sides,
    rounds: u64,
    /// The sum of the values as they count.
    sum: f64,
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
            course: Course::new(error),
            above: MeanBets::new(bar.next_up(), false),
            below: room.map(|room| MeanBets::new(room, false)),
            block: Block { length: block.max(1), ..Block::default() },
            sides: Sides::default(),
            rounds: 0,
            sum: 0.0,
        }
    }

    /// Takes a value into the evidence and settles the claim if that suffices. Bets that the mean
    /// is high use the lower bound of the reading, bets that it is low the upper one. Values after
    /// the verdict are not evidence, and are not counted.
    ///
    /// No value may be below 0: the caller refuses such data, and here they count as 0.
    pub fn observe(&mut self, reading: Reading) -> Option<Settled> {
        if self.course.settled.is_none() {
            let most = self.cap.unwrap_or(f64::MAX);
            let low = reading.low.max(0.0).min(most);
            let high = reading.high.min(most).max(low);
            self.rounds += 1;
            self.sides.observe(high > self.bar);
            self.sum += if reading.high.is_finite() { low + (high - low) / 2.0 } else { low };
            self.bet(low, most - high);
        }
        self.course.settled
    }

    /// Takes many values with only their count, bounds of their mean, in which what is above the
    /// cap counts as the cap, and how many of them are not above the bar and in how many runs, with
    /// the runs of the others. The values join the unfinished block, which ends with them once it
    /// is long enough. There has to be a cap.
    pub fn observe_block(
        &mut self,
        values: u64,
        mean: Reading,
        (below, below_runs): (u64, u64),
        other_runs: u64,
    ) -> Option<Settled> {
        if self.course.settled.is_none() && values > 0 {
            let (low, high) = (mean.low, mean.high.max(mean.low));
            let most = self.cap.unwrap_or(high).max(high);
            self.rounds += values;
            self.sides
                .observe_many([values.saturating_sub(below), below], [other_runs, below_runs]);
            self.sum += (low + (high - low) / 2.0) * values as f64;
            self.bet_on(values, low, most - high);
        }
        self.course.settled
    }

    fn bet(&mut self, low: f64, left_to_cap: f64) {
        self.bet_on(1, low, left_to_cap);
    }

    /// Bets on so many values of this mean.
    fn bet_on(&mut self, values: u64, low: f64, left_to_cap: f64) {
        self.block.values += values;
        self.block.low += low * values as f64;
        self.block.left_to_cap += left_to_cap * values as f64;
        if self.block.values < self.block.length {
            return;
        }
        let values = self.block.values as f64;
        self.above.observe(self.block.low / values);
        if let Some(below) = &mut self.below {
            below.observe(self.block.left_to_cap / values);
        }
        self.block = Block { length: self.block.length, ..Block::default() };
        self.course.settled = self.settled_at(self.course.error);
    }

    /// Returns the logarithms of the wealth of bets that the mean is above and below the bar.
    fn log_sides(&self) -> (f64, f64) {
        let below = self.below.as_ref().map_or(0.0, MeanBets::log_evidence);
        (self.above.log_evidence(), below)
    }

    /// Returns the natural logarithms of [`MeanTest::evidence`], which are always finite.
    pub fn log_evidence(&self) -> (f64, f64) {
        let (above, below) = self.log_sides();
        if self.is_below { (below, above) } else { (above, below) }
    }

    /// Returns what one observation is, and how values and observations follow each other; with
    /// the order of observations if `full`. Costs a sort.
    ///
    /// Values are dependent if they come in spells that are long compared with one observation, or
    /// if observations follow each other: then no error is guaranteed. It is a diagnosis: the
    /// result false guarantees nothing. The values that are left over include lost attempts.
    pub fn spells(&self, full: bool) -> SpellsResult {
        let dependence = self.sides.dependence();
        let order = serial_z(self.above.values());
        let is_serial = order.is_some_and(is_serial);
        SpellsResult {
            block: self.block.length,
            left_over: self.block.values,
            rarer: self.sides.rarer(),
            mean_spell: dependence.mean_burst,
            runs_z: dependence.runs_z,
            values_z: order.filter(|_| full),
            is_dependent: dependence.is_in_spells(self.block.length) || is_serial,
        }
    }
}

impl SequentialTest for MeanTest {
    fn course(&self) -> &Course {
        &self.course
    }

    fn course_mut(&mut self) -> &mut Course {
        &mut self.course
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The wealth is 1 for a side on which no bet is possible.
    fn evidence(&self) -> (f64, f64) {
        let (for_claim, against) = self.log_evidence();
        (libm::exp(for_claim), libm::exp(against))
    }

    /// The limits of the mean; without a cap, there is no upper one. A limit lies beyond the bar if
    /// and only if the evidence of its side suffices: the bets are made one last bit beyond the
    /// bar.
    fn limits(&self) -> Limits {
        let log_needed = -libm::log(self.course.error);
        let (above, below) = self.log_sides();
        let low = self.above.lower_limit(log_needed);
        let left_to_cap = self.below.as_ref().and_then(|bets| bets.lower_limit(log_needed));
        let high = self.cap.zip(left_to_cap).map(|(cap, left)| cap - left);
        Limits {
            low: low.map(|low| beyond(self.bar, above >= log_needed, low)),
            high: high.map(|high| -beyond(-self.bar, below >= log_needed, -high)),
        }
    }

    /// An unknown value counts as the middle of its reading, and as the lower bound if there is no
    /// upper one.
    fn estimate(&self) -> Option<f64> {
        (self.rounds > 0).then(|| self.sum / self.rounds as f64)
    }

    /// The result is of the side with more evidence, if both have enough.
    fn settled_at(&self, error: f64) -> Option<Settled> {
        let (above, below) = self.log_sides();
        if above.max(below) < -libm::log(error) {
            return None;
        }
        let is_below = below > above;
        let verdict = if is_below == self.is_below { Verdict::Holds } else { Verdict::Refuted };
        Some(Settled::by(verdict))
    }

    /// Both sides lose on a lost attempt, as on an unknown value.
    fn lose_attempt(&mut self) {
        if self.course.settled.is_none() {
            self.course.lost += 1;
            self.bet(0.0, 0.0);
        }
    }
}

/// The width, as a share of the limit, at which bisection ends.
const LIMIT_WIDTH: f64 = 1.0 / (1u64 << 44) as f64;
/// The first places where a rejected mean is looked for, as shares of the observed mean.
const STARTS: [f64; 8] = [0.875, 0.75, 0.5, 0.25, 0.0625, 0.00390625, 1.52587890625e-5, 1e-9];

/// The wealth against "the mean is at most `bar`", and the values so far, so that the bets can be
/// replayed against any other bar.
#[derive(Clone, Debug)]
pub(crate) struct MeanBets {
    bar: f64,
    wealth: Stakes,
    values: Vec<f64>,
    sum: f64,
}

impl MeanBets {
    /// Starts against this bar, which is above 0. If `has_all_in`, one more bettor has half of the
    /// money, and puts all of it on each value. On values that hardly vary it grows fastest.
    pub fn new(bar: f64, has_all_in: bool) -> MeanBets {
        MeanBets { bar, wealth: Stakes::new(has_all_in), values: Vec::new(), sum: 0.0 }
    }

    /// Bets on a value of at least 0.
    #[inline]
    pub fn observe(&mut self, value: f64) {
        self.wealth.bet(value / self.bar);
        reserve_one(&mut self.values);
        self.values.push(value);
        self.sum += value;
    }

    /// Returns the values that were bet on, in the order of their arrival.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the logarithm of the wealth, rounded down.
    #[inline]
    pub fn log_evidence(&self) -> f64 {
        self.wealth.log_total()
    }

    /// Returns [`MeanBets::log_evidence`] as it would be after `values` values that are all equal.
    pub fn log_evidence_after(&self, values: u64, value: f64) -> f64 {
        self.wealth.log_total_after(values, value / self.bar)
    }

    /// Returns the largest mean that is rejected together with all smaller ones; `None` if none is.
    /// It is at least the bar if and only if the wealth has reached `exp(log_needed)`.
    ///
    /// Every factor falls with the mean that is bet against. At the mean of the values, the wealth
    /// is at most 1 (the geometric mean of the factors is at most their arithmetic mean), so the
    /// limit is below it. Costs about fifty passes over the values.
    pub fn lower_limit(&self, log_needed: f64) -> Option<f64> {
        let mean = self.sum / self.values.len() as f64;
        if mean.is_nan() || mean <= 0.0 {
            return None;
        }
        let is_rejected = |bar: f64| self.log_evidence_at(bar) >= log_needed;
        let ends = if self.log_evidence() >= log_needed {
            (self.bar, mean.max(self.bar))
        } else {
            let open = mean.min(self.bar);
            (STARTS.iter().map(|share| share * open).find(|bar| is_rejected(*bar))?, open)
        };
        Some(last_rejected(ends, u32::MAX, |open| LIMIT_WIDTH * open, is_rejected))
    }

    fn log_evidence_at(&self, bar: f64) -> f64 {
        let mut wealth = Stakes::new(self.wealth.all_in.is_some());
        for value in &self.values {
            wealth.bet(value / bar);
        }
        wealth.log_total()
    }
}

/// The number of bettors; each starts with a tenth.
const BETTORS: usize = 10;
/// The stakes: 0.9, halved from one to the next.
const STAKE: [f64; BETTORS] =
    [0.9, 0.45, 0.225, 0.1125, 0.05625, 0.028125, 0.0140625, 0.00703125, 0.003515625, 0.0017578125];
/// The maximum of a value, in bars; larger values count as this. A bet on less than the value is
/// valid, and no product of [`BETS_BETWEEN_LOOKS`] factors leaves the range of an `f64`.
const VALUE_MOST: f64 = (1u64 << 30) as f64;
/// The number of bets between two checks of the exponents: factors lie between 0.1 and 2^30.
const BETS_BETWEEN_LOOKS: u64 = 32;
/// The relative error of a bet: three operations on positive numbers make the factor, and one its
/// product.
const SLACK_A_BET: f64 = 1.0 / (1u64 << 50) as f64;

/// The wealth of each bettor as `mantissa * 2^exponent`, starting from 1.
#[derive(Clone, Debug)]
pub(crate) struct Stakes {
    mantissa: [f64; BETTORS],
    exponent: [i64; BETTORS],
    /// The mantissa, below 2, and the exponent of who puts everything on each value.
    all_in: Option<(f64, i64)>,
    bets: u64,
}

impl Default for Stakes {
    fn default() -> Self {
        Stakes::new(false)
    }
}

impl Stakes {
    fn new(has_all_in: bool) -> Stakes {
        let all_in = has_all_in.then_some((1.0, 0));
        Stakes { mantissa: [1.0; BETTORS], exponent: [0; BETTORS], all_in, bets: 0 }
    }

    /// Multiplies every wealth by `(1 - stake) + stake * value`, with `value` in units of the bar.
    #[inline]
    pub fn bet(&mut self, value: f64) {
        let value = value.min(VALUE_MOST);
        for (mantissa, stake) in self.mantissa.iter_mut().zip(STAKE) {
            *mantissa *= (1.0 - stake) + stake * value;
        }
        if let Some((mantissa, exponent)) = &mut self.all_in {
            let product = *mantissa * value;
            let own = exponent_of(product);
            (*mantissa, *exponent) = (product * pow2(-own), *exponent + own);
        }
        self.bets += 1;
        if self.bets.is_multiple_of(BETS_BETWEEN_LOOKS) {
            self.rescale();
        }
    }

    /// Moves the exponents out of the mantissas, exactly.
    fn rescale(&mut self) {
        for (mantissa, exponent) in self.mantissa.iter_mut().zip(&mut self.exponent) {
            let own = exponent_of(*mantissa);
            *mantissa *= pow2(-own);
            *exponent += own;
        }
    }

    /// Returns the logarithm of the mean wealth, rounded down.
    pub fn log_total(&self) -> f64 {
        let top = (0..BETTORS).map(|k| self.exponent[k] + exponent_of(self.mantissa[k]));
        let top = top.chain(self.all_in.map(|(_, exponent)| exponent)).max().unwrap_or(0);
        let parts = self.mantissa.iter().zip(self.exponent);
        let sum: f64 = parts.map(|(mantissa, exponent)| mantissa * pow2(exponent - top)).sum();
        let mut mean = sum / BETTORS as f64;
        if let Some((mantissa, exponent)) = self.all_in {
            mean = 0.5 * mean + 0.5 * mantissa * pow2(exponent - top);
        }
        let log = libm::log(mean) + top as f64 * std::f64::consts::LN_2;
        log - SLACK_A_BET * (log.abs() + (self.bets + 2 * BETTORS as u64) as f64)
    }

    /// Returns [`Stakes::log_total`] as it would be after `bets` bets on the same value.
    fn log_total_after(&self, bets: u64, value: f64) -> f64 {
        let bets = bets as f64;
        let logs = STAKE.map(|stake| bets * libm::log((1.0 - stake) + stake * value));
        let mut log = log_mean(&logs);
        if self.all_in.is_some() {
            log = log_mean(&[log, bets * libm::log(value)]);
        }
        log - SLACK_A_BET * (log.abs() + bets + (2 * BETTORS) as f64)
    }
}

/// Returns the logarithm of the mean of numbers with these logarithms.
pub(crate) fn log_mean(logs: &[f64]) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| libm::exp(log - top)).sum();
    top + libm::log(sum / logs.len() as f64)
}

/// Returns the binary exponent of a normal number above 0.
fn exponent_of(value: f64) -> i64 {
    ((value.to_bits() >> 52) & 0x7ff) as i64 - 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stakes_halve_and_long_luck_is_survived() {
        for (k, stake) in STAKE.iter().enumerate() {
            assert_eq!(*stake, 0.9 * pow2(-(k as i64)));
        }
        let mut lucky = Stakes::default();
        let mut unlucky = Stakes::default();
        for _ in 0..100_000 {
            lucky.bet(f64::MAX);
            unlucky.bet(0.0);
        }
        let expected = 100_000.0 * libm::log(0.1 + 0.9 * VALUE_MOST) - libm::log(10.0);
        assert!((lucky.log_total() / expected - 1.0).abs() < 1e-9, "{}", lucky.log_total());
        let least = 100_000.0 * libm::log1p(-STAKE[BETTORS - 1]) - libm::log(10.0);
        assert!((unlucky.log_total() / least - 1.0).abs() < 1e-9, "{}", unlucky.log_total());
    }

    #[test]
    fn many_bets_at_once_are_many_bets() {
        for (bets, value) in [(1, 1.5), (7, 0.0), (100, 1.01), (5000, 1.0 / 0.99)] {
            let mut stakes = Stakes::new(bets % 2 == 1);
            (0..bets).for_each(|_| stakes.bet(value));
            let at_once = stakes.log_total_after(bets, value);
            assert!((stakes.log_total() - at_once).abs() < 1e-10, "{bets} bets on {value}");
        }
    }
}
