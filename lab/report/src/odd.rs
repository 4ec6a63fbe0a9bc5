//! Warnings with their remedies, and the numbers of samples that carry marks.

use crate::contestants::short_name;
use crate::prelude::*;
use crate::text::grouped;
use tiebreak_core::sample::Mark;
use tiebreak_core::warning::Warning;

/// The title of the part.
pub(crate) const TITLE: &str = "what was odd";

/// Whether there is a warning or a mark to show.
pub(crate) fn has_remarks(run: &RunResult) -> bool {
    listed_warnings(run).next().is_some()
        || run.contestants.iter().any(|contestant| !shown_marks(run, contestant).is_empty())
}

/// Returns the warnings that are shown nowhere else: missing meters of a study are named below its
/// table.
pub(crate) fn listed_warnings(run: &RunResult) -> impl Iterator<Item = &Warning> {
    let warnings = run.warnings.iter();
    warnings.filter(|warning| run.study.is_none() || !matches!(warning, Warning::NoMeter { .. }))
}

/// Adds the warnings, each once, and a line about the marks; nothing if there is neither.
pub(crate) fn odd(page: &mut Page, run: &RunResult, look: Look) {
    if !has_remarks(run) {
        return;
    }
    page.part(TITLE);
    // Several claims may have the same to say.
    for text in each_once(listed_warnings(run).map(|warning| plain(&warning.to_string()))) {
        page.item(text);
    }
    if let Some(marks) = marks(run, look) {
        page.item(marks);
    }
}

/// Lists the warnings of several runs, each once, behind the names that it concerns.
pub(crate) fn warnings_of<'a>(
    warnings: impl Iterator<Item = (&'a Warning, &'a str)>,
) -> Vec<String> {
    let said = grouped(warnings.map(|(warning, name)| (plain(&warning.to_string()), plain(name))));
    said.into_iter().map(|(text, names)| format!("{}: {text}", names.join(", "))).collect()
}

/// Returns a contestant's marks with their counts; that of the memory floor only where a claim is
/// about memory.
fn shown_marks(run: &RunResult, contestant: &ContestantResult) -> Vec<(Mark, u64)> {
    let about_memory = run.verdicts.iter().any(|claim| claim.metric == Metric::PeakMemory);
    let marks = contestant.marks.iter().map(|(mark, count)| (*mark, *count));
    let marks = marks.filter(|(mark, _)| about_memory || *mark != Mark::MemoryFloor);
    marks.filter(|(_, count)| *count > 0).collect()
}

/// `samples with marks, all of them kept: A 4 preempted of 12; B 2 preempted, 1 steal of 12`.
fn marks(run: &RunResult, look: Look) -> Option<String> {
    let mut parts = Vec::new();
    for contestant in &run.contestants {
        let marks = shown_marks(run, contestant);
        let texts: Vec<_> =
            marks.iter().map(|(mark, count)| format!("{count} {}", mark.name())).collect();
        if !texts.is_empty() {
            let name = short_name(&contestant.name, look);
            parts.push(format!("{name} {} of {}", texts.join(", "), contestant.samples));
        }
    }
    let all = "samples with marks, all of them kept: ";
    (!parts.is_empty()).then(|| format!("{all}{}", parts.join("; ")))
}
