//! Distributions: how much of one lies where, and lines of blocks.

use crate::chart::Span;
use crate::contestants::{claimed_metrics, short_name};
use crate::number::Scale;
use crate::prelude::*;
use tiebreak_core::result::Histogram;

/// Blocks of eight heights, and their ASCII replacements.
pub(crate) const BLOCKS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];
pub(crate) const LEVELS: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];

/// Returns a block of a height from 0 to 1; a blank for 0.
pub(crate) fn level(share: f64, look: Look) -> char {
    let levels = look.pick(BLOCKS, LEVELS);
    let eighths = (share * levels.len() as f64).ceil() as usize;
    if share > 0.0 { levels[eighths.clamp(1, levels.len()) - 1] } else { ' ' }
}

/// Draws shares as a line of blocks, the highest of them full.
pub(crate) fn blocks(shares: &[f64], look: Look) -> String {
    let most = shares.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    shares.iter().map(|share| level(share / most, look)).collect()
}

/// Draws a histogram over its own bins in at most `columns` columns: bins are repeated to fill
/// them, or added up in groups.
pub(crate) fn bars(histogram: &Histogram, columns: usize, look: Look) -> String {
    let counts: Vec<f64> = histogram.counts.iter().map(|count| *count as f64).collect();
    if counts.len() > columns {
        let group = counts.len().div_ceil(columns.max(1));
        return blocks(
            &counts.chunks(group).map(|bins| bins.iter().sum()).collect::<Vec<_>>(),
            look,
        );
    }
    let bins = (0..columns).filter_map(|column| counts.get(column * counts.len() / columns));
    blocks(&bins.copied().collect::<Vec<_>>(), look)
}

/// Returns how much of a distribution lies in each of some columns of equal width: a bin that lies
/// in several is divided between them.
pub(crate) fn shares(spread: Span, histogram: &Histogram, columns: usize) -> Vec<f64> {
    let mut shares = vec![0.0; columns];
    let width = (histogram.high - histogram.low) / histogram.counts.len().max(1) as f64;
    for (bin, count) in histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let from = histogram.low + bin as f64 * width;
        let ends = [from, from + width].map(|end| spread.place(end) * columns as f64);
        let [first, last] = ends.map(|end| end.clamp(0.0, columns as f64));
        let size = (last - first).max(f64::MIN_POSITIVE);
        for (column, share) in shares.iter_mut().enumerate() {
            let inside = last.min(column as f64 + 1.0) - first.max(column as f64);
            if inside > 1e-9 * size {
                *share += *count as f64 * inside / size;
            }
        }
    }
    shares
}

/// Whether there is something to draw.
pub(crate) fn is_drawn(histogram: &Histogram) -> bool {
    let Histogram { low, high, counts, .. } = histogram;
    low.is_finite() && high.is_finite() && low < high && counts.iter().any(|count| *count > 0)
}

/// Adds a line of blocks for each contestant, and the ends of the scale that all share.
pub(crate) fn distributions(page: &mut Page, run: &RunResult, look: Look) {
    let shown = run.contestants.iter().filter_map(|one| Some((one, one.distribution.as_ref()?)));
    let shown: Vec<_> = shown.filter(|(_, histogram)| !histogram.counts.is_empty()).collect();
    let Some((_, first)) = shown.first() else { return };
    let names = padded(shown.iter().map(|(one, _)| short_name(&one.name, look)).collect());
    let beyond = shown.iter().map(|(_, histogram)| match histogram.beyond {
        0 => String::new(),
        more => format!("{INDENT}+{more} beyond"),
    });
    let beyond: Vec<String> = beyond.collect();
    let indent = 2 * INDENT.len() + names[0].width();
    let tail = beyond.iter().map(String::len).max().unwrap_or(0);
    let room = look.columns().saturating_sub(indent + tail).max(8);
    page.gap();
    for ((name, beyond), (_, histogram)) in names.iter().zip(beyond).zip(&shown) {
        page.blocks(name, &bars(histogram, room, look), &beyond);
    }
    let unit = claimed_metrics(run)[0].unit();
    let scale = Scale::shared(unit, &[first.low, first.high]);
    let scale = scale.unwrap_or_else(|| Scale::of(unit, first.high));
    let ends = [scale.digits(first.low), scale.write(first.high)];
    let ends = apart(&ends, bars(first, room, look).width());
    page.line(&[words(" ".repeat(indent)), span(Tone::Dim, ends)]);
}

/// Puts two texts at the ends of a line of some columns, two blanks apart at least.
pub(crate) fn apart([low, high]: &[String; 2], columns: usize) -> String {
    let gap = columns.saturating_sub(low.width() + high.width()).max(2);
    format!("{low}{}{high}", " ".repeat(gap))
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

    fn check_line(spread: Span, histogram: Histogram, expected: &str) {
        let look = Look { width: 80, color: false, unicode: false };
        assert_eq!(blocks(&shares(spread, &histogram, expected.len()), look), expected);
    }

    #[test]
    fn bins_lie_where_their_values_are() {
        let histogram =
            |low, high, counts: &[u64]| Histogram { low, high, counts: counts.to_vec(), beyond: 0 };
        let linear = Span { low: 0.0, high: 8.0, is_log: false };
        check_line(linear, histogram(0.0, 8.0, &[0, 1, 8, 0]), "  ..@@  ");
        check_line(linear, histogram(0.0, 8.0, &[1, 0, 0, 1]), "@  @");
        let log = Span { low: 1.0, high: 10_000.0, is_log: true };
        check_line(log, histogram(1.0, 10.0, &[1]), "@@      ");
        check_line(log, histogram(1_000.0, 10_000.0, &[1]), "      @@");
        check_line(log, histogram(20_000.0, 30_000.0, &[1]), "    ");
    }
}
