//! A test of whether two CPUs share a core, from how much they slow each other down.

use crate::sorted::Sorted;

/// The least slowdown that indicates a shared core. Two cores give 1.0; two threads of one core
/// that both keep its adders busy give 1.6 to 2.0.
pub const THRESHOLD: f64 = 1.3;
/// The least number of rounds for a result.
const FEWEST_ROUNDS: usize = 3;

/// The result of the rounds of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreSharing {
    /// The median of the rounds' slowdowns.
    pub slowdown: f64,
    /// The share of rounds whose slowdown is at least [`THRESHOLD`].
    pub shared_rounds: f64,
    /// True if at least two thirds of the rounds indicate a shared core, false if at most a third
    /// does. `None` in between, or with fewer than three rounds: a hypervisor moves virtual CPUs,
    /// and then neither is true.
    pub shares: Option<bool>,
}

/// Judges rounds, each given as the time of a batch next to the other over its time alone. Returns
/// `None` without a round, or if a slowdown is not a number. Cost: quadratic in a handful of
/// rounds.
pub fn core_sharing(slowdowns: &[f64]) -> Option<CoreSharing> {
    if slowdowns.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = Sorted::default();
    slowdowns.iter().for_each(|value| sorted.insert(*value));
    let count = slowdowns.len();
    let shared = slowdowns.iter().filter(|value| **value >= THRESHOLD).count();
    let shares = match () {
        () if count < FEWEST_ROUNDS => None,
        () if 3 * shared >= 2 * count => Some(true),
        () if 3 * shared <= count => Some(false),
        () => None,
    };
    let slowdown = sorted.median()?;
    Some(CoreSharing { slowdown, shared_rounds: shared as f64 / count as f64, shares })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_must_agree() {
        fn check(slowdowns: &[f64], shares: Option<bool>, slowdown: f64, share: f64) {
            let found = core_sharing(slowdowns).unwrap();
            let expected = CoreSharing { slowdown, shared_rounds: share, shares };
            assert_eq!(found, expected, "{slowdowns:?}");
        }
        check(&[1.0, 1.01, 0.99], Some(false), 1.0, 0.0);
        check(&[1.9, 1.3, 2.0], Some(true), 1.9, 1.0);
        check(&[1.9, 1.0, 2.0], Some(true), 1.9, 2.0 / 3.0);
        check(&[1.9, 1.0, 2.0, 1.1], None, 1.5, 0.5);
        check(&[1.29, 1.3, 1.0], Some(false), 1.29, 1.0 / 3.0);
        check(&[1.0, 1.0], None, 1.0, 0.0);
        assert_eq!(core_sharing(&[]), None);
        assert_eq!(core_sharing(&[1.0, f64::NAN, 1.0]), None);
    }
}
