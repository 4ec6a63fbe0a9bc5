//! One claim about the ratio of two means, from its first round to its verdict.
//!
//! The ratio is `r = E[b] / E[a]`, the mean of the right contestant over that of the left one;
//! values above a cap count as the cap. A bettor against "`E[b]` is at most `r E[a]`" puts the
//! share `s` of its wealth on `v = ((cap - a) + b / r) / cap`. This is never below 0 and has an
//! expectation of at most 1, whatever happened before, so the bettor multiplies its wealth by
//! `1 + s (b / r - a) / cap`. That needs no symmetry. The means may change, as long as in each
//! round the one is at most `r` times the other, given the rounds before (Waudby-Smith and Ramdas
//! 2024). The wealth falls with `r`, so bisection finds the limits. Without a cap on `a`, one run
//! in a million might outweigh all others (Bahadur and Savage 1956), and nothing could be proven.

use crate::bisection::last_rejected;
use crate::conditions::Conditions;
use crate::decide::{BarBets, Bars, Course, NUDGE, Proof, SequentialTest, Settled};
use crate::limits::{LIMIT_WIDTH, Limits};
use crate::mean_test::Stakes;
use tiebreak_core::claim::Relation;
use tiebreak_core::sample::Reading;

/// Sequential evidence about the ratio of the mean of the right contestant to that of the left one.
/// Values above a cap count as the cap.
///
/// Bars, limits and verdicts are those of [`crate::ratio_test::RatioTest`] (rule A2). Nothing is
/// learnt from the rounds, because stakes are fixed and the cap is the scale. A round costs about
/// eighty multiplications and 32 bytes. Limits are computed only when the bets at the bars indicate
/// that the claim can be settled, or when a caller asks for them.
#[derive(Clone, Debug)]
pub struct MeanRatioTest {
    bars: Bars,
    cap: f64,
    course: Course,

    history: MeanRatioBets,
    bets: BarBets<BetsAbove>,
    /// The rounds of the unfinished block of primers.
    block: Vec<(Reading, Reading, Conditions)>,
    rounds: u64,
    /// For a question about the size: the least number of rounds at which limits are computed.
    next_look: u64,
}

impl MeanRatioTest {
    /// Returns a test of a claim of this form, with its share of the error, at this resolution (a
    /// fraction). Values above `cap`, which is above 0, count as the cap.
    pub fn new(relation: Relation, cap: f64, error: f64, resolution: f64) -> MeanRatioTest {
        let bars = Bars::new(relation, resolution);
        MeanRatioTest {
            cap,
            course: Course::new(error),
            history: MeanRatioBets::default(),
            bets: BarBets::new(&bars, NUDGE, BetsAbove::new),
            bars,
            block: Vec::new(),
            rounds: 0,
            next_look: 0,
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
        if self.course.settled.is_some() {
            return self.course.settled;
        }
        self.block.push((left, right, *conditions));
        if conditions.goes_on {
            return None;
        }
        for (left, right, conditions) in std::mem::take(&mut self.block) {
            self.rounds += 1;
            if !conditions.rests {
                let sides = self.history.push(left, right, self.cap);
                self.bet(sides);
            }
        }
        if self.rounds >= self.next_look {
            if self.bars.asks_for_width() {
                self.next_look = Bars::next_look(self.rounds);
            }
            self.course.settled = self.settle_at(self.error_a_side());
        }
        self.course.settled
    }

    /// Makes the bets of a round: that the ratio is high, and that it is low.
    fn bet(&mut self, [above, below]: [Side; 2]) {
        self.bets.above.iter_mut().for_each(|bets| bets.bet(above));
        self.bets.below.iter_mut().for_each(|bets| bets.bet(below));
    }

    /// Returns what is settled if each limit may use this error.
    fn settle_at(&self, error_a_side: f64) -> Option<Settled> {
        if !self.bars.asks_for_width() {
            let needed = -libm::log(error_a_side);
            let believed =
                self.bets.believed(|bets| (bets.log_won() >= needed).then_some(bets.theta));
            self.bars.settle(&Proof::new(believed, None, false))?;
        }
        self.bars.settle(&Proof::new(self.history.limits(error_a_side), None, false))
    }
}

impl SequentialTest for MeanRatioTest {
    fn course(&self) -> &Course {
        &self.course
    }

