//! The rule by which the rounds so far decide how to bet on the next one.

use crate::conditions::Conditions;
use crate::observation::LogRatio;
use crate::scale::Past;
use crate::slot::{SlotEffect, SlotEstimate};
use crate::strata::{Strata, is_disturbed};
use tiebreak_core::plan::Adjust;

/// A round as the bets see it. Every number is a function of the rounds before it and of its own
/// [`Conditions`], so the bets stay fair (rule A8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bet {
    /// The log ratio, without the believed cost of its order.
    pub d: LogRatio,
    /// The scale of the rounds before it.
    pub scale: Option<f64>,
    /// The share of each stake that is bet, from 0 to 1.
    pub weight: f64,
}

/// The noise of the rounds so far, with the adjustments that remove it.
///
/// If the slot values do not depend on which contestant runs in them, the bet
/// `1 + a w h((d - bar - x g) / s)` is fair or worse under every log ratio up to the bar. `x` is
/// the order's fair coin, so averaged over it the score is `(h(c + D) - h(D - c)) / 2 <= 0`, with
/// `D` the rest of the slots' difference and `c <= 0` the distance to the bar. `g`, `s` and `w` may
/// be any functions of the past and of values that do not depend on which contestant ran where.
#[derive(Clone, Debug, Default)]
pub struct Noise {
    past: Past,
    slot: Option<SlotEffect>,
    /// The slot effect of calm rounds alone, which is learnt sooner where there are strata.
    calm_slot: Option<SlotEffect>,
    strata: Option<Strata>,
    weighted: u64,
}

impl Noise {
    /// Starts without rounds.
    pub fn new(adjust: Adjust) -> Noise {
        Noise {
            slot: adjust.slot.then(SlotEffect::default),
            calm_slot: (adjust.slot && adjust.strata).then(SlotEffect::default),
            strata: adjust.strata.then(Strata::default),
            ..Noise::default()
        }
    }

    /// Returns the bet on a round, and makes the round one of the past.
    pub fn take(&mut self, d: LogRatio, conditions: &Conditions) -> Bet {
        let bet = self.bet(d, conditions);
        self.learn(d, conditions, &bet);
        bet
    }

    /// Makes a round on which this bet was made one of the past.
    pub fn learn(&mut self, d: LogRatio, conditions: &Conditions, bet: &Bet) {
        self.weighted += u64::from(bet.weight < 1.0 && !conditions.rests);
        if let Some(slot) = &mut self.slot {
            slot.insert(d, conditions.slot);
        }
        if let Some(slot) = self.calm_slot.as_mut().filter(|_| !is_disturbed(conditions.delay)) {
            slot.insert(d, conditions.slot);
        }
        if let Some(strata) = &mut self.strata {
            strata.insert(bet.d, conditions.delay);
        }
        self.past.insert(bet.d);
    }

    /// Returns the bet on a round, by the rounds of the past.
    pub fn bet(&self, d: LogRatio, conditions: &Conditions) -> Bet {
        let shift = match self.slot_effect() {
            Some(SlotEstimate { effect, is_active: true }) => conditions.slot * effect,
            _ => 0.0,
        };
        let of_kind = |strata: &Strata| strata.scale_and_weight(conditions.delay);
        let (scale, weight) = match self.strata.as_ref().and_then(of_kind) {
            Some((scale, weight)) => (Some(scale), weight),
            None => (self.past.scale(), 1.0),
        };
        Bet { d: d.less(shift), scale, weight }
    }

    /// Returns the number of rounds so far.
    pub fn rounds(&self) -> usize {
        self.past.rounds()
    }

    /// Returns the median of the rounds so far, each as it was bet on.
    pub fn median(&self) -> Option<f64> {
        self.past.median()
    }

    /// Returns the believed slot effect, if it is requested and there are rounds: from the calm
    /// ones if they suffice, else from all.
    pub fn slot_effect(&self) -> Option<SlotEstimate> {
        let of_calm = self.calm_slot.as_ref().and_then(SlotEffect::estimate);
        of_calm.filter(|estimate| estimate.is_active).or_else(|| self.slot.as_ref()?.estimate())
    }

    /// Returns the number of rounds on which less than the whole stake was bet.
    pub fn weighted_rounds(&self) -> u64 {
        self.weighted
    }
}
