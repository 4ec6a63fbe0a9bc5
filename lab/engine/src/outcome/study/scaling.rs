//! The scaling of contestants over several threads, from their observations.

use crate::observation::Observation;
use tiebreak_core::metric::Metric;
use tiebreak_core::result::{Scaling, StudyRow};
use tiebreak_core::sample::Mark;
use tiebreak_core::study::{FunctionPlan, Team};

/// Returns a contestant on a number of threads, with the proof that these ran together.
pub(super) fn begun(team: &Team, seen: &Observation) -> Scaling {
    let marks = seen.marks.iter().zip(Mark::ALL);
    let apart: u64 = marks.filter(|(_, mark)| *mark == Mark::NotTogether).map(|(n, _)| n).sum();
    Scaling {
        family: team.family.clone(),
        threads: team.threads,
        efficiency: None,
        efficiency_low: None,
        efficiency_high: None,
        items_per_s: None,
        units: seen.samples,
        together: seen.samples.saturating_sub(apart),
    }
}

/// Fills in throughput, which describes the run: all threads together do `threads` times the work
/// of one at its median. It stays empty if threads were not together in most units.
pub(super) fn fill(rows: &mut [StudyRow], functions: &FunctionPlan) {
    for row in rows {
        let Some(ns) = median_ns(row) else { continue };
        let Some(scaling) = row.scaling.as_mut().filter(|scaling| scaling.were_together()) else {
            continue;
        };
        let items = functions.items.max(1) as f64 * f64::from(scaling.threads);
        scaling.items_per_s = Some(items / ns * 1e9);
    }
}

/// Returns the median wall time of a call, if there is one.
fn median_ns(row: &StudyRow) -> Option<f64> {
    let (_, wall) = row.per_call.iter().find(|(metric, _)| *metric == Metric::WallTime)?;
    wall.median.filter(|ns| ns.is_finite() && *ns > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::sample::{Marks, Sample};

    #[test]
    fn units_with_the_mark_are_not_together() {
        let mut seen = Observation::default();
        let marks = |all: &[Mark]| all.iter().copied().fold(Marks::NONE, Marks::with);
        for all in
            [&[][..], &[Mark::Steal], &[Mark::NotTogether, Mark::Steal], &[Mark::NotTogether]]
        {
            seen.take(&Sample { marks: marks(all), ..Sample::of_wall_ns(1) }, &[], true);
        }
        let scaling = begun(&Team { family: "a".to_owned(), threads: 4 }, &seen);
        assert_eq!((scaling.units, scaling.together), (4, 2));
        assert_eq!((scaling.family.as_str(), scaling.threads), ("a", 4));
        assert_eq!((scaling.efficiency, scaling.items_per_s), (None, None));
    }
}
