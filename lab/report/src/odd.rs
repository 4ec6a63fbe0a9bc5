//! Warnings with their remedies, and the numbers of samples that carry marks.

use crate::contestants::short_name;
use crate::prelude::*;
use crate::text::grouped;
use tiebreak_core::sample::Mark;
use tiebreak_core::warning::Warning;

/// The title of the part.
const TITLE: &str = "what was odd";

/// Whether there is a warning or a mark to show.
pub(crate) fn has_remarks(run: &RunResult) -> bool {
    listed_warnings(run).next().is_some()
        || run.contestants.iter().any(|contestant| shown_marks(run, contestant).next().is_some())
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

/// Adds the warnings of several runs, each once, behind the names that it concerns.
pub(crate) fn odd_of(page: &mut Page, runs: &[(&RunResult, &str)]) {
    let said = runs.iter().flat_map(|(run, name)| {
        listed_warnings(run).map(|warning| (plain(&warning.to_string()), plain(name)))
    });
    let said = grouped(said);
    if !said.is_empty() {
        page.part(TITLE);
    }
    for (text, names) in said {
        page.item(format!("{}: {text}", names.join(", ")));
    }
}

/// Returns a contestant's marks with their counts; that of the memory floor only where a claim is
/// about memory.
fn shown_marks<'a>(
    run: &RunResult,
    contestant: &'a ContestantResult,
) -> impl Iterator<Item = (&'a Mark, &'a u64)> + use<'a> {
    let about_memory = run.verdicts.iter().any(|claim| claim.metric == Metric::PeakMemory);
    let marks = contestant.marks.iter().filter(|(_, count)| **count > 0);
    marks.filter(move |(mark, _)| about_memory || **mark != Mark::MemoryFloor)
}

/// `samples with marks, all of them kept: A 4 preempted of 12; B 2 preempted, 1 steal of 12`.
fn marks(run: &RunResult, look: Look) -> Option<String> {
    let mut parts = Vec::new();
    for contestant in &run.contestants {
        let marks = shown_marks(run, contestant);
        let marks: Vec<_> = marks.map(|(mark, count)| format!("{count} {}", mark.name())).collect();
        if !marks.is_empty() {
            let name = short_name(&contestant.name, look);
            parts.push(format!("{name} {} of {}", marks.join(", "), contestant.samples));
        }
    }
    let all = "samples with marks, all of them kept: ";
    (!parts.is_empty()).then(|| format!("{all}{}", parts.join("; ")))
}
