//! One ratio claim, from its first round to its verdict.

use crate::bettor::{Bet, EProcess, Table};
use crate::conditions::Conditions;
use crate::decide::{BarBets, Bars, Course, NUDGE, Proof, SequentialTest, Settled};
use crate::drift::Drift;
use crate::limits::{History, Limits};
use crate::noise::{Noise, SlotEstimate};
use crate::observation::LogRatio;
use crate::one_factor::{self, OneFactor};
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre, ENGINE_VERSION};

/// The lost attempts that version 1 of the engine left uncharged; 1% of the rounds if that is more.
const FREE_LOSSES: u64 = 3;

/// Sequential evidence about one ratio claim.
///
/// Every round costs a handful of bets. The limits are computed only when the bets indicate that
/// the claim can be settled, or when a caller asks for them.
#[derive(Clone, Debug)]
pub struct RatioTest {
    table: &'static Table,
    bars: Bars,
    course: Course,

    noise: Noise,
    history: History,
    /// The bets that tell when limits are worth their cost.
    bets: BarBets<EProcess>,
    /// The bets that are shown, at the bar itself (for `within`, at both edges).
    shown: BarBets<EProcess>,
    /// The rounds of the unfinished block of primers.
    block: Vec<(LogRatio, Conditions)>,
    free_losses: bool,
    /// The least number of rounds in which a bet can have won enough.
    next_look: u64,
    /// If the question is how large the ratio is: the rounds at the latest look, and the distance
    /// of the limits then.
    seen: Option<(u64, f64)>,
    /// If the question is how large the ratio is: the bounds of rounds so far.
    bounds: Bounds,
    /// The least number of rounds that settle anything.
    fewest: u64,
    /// Whether the verdict is about one factor, so that there is none where there is no factor.
    pub asks_one_factor: bool,
    /// The test result when a verdict was withheld.
    denied: Option<OneFactor>,
}

impl RatioTest {
    /// Returns a test of a claim of this form, with its share of the error, at this resolution (a
    /// fraction), and with these adjustments of its rounds.
    ///
    /// For [`Centre::Mean`], see [`crate::mean_ratio_test::MeanRatioTest`].
    ///
    /// Adjustments are for [`Centre::Factor`]: the median engine estimates the median of the rounds
    /// as they are, and adjusted rounds have another median.
    pub fn new(
        relation: Relation,
        centre: Centre,
        error: f64,
        resolution: f64,
        adjust: Adjust,
    ) -> RatioTest {
        RatioTest::by_version(ENGINE_VERSION, relation, centre, error, resolution, adjust)
    }

    /// Returns the same test as a version of the engine had it.
    ///
    /// Version 1 left up to three lost attempts, or 1% of the rounds, uncharged: a user who chooses
    /// which rounds to kill could then be wrong more often than the error.
    pub fn by_version(
        version: u32,
        relation: Relation,
        centre: Centre,
        error: f64,
        resolution: f64,
        adjust: Adjust,
    ) -> RatioTest {
        let table = Table::of(centre, version);
        let bars = Bars::new(relation, resolution);
        RatioTest {
            table,
            course: Course::new(error),
            noise: Noise::new(adjust),
            history: History::new(table),
            bets: BarBets::new(&bars, NUDGE, |bar| EProcess::new(table, bar)),
            shown: BarBets::new(&bars, 0.0, |bar| EProcess::new(table, bar)).at_the_bar(),
            block: Vec::new(),
            free_losses: version == 1,
            next_look: 0,
            seen: None,
            bounds: Bounds::default(),
            fewest: table.fewest_rounds(bars.error_a_side(error)),
            bars,
            asks_one_factor: false,
            denied: None,
        }
    }

    /// Returns the same test, except that it never gives a verdict once one was due although there
    /// is no such factor ([`OneFactor::is_denied`]). Withholding verdicts does not increase their
    /// error.
    #[must_use]
    pub fn asking_one_factor(self) -> RatioTest {
        RatioTest { asks_one_factor: self.table.asks_the_median, ..self }
    }

    /// Takes a round into the evidence, with those before it in its block of primers, and settles
    /// the claim if that suffices. A round whose block continues waits for the others. Rounds after
    /// the verdict are not evidence.
    pub fn observe(&mut self, d: LogRatio, conditions: &Conditions) -> Option<Settled> {
        if self.course.settled.is_some() {
            return self.course.settled;
        }
        self.block.push((d, *conditions));
        if conditions.goes_on {
            return None;
        }
        let block = std::mem::take(&mut self.block);
        let bets = block.iter().map(|(d, conditions)| {
            let bet = self.noise.bet(*d, conditions);
            Bet { weight: if conditions.rests { 0.0 } else { bet.weight }, ..bet }
        });
        let bets: Vec<Bet> = bets.collect();
        for ((d, conditions), bet) in block.iter().zip(&bets) {
            self.lay(bet);
            self.bounds.take(*d, self.bars.width_wanted());
            self.noise.learn(*d, conditions, bet);
        }
        self.learn();
        if self.denied.is_none() {
            self.course.settled = self.settle_if_possible();
            self.deny();
        }
        self.course.settled
    }

