//! What was odd: warnings with their remedies, and how many samples carry marks.

use crate::contestants::{INDENT, short_name};
use crate::look::{Look, Tone, span};
use crate::page::Page;
use crate::text::plain;
use tiebreak_core::result::{ContestantResult, RunResult};

/// Whether there is anything to say.
pub(crate) fn is_odd(run: &RunResult) -> bool {
    let marked = |c: &ContestantResult| c.marks.iter().any(|(_, count)| *count > 0);
    !run.warnings.is_empty() || run.contestants.iter().any(marked)
}

/// The warnings, wrapped, and a line about the marks; nothing if there is neither.
pub(crate) fn odd(page: &mut Page, run: &RunResult, look: Look) {
    if !is_odd(run) {
        return;
    }
    page.gap();
    page.line(&[span(Tone::Dim, format!("{INDENT}what was odd"))]);
    for warning in &run.warnings {
        page.paragraph("  - ", &[span(Tone::Plain, plain(&warning.to_string()))]);
    }
    if let Some(marks) = marks(run, look) {
        page.paragraph("  - ", &[span(Tone::Plain, marks)]);
    }
}

/// `samples with marks, all of them kept: A 4 preempted of 12; B 2 preempted, 1 steal of 12`.
fn marks(run: &RunResult, look: Look) -> Option<String> {
    let of_contestant = |c: &ContestantResult| {
        let marks = c.marks.iter().filter(|(_, count)| *count > 0);
        let texts: Vec<_> = marks.map(|(name, count)| format!("{count} {name}")).collect();
        let name = short_name(&c.name, look);
        (!texts.is_empty()).then(|| format!("{name} {} of {}", texts.join(", "), c.samples))
    };
    let parts: Vec<_> = run.contestants.iter().filter_map(of_contestant).collect();
    let all = "samples with marks, all of them kept: ";
    (!parts.is_empty()).then(|| format!("{all}{}", parts.join("; ")))
}