    fn course_mut(&mut self) -> &mut Course {
        &mut self.course
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn evidence(&self) -> (f64, f64) {
        self.bets.evidence(|bets| libm::exp(bets.log_won()))
    }

    /// The limits are always in order, with the estimate between them.
    fn limits(&self) -> Limits {
        self.history.limits(self.error_a_side())
    }

    /// The ratio of the means of the rounds that were bet on; an unknown value counts as the middle
    /// of its reading.
    fn estimate(&self) -> Option<f64> {
        self.history.estimate()
    }

    fn settled_at(&self, error: f64) -> Option<Settled> {
        self.settle_at(self.bars.error_a_side(error))
    }

    /// Every bet loses as much as it can on a lost attempt (rule A9).
    fn lose_attempt(&mut self) {
        if self.course.settled.is_none() {
            self.course.lost += 1;
            let sides = self.history.push_lost();
            self.bet(sides);
        }
    }

    fn error_a_side(&self) -> f64 {
        self.bars.error_a_side(self.course.error)
    }
}

/// The first places where a rejected ratio is looked for, as distances from the observed one.
const STARTS: [f64; 7] = [0.01, 0.0625, 0.25, 1.0, 4.0, 16.0, 64.0];

/// The worst round for a bet: the left contestant took the cap, the right one nothing.
const WORST: Side = Side { against: 1.0, for_it: 0.0 };

/// The two values of a round for a bet that the ratio is high, in units of the cap. Bets that it is
/// low use the same with the contestants swapped.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The value against the bet: the greatest possible value of the left contestant.
    against: f64,
    /// The value for the bet: the least possible value of the right contestant.
    for_it: f64,
}

/// Bets that the log ratio is above one number, from the first round on.
#[derive(Clone, Debug)]
pub struct BetsAbove {
    /// The bound of the hypothesis that it bets against: that the log ratio is at most this.
    theta: f64,
    inverse: f64,
    wealth: Stakes,
}

impl BetsAbove {
    /// Starts with a wealth of 1.
    pub fn new(theta: f64) -> BetsAbove {
        BetsAbove { theta, inverse: libm::exp(-theta), wealth: Stakes::default() }
    }

    /// Returns the logarithm of the wealth, rounded down.
    pub fn log_won(&self) -> f64 {
        self.wealth.log_total()
    }

    /// Bets on a round. The expectation of the value that is bet on is at most 1 if the ratio is no
    /// higher.
    fn bet(&mut self, Side { against, for_it }: Side) {
        self.wealth.bet((1.0 - against) + for_it * self.inverse);
    }
}

/// Bets on the two values of each round, left and right.
#[derive(Clone, Debug, Default)]
pub struct MeanRatioBets {
    /// The rounds for bets that the ratio is high.
    above: Vec<Side>,
    /// The rounds for bets that it is low.
    below: Vec<Side>,
    sums: (f64, f64),
}

impl MeanRatioBets {
    /// Adds the two values of a round, each known to lie between two bounds, and returns what the
    /// bets see of them. Values above the cap count as the cap.
    pub fn push(&mut self, left: Reading, right: Reading, cap: f64) -> [Side; 2] {
        let [a, b] =
            [left, right].map(|r| ((r.low / cap).clamp(0.0, 1.0), (r.high / cap).clamp(0.0, 1.0)));
        self.sums.0 += (a.0 + a.1) / 2.0;
        self.sums.1 += (b.0 + b.1) / 2.0;
        self.keep([Side { against: a.1, for_it: b.0 }, Side { against: b.1, for_it: a.0 }])
    }

    /// Adds a round that was cut off: every bet loses as much as it can.
    pub fn push_lost(&mut self) -> [Side; 2] {
        self.keep([WORST, WORST])
    }

    fn keep(&mut self, sides: [Side; 2]) -> [Side; 2] {
        self.above.push(sides[0]);
        self.below.push(sides[1]);
        sides
    }

    /// Returns the logarithm of the ratio of the observed means.
    pub fn estimate(&self) -> Option<f64> {
        let (a, b) = self.sums;
        // The logarithm is of the larger over the smaller, so that swapping the two flips the sign
        // and nothing else.
        let log = if b > a { libm::log(b / a) } else { 0.0 - libm::log(a / b) };
        log.is_finite().then_some(log)
    }

