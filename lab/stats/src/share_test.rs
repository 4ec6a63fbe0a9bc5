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

mod chain;
mod density;
mod grid;
mod memory;
mod quantile;
mod side;

use crate::decide::Settled;
use crate::dependence::{BlockSpells, Dependence, Runs, is_serial, serial_z};
use crate::limits::Limits;
use grid::Odds;
pub use quantile::{quantile_estimate, quantile_limits};
use side::Side;
use tiebreak_core::evidence::Evidence;
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
    block: u64,
    error: f64,
    /// Bets that sure successes are more frequent than `bad`.
    above: Side,
    /// Bets that sure failures are more frequent than `good` implies.
    below: Side,
    trials: u64,
    successes: u64,
    lost: u64,
    /// The lost attempts in the unfinished block.
    lost_in_block: u64,
    runs: Runs,
    is_chain: bool,
    /// For a chain: the position of its trials, and the lengths of its runs.
    walk: Walk,
    by_age: ByAge,
    settled: Option<Settled>,
}

impl ShareTest {
    /// Returns a test of a claim that is refuted below `good` and holds above `bad`,
    /// `0 < bad <= good < 1`, with its share of the error; `block` trials are one observation.
    pub fn new(good: f64, bad: f64, block: u64, error: f64) -> ShareTest {
        let (above, below) = sides(good, bad, block);
        ShareTest {
            good,
            bad,
            block: block.max(1),
            error,
            above,
            below,
            trials: 0,
            successes: 0,
            lost: 0,
            lost_in_block: 0,
            runs: Runs::default(),
            is_chain: false,
            walk: Walk::default(),
            by_age: ByAge::default(),
            settled: None,
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
        if self.settled.is_some() {
            return self.settled;
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
        let is = |what| u64::from(trial == what);
        self.bet(1, is(Trial::Success), is(Trial::Failure));
        self.settled
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
        if self.settled.is_none() && trials > 0 {
            let successes = successes.min(trials);
            self.trials += trials;
            self.successes += successes;
            self.runs.observe_many(failure_runs);
            self.bet(trials, successes, trials - successes);
        }
        self.settled
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
        if self.settled.is_none() {
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

    /// Counts an attempt at a trial that was cut off: both sides lose on it, as on an unknown
    /// trial.
    pub fn lose_attempt(&mut self) {
        if self.settled.is_none() {
            self.lost += 1;
            self.lost_in_block += 1;
            self.bet(1, 0, 0);
        }
    }

    fn bet(&mut self, trials: u64, successes: u64, failures: u64) {
        self.above.observe(trials, successes);
        self.below.observe(trials, failures);
        if self.above.left_over() == 0 {
            self.lost_in_block = 0;
        }
        let log_needed = log_needed(self.error);
        // Misses only lose, but the end of a block may win whatever its last trial was.
        let always = self.block > 1 || self.is_chain;
        let above = (always || successes > 0) && self.above.reaches(log_needed);
        let below = (always || failures > 0) && self.below.reaches(log_needed);
        if above || below {
            self.settled = self.settled_at(self.error);
        }
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

    /// Returns what the present evidence settles at this error. If both sides have won enough, the
    /// share lies between the bad and the good one and either verdict is right: the result is the
    /// one with more evidence.
    pub fn settled_at(&self, error: f64) -> Option<Settled> {
        let (above, below) = self.log_evidence();
        if above.max(below) < log_needed(error) {
            return None;
        }
        let verdict = if above >= below { Verdict::Holds } else { Verdict::Refuted };
        Some(Settled { verdict, left_wins: None })
    }

    /// Returns the number of trials so far, including those of an unfinished block, without lost
    /// attempts.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Returns the number of sure successes.
    pub fn successes(&self) -> u64 {
        self.successes
    }

    /// Returns the number of trials at the end that do not fill a block and are not evidence.
    pub fn left_over(&self) -> u64 {
        self.above.left_over() - self.lost_in_block
    }

    /// Returns whether trials count as a chain.
    pub fn is_chain(&self) -> bool {
        self.is_chain
    }

    /// Returns the number of trials that make one observation.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// Returns the wealth of the bets that the share is above the bad one, and of those that it is
    /// below the good one. Infinite on overflow.
    pub fn evidence(&self) -> (f64, f64) {
        let (above, below) = self.log_evidence();
        (libm::exp(above), libm::exp(below))
    }

    /// Returns the natural logarithms of [`ShareTest::evidence`], which are always finite.
    pub fn log_evidence(&self) -> (f64, f64) {
        (self.above.log_evidence(), self.below.log_evidence())
    }

    /// Returns the wealth that either side needs.
    pub fn evidence_needed(&self) -> f64 {
        1.0 / self.error
    }

    /// Returns the claim's share of the error.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the limits of the share, each wrong with probability at most the error at every
    /// moment.
    ///
    /// The lower limit is above the bad share if and only if the evidence for the claim suffices,
    /// and the upper one is below the good share if and only if the evidence against it does. The
    /// bets are made one last bit beyond those shares, so that this holds for the rounded numbers.
    pub fn limits(&self) -> Limits {
        let log_needed = log_needed(self.error);
        let low = self.above.lower_limit(log_needed).map(|low| {
            let is_proven = self.above.log_evidence() >= log_needed;
            if is_proven { low.max(self.bad.next_up()) } else { low.min(self.bad) }
        });
        let high = self.below.lower_limit(log_needed).map(|failures| {
            let is_proven = self.below.log_evidence() >= log_needed;
            let high = 1.0 - failures;
            if is_proven { high.min(self.good.next_down()) } else { high.max(self.good) }
        });
        Limits { low, high }
    }

    /// Returns the evidence about the share now.
    pub fn summary(&self) -> Evidence {
        let limits = self.limits();
        let (evidence_for, evidence_against) = self.evidence();
        Evidence {
            rounds: self.trials,
            lost: self.lost,
            estimate: (self.trials > 0).then(|| self.successes as f64 / self.trials as f64),
            low: limits.low,
            high: limits.high,
            confidence: 1.0 - 2.0 * self.error,
            evidence_for,
            evidence_against,
            evidence_needed: self.evidence_needed(),
        }
    }

    /// Returns how trials that did not surely succeed follow each other.
    pub fn dependence(&self) -> Dependence {
        let failures = self.trials - self.successes;
        Dependence::of(self.trials, failures, self.runs.failure_runs())
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
            memory::log_evidence(&self.by_age) >= log_needed(memory::ERROR)
        } else {
            self.dependence().is_bursty_in(self.block)
                || self.block_spells().is_some_and(|spells| spells.is_long)
                || self.blocks_z().is_some_and(is_serial)
        }
    }

    /// Returns the least number of trials that can end with `holds` (all of them successes), and
    /// the least number that can end with `refuted` (all of them failures).
    pub fn least_trials(&self) -> (u64, u64) {
        let log_needed = log_needed(self.error);
        (self.above.least_trials(log_needed), self.below.least_trials(log_needed))
    }

    /// Returns at least two points of the density of the Beta distribution with one more than the
    /// successes and one more than the other trials (a uniform prior), at rates spread evenly over
    /// the range of its mass. The peak is 1. The density is for a picture: no verdict comes from
    /// it.
    pub fn density(&self, points: usize) -> Vec<(f64, f64)> {
        density::of(self.trials, self.successes, points)
    }
}

/// Returns the logarithm of the wealth that bets need.
fn log_needed(error: f64) -> f64 {
    -libm::log(error)
}

/// Returns the two sides of a claim, one last bit beyond its bars. There is a bettor who knows the
/// alternative only if there is room between the bars.
fn sides(good: f64, bad: f64, block: u64) -> (Side, Side) {
    let (bad, good) = (Odds::of(bad), Odds::of(good));
    let above = Odds::of(bad.hit.next_up());
    let below = Odds::of(good.hit.next_down()).swapped();
    let is_zone = above.hit < good.hit && bad.hit < good.hit.next_down();
    let alternatives = is_zone.then(|| (good, bad.swapped())).unzip();
    (Side::new(above, alternatives.0, block), Side::new(below, alternatives.1, block))
}
