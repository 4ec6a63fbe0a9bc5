//! The distributions of the contestants, below each other on one scale.

use crate::contestants::{claimed_metrics, short_name};
use crate::histogram;
use crate::look::{Look, Tone, span, words};
use crate::number::Scale;
use crate::page::{INDENT, Page};
use tiebreak_core::result::{ContestantResult, Histogram, RunResult};
use unicode_width::UnicodeWidthStr;

/// A line of blocks a contestant, and the ends of the scale that all share.
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
        let bars = histogram::bars(histogram, room, look);
        let pad = " ".repeat(label - name.width());
        page.line(&[
            words(INDENT),
            span(Tone::Strong, format!("{name}{pad}")),
            words(format!("{INDENT}{bars}")),
            span(Tone::Dim, beyond(histogram)),
        ]);
    }
    let width = histogram::bars(first, room, look).width();
    let unit = claimed_metrics(run)[0].unit();
    let scale = Scale::shared(unit, &[first.low, first.high]);
    let scale = scale.unwrap_or_else(|| Scale::of(unit, first.high));
    let (low, high) = (scale.digits(first.low), scale.write(first.high));
    let gap = width.saturating_sub(low.width() + high.width()).max(2);
    let axis = format!("{low}{}{high}", " ".repeat(gap));
    let indent = " ".repeat(label + 2 * INDENT.len());
    page.line(&[words(indent), span(Tone::Dim, axis)]);
}
