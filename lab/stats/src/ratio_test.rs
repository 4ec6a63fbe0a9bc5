//! One ratio claim from its first round to its verdict.

use crate::bettor::{M3R, S, Table};
use crate::conditions::Conditions;
use crate::decide::{Bars, Proof, Settled};
use crate::drift::Drift;
use crate::eprocess::EProcess;
use crate::limits::{History, LIMIT_WIDTH, Limits};
use crate::noise::{Bet, Noise};
use crate::observation::LogRatio;
use crate::one_factor::{self, OneFactor};
use crate::slot::SlotEstimate;
use tiebreak_core::claim::Relation;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::plan::{Adjust, Centre};

/// How far beyond a bar the cheap bets of every round stand, so that limits that are then computed
/// lie strictly beyond it.
const NUDGE: f64 = 2.0 * LIMIT_WIDTH;
/// Lost attempts that version 1 of the engine let go free of charge, beside 1% of the rounds.
const FREE_LOSSES: u64 = 3;

/// Sequential evidence about one ratio claim.
///
/// Every round costs a handful of bets; the limits themselves are computed only when those say that
/// the claim can be settled, or when somebody asks.
#[derive(Clone, Debug)]
pub struct RatioTest {
    table: &'static Table,
    bars: Bars,
    /// The claim's share of the error, and what one limit may use of it.
    error: f64,
    error_a_side: f64,
    noise: Noise,
    history: History,
    /// Bets that the log ratio lies above each bar that the lower limit may have to pass.
    above: Vec<EProcess>,
    /// Bets, on mirrored rounds, that it lies below each bar of the upper limit.
    below: Vec<EProcess>,
    /// The bets that are shown, at the bar itself (of `within`, at both edges).
    shown_above: Vec<EProcess>,
    shown_below: Vec<EProcess>,
    /// The rounds of the block of primers that is not over.
    block: Vec<(LogRatio, Conditions)>,
    lost: u64,
    free_losses: bool,
    /// No bet can have won enough in fewer rounds than these.
    next_look: u64,
    settled: Option<Settled>,
    /// Whether the verdict is about one factor, so that there is none where there is no factor.
    asks_one_factor: bool,
    /// What was found when a verdict was withheld.
    denied: Option<OneFactor>,
}

impl RatioTest {
    /// A claim of this form, with its share of the error, at this resolution (a fraction), and what
    /// is taken out of the noise of its rounds.
    ///
    /// Of [`Centre::Mean`] see [`crate::mean_ratio_test::MeanRatioTest`].
    ///
    /// To adjust is for [`Centre::Factor`]: the median engine promises the median of the rounds as
    /// they are, and an adjusted round has another one.
    pub fn new(
        relation: Relation,
        centre: Centre,
        error: f64,
        resolution: f64,
        adjust: Adjust,
    ) -> RatioTest {
        let table = match centre {
            Centre::Factor => &M3R,
            // A ratio of means has a test of its own, which sees the values: here are signs only.
            Centre::Median | Centre::Mean => &S,
        };
        let bars = Bars::new(relation, resolution);
        let (low, high) = bars.passed_by();
        let edges = match relation {
            Relation::Within { .. } => vec![bars.bar(), -bars.bar()],
            _ => vec![bars.bar()],
        };
        let bets = |at: &[f64], sign: f64, nudge: f64| {
            at.iter().map(|bar| EProcess::new(table, sign * bar + nudge)).collect()
        };
        RatioTest {
            table,
            bars,
            error,
            error_a_side: bars.error_a_side(error),
            noise: Noise::new(adjust),
            history: History::new(table),
            above: bets(&low, 1.0, NUDGE),
            below: bets(&high, -1.0, NUDGE),
            shown_above: bets(&edges, 1.0, 0.0),
            shown_below: bets(&edges, -1.0, 0.0),
            block: Vec::new(),
            lost: 0,
            free_losses: false,
            next_look: 0,
            settled: None,
            asks_one_factor: false,
            denied: None,
        }
    }

    /// Lets up to three lost attempts, or 1% of the rounds, go free of charge, as version 1 of the
    /// engine did: who chooses which rounds to kill can then be wrong more often than the error.
    #[must_use]
    pub fn with_free_losses(self) -> RatioTest {
        RatioTest { free_losses: true, ..self }
    }

