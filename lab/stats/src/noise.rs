//! The rule by which the rounds so far decide how to bet on the next one.
//!
//! It knows the scale of those rounds, from their quartiles, and, where a plan asks for it, two
//! things that it removes: the cost of running second of two, and the difference between rounds in
//! which a contestant waited for a CPU and the others.

use crate::bettor::Bet;
use crate::conditions::Conditions;
use crate::observation::LogRatio;
use crate::past::Past;
use crate::sorted::Sorted;
use tiebreak_core::plan::Adjust;

/// The noise of the rounds so far, with the adjustments that remove it.
///
/// If the slot values do not depend on which contestant runs in them, the bet
/// `1 + a w h((d - bar - x g) / s)` is fair or worse under every log ratio up to the bar. `x` is
/// the order's fair coin, so averaged over it the score is `(h(c + D) - h(D - c)) / 2 <= 0`, with
/// `D` the rest of the slots' difference and `c <= 0` the distance to the bar. `g`, `s` and `w` may
/// be any functions of the past and of values that do not depend on which contestant ran where.
#[derive(Clone, Debug, Default)]
pub struct Noise {
    /// The rounds so far, each as it was bet on.
    pub past: Past,
    slot: Option<SlotEffect>,
    /// The slot effect of calm rounds alone, which is learnt sooner where there are strata.
    calm_slot: Option<SlotEffect>,
    strata: Option<Strata>,
    /// The number of rounds on which less than the whole stake was bet.
    pub weighted: u64,
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
        let strata = self.strata.as_ref();
        let found = strata.and_then(|strata| strata.scale_and_weight(conditions.delay));
        let (scale, weight) = found.unzip();
        let scale = scale.or_else(|| self.past.scale());
        Bet { d: d.less(shift), scale, weight: weight.unwrap_or(1.0) }
    }

    /// Returns the believed slot effect, if it is requested and there are rounds: from the calm
    /// ones if they suffice, else from all.
    pub fn slot_effect(&self) -> Option<SlotEstimate> {
        let of_calm = self.calm_slot.as_ref().and_then(SlotEffect::estimate);
        of_calm.filter(|estimate| estimate.is_active).or_else(|| self.slot.as_ref()?.estimate())
    }
}

/// The share of its time above which a run that waited for a CPU makes its round disturbed.
/// Starting costs a process of a few milliseconds about 1%, a neighbour's turn on its CPU half of
/// its time.
pub const DISTURBED_SHARE: f64 = 0.05;

/// The two kinds of rounds so far.
#[derive(Clone, Debug, Default)]
pub struct Strata {
    calm: Past,
    disturbed: Past,
}

/// Returns whether a round is disturbed. A round with an unknown delay is not.
pub fn is_disturbed(delay: Option<f64>) -> bool {
    delay.is_some_and(|share| share > DISTURBED_SHARE)
}

impl Strata {
    /// Returns the scale of the rounds of this kind, and the share of the stake to bet on the next
    /// one: `min(1, scale of calm rounds / scale of this kind)`. Returns `None` while this kind has
    /// no scale.
    pub fn scale_and_weight(&self, delay: Option<f64>) -> Option<(f64, f64)> {
        let of_kind = if is_disturbed(delay) { &self.disturbed } else { &self.calm };
        let scale = of_kind.scale()?;
        let weight = self.calm.scale().map_or(1.0, |calm| (calm / scale).min(1.0));
        Some((scale, weight))
    }

    /// Adds a round.
    pub fn insert(&mut self, d: LogRatio, delay: Option<f64>) {
        if is_disturbed(delay) { self.disturbed.insert(d) } else { self.calm.insert(d) }
    }
}

/// Half the width of the interval of a median, in standard deviations of a count of fair coins.
/// Without an effect, two such intervals that do not touch are about as rare as one of 1.7 standard
/// deviations that excludes the effect. A smaller value costs rounds where there is no effect (1:
/// up to 3%; 1.2: 1%), a larger one where there is one (1.4: 5%).
const WIDTH_SD: f64 = 1.2;

/// The present belief about the slot effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotEstimate {
    /// The natural logarithm of what a contestant needs as the second of the two over what it needs
    /// as the first.
    pub effect: f64,
    /// Whether it is being removed: only while it is clearly not 0.
    pub is_active: bool,
}

/// The slot effect, learnt from the rounds in which the left contestant ran first and those in
/// which the right one did.
///
/// The log ratio `ln(right / left)` is the true one plus the effect in the first kind of rounds,
/// and minus it in the second. So half the difference of the two medians is the effect, however
/// large the true log ratio is. Swapping the contestants swaps the kinds and flips all signs, which
/// leaves the effect unchanged.
#[derive(Clone, Debug, Default)]
pub struct SlotEffect {
    left_first: Sorted,
    right_first: Sorted,
}

