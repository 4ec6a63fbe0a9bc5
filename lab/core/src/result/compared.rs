//! The values that follow from the proven ratios of a study's table: ranks, and how threads scale.

use super::{ClaimResult, EffectResult, Scaling, StudyRow, WorkloadResult};
use crate::metric::Metric;

impl WorkloadResult {
    /// Fills in the values that follow from ratios alone: the ranks of the rows, and the efficiency
    /// of contestants on several threads, which is the ratio in `claims`. Costs a comparison for
    /// each pair of rows, and a look at each claim for each row.
    pub fn compare(&mut self, claims: &[ClaimResult]) {
        rank(&mut self.rows, &self.reference);
        let alone: Vec<(String, String)> = self.rows.iter().filter_map(on_one_thread).collect();
        for row in &mut self.rows {
            let Some(scaling) = &mut row.scaling else { continue };
            let one = alone.iter().find(|(family, _)| *family == scaling.family);
            let told = one.filter(|_| scaling.were_together());
            let of_one = told.and_then(|(_, one)| efficiency(&row.name, one, claims));
            scaling.efficiency = of_one.and_then(|effect| effect.estimate);
            scaling.efficiency_low = of_one.and_then(|effect| effect.low);
            scaling.efficiency_high = of_one.and_then(|effect| effect.high);
        }
    }
}

impl Scaling {
    /// Returns whether the threads ran together in most units; one thread always does. Threads that
    /// took turns would seem not to slow each other down.
    pub fn were_together(&self) -> bool {
        self.threads == 1 || self.together > self.units / 2
    }
}

/// Returns the family and the name of a contestant that runs on one thread and took part.
fn on_one_thread(row: &StudyRow) -> Option<(String, String)> {
    let scaling = row.scaling.as_ref().filter(|scaling| scaling.threads == 1)?;
    (scaling.units > 0).then(|| (scaling.family.clone(), row.name.clone()))
}

/// Returns the time on one thread over the time beside other threads, from the claim that compares
/// the two by wall time. A claim by the study or the user precedes a cell of the table.
fn efficiency(name: &str, one: &str, claims: &[ClaimResult]) -> Option<EffectResult> {
    if name == one {
        let (estimate, low, high) = (Some(1.0), None, None);
        return Some(EffectResult { estimate, low, high, confidence: 1.0 });
    }
    let about = |claim: &&ClaimResult| {
        let right = claim.right.as_deref();
        let is_pair = [(name, one), (one, name)].contains(&(&*claim.left, right.unwrap_or("")));
        is_pair && claim.metric == Metric::WallTime && claim.statement.relation().is_some()
    };
    let of_both = || claims.iter().filter(about);
    let claim = of_both().find(|claim| !claim.statement.is_measure()).or(of_both().next())?;
    let is_known = |value: &f64| value.is_finite() && *value > 0.0;
    let EffectResult { estimate, low, high, confidence } = claim.effect();
    let [estimate, low, high] = [estimate, low, high].map(|value| value.filter(is_known));
    Some(if claim.left == name {
        EffectResult { estimate, low, high, confidence }
    } else {
        let [estimate, low, high] = [estimate, high, low].map(|value| value.map(f64::recip));
        EffectResult { estimate, low, high, confidence }
    })
}

/// Ranks the rows that have a ratio to the reference, and the reference itself, whose ratio is 1. A
/// rank is the range of places that the intervals leave open.
///
/// One row ranks before another only if the whole interval of its ratio lies above the other's. If
/// all intervals are right, the order of the two is right too.
fn rank(rows: &mut [StudyRow], reference: &str) {
    let limits = |row: &StudyRow| match &row.ratio {
        _ if row.fault.is_some() || row.not_run.is_some() => None,
        _ if row.name == reference => Some((1.0, 1.0)),
        Some(ratio) => Some((ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY))),
        None => None,
    };
    let all: Vec<_> = rows.iter().map(limits).collect();
    let ranked = || all.iter().flatten();
    // The reference alone is not ranked.
    let is_ranked = ranked().count() > 1;
    for (row, own) in rows.iter_mut().zip(&all) {
        row.rank = own.filter(|_| is_ranked).map(|(low, high)| {
            let before = ranked().filter(|other| other.0 > high).count();
            let behind = ranked().filter(|other| other.1 < low).count();
            [before as u32 + 1, (ranked().count() - behind) as u32]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_needs_no_proof_and_others_need_it_of_most_units() {
        let check = |threads, units, together, expected| {
            let of = Scaling {
                family: "a".to_owned(),
                threads,
                efficiency: None,
                efficiency_low: None,
                efficiency_high: None,
                items_per_s: None,
                units,
                together,
            };
            assert_eq!(of.were_together(), expected, "{of:?}");
        };
        check(1, 4, 0, true);
        check(4, 4, 0, false);
        check(4, 4, 2, false);
        check(4, 5, 2, false);
        check(4, 4, 3, true);
        check(4, 5, 3, true);
        check(4, 0, 0, false);
    }
}
