//! The cost of running second of two, learnt from the rounds so far.

use crate::observation::LogRatio;
use crate::sorted::Sorted;

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
        let left = interval(&self.left_first);
        let right = interval(&self.right_first);
        let is_active =
            left.zip(right).is_some_and(|(left, right)| left.0 > right.1 || left.1 < right.0);
        Some(SlotEstimate { effect, is_active })
    }
}

/// Returns an interval of the median.
fn interval(rounds: &Sorted) -> Option<(f64, f64)> {
    let count = rounds.len();
    let left_out = (count as f64 - WIDTH_SD * libm::sqrt(count as f64)) / 2.0;
    (left_out >= 1.0).then(|| {
        let rank = left_out as usize;
        (rounds.at(rank - 1), rounds.at(count - rank))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
