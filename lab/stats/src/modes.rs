//! Modes of positive readings: the values around which they lie, and the readings apart.

use crate::summary::median_of_sorted;

/// A value around which readings lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median of its readings, in their unit; the mean of the two in the middle for an even
    /// number.
    pub median: f64,
    /// The least of its readings.
    pub low: f64,
    /// The greatest of its readings.
    pub high: f64,
    /// The number of its readings.
    pub count: usize,
    /// Its share of all readings, including strays.
    pub share: f64,
}

/// Readings, split where they lie far apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// The modes, from the lowest.
    pub modes: Vec<Mode>,
    /// The number of readings in runs that are too small for a mode.
    pub strays: usize,
}

/// The least share of all readings that makes a mode.
const LEAST_SHARE: f64 = 0.05;

/// Splits readings at every place where the next one is at least `gap` times as large, which equals
/// repeated cuts at the largest gap of the logarithms. A run of fewer than two readings, or of less
/// than a twentieth of all (rounded down), is not a mode, unless there is no larger run.
///
/// Readings that are not positive and finite are left out. Without readings there is no mode. Cost:
/// sorting.
///
/// ```
/// let found = tiebreak_stats::modes::modes(&[60.0, 61.0, 277.0, 62.0, 280.0], 1.25);
/// let medians: Vec<f64> = found.modes.iter().map(|mode| mode.median).collect();
/// assert_eq!(medians, [61.0, 278.5]);
/// assert_eq!(found.modes[0].share, 0.6);
/// ```
pub fn modes(readings: &[f64], gap: f64) -> Modes {
    let mut sorted: Vec<f64> = readings.iter().copied().filter(is_usable).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let all = sorted.len();
    let runs: Vec<&[f64]> = sorted.chunk_by(|low, high| *high < low * gap).collect();
    let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let least = ((all as f64 * LEAST_SHARE) as usize).max(2).min(longest);
    let modes = runs.iter().filter(|run| run.len() >= least).filter_map(|run| {
        Some(Mode {
            median: median_of_sorted(run)?,
            low: run[0],
            high: run[run.len() - 1],
            count: run.len(),
            share: run.len() as f64 / all as f64,
        })
    });
    let modes: Vec<Mode> = modes.collect();
    let strays = all - modes.iter().map(|mode| mode.count).sum::<usize>();
    Modes { modes, strays }
}

/// Returns whether a value has a finite logarithm.
pub(crate) fn is_usable(value: &f64) -> bool {
    value.is_finite() && *value > 0.0
}

/// Returns the median; `None` if there are no values, or if one is not finite. Cost: sorting.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&sorted).filter(|_| sorted.iter().all(|value| value.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins::{Purpose, Seed, Stream};

    #[test]
    fn readings_split_where_they_lie_apart() {
        fn check(readings: &[f64], expected: &[(f64, usize)], strays: usize) {
            let found = modes(readings, 1.25);
            let modes: Vec<_> = found.modes.iter().map(|mode| (mode.median, mode.count)).collect();
            assert_eq!((modes.as_slice(), found.strays), (expected, strays), "{readings:?}");
        }
        check(&[], &[], 0);
        check(&[f64::NAN, -1.0, 0.0, f64::INFINITY], &[], 0);
        check(&[60.0], &[(60.0, 1)], 0);
        check(&[60.0, 70.0, 84.0], &[(70.0, 3)], 0);
        // A gap of exactly `gap` splits.
        check(&[80.0, 80.0, 100.0, 100.0], &[(80.0, 2), (100.0, 2)], 0);
        // A single reading among larger runs is a stray, below them too.
        check(&[20.0, 60.0, 61.0, 62.0, 900.0], &[(61.0, 3)], 2);
        // If all are alone, each is a mode.
        check(&[10.0, 20.0], &[(10.0, 1), (20.0, 1)], 0);
    }

    #[test]
    fn a_mode_has_a_twentieth_of_the_readings() {
        let mut readings = vec![60.0; 96];
        readings.extend([277.0; 4]);
        assert_eq!((modes(&readings, 1.25).modes.len(), modes(&readings, 1.25).strays), (1, 4));
        readings.extend([277.0; 2]);
        let found = modes(&readings, 1.25);
        assert_eq!((found.modes.len(), found.strays), (2, 0));
        assert!((found.modes[1].share - 6.0 / 102.0).abs() < 1e-12);
    }

    #[test]
    fn noise_around_two_placements_is_two_modes() {
        let mut stream = Stream::new(Seed::from_text("modes"), Purpose::Simulation, 0, 0);
        for _ in 0..200 {
            fn near(stream: &mut Stream, place: f64) -> f64 {
                place * (1.0 + 0.08 * stream.unit())
            }
            let mut readings: Vec<f64> = (0..40).map(|_| near(&mut stream, 60.0)).collect();
            readings.extend((0..20).map(|_| near(&mut stream, 277.0)));
            let found = modes(&readings, 1.25);
            assert_eq!((found.modes.len(), found.strays), (2, 0));
            assert!((60.0..64.8).contains(&found.modes[0].median));
            assert!((277.0..299.2).contains(&found.modes[1].median));
            assert!(found.modes.iter().all(|mode| mode.low <= mode.median));
            assert!(found.modes.iter().all(|mode| mode.median <= mode.high));
        }
    }

    #[test]
    fn a_median_of_no_number_is_none() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