impl SlotEffect {
    /// Adds a round, if its order is known.
    pub fn insert(&mut self, d: LogRatio, slot: f64) {
        if slot > 0.0 {
            self.left_first.insert(d.middle());
        } else if slot < 0.0 {
            self.right_first.insert(d.middle());
        }
    }

    /// Returns the estimate of the effect, from all rounds so far.
    ///
    /// It is active while the intervals of the two medians do not touch. Each interval leaves out
    /// the `n/2 - WIDTH_SD sqrt(n)/2` smallest and as many of the largest of `n` rounds: the
    /// binomial interval of order statistics, with the ranks of the normal law.
    pub fn estimate(&self) -> Option<SlotEstimate> {
        let effect = (self.left_first.median()? - self.right_first.median()?) / 2.0;
        let intervals = interval(&self.left_first).zip(interval(&self.right_first));
        let is_active = intervals.is_some_and(|(left, right)| left.0 > right.1 || left.1 < right.0);
        Some(SlotEstimate { effect, is_active })
    }
}

/// Returns an interval of the median.
fn interval(rounds: &Sorted) -> Option<(f64, f64)> {
    let count = rounds.count();
    let left_out = (count as f64 - WIDTH_SD * libm::sqrt(count as f64)) / 2.0;
    let rank = left_out as usize;
    Some((rounds.get(rank.checked_sub(1)?)?, rounds.get(count - rank)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rounds of two kinds, the disturbed ones with ten times the spread.
    fn strata(disturbed: usize, calm: usize) -> Strata {
        let mut strata = Strata::default();
        fn spread(i: usize) -> LogRatio {
            LogRatio::exact(((i * 7) % 11) as f64 - 5.0)
        }
        (0..calm).for_each(|i| strata.insert(spread(i), Some(0.01)));
        (0..disturbed)
            .for_each(|i| strata.insert(LogRatio::exact(10.0 * spread(i).low), Some(0.3)));
        strata
    }

    #[test]
    fn disturbed_rounds_weigh_less_once_both_kinds_have_a_scale() {
        let check = |disturbed, calm, delay, weight: Option<f64>| {
            let got = strata(disturbed, calm).scale_and_weight(delay).map(|(_, weight)| weight);
            assert_eq!(got, weight, "{disturbed} {calm} {delay:?}");
        };
        check(11, 11, Some(0.3), Some(0.1));
        check(11, 11, Some(0.01), Some(1.0));
        check(11, 11, None, Some(1.0));
        check(11, 5, Some(0.3), Some(1.0));
        check(5, 11, Some(0.3), None);
        check(11, 5, None, None);
    }

    #[test]
    fn a_calm_kind_that_is_noisier_takes_no_weight_away() {
        let mut strata = Strata::default();
        (0..20).for_each(|i| strata.insert(LogRatio::exact(f64::from(i)), None));
        (0..20).for_each(|i| strata.insert(LogRatio::exact(f64::from(i) / 9.0), Some(1.0)));
        assert_eq!(strata.scale_and_weight(Some(1.0)).unwrap().1, 1.0);
    }

    /// Returns the estimate after rounds of this effect with a deterministic wobble.
    fn check(effect: f64, truth: f64, rounds: usize) -> SlotEstimate {
        let (mut slots, mut swapped) = (SlotEffect::default(), SlotEffect::default());
        for i in 0..rounds {
            let slot = if (i * i) % 7 < 3 { 1.0 } else { -1.0 };
            let wobble = ((i * 37) % 50) as f64 * 4e-4 - 0.0098;
            let d = LogRatio::exact(truth + slot * effect + wobble);
            slots.insert(d, slot);
            swapped.insert(d.mirrored(), -slot);
            assert_eq!(slots.estimate(), swapped.estimate(), "swapping changes nothing");
        }
        slots.estimate().unwrap()
    }

    #[test]
    fn a_clear_effect_is_taken_out_however_large_the_true_ratio_is() {
        for truth in [0.0, 0.02, -3.0] {
            let estimate = check(0.04, truth, 60);
            assert!(estimate.is_active && (estimate.effect - 0.04).abs() < 0.005, "{estimate:?}");
            let estimate = check(-0.04, truth, 60);
            assert!(estimate.is_active && (estimate.effect + 0.04).abs() < 0.005, "{estimate:?}");
            assert!(!check(0.0, truth, 60).is_active);
            assert!(!check(0.04, truth, 5).is_active);
        }
    }

    #[test]
    fn nothing_is_learnt_of_rounds_whose_order_is_unknown() {
        let mut slots = SlotEffect::default();
        (0..100).for_each(|_| slots.insert(LogRatio::exact(0.04), 0.0));
        assert_eq!(slots.estimate(), None);
    }
}