    /// The same test, but it gives no verdict from the moment on at which one would have been
    /// given although there is no such factor ([`OneFactor::is_denied`]). To withhold verdicts
    /// takes nothing from their error.
    #[must_use]
    pub fn asking_one_factor(self) -> RatioTest {
        RatioTest { asks_one_factor: self.table.asks_the_median, ..self }
    }

    /// Counts an attempt at a round that was cut off.
    pub fn lose_attempt(&mut self) {
        if self.settled.is_none() {
            self.lost += 1;
        }
    }

    /// Takes a round into the evidence, with those before it in its block of primers, and settles
    /// the claim if that suffices. A round after which the block goes on waits for the others.
    /// Rounds after the verdict are not evidence.
    pub fn observe(&mut self, d: LogRatio, conditions: &Conditions) -> Option<Settled> {
        if self.settled.is_some() {
            return self.settled;
        }
        self.block.push((d, *conditions));
        if conditions.goes_on {
            return None;
        }
        let block = std::mem::take(&mut self.block);
        let how = |(d, conditions): &(LogRatio, Conditions)| {
            let bet = self.noise.bet(*d, conditions);
            Bet { weight: if conditions.rests { 0.0 } else { bet.weight }, ..bet }
        };
        let bets: Vec<Bet> = block.iter().map(how).collect();
        for ((d, conditions), bet) in block.iter().zip(&bets) {
            self.lay(bet);
            self.noise.learn(*d, conditions, bet);
        }
        if self.denied.is_none() {
            self.settled = self.settle_if_possible();
            self.deny();
        }
        self.settled
    }

    fn lay(&mut self, bet: &Bet) {
        let (low, mirrored_low) = (bet.d.low, bet.d.mirrored().low);
        for process in self.above.iter_mut().chain(&mut self.shown_above) {
            process.observe_bet(low, bet);
        }
        for process in self.below.iter_mut().chain(&mut self.shown_below) {
            process.observe_bet(mirrored_low, bet);
        }
        self.history.push(bet);
    }

    /// Whether the verdict is withheld where there is no one factor.
    pub fn asks_one_factor(&self) -> bool {
        self.asks_one_factor
    }

    /// Takes a verdict back, before anybody saw it, if it is about a factor that there is not.
    fn deny(&mut self) {
        if self.asks_one_factor && self.settled.is_some() {
            self.denied = self.one_factor().filter(OneFactor::is_denied);
            self.settled = self.settled.filter(|_| self.denied.is_none());
        }
    }

    /// What the rounds say of one factor; costs a sort of eleven numbers a round.
    pub fn one_factor(&self) -> Option<OneFactor> {
        self.denied.or_else(|| one_factor::look(&self.history, self.charges()))
    }

    fn settle_if_possible(&mut self) -> Option<Settled> {
        if self.rounds() < self.next_look {
            return None;
        }
        if self.bars.asks_for_width() {
            // Limits move by little in a twentieth of the rounds, and are what costs.
            self.next_look = self.rounds() + 1 + self.rounds() / 20;
            return self.settle_at(self.error_a_side);
        }
        let needed = 1.0 / self.error_a_side;
        let most = self.most_won();
        if most < needed {
            // A stake is below 1, so a round less than doubles a wealth.
            self.next_look = self.rounds() + 1 + doublings(needed / most);
            return None;
        }
        self.settle_at(self.error_a_side)
    }

    /// What the bets that could settle anything have won at most, nothing being charged.
    fn most_won(&self) -> f64 {
        let bets = self.above.iter().chain(&self.below);
        bets.map(|bet| bet.value(0)).fold(0.0, f64::max)
    }

    /// What is settled if each limit may use so much of the error.
    fn settle_at(&self, error_a_side: f64) -> Option<Settled> {
        if self.bars.asks_for_width() {
            return self.bars.settle(&self.proof(self.limits_at(error_a_side)));
        }
        let needed = 1.0 / error_a_side;
        let charges = self.charges();
        let reached = |bets: &[EProcess]| bets.iter().any(|bet| bet.value(charges) >= needed);
        if !reached(&self.above) && !reached(&self.below) {
            return None;
        }
        self.bars.settle(&self.proof(self.believed(charges, needed)))?;
        self.bars.settle(&self.proof(self.limits_at(error_a_side)))
    }

    /// The limits as far as the bets at the bars tell them: each on the side of its bar that they
    /// say, so that these are all that need be looked at.
    fn believed(&self, charges: u64, needed: f64) -> Limits {
        Limits {
            low: self.passed(&self.above, charges, needed, 1.0),
            high: self.passed(&self.below, charges, needed, -1.0),
        }
    }