    /// Computes the limits of the logarithm of the ratio, each wrong with probability at most
    /// `error`. Costs about a hundred passes over the rounds.
    pub fn limits(&self, error: f64) -> Limits {
        let Some(estimate) = self.estimate() else { return Limits { low: None, high: None } };
        let needed = -libm::log(error);
        let low = furthest(estimate, |theta| log_won(&self.above, theta) >= needed);
        let high = furthest(-estimate, |theta| log_won(&self.below, theta) >= needed);
        Limits { low, high: high.map(|limit| 0.0 - limit) }
    }
}

/// Returns the logarithm of the wealth of bets that the log ratio is above `theta`.
fn log_won(rounds: &[Side], theta: f64) -> f64 {
    let mut bets = BetsAbove::new(theta);
    rounds.iter().for_each(|round| bets.bet(*round));
    bets.log_won()
}

/// Returns the largest `theta` below `estimate`, to within [`LIMIT_WIDTH`] below, that is rejected.
fn furthest(estimate: f64, is_rejected: impl Fn(f64) -> bool) -> Option<f64> {
    let mut starts = STARTS.into_iter().map(|distance| estimate - distance);
    let rejected = starts.find(|theta| is_rejected(*theta))?;
    Some(last_rejected((rejected, estimate), u32::MAX, |_| LIMIT_WIDTH, is_rejected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins::{Purpose, Seed, Stream};

    fn bets(rounds: usize, cap: f64, values: impl Fn(usize) -> (f64, f64)) -> MeanRatioBets {
        let mut bets = MeanRatioBets::default();
        for (a, b) in (0..rounds).map(values) {
            bets.push(Reading::exact(a), Reading::exact(b), cap);
        }
        bets
    }

    #[test]
    fn the_slow_tenth_counts_in_the_mean() {
        fn values(i: usize) -> (f64, f64) {
            (if i % 10 == 3 { 6.0 } else { 2.0 }, 2.0)
        }
        let limits = bets(3000, 10.0, values).limits(0.005);
        let truth = -libm::log(1.2);
        assert!(limits.low.is_some_and(|low| low < truth), "{limits:?}");
        assert!(limits.high.is_some_and(|high| truth < high && high < 0.0), "{limits:?}");
        let swapped = bets(3000, 10.0, |i| (values(i).1, values(i).0)).limits(0.005);
        let mirrored = swapped.low.zip(limits.high).map(|(low, high)| (low + high).abs());
        assert!(mirrored.is_some_and(|distance| distance < 1e-9), "{swapped:?} {limits:?}");
    }

    #[test]
    fn what_timed_out_counts_as_the_cap() {
        let mut bets = MeanRatioBets::default();
        let at_least = Reading { low: 10.0, high: f64::INFINITY };
        bets.push(at_least, Reading::exact(5.0), 10.0);
        assert_eq!(bets.estimate(), Some(libm::log(0.5)));
        let limits = bets.limits(0.01);
        assert!(limits.low < bets.estimate() && bets.estimate() < limits.high, "{limits:?}");
    }

    /// Each limit is where the wealth of the bets, by their formula, reaches the required value:
    /// slightly further in, it does not.
    #[test]
    fn limits_are_where_the_bets_have_won_enough() {
        let error = 0.01;
        let mut chance = Stream::new(Seed::from_text("limits"), Purpose::Simulation, 0, 0);
        let rounds: Vec<_> = (0..400).map(|_| (4.0 * chance.unit(), 5.0 * chance.unit())).collect();
        let won = |theta: f64, is_low: bool| {
            let r = libm::exp(theta);
            let gain = |(a, b): &(f64, f64)| if is_low { b / r - a } else { a * r - b };
            let stakes = (0..10).map(|k| 0.9 * 0.5f64.powi(k));
            let wealth = |s: f64| rounds.iter().map(|d| 1.0 + s * gain(d) / 5.0).product::<f64>();
            stakes.map(wealth).sum::<f64>() / 10.0
        };
        let limits = bets(rounds.len(), 5.0, |i| rounds[i]).limits(error);
        for (limit, inwards) in [(limits.low, 1e-9), (limits.high, -1e-9)] {
            let limit = limit.unwrap();
            let is_low = inwards > 0.0;
            assert!(won(limit, is_low) > (1.0 - 1e-9) / error, "{limits:?}");
            assert!(won(limit + inwards, is_low) < 1.0 / error, "{limits:?}");
        }
    }

    /// Counts the streams whose limits miss the true ratio at any look, if limits lie at `width`
    /// times their distance from the estimate. Runs are short or as long as the cap, which takes as
    /// much of a bettor's wealth as anything can, and the length of the others follows the rounds
    /// before.
    fn missed(streams: u64, error: f64, width: f64) -> u64 {
        let truth = libm::log(1.1);
        let misses = |stream: &u64| {
            let mut chance = Stream::new(Seed::from_text("means"), Purpose::Simulation, *stream, 0);
            let mut bets = MeanRatioBets::default();
            let mut level = 1.0;
            (1..=LOOKS[LOOKS.len() - 1]).any(|round| {
                let mut run =
                    || if chance.next_u32().is_multiple_of(2) { 1.0 } else { 0.1 * level };
                let (a, b) = (run(), run());
                level = if b > a { 0.5 } else { 1.5 };
                bets.push(Reading::exact(a), Reading::exact(1.1 * b), 1.1);
                LOOKS.contains(&round) && {
                    let (limits, centre) = (bets.limits(error), bets.estimate().unwrap_or(truth));
                    let narrower = |limit: f64| centre + width * (limit - centre);
                    limits.low.is_some_and(|low| narrower(low) > truth)
                        || limits.high.is_some_and(|high| narrower(high) < truth)
                }
            })
        };
        (0..streams).filter(misses).count() as u64
    }

    const LOOKS: [usize; 12] = [10, 15, 22, 33, 50, 75, 110, 170, 250, 380, 570, 850];

    /// Limits that are two fifths too narrow fail here; the test above detects any that are too
    /// narrow.
    #[test]
    fn limits_miss_the_ratio_no_more_often_than_they_may() {
        let (streams, error) = (1000, 0.01);
        let is_too_often = |missed: u64| {
            crate::rate::compare_with(streams, missed, 2.0 * error, 1e-3) == Some(true)
        };
        let (ours, narrower) = (missed(streams, error, 1.0), missed(streams, error, 0.6));
        println!(
            "missed {ours} of {streams} at 1% a side, {narrower} with limits two fifths nearer"
        );
        assert!(!is_too_often(ours) && is_too_often(narrower), "{ours} {narrower}");
    }
}