    fn lay(&mut self, bet: &Bet) {
        let (d, mirrored, shape) = (bet.d, bet.d.mirrored(), self.history.shape());
        for bets in [&mut self.bets, &mut self.shown] {
            bets.above.iter_mut().for_each(|process| process.observe(d, bet, shape));
            bets.below.iter_mut().for_each(|process| process.observe(mirrored, bet, shape));
        }
        self.history.push(bet);
    }

    /// Lets all bets take up the next shape of the noise, if there is one.
    fn learn(&mut self) {
        if let Some(shape) = self.history.learn(&self.noise.past) {
            for bets in [&mut self.bets, &mut self.shown] {
                bets.above.iter_mut().chain(&mut bets.below).for_each(|one| one.learn(shape));
            }
        }
    }

    /// Withdraws a verdict, before it is reported, if it is about a factor that does not exist.
    fn deny(&mut self) {
        if self.asks_one_factor && self.course.settled.is_some() {
            self.denied = self.one_factor().filter(OneFactor::is_denied);
            self.course.settled = self.course.settled.filter(|_| self.denied.is_none());
        }
    }

    /// Tests one factor on the rounds; costs a sort of eleven numbers per round.
    pub fn one_factor(&self) -> Option<OneFactor> {
        self.denied.or_else(|| one_factor::look(&self.history, self.charges()))
    }

    fn settle_if_possible(&mut self) -> Option<Settled> {
        if self.rounds() < self.next_look {
            return None;
        }
        if self.bars.asks_for_width() {
            self.next_look = Bars::next_look(self.rounds());
            let limits = self.limits_at(self.error_a_side());
            self.seen = limits.width().map(|width| (self.rounds(), width));
            return self.bars.settle(&self.proof(limits));
        }
        let needed = 1.0 / self.error_a_side();
        let most = self.most_won();
        if most < needed {
            // A stake is below 1, so a round less than doubles a wealth.
            self.next_look = self.rounds() + 1 + doublings(needed / most);
            return None;
        }
        let settled = self.settle_at(self.error_a_side());
        if settled.is_none() && self.table.learns {
            // Limits cost more than rounds, and some more rounds bring them beyond the bar.
            self.next_look = self.rounds() + 1 + self.rounds() / 200;
        }
        settled
    }

    /// Returns the greatest wealth of the bets that could settle anything, without charges.
    fn most_won(&self) -> f64 {
        let bets = self.bets.above.iter().chain(&self.bets.below);
        bets.map(|bet| bet.value(0)).fold(0.0, f64::max)
    }

    /// Returns what is settled if each limit may use this error.
    fn settle_at(&self, error_a_side: f64) -> Option<Settled> {
        if self.bars.asks_for_width() {
            return self.bars.settle(&self.proof(self.limits_at(error_a_side)));
        }
        let believed = self.believed(error_a_side);
        self.bars.settle(&self.proof(believed))?;
        let confirmed = self.history.confirmed(believed, error_a_side, self.charges());
        self.bars.settle(&self.proof(confirmed))?;
        self.bars.settle(&self.proof(self.limits_at(error_a_side)))
    }

    /// Returns the limits as indicated by the bets at the bars, so that only these need to be
    /// checked.
    fn believed(&self, error_a_side: f64) -> Limits {
        let (charges, needed) = (self.charges(), 1.0 / error_a_side);
        self.bets.believed(|bet| (bet.value(charges) >= needed).then_some(bet.bar()))
    }

    /// Returns whether the bets at the bars would settle the claim. If it is not settled
    /// nevertheless, the limits cross, and each further round costs two limits.
    pub(crate) fn is_believed(&self) -> bool {
        self.bars.settle(&self.proof(self.believed(self.error_a_side()))).is_some()
    }

    fn proof(&self, limits: Limits) -> Proof {
        Proof::new(limits, self.noise.past.median(), self.table.asks_the_median)
    }

    /// Returns the number of lost attempts that are charged, each as a round with the worst result
    /// (A9).
    fn charges(&self) -> u64 {
        let free = if self.free_losses { FREE_LOSSES.max(self.rounds() / 100) } else { 0 };
        if self.course.lost > free { self.course.lost } else { 0 }
    }

    /// Returns both limits at another error per side.
    pub fn limits_at(&self, error_a_side: f64) -> Limits {
        self.history.limits(error_a_side, self.charges(), &self.bars_to_pass())
    }

    /// Returns the bars, each a nudge further on, at which the cells of a limit end.
    fn bars_to_pass(&self) -> Vec<f64> {
        let (low, high) = self.bars.passed_by();
        let low = low.into_iter().map(|bar| bar + NUDGE);
        low.chain(high.into_iter().map(|bar| bar - NUDGE)).collect()
    }

    /// Returns the believed cost of running second of the two, as a natural logarithm, and whether
    /// it is being removed from the rounds. Returns `None` if the plan does not ask for it.
    pub fn slot_effect(&self) -> Option<SlotEstimate> {
        self.noise.slot_effect()
    }

