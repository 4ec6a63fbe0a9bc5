//! Quantiles of a probe's own batches: the only statistic of this crate.

/// The value below which a share of the values lies, by the nearest rank; `None` of nothing.
/// Reorders the values. Cost: linear.
pub(crate) fn quantile(values: &mut [u64], share: f64) -> Option<u64> {
    let last = values.len().checked_sub(1)?;
    let rank = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
    Some(*values.select_nth_unstable(rank).1)
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
}
