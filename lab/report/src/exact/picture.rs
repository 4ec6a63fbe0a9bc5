//! The picture of the differences of resampled sets.

use super::number;
use crate::histogram;
use crate::look::{Look, Tone, span, words};
use crate::number::count;
use crate::page::{INDENT, Page};
use tiebreak_core::resampling::{Null, Resampled, ResamplingResult};

/// The differences of resampled sets as a line of blocks, and the observed one below it.
pub(super) fn picture(
    page: &mut Page,
    result: &ResamplingResult,
    resampled: &Resampled,
    look: Look,
) {
    let histogram = &resampled.histogram;
    let width = look.columns().saturating_sub(2 * INDENT.len()).min(histogram.counts.len());
    let bars = histogram::bars(histogram, width, look);
    let columns = bars.chars().count().max(1);
    let share = (resampled.observed - histogram.low) / (histogram.high - histogram.low);
    let at = (share * columns as f64).floor();
    let mark = match at {
        at if at < 0.0 => '<',
        at if at > columns as f64 => '>',
        _ => '^',
    };
    let column = at.clamp(0.0, (columns - 1) as f64) as usize;
    let observed = format!("observed {}", number(resampled.observed));
    let before = column > columns / 2 && column > observed.len();
    let marked = if before {
        format!("{:>column$}{mark}", format!("{observed} "))
    } else {
        format!("{:>column$}{mark} {observed}", "")
    };
    let (low, high) = (number(histogram.low), number(histogram.high));
    let gap = columns.saturating_sub(low.len() + high.len()).max(2);
    let of = match result.null {
        Null::Ratio { factor } => format!(", of X and Y / {}", number(factor)),
        _ => String::new(),
    };
    let measured = if result.is_studentised { " by their own spread" } else { "" };
    let title = format!(
        "differences{measured} of {} if it were chance{of}",
        count(resampled.permutations, "split")
    );
    page.gap();
    for (tone, text) in [
        (Tone::Dim, title),
        (Tone::Plain, bars),
        (Tone::Strong, marked),
        (Tone::Dim, format!("{low}{}{high}", " ".repeat(gap))),
    ] {
        page.line(&[words(INDENT), span(tone, text)]);
    }
}