    /// Whether the bets at the bars would settle the claim. If it is not settled all the same, the
    /// limits cross, and each further round costs two limits.
    pub(crate) fn is_believed(&self) -> bool {
        let believed = self.believed(self.charges(), 1.0 / self.error_a_side);
        self.bars.settle(&self.proof(believed)).is_some()
    }

    /// The furthest bar that the bets have passed, a nudge beyond it, in the direction of `sign`.
    fn passed(&self, bets: &[EProcess], charges: u64, needed: f64, sign: f64) -> Option<f64> {
        let passed = bets.iter().filter(|bet| bet.value(charges) >= needed);
        passed.map(EProcess::bar).reduce(f64::max).map(|bar| sign * bar)
    }

    fn proof(&self, limits: Limits) -> Proof {
        Proof::new(limits, self.noise.median(), self.table.asks_the_median)
    }

    /// Lost attempts that must be paid for, each as a round that went as badly as it could (A9).
    fn charges(&self) -> u64 {
        let free = if self.free_losses { FREE_LOSSES.max(self.rounds() / 100) } else { 0 };
        if self.lost > free { self.lost } else { 0 }
    }

    /// Rounds in the evidence.
    pub fn rounds(&self) -> u64 {
        self.noise.rounds() as u64
    }

    /// Whether lost attempts are being charged.
    pub fn is_charged(&self) -> bool {
        self.charges() > 0
    }

    /// The verdict, once there is one.
    pub fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// Both limits from all rounds so far; see [`History::limits`] for the cost.
    pub fn limits(&self) -> Limits {
        self.limits_at(self.error_a_side)
    }

    /// The same at another error a side.
    pub fn limits_at(&self, error_a_side: f64) -> Limits {
        self.history.limits(error_a_side, self.charges())
    }

    /// What the bets at the bar have won: for the claim, and against it.
    ///
    /// `within` is proven by the weaker of its two bets and refuted by the stronger of theirs.
    pub fn evidence(&self) -> (f64, f64) {
        let charges = self.charges();
        let value = |bets: &[EProcess], edge: usize| bets[edge].value(charges);
        if self.shown_above.len() == 1 {
            return (value(&self.shown_above, 0), value(&self.shown_below, 0));
        }
        let (upper, lower) = (0, 1);
        let inside = value(&self.shown_above, lower).min(value(&self.shown_below, upper));
        let outside = value(&self.shown_above, upper).max(value(&self.shown_below, lower));
        (inside, outside)
    }

    /// Everything that is known about the ratio now.
    pub fn summary(&self) -> Evidence {
        let limits = self.limits();
        let (evidence_for, evidence_against) = self.evidence();
        Evidence {
            rounds: self.rounds(),
            lost: self.lost,
            estimate: self.noise.median(),
            low: limits.low,
            high: limits.high,
            confidence: 1.0 - 2.0 * self.error_a_side,
            evidence_for,
            evidence_against,
            evidence_needed: 1.0 / self.error_a_side,
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

    /// What the evidence now would settle if the claim's share of the error were `error`.
    ///
    /// Cheap where the bets are far from it; where they are not, it costs as much as two limits.
    pub fn settled_at(&self, error: f64) -> Option<Settled> {
        let settled = self.settle_at(self.bars.error_a_side(error))?;
        let is_denied = || self.one_factor().is_some_and(|found| found.is_denied());
        (!self.asks_one_factor || !is_denied()).then_some(settled)
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

    /// What running second of the two is believed to cost, as a natural logarithm, and whether that
    /// is being taken out of the rounds. `None` if the plan does not ask for it.
    pub fn slot_effect(&self) -> Option<SlotEstimate> {
        self.noise.slot_effect()
    }

    /// Rounds that counted less than others because a contestant waited for a CPU.
    pub fn weighted_rounds(&self) -> u64 {
        self.noise.weighted_rounds()
    }

    /// Whether the ratio changed along the run. Costs a copy and two sorts of the rounds.
    pub fn drift(&self) -> Option<Drift> {
        Drift::of(&self.history.ratios())
    }

    /// Whether the limits are in order (always, under a constant factor, but for the error).
    pub fn limits_cross(&self) -> bool {
        !self.proof(self.limits()).is_sound()
    }
}

/// How often 1 can be doubled without exceeding `ratio`, which is at least 1: its binary exponent.
fn doublings(ratio: f64) -> u64 {
    (ratio.to_bits() >> 52).saturating_sub(1023)
}
