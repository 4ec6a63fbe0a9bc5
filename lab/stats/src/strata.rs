//! Two kinds of rounds: those in which a contestant waited for a CPU, and the others.

use crate::observation::LogRatio;
use crate::scale::Past;

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
        if !is_disturbed(delay) {
            return Some((self.calm.scale()?, 1.0));
        }
        let scale = self.disturbed.scale()?;
        let weight = self.calm.scale().map_or(1.0, |calm| (calm / scale).min(1.0));
        Some((scale, weight))
    }

    /// Adds a round.
    pub fn insert(&mut self, d: LogRatio, delay: Option<f64>) {
        if is_disturbed(delay) { self.disturbed.insert(d) } else { self.calm.insert(d) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rounds of two kinds, the disturbed ones with ten times the spread.
    fn strata(disturbed: usize, calm: usize) -> Strata {
        let mut strata = Strata::default();
        let spread = |i: usize| LogRatio::exact(((i * 7) % 11) as f64 - 5.0);
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
}