    /// Returns the number of rounds that counted less than others because a contestant waited for a
    /// CPU.
    pub fn weighted_rounds(&self) -> u64 {
        self.noise.weighted
    }

    /// Returns the change of the ratio during the run, if it did change. Costs a copy and two sorts
    /// of the rounds.
    pub fn drift(&self) -> Option<Drift> {
        Drift::of(&self.history.ratios())
    }
}

/// Limits with an error of 1/e a side lie as far apart as rounds spread after about this many
/// rounds beyond the fewest that settle anything: in simulations 10 to 18 where noise is normal, 14
/// to 22 where a seventh of it is five times as wide.
const ROUNDS_OF_SPREAD: f64 = 16.0;

/// Returns the spread of rounds with which limits that are `width` apart take about twice the
/// `fewest` rounds that settle anything at an error; 0 if any number of rounds does.
pub fn spread_of_twice_the_fewest(fewest: u64, width: f64, error_a_side: f64) -> f64 {
    let needed = ROUNDS_OF_SPREAD * libm::log(1.0 / error_a_side);
    if needed > 0.0 { width * libm::sqrt(fewest as f64 / needed) } else { 0.0 }
}

/// How far apart the bounds of rounds are that have both.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    /// The number of these rounds.
    rounds: u64,
    /// Those whose bounds are nearer to each other than what is asked for, and their distances'
    /// sum.
    near: u64,
    sum: f64,
}

impl Bounds {
    fn take(&mut self, d: LogRatio, wanted: Option<f64>) {
        let apart = d.high - d.low;
        if let Some(wanted) = wanted.filter(|_| apart.is_finite()) {
            self.rounds += 1;
            if apart < wanted {
                self.near += 1;
                self.sum += apart;
            }
        }
    }

    /// Returns how near to each other the limits of a median can come, about; `None` if the bounds
    /// of half of all rounds are too far apart.
    fn least(&self) -> Option<f64> {
        (2 * self.near >= self.rounds).then(|| self.sum / self.near.max(1) as f64)
    }
}

impl SequentialTest for RatioTest {
    fn course(&self) -> &Course {
        &self.course
    }

    fn course_mut(&mut self) -> &mut Course {
        &mut self.course
    }

    fn rounds(&self) -> u64 {
        self.noise.past.rounds() as u64
    }

    fn evidence(&self) -> (f64, f64) {
        let charges = self.charges();
        self.shown.evidence(|bet| bet.value(charges))
    }

    /// See [`History::limits`] for the cost.
    fn limits(&self) -> Limits {
        self.limits_at(self.error_a_side())
    }

    fn estimate(&self) -> Option<f64> {
        self.noise.past.median()
    }

    /// Cheap if the bets are far from it; otherwise, it costs as much as two limits.
    fn settled_at(&self, error: f64) -> Option<Settled> {
        let settled = self.settle_at(self.bars.error_a_side(error))?;
        let is_denied =
            self.asks_one_factor && self.one_factor().is_some_and(|found| found.is_denied());
        (!is_denied).then_some(settled)
    }

    /// How large a ratio is, is expected to be known after as many rounds as their spread asks for;
    /// from then on, as the distance of limits shrinks with the square root of the rounds, down to
    /// the distance of the bounds of a round. Infinite if a verdict was withheld, or if the bounds
    /// of a round are too far apart.
    fn rounds_left(&self) -> f64 {
        if self.denied.is_some() {
            return f64::INFINITY;
        }
        let rounds = self.rounds() as f64;
        if rounds < self.fewest as f64 {
            return self.fewest as f64 - rounds;
        }
        let Some(wanted) = self.bars.width_wanted() else { return self.rounds_left_by_wealth() };
        let Some(least) = self.bounds.least() else { return f64::INFINITY };
        let spread = self.noise.past.scale().unwrap_or(0.0) / (wanted - least);
        let needed = libm::log(self.evidence_needed()) * ROUNDS_OF_SPREAD * spread * spread;
        let by_spread = self.fewest as f64 + needed;
        let by_width = self.seen.map_or(2.0 * rounds, |(then, width)| {
            let shrinks = (width - least).max(0.0) / (wanted - least);
            then as f64 * shrinks * shrinks
        });
        let expected = if by_spread > rounds { by_spread.min(by_width) } else { by_width };
        (expected - rounds).max(1.0)
    }

    fn lose_attempt(&mut self) {
        if self.course.settled.is_none() {
            self.course.lost += 1;
        }
    }

    fn error_a_side(&self) -> f64 {
        self.bars.error_a_side(self.course.error)
    }

    fn is_charged(&self) -> bool {
        self.charges() > 0
    }

    fn limits_cross(&self) -> bool {
        !self.proof(self.limits()).is_sound()
    }
}

/// Returns how often 1 can be doubled without exceeding `ratio`, which is at least 1: its binary
/// exponent.
fn doublings(ratio: f64) -> u64 {
    (ratio.to_bits() >> 52).saturating_sub(1023)
}
