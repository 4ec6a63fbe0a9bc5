//! A histogram of the differences of resampled sets.

use tiebreak_core::result::Histogram;

/// The maximum stretch of the scale towards the observed difference, in multiples of its width, so
/// that a distant observed difference does not squeeze all others into one bin.
const STRETCH_MAX: f64 = 1.0;

/// Counts differences in `bins` bins of equal width, on a scale from the least to the greatest of
/// them, stretched towards the observed one. Returns `None` if there is none, or if one is not
/// finite.
pub fn histogram(differences: &[f64], observed: f64, bins: usize) -> Option<Histogram> {
    let low = differences.iter().copied().fold(f64::INFINITY, f64::min);
    let high = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let are_numbers = differences.iter().chain([&observed]).all(|value| value.is_finite());
    if bins == 0 || !are_numbers || !(high - low).is_finite() {
        return None;
    }
    let width = if high > low { high - low } else { low.abs().max(1.0) * 1e-3 };
    let stretch = STRETCH_MAX * width;
    let low = low.min(observed.max(low - stretch));
    let high = high.max(observed.min(high + stretch)).max(low + width);
    let mut counts = vec![0; bins];
    for difference in differences {
        let bin = (difference - low) / (high - low) * bins as f64;
        counts[(bin as usize).min(bins - 1)] += 1;
    }
    Some(Histogram { low, high, counts, beyond: 0 })
}
