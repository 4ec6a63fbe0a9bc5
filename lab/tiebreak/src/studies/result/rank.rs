//! The places that the intervals of a table's ratios leave open.

use tiebreak_core::result::StudyRow;

/// Ranks the rows that have a ratio to the reference, and the reference, whose ratio is 1.
///
/// One row is before another only if the interval of its ratio lies above the other's as a whole:
/// with all intervals right, the order of the two is then right too. Costs a comparison a pair.
pub(super) fn fill(rows: &mut [StudyRow], reference: &str) {
    let limits = |row: &StudyRow| match &row.ratio {
        _ if row.fault.is_some() || row.not_run.is_some() => None,
        _ if row.name == reference => Some((1.0, 1.0)),
        Some(ratio) => Some((ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY))),
        None => None,
    };
    let all: Vec<_> = rows.iter().map(limits).collect();
    let ranked = || all.iter().flatten();
    // The reference alone is not ranked.
    if ranked().count() < 2 {
        return;
    }
    for (row, own) in rows.iter_mut().zip(&all) {
        let Some((low, high)) = own else { continue };
        let before = ranked().filter(|other| other.0 > *high).count();
        let behind = ranked().filter(|other| other.1 < *low).count();
        row.rank = Some([before as u32 + 1, (ranked().count() - behind) as u32]);
    }
}
