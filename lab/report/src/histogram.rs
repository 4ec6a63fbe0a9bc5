//! Distributions as one line of blocks each.

use crate::look::Look;
use tiebreak_core::result::Histogram;

/// Blocks of eight heights, and what stands for them where there are none.
pub(crate) const BLOCKS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];
pub(crate) const LEVELS: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];

/// The bars of a histogram in at most `columns` columns, one line high; the highest bar is full,
/// and where there is a sample there is a mark. Bins that do not fit are added up in groups.
pub(crate) fn bars(histogram: &Histogram, columns: usize, look: Look) -> String {
    let counts = fitted(&histogram.counts, columns);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let level = |count: u64| level(count as f64 / most as f64, look);
    counts.iter().map(|count| if *count == 0 { ' ' } else { level(*count) }).collect()
}

/// A block as high as a share of the line, which is above 0 and at most 1; a blank for 0.
pub(crate) fn level(share: f64, look: Look) -> char {
    let levels = look.pick(BLOCKS, LEVELS);
    let eighths = (share * levels.len() as f64).ceil() as usize;
    if share > 0.0 { levels[eighths.clamp(1, levels.len()) - 1] } else { ' ' }
}

/// The counts, one a column: bins repeated to fill the width, or added up in groups.
fn fitted(counts: &[u64], columns: usize) -> Vec<u64> {
    if counts.is_empty() || columns == 0 {
        return Vec::new();
    }
    if counts.len() > columns {
        let group = counts.len().div_ceil(columns);
        return counts.chunks(group).map(|bins| bins.iter().sum()).collect();
    }
    (0..columns).map(|column| counts[column * counts.len() / columns]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fit_and_show_every_sample() {
        for (counts, columns, expected) in [
            (vec![0, 1, 40, 80, 8, 0], 6, " .=@. "),
            (vec![1, 2], 5, "===@@"),
            (vec![1, 1, 2, 2, 0], 3, "=@ "),
            (vec![0, 0], 2, "  "),
            (vec![], 9, ""),
            (vec![u64::MAX, 1], 2, "@."),
        ] {
            let histogram = Histogram { low: 0.0, high: 1.0, counts, beyond: 0 };
            let look = Look { width: 80, color: false, unicode: false };
            assert_eq!(bars(&histogram, columns, look), expected);
        }
    }
}
