//! One claim about a share (a success rate, a share of rounds, a quantile), from its first trial to
//! its verdict.
//!
//! `holds` says that the share is above the bad one, and is wrong only if it is not. `refuted` says
//! that the share is below the good one, and is wrong only if it is not. Both can be wrong only at
//! a single bar itself, where the claim "at least" is true. So each may use the whole error.
//!
//! Trial by trial, the bets only need that a success has, given the past, at most (at least) the
//! probability of the bar. If failures come in bursts, that is false. Then the observations are
//! blocks many bursts long: the bets are on the share of successes in each, as on any bounded mean.
//! Or the trials count as a chain, in which each depends only on the one before.
//!
//! The values that bound a quantile.
//!
//! The density of plausible rates, for a picture.

mod chain;
mod side;

use crate::bisection::edge;
use crate::decide::{Course, SequentialTest, Settled};
use crate::dependence::{BlockSpells, Dependence, Runs, is_serial, serial_z};
use crate::limits::{Limits, beyond};
use crate::rate::times;
use chain::{MEMORY_ERROR, log_evidence_of_memory};
use side::{Odds, Side};
use tiebreak_core::sample::Reading;
use tiebreak_core::transitions::{ByAge, Transitions, Walk};
use tiebreak_core::verdict::Verdict;

/// The outcome of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
    /// It may have been either. Bets that the share is high lose on it as on a failure, bets that
    /// it is low as on a success. Counts show it as a failure.
    Unknown,
}

/// Sequential evidence about one share.
///
/// A trial costs a few additions, and about forty exponentials only when its side could have won
/// enough; [`ShareTest::limits`] costs two bisections. Evidence and limits of single trials depend
/// only on the counts, not on the order.
#[derive(Clone, Debug)]
pub struct ShareTest {
    good: f64,
    bad: f64,
    /// The number of trials that make one observation.
    pub block: u64,
    may_be_certain: bool,
    course: Course,
    /// Bets that sure successes are more frequent than `bad`.
    above: Side,
    /// Bets that sure failures are more frequent than `good` implies.
    below: Side,
    trials: u64,
    /// The number of sure successes.
    pub successes: u64,
    /// The lost attempts in the unfinished block.
    lost_in_block: u64,
    runs: Runs,
    /// Whether trials count as a chain.
    pub is_chain: bool,
    /// For a chain: the position of its trials, and the lengths of its runs.
    walk: Walk,
    by_age: ByAge,
}

impl ShareTest {
    /// Returns a test of a claim that is refuted below `good` and holds above `bad`,
    /// `0 < bad <= good < 1`, with its share of the error; `block` trials are one observation.
    pub fn new(good: f64, bad: f64, block: u64, error: f64) -> ShareTest {
        ShareTest::starting(good, bad, block, error, true)
    }

    /// Returns the same test by the bets of versions 1 and 2 of the engine: without the bettor on
    /// "trials never fail", or never succeed.
    pub fn without_certainty(good: f64, bad: f64, block: u64, error: f64) -> ShareTest {
        ShareTest::starting(good, bad, block, error, false)
    }

    fn starting(good: f64, bad: f64, block: u64, error: f64, may_be_certain: bool) -> ShareTest {
        let (above, below) = sides(good, bad, block, may_be_certain);
        ShareTest {
            good,
            bad,
            block: block.max(1),
            may_be_certain,
            course: Course::new(error),
            above,
            below,
            trials: 0,
            successes: 0,
            lost_in_block: 0,
            runs: Runs::default(),
            is_chain: false,
            walk: Walk::default(),
            by_age: ByAge::default(),
        }
    }

    /// Returns a test of the same claim about trials that are a chain: whether one succeeds depends
    /// only on the one before, and the share is the long-run share.
    pub fn chain(good: f64, bad: f64, error: f64) -> ShareTest {
        let above = Side::chain(Odds::of(Odds::of(bad).hit.next_up()));
        let below = Side::chain(Odds::of(Odds::of(good).hit.next_down()).swapped());
        ShareTest { is_chain: true, above, below, ..ShareTest::new(good, bad, 1, error) }
    }

    /// Takes a trial into the evidence and settles the claim if that suffices. Trials after the
    /// verdict are not evidence, and are not counted.
    pub fn observe(&mut self, trial: Trial) -> Option<Settled> {
        if self.course.settled.is_some() {
            return self.course.settled;
        }
        self.trials += 1;
        self.successes += u64::from(trial == Trial::Success);
        let has_failed = trial != Trial::Success;
        self.runs.observe(has_failed);
        if self.is_chain {
            let mut one = ByAge::default();
            self.walk.step(has_failed, &mut one);
            self.follow(&one.sum(), &one);
        }
        self.bet(1, u64::from(trial == Trial::Success), u64::from(trial == Trial::Failure));
        self.course.settled
    }

