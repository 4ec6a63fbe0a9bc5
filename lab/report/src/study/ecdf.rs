//! The distribution functions of a study's contestants, and the scale that they share.

use super::Block;
use crate::chart::{Chart, Curve, Scale, Span};
use crate::look::Look;
use crate::number;
use crate::page::Page;
use crate::text::plain;
use tiebreak_core::metric::Unit;
use tiebreak_core::result::StudyResult;

/// The ratio of the greatest time to the least above which the scale is logarithmic.
const LOG_FROM: f64 = 8.0;

/// What the axis upwards shows.
const SHARE: &str = "share of batches that took at most so long";

/// The contestants of a workload whose distribution is known.
pub(crate) struct Ecdfs {
    /// In the order of the table, the fastest first.
    pub curves: Vec<Steps>,
    /// From the least to the greatest time for one item, in nanoseconds.
    pub axis: Span,
    /// What an item is called.
    pub item: String,
}

/// The distribution function of one contestant.
pub(crate) struct Steps {
    /// Its name with the mark of its contract.
    pub name: String,
    /// Its place in the study, which is the same in every workload.
    pub place: usize,
    /// Its steps, from the left: nanoseconds for one item, and the share of batches at most that.
    pub steps: Vec<(f64, f64)>,
}

impl Ecdfs {
    /// Those of a block; `None` where no distribution is known.
    pub(crate) fn of(block: &Block) -> Option<Ecdfs> {
        let items = block.of.items.max(1) as f64;
        let mut curves = Vec::new();
        for row in &block.rows {
            let steps: Vec<(f64, f64)> = row
                .ecdf
                .iter()
                .flat_map(|ecdf| ecdf.steps())
                .map(|(ns, share)| (ns / items, share))
                .filter(|(ns, share)| ns.is_finite() && *ns >= 0.0 && share.is_finite())
                .collect();
            if !steps.is_empty() {
                let place = block.of.rows.iter().position(|other| other.name == row.name);
                let (name, place) = (block.marked(row), place.unwrap_or(0));
                curves.push(Steps { name, place, steps });
            }
        }
        let times = || curves.iter().flat_map(|curve| &curve.steps).map(|(ns, _)| *ns);
        let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let is_log = low > 0.0 && high > LOG_FROM * low;
        let axis = match (is_log, high > low) {
            (true, _) => Span { low: low / 1.1, high: high * 1.1, is_log },
            (_, true) => {
                let room = (high - low) * 0.04;
                Span { low: (low - room).max(0.0), high: high + room, is_log }
            }
            (_, false) => Span { low: low * 0.9, high: high * 1.1 + 1e-3, is_log },
        };
        (!curves.is_empty()).then(|| Ecdfs { curves, axis, item: block.item() })
    }

    /// What the axis of times shows.
    pub(crate) fn across(&self) -> String {
        let kind = if self.axis.is_log { ", logarithmic" } else { "" };
        format!("time per {}{kind}", self.item)
    }

    fn chart(&self, title: &str) -> Chart {
        let curve = |of: &Steps| Curve { name: of.name.clone(), points: of.steps.clone() };
        Chart {
            title: title.to_owned(),
            x: Scale::new(self.across(), self.axis.is_log, time),
            y: Scale { from_zero: true, ..Scale::new(SHARE, false, |share| format!("{share:.1}")) },
            curves: self.curves.iter().map(curve).collect(),
            marks: Vec::new(),
        }
    }
}

/// A round time with its unit and no more digits than it has: `200 ns`, `1.5 ms`.
pub(crate) fn time(ns: f64) -> String {
    number::Scale::of(Unit::Nanoseconds, ns * (1.0 + 1e-9)).short(ns)
}

/// The distribution functions of each workload's contestants, in letters: for each time the share
/// of timed batches that took at most so long for one call. Empty if none is known.
pub fn ecdf(study: &StudyResult, look: &Look) -> String {
    let mut text = String::new();
    for block in study.runs.iter().filter_map(Block::of) {
        let Some(ecdfs) = Ecdfs::of(&block) else { continue };
        let mut gap = Page::new(*look);
        gap.gap();
        text += &gap.finish();
        text += &ecdfs.chart(&plain(&block.of.workload.name)).text(look);
    }
    text
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
