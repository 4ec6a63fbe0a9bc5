//! Distributions as one line of blocks each.

use crate::contestants::{claimed_metrics, short_name};
use crate::look::{Look, Tone, span, words};
use crate::number::Scale;
use crate::page::{INDENT, Page};
use tiebreak_core::result::{ContestantResult, Histogram, RunResult};
use unicode_width::UnicodeWidthStr;

/// Blocks of eight heights, and their ASCII replacements.
pub(crate) const BLOCKS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];
pub(crate) const LEVELS: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];

/// Draws a histogram in at most `columns` columns, one line high; the highest bar is full,
/// and where there is a sample there is a mark. Bins that do not fit are added up in groups.
pub(crate) fn bars(histogram: &Histogram, columns: usize, look: Look) -> String {
    let counts = fitted(&histogram.counts, columns);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let level = |count: u64| level(count as f64 / most as f64, look);
    counts.iter().map(|count| if *count == 0 { ' ' } else { level(*count) }).collect()
}

/// Returns a block of a height from 0 to 1; a blank for 0.
pub(crate) fn level(share: f64, look: Look) -> char {
    let levels = look.pick(BLOCKS, LEVELS);
    let eighths = (share * levels.len() as f64).ceil() as usize;
    if share > 0.0 { levels[eighths.clamp(1, levels.len()) - 1] } else { ' ' }
}

/// Returns a count for each column: bins are repeated to fill the width, or added up in groups.
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

/// Adds a line of blocks for each contestant, and the ends of the scale that all share.
pub(crate) fn distributions(page: &mut Page, run: &RunResult, look: Look) {
    let of = |c: &ContestantResult| {
        let histogram = c.distribution.clone().filter(|h| !h.counts.is_empty())?;
        Some((short_name(&c.name, look), histogram))
    };
    let shown: Vec<(String, Histogram)> = run.contestants.iter().filter_map(of).collect();
    let Some((_, first)) = shown.first() else {
        return;
    };
    let label = shown.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let beyond = |h: &Histogram| match h.beyond {
        0 => String::new(),
        more => format!("{INDENT}+{more} beyond"),
    };
    let tail = shown.iter().map(|(_, h)| beyond(h).len()).max().unwrap_or(0);
    let taken = 2 * INDENT.len() + label + tail;
    let room = look.columns().saturating_sub(taken).max(8);
    page.gap();
    for (name, histogram) in &shown {
        let bars = bars(histogram, room, look);
        let pad = " ".repeat(label - name.width());
        page.line(&[
            words(INDENT),
            span(Tone::Strong, format!("{name}{pad}")),
            words(format!("{INDENT}{bars}")),
            span(Tone::Dim, beyond(histogram)),
        ]);
    }
    let width = bars(first, room, look).width();
    let unit = claimed_metrics(run)[0].unit();
    let scale = Scale::shared(unit, &[first.low, first.high]);
    let scale = scale.unwrap_or_else(|| Scale::of(unit, first.high));
    let (low, high) = (scale.digits(first.low), scale.write(first.high));
    let gap = width.saturating_sub(low.width() + high.width()).max(2);
    let axis = format!("{low}{}{high}", " ".repeat(gap));
    let indent = " ".repeat(label + 2 * INDENT.len());
    page.line(&[words(indent), span(Tone::Dim, axis)]);
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