    /// Takes many trials with only their counts: the number of trials, of successes, and of runs of
    /// failures (for [`ShareTest::dependence`]). The claim is settled by the evidence after all of
    /// them.
    ///
    /// With blocks, the trials join the unfinished block, which ends with them once it is long
    /// enough. So trials of several blocks at once are one long block: valid, but weaker evidence
    /// than block by block.
    pub fn observe_many(
        &mut self,
        trials: u64,
        successes: u64,
        failure_runs: u64,
    ) -> Option<Settled> {
        let successes = successes.min(trials);
        self.observe_block(trials, (successes, trials - successes), failure_runs)
    }

    /// Does the same where some trials may be neither surely successes nor surely failures: both
    /// are given, and the rest is as [`Trial::Unknown`] is. `failure_runs` are the runs of trials
    /// that did not surely succeed.
    pub fn observe_block(
        &mut self,
        trials: u64,
        (successes, failures): (u64, u64),
        failure_runs: u64,
    ) -> Option<Settled> {
        if self.course.settled.is_none() && trials > 0 {
            self.trials += trials;
            self.successes += successes;
            self.runs.observe_many(failure_runs);
            self.bet(trials, successes, failures);
        }
        self.course.settled
    }

    /// Does the same as [`ShareTest::observe_many`] for lines with known transitions, also by how
    /// long a run had lasted (if that is unknown, the chain is not checked).
    pub fn observe_lines(
        &mut self,
        trials: u64,
        successes: u64,
        failure_runs: u64,
        transitions: &Transitions,
        by_age: &ByAge,
    ) -> Option<Settled> {
        if self.course.settled.is_none() {
            self.follow(transitions, by_age);
            self.walk = Walk::default();
        }
        self.observe_many(trials, successes, failure_runs)
    }

    fn follow(&mut self, transitions: &Transitions, by_age: &ByAge) {
        self.by_age.add(by_age);
        self.above.follow(transitions);
        self.below.follow(&transitions.swapped());
    }

    fn bet(&mut self, trials: u64, successes: u64, failures: u64) {
        self.above.observe(trials, successes);
        self.below.observe(trials, failures);
        if self.above.left_over() == 0 {
            self.lost_in_block = 0;
        }
        let log_needed = log_needed(self.course.error);
        // Misses only lose, but the end of a block may win whatever its last trial was.
        let always = self.block > 1 || self.is_chain;
        let above = (always || successes > 0) && self.above.reaches(log_needed);
        let below = (always || failures > 0) && self.below.reaches(log_needed);
        if above || below {
            self.course.settled = self.settled_at(self.course.error);
        }
    }

    /// Returns the number of trials at the end that do not fill a block and are not evidence.
    pub fn left_over(&self) -> u64 {
        self.above.left_over() - self.lost_in_block
    }

    /// Returns the natural logarithms of [`ShareTest::evidence`], which are always finite.
    pub fn log_evidence(&self) -> (f64, f64) {
        (self.above.log_evidence(), self.below.log_evidence())
    }

    /// Returns how trials that did not surely succeed follow each other.
    pub fn dependence(&self) -> Dependence {
        let failures = self.trials - self.successes;
        Dependence::of(self.trials, failures, self.runs.failure_runs)
    }

    /// Returns the evidence of the blocks' failures for spells in which trials fail more often;
    /// `None` if there are no blocks, or too few.
    pub fn block_spells(&self) -> Option<BlockSpells> {
        BlockSpells::of(self.below.block_shares(), self.block)
    }

    /// Returns by how many standard deviations neighbouring blocks are more alike than by chance;
    /// `None` if most are equal, or if there are no blocks. Costs a sort.
    pub fn blocks_z(&self) -> Option<f64> {
        serial_z(self.below.block_shares())
    }

    /// Returns whether failures come in bursts, or spells, so long that observations depend on each
    /// other, or whether lines that are taken for a chain are not one. Then no error is guaranteed.
    /// It is a diagnosis: the result false guarantees nothing. For a chain, the result true is
    /// wrong with probability at most 1%. For blocks, it costs a sort of them.
    pub fn is_bursty(&self) -> bool {
        if self.is_chain {
            log_evidence_of_memory(&self.by_age) >= log_needed(MEMORY_ERROR)
        } else {
            self.dependence().is_bursty_in(self.block)
                || self.block_spells().is_some_and(|spells| spells.is_long)
                || self.blocks_z().is_some_and(is_serial)
        }
    }

