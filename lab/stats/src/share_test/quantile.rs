//! The values that bound a quantile.

use super::{log_needed, side::Side, sides};
use crate::limits::Limits;
use tiebreak_core::sample::Reading;

/// Returns the limits of a quantile, among the observed values: the share test of "a value is at
/// most `v`" for all bars `v`.
///
/// `high` is the least value at which that test, on these readings, ends with `holds`: the bar of a
/// claim is at least `high` if and only if there is enough evidence for the claim that at least the
/// share `bad` of the values is at most the bar. `low` is the largest value such that the claim is
/// refuted at every bar below it. So with `good = bad = q`, the quantile at `q` lies outside with
/// probability at most `error` per side, at every moment. The reason is that at bars below the
/// quantile, the bets have won no more than just below it, and there they had at best a fair chance
/// of `q` (Howard and Ramdas 2022).
///
/// A reading whose upper bound is at most the bar is a success, one whose lower bound is above it a
/// failure, and any other one unknown. Lost attempts are [`Reading::UNKNOWN`]. Readings must be in
/// the order of their arrival, because `block` of them make one observation. `None` means that
/// there is no bound yet.
///
/// Costs a sort and about twenty passes.
pub fn quantile_limits(
    readings: &[Reading],
    good: f64,
    bad: f64,
    block: u64,
    error: f64,
) -> Limits {
    let log_needed = log_needed(error);
    let (above, below) = sides(good, bad, block);
    let proves = |side: &Side, is_hit: &dyn Fn(&Reading) -> bool| {
        let mut side = side.clone();
        readings.iter().for_each(|reading| side.observe(1, u64::from(is_hit(reading))));
        side.log_evidence() >= log_needed
    };
    let highs = sorted(readings.iter().map(|reading| reading.high));
    let holds_from = highs.partition_point(|bar| !proves(&above, &|reading| reading.high <= *bar));
    let lows = sorted(readings.iter().map(|reading| reading.low));
    let refuted_to = lows.partition_point(|bar| proves(&below, &|reading| reading.low >= *bar));
    Limits {
        low: refuted_to.checked_sub(1).map(|last| lows[last]),
        high: highs.get(holds_from).copied(),
    }
}

/// Returns the least value that a share of at least `q` of the values does not exceed; `None` if
/// there are no values, or if it is unknown.
pub fn quantile_estimate(readings: &[Reading], q: f64) -> Option<f64> {
    let known = readings.iter().filter(|reading| **reading != Reading::UNKNOWN);
    let mut highs: Vec<f64> = known.map(|reading| reading.high).collect();
    highs.sort_unstable_by(f64::total_cmp);
    let rank = libm::ceil(q * highs.len() as f64) as usize;
    highs.get(rank.saturating_sub(1)).copied().filter(|value| value.is_finite())
}

/// Returns the finite values, in order.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}
