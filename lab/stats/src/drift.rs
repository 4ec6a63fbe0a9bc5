//! A test of whether a ratio changes during a run, as it does where one of two contestants keeps
//! something.

use crate::observation::LogRatio;
use libm::{exp, lgamma, log};

/// The maximum probability of reporting a drift for a run without one.
pub const FALSE_ALARMS: f64 = 0.001;

/// The change between the earlier and the later half of a run, from the medians of their log
/// ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The log ratio of the later half minus that of the earlier one.
    pub change: f64,
}

impl Drift {
    /// Returns the drift of these rounds, or `None` if chance alone would show as much more often
    /// than [`FALSE_ALARMS`].
    ///
    /// Each round of the first half is compared with the one half a run later, and only the signs
    /// count (Cox and Stuart 1955). Where the ratio is constant, a round is that ratio plus noise
    /// whose sign is a fair coin. So each of these differences has either sign with the same
    /// probability, whatever the sizes. The test is exact for a number of rounds that was fixed
    /// before, and effects that both contestants share (a machine that gets slower) cancel. For a
    /// run that stops by its evidence, it is only a diagnosis; `tests/drift.rs` counts its false
    /// alarms.
    pub fn of(rounds: &[LogRatio]) -> Option<Drift> {
        let half = rounds.len() / 2;
        let (earlier, later) = (&rounds[..half], &rounds[rounds.len() - half..]);
        let pairs = earlier.iter().zip(later).map(|(a, b)| (a.middle(), b.middle()));
        let up = pairs.clone().filter(|(a, b)| a < b).count() as u64;
        let down = pairs.filter(|(a, b)| a > b).count() as u64;
        let is_drift = 2.0 * tail(up + down, up.min(down)) <= FALSE_ALARMS;
        let change = median(later)? - median(earlier)?;
        (is_drift && change.is_finite() && change != 0.0).then_some(Drift { change })
    }
}

/// Returns the probability of at most `heads` heads in `tosses` tosses.
fn tail(tosses: u64, heads: u64) -> f64 {
    let n = tosses as f64;
    (0..=heads)
        .map(|k| k as f64)
        .map(|k| lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2.0))
        .map(exp)
        .sum()
}

fn median(rounds: &[LogRatio]) -> Option<f64> {
    let mut values: Vec<f64> = rounds.iter().map(|d| d.middle()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_a_coin() {
        for (tosses, heads, expected) in [(0, 0, 1.0), (4, 1, 5.0 / 16.0), (11, 0, 1.0 / 2048.0)] {
            assert!((tail(tosses, heads) - expected).abs() < 1e-12, "{tosses} {heads}");
        }
    }

    #[test]
    fn a_ratio_that_rises_is_found_and_few_rounds_say_nothing() {
        fn rounds(count: u64, slope: f64) -> Vec<LogRatio> {
            let d = |i| slope * i as f64 + 0.01 * f64::from([1, -2, 2, -1][i as usize % 4]);
            (0..count).map(|i| LogRatio::exact(d(i))).collect()
        }
        assert_eq!(Drift::of(&[]), None);
        assert_eq!(Drift::of(&rounds(20, 0.1)), None, "ten pairs are too few");
        assert_eq!(Drift::of(&rounds(400, 0.0)), None);
        let found = Drift::of(&rounds(400, 0.001)).unwrap();
        assert!((found.change - 0.2).abs() < 0.02, "{found:?}");
        let falling = Drift::of(&rounds(400, -0.001)).unwrap();
        assert!(falling.change < 0.0);
    }
}