    /// Returns the least number of trials that can end with `holds` (all of them successes), and
    /// the least number that can end with `refuted` (all of them failures).
    pub fn least_trials(&self) -> (u64, u64) {
        let log_needed = log_needed(self.course.error);
        (self.above.least_trials(log_needed), self.below.least_trials(log_needed))
    }

    /// Returns the limits of a quantile, among the observed values: this test of the claim "a value
    /// is at most `v`", from its start, for all bars `v`.
    ///
    /// `high` is the least value at which that test, on these readings, ends with `holds`: the bar
    /// of a claim is at least `high` if and only if there is enough evidence for the claim that at
    /// least the share `bad` of the values is at most the bar. `low` is the largest value such that
    /// the claim is refuted at every bar below it. So with `good = bad = q`, the quantile at `q`
    /// lies outside with probability at most the error per side, at every moment. The reason is
    /// that at bars below the quantile, the bets have won no more than just below it, and there
    /// they had at best a fair chance of `q` (Howard and Ramdas 2022).
    ///
    /// A reading whose upper bound is at most the bar is a success, one whose lower bound is above
    /// it a failure, and any other one unknown. Lost attempts are [`Reading::UNKNOWN`]. Readings
    /// must be in the order of their arrival, because `block` of them make one observation. `None`
    /// means that there is no bound yet.
    ///
    /// Costs a sort and about twenty passes.
    pub fn quantile_limits(&self, readings: &[Reading]) -> Limits {
        let log_needed = log_needed(self.course.error);
        let (above, below) = sides(self.good, self.bad, self.block, self.may_be_certain);
        let (highs, lows) = (readings.iter().map(|r| r.high), readings.iter().map(|r| r.low));
        let (high_bars, low_bars) = (sorted(highs.clone()), sorted(lows.clone()));
        let holds_from = high_bars.partition_point(|bar| {
            log_evidence_of(&above, highs.clone().map(|high| high <= *bar)) < log_needed
        });
        let refuted_to = low_bars.partition_point(|bar| {
            log_evidence_of(&below, lows.clone().map(|low| low >= *bar)) >= log_needed
        });
        Limits {
            low: refuted_to.checked_sub(1).map(|last| low_bars[last]),
            high: high_bars.get(holds_from).copied(),
        }
    }

    /// Returns at least two points of the density of the Beta distribution with one more than the
    /// successes and one more than the other trials (a uniform prior), at rates spread evenly over
    /// the range of its mass. The peak is 1. The density is for a picture: no verdict comes from
    /// it.
    pub fn density(&self, points: usize) -> Vec<(f64, f64)> {
        density(self.trials, self.successes, points)
    }
}

impl SequentialTest for ShareTest {
    fn course(&self) -> &Course {
        &self.course
    }

    fn course_mut(&mut self) -> &mut Course {
        &mut self.course
    }

    fn rounds(&self) -> u64 {
        self.trials
    }

    /// The wealth of the bets that the share is above the bad one, and of those that it is below
    /// the good one.
    fn evidence(&self) -> (f64, f64) {
        let (above, below) = self.log_evidence();
        (libm::exp(above), libm::exp(below))
    }

    /// The limits of the share. The lower limit is above the bad share if and only if the evidence
    /// for the claim suffices, and the upper one is below the good share if and only if the
    /// evidence against it does. The bets are made one last bit beyond those shares, so that this
    /// holds for the rounded numbers.
    fn limits(&self) -> Limits {
        let log_needed = log_needed(self.course.error);
        let (above, below) = self.log_evidence();
        let low = self.above.lower_limit(log_needed);
        let high = self.below.lower_limit(log_needed).map(|failures| 1.0 - failures);
        Limits {
            low: low.map(|low| beyond(self.bad, above >= log_needed, low)),
            high: high.map(|high| -beyond(-self.good, below >= log_needed, -high)),
        }
    }

    fn estimate(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.successes as f64 / self.trials as f64)
    }

    /// If both sides have won enough, the share lies between the bad and the good one and either
    /// verdict is right: the result is the one with more evidence.
    fn settled_at(&self, error: f64) -> Option<Settled> {
        let (above, below) = self.log_evidence();
        if above.max(below) < log_needed(error) {
            return None;
        }
        let verdict = if above >= below { Verdict::Holds } else { Verdict::Refuted };
        Some(Settled::by(verdict))
    }

    /// Both sides lose on a lost attempt, as on an unknown trial.
    fn lose_attempt(&mut self) {
        if self.course.settled.is_none() {
            self.course.lost += 1;
            self.lost_in_block += 1;
            self.bet(1, 0, 0);
        }
    }
}

