//! One ratio claim from its first round to its verdict.

use crate::bettor::{M3R, S, Table};
use crate::decide::{Bars, Proof, Settled};
use crate::eprocess::EProcess;
use crate::limits::{History, LIMIT_WIDTH, Limits};
use crate::observation::LogRatio;
use crate::scale::Past;
use tiebreak_core::claim::Relation;
use tiebreak_core::evidence::RatioEvidence;
use tiebreak_core::plan::Centre;

/// How far beyond a bar the cheap bets of every round stand, so that limits that are then computed
/// lie strictly beyond it.
const NUDGE: f64 = 2.0 * LIMIT_WIDTH;
/// Lost attempts that are free of charge, beside one in a hundred rounds (rule A9).
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
    past: Past,
    history: History,
    /// Bets that the log ratio lies above each bar that the lower limit may have to pass.
    above: Vec<EProcess>,
    /// Bets, on mirrored rounds, that it lies below each bar of the upper limit.
    below: Vec<EProcess>,
    /// The bets that are shown, at the bar itself (of `within`, at both edges).
    shown_above: Vec<EProcess>,
    shown_below: Vec<EProcess>,
    lost: u64,
    /// No bet can have won enough in fewer rounds than these.
    next_look: u64,
    settled: Option<Settled>,
}

impl RatioTest {
    /// A claim of this form, with its share of the error, at this resolution (a fraction).
    pub fn new(relation: Relation, centre: Centre, error: f64, resolution: f64) -> RatioTest {
        let table = match centre {
            Centre::Factor => &M3R,
            Centre::Median => &S,
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
            past: Past::default(),
            history: History::new(table),
            above: bets(&low, 1.0, NUDGE),
            below: bets(&high, -1.0, NUDGE),
            shown_above: bets(&edges, 1.0, 0.0),
            shown_below: bets(&edges, -1.0, 0.0),
            lost: 0,
            next_look: 0,
            settled: None,
        }
    }

    /// Counts an attempt at a round that was cut off.
    pub fn lose_attempt(&mut self) {
        if self.settled.is_none() {
            self.lost += 1;
        }
    }

    /// Takes a round into the evidence and settles the claim if that suffices. Rounds after the
    /// verdict are not evidence.
    pub fn observe(&mut self, d: LogRatio) -> Option<Settled> {
        if self.settled.is_some() {
            return self.settled;
        }
        let scale = self.past.scale();
        let mirrored = d.mirrored();
        for bet in self.above.iter_mut().chain(&mut self.shown_above) {
            bet.observe(d.low, scale);
        }
        for bet in self.below.iter_mut().chain(&mut self.shown_below) {
            bet.observe(mirrored.low, scale);
        }
        self.history.push(d, scale);
        self.past.insert(d);
        self.settled = self.settle_if_possible();
        self.settled
    }

    fn settle_if_possible(&mut self) -> Option<Settled> {
        if self.rounds() < self.next_look {
            return None;
        }
        let needed = 1.0 / self.error_a_side;
        let bets = self.above.iter().chain(&self.below);
        let most = bets.map(|bet| bet.value(0)).fold(0.0, f64::max);
        if most < needed {
            // A stake is below 1, so a round less than doubles a wealth.
            self.next_look = self.rounds() + 1 + doublings(needed / most);
            return None;
        }
        let charges = self.charges();
        let reached = |bets: &[EProcess]| bets.iter().any(|bet| bet.value(charges) >= needed);
        if !reached(&self.above) && !reached(&self.below) {
            return None;
        }
        // The limits at a bar are on the side that the bets say, so only these need be looked at.
        let believed = Limits {
            low: self.passed(&self.above, charges, needed, 1.0),
            high: self.passed(&self.below, charges, needed, -1.0),
        };
        self.bars.settle(&self.proof(believed))?;
        self.bars.settle(&self.proof(self.limits()))
    }

    /// The furthest bar that the bets have passed, a nudge beyond it, in the direction of `sign`.
    fn passed(&self, bets: &[EProcess], charges: u64, needed: f64, sign: f64) -> Option<f64> {
        let passed = bets.iter().filter(|bet| bet.value(charges) >= needed);
        passed.map(EProcess::bar).reduce(f64::max).map(|bar| sign * bar)
    }

    fn proof(&self, limits: Limits) -> Proof {
        Proof::new(limits, self.past.median(), self.table.asks_the_median)
    }

    /// Lost attempts that must be paid for: all of them once there are many.
    fn charges(&self) -> u64 {
        let free = FREE_LOSSES.max(self.rounds() / 100);
        if self.lost > free { self.lost } else { 0 }
    }

    /// Rounds in the evidence.
    pub fn rounds(&self) -> u64 {
        self.past.rounds() as u64
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
        self.history.limits(self.error_a_side, self.charges())
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
    pub fn summary(&self) -> RatioEvidence {
        let limits = self.limits();
        let (evidence_for, evidence_against) = self.evidence();
        RatioEvidence {
            rounds: self.rounds(),
            lost: self.lost,
            estimate: self.past.median(),
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

    /// Whether the limits are in order (always, under a constant factor, but for the error).
    pub fn limits_cross(&self) -> bool {
        !self.proof(self.limits()).is_sound()
    }
}

/// How often 1 can be doubled without exceeding `ratio`, which is at least 1: its binary exponent.
fn doublings(ratio: f64) -> u64 {
    (ratio.to_bits() >> 52).saturating_sub(1023)
}
