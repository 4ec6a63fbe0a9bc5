//! The distribution functions of a study's contestants.

use super::Block;
use crate::chart::{Chart, Curve, Scale};
use crate::number;
use crate::prelude::*;

/// The ratio of the greatest time to the least above which the scale is logarithmic.
const LOG_FROM: f64 = 8.0;

/// Returns the distribution functions of a workload's contestants, the fastest first: the share of
/// timed batches over the nanoseconds for one item. Only those that are known have a curve.
pub(crate) fn chart_of(block: &Block, title: String) -> Chart {
    let items = block.of.items.max(1) as f64;
    let mut curves = Vec::new();
    for row in &block.rows {
        let steps = row.ecdf.iter().flat_map(|ecdf| ecdf.steps());
        let steps = steps.map(|(ns, share)| (ns / items, share));
        let points: Vec<(f64, f64)> =
            steps.filter(|(ns, share)| ns.is_finite() && *ns >= 0.0 && share.is_finite()).collect();
        if !points.is_empty() {
            let place = block.of.rows.iter().position(|other| other.name == row.name);
            curves.push(Curve {
                name: block.marked(row),
                place: place.unwrap_or(0),
                points,
                limits: Vec::new(),
            });
        }
    }
    let times = curves.iter().flat_map(|curve| &curve.points).map(|(ns, _)| *ns);
    let (low, high) = (times.clone().fold(f64::INFINITY, f64::min), times.fold(0.0, f64::max));
    let is_log = low > 0.0 && high > LOG_FROM * low;
    let kind = if is_log { ", logarithmic" } else { "" };
    let share = "share of batches that took at most so long";
    Chart {
        title,
        x: Scale::new(format!("time per {}{kind}", block.item()), is_log, time),
        y: Scale { from_zero: true, ..Scale::new(share, false, |share| format!("{share:.1}")) },
        curves,
        marks: Vec::new(),
        is_stairs: true,
    }
}

/// A round time with its unit and no more digits than it has: `200 ns`, `1.5 ms`.
pub(crate) fn time(ns: f64) -> String {
    number::Scale::of(Unit::Nanoseconds, ns * (1.0 + 1e-9)).short(ns)
}

/// The distribution functions of each workload's contestants, in letters: for each time the share
/// of timed batches that took at most so long for one call. Empty if none is known.
pub fn ecdf(study: &StudyResult, look: &Look) -> String {
    let blocks = study.runs.iter().filter_map(Block::of);
    blocks.map(|block| chart_of(&block, plain(&block.of.workload.name)).text(look)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_no_more_digits_than_they_need() {
        for (ns, text) in [
            (0.5, "0.5 ns"),
            (200.0, "200 ns"),
            (1e3, "1 us"),
            (2.5e6, "2.5 ms"),
            (5e7, "50 ms"),
            (1e9, "1 s"),
            (0.0, "0 ns"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