/// Returns the logarithm of the wealth that bets need.
fn log_needed(error: f64) -> f64 {
    -libm::log(error)
}

/// Returns the two sides of a claim, one last bit beyond its bars. There is a bettor who knows the
/// alternative only if there is room between the bars.
fn sides(good: f64, bad: f64, block: u64, may_be_certain: bool) -> (Side, Side) {
    let (bad, good) = (Odds::of(bad), Odds::of(good));
    let above = Odds::of(bad.hit.next_up());
    let below = Odds::of(good.hit.next_down()).swapped();
    let is_zone = above.hit < good.hit && bad.hit < good.hit.next_down();
    let alternatives = is_zone.then(|| (good, bad.swapped())).unzip();
    (
        Side::new(above, alternatives.0, block, may_be_certain),
        Side::new(below, alternatives.1, block, may_be_certain),
    )
}

/// Returns the logarithm of the wealth of one side after these hits and misses.
fn log_evidence_of(side: &Side, hits: impl Iterator<Item = bool>) -> f64 {
    let mut side = side.clone();
    hits.for_each(|is_hit| side.observe(1, u64::from(is_hit)));
    side.log_evidence()
}

/// Returns the least value that a share of at least `q` of the values does not exceed; `None` if
/// there are no values, or if it is unknown.
pub fn quantile_estimate(readings: &[Reading], q: f64) -> Option<f64> {
    let known = readings.iter().filter(|reading| **reading != Reading::UNKNOWN);
    let mut highs: Vec<f64> = known.map(|reading| reading.high).collect();
    highs.sort_unstable_by(f64::total_cmp);
    let rank = libm::ceil(q * highs.len() as f64) as usize;
    highs.get(rank.saturating_sub(1)).copied().filter(|value| value.is_finite())
}

/// Returns the finite values, in order.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The share of the peak down to which the density is drawn.
const DENSITY_LEAST: f64 = 1e-3;
/// The number of halvings in the search for that place.
const HALVINGS: u32 = 50;

/// Returns the density of `Beta(successes + 1, trials - successes + 1)` over its peak, at evenly
/// spread rates.
fn density(trials: u64, successes: u64, points: usize) -> Vec<(f64, f64)> {
    let (n, s) = (trials as f64, successes as f64);
    let peak = if trials == 0 { 0.5 } else { s / n };
    let log_density = |rate: f64| times(s, libm::log(rate)) + times(n - s, libm::log1p(-rate));
    let log_peak = log_density(peak);
    let relative = |rate: f64| libm::exp(log_density(rate) - log_peak).min(1.0);
    let [low, high] = [0.0, 1.0].map(|extreme| {
        if relative(extreme) >= DENSITY_LEAST {
            return extreme;
        }
        edge((extreme, peak), HALVINGS, |rate| relative(rate) < DENSITY_LEAST).1
    });
    let last = points.max(2) - 1;
    let rates = (0..=last)
        .map(|i| if i == last { high } else { low + (high - low) * i as f64 / last as f64 });
    rates.map(|rate| (rate, relative(rate))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(trials: u64, successes: u64, peak: f64, (low, high): (f64, f64)) {
        let curve = density(trials, successes, 201);
        assert_eq!(curve.len(), 201);
        let (first, last) = (curve[0].0, curve[200].0);
        assert!((first - low).abs() < 2e-3 && (last - high).abs() < 2e-3, "{first} {last}");
        let off = |point: &&(f64, f64)| ((point.0 - peak).abs() * 1e9) as u64;
        let at_peak = curve.iter().min_by_key(off).unwrap();
        assert!(at_peak.1 > 0.99, "{at_peak:?}");
        assert!(curve.iter().all(|(_, y)| (DENSITY_LEAST * 0.999..=1.0).contains(y)));
        assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn curves_cover_the_mass() {
        check(0, 0, 0.5, (0.0, 1.0));
        // x^10 is a thousandth at 10^-0.3.
        check(10, 10, 1.0, (0.5012, 1.0));
        check(10, 0, 0.0, (0.0, 0.4988));
        // Nearly normal: a thousandth lies 3.717 standard deviations out.
        check(10_000, 5000, 0.5, (0.4814, 0.5186));
        assert_eq!(density(5, 3, 0).len(), 2);
    }
}
