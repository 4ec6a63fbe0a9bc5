//! Quantiles of a probe's own batches: the only statistic of this crate.

use crate::PARTS;

/// The value below which a share of the values lies, by the nearest rank; `None` of nothing.
/// Reorders the values. Cost: linear.
pub(crate) fn quantile(values: &mut [u64], share: f64) -> Option<u64> {
    let last = values.len().checked_sub(1)?;
    let rank = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
    Some(*values.select_nth_unstable(rank).1)
}

/// That value of each of [`PARTS`] consecutive parts of the values, the earlier first, each of at
/// least so many; nothing if there are too few. Leaves the values as they are. Cost: linear.
pub(crate) fn parts(values: &[u64], share: f64, least: usize) -> Vec<u64> {
    let length = values.len() / PARTS;
    if length < least.max(1) {
        return Vec::new();
    }
    let part = |part: &[u64]| quantile(&mut part.to_vec(), share);
    values.chunks_exact(length).take(PARTS).filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values() {
        assert_eq!(quantile(&mut [], 0.5), None);
        assert_eq!(quantile(&mut [7], 0.25), Some(7));
        let mut values = [50, 10, 40, 20, 30];
        assert_eq!(
            [0.0, 0.25, 0.5, 1.0].map(|q| quantile(&mut values, q).unwrap()),
            [10, 20, 30, 50]
        );
    }

    #[test]
    fn parts_are_consecutive() {
        let values: Vec<u64> = (0..5 * PARTS as u64 + 3).collect();
        let medians: Vec<u64> = (0..PARTS as u64).map(|part| 5 * part + 2).collect();
        assert_eq!(parts(&values, 0.5, 5), medians);
        assert_eq!(parts(&values, 0.5, 6), [0; 0]);
        assert_eq!(parts(&[1; PARTS - 1], 0.5, 0), [0; 0]);
    }
}
