//! Warnings with their remedies, and the numbers of samples that carry marks.

use crate::contestants::short_name;
use crate::prelude::*;
use crate::text::grouped;
use tiebreak_core::sample::Mark;
use tiebreak_core::warning::Warning;

/// The title of the part.
const TITLE: &str = "what was odd";

/// Returns the warnings that are shown nowhere else: missing meters of a study are named below its
/// table.
fn listed_warnings(run: &RunResult) -> impl Iterator<Item = &Warning> {
    let warnings = run.warnings.iter();
    warnings.filter(|warning| run.study.is_none() || !matches!(warning, Warning::NoMeter { .. }))
}

/// Returns the warnings, each once, and a line about the marks.
pub(crate) fn remarks(run: &RunResult, look: Look) -> Vec<String> {
    // Several claims may have the same to say.
    let mut said = each_once(listed_warnings(run).map(|warning| plain(&warning.to_string())));
    said.extend(marks(run, look));
    said
}

/// Adds the warnings and the marks; nothing if there is neither.
pub(crate) fn odd(page: &mut Page, run: &RunResult, look: Look) {
    let remarks = remarks(run, look);
    if !remarks.is_empty() {
        page.part(TITLE);
    }
    remarks.into_iter().for_each(|text| page.item(text));
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

/// `samples with marks, all of them kept: A 4 preempted of 12; B 2 preempted, 1 steal of 12`. The
/// mark of the memory floor is left out unless a claim is about memory.
fn marks(run: &RunResult, look: Look) -> Option<String> {
    let about_memory = run.verdicts.iter().any(|claim| claim.metric == Metric::PeakMemory);
    let mut parts = Vec::new();
    for contestant in &run.contestants {
        let marks = contestant.marks.iter().filter(|(_, count)| **count > 0);
        let marks = marks.filter(|(mark, _)| about_memory || **mark != Mark::MemoryFloor);
        let marks: Vec<_> = marks.map(|(mark, count)| format!("{count} {}", mark.name())).collect();
        if !marks.is_empty() {
            let name = short_name(&contestant.name, look);
            parts.push(format!("{name} {} of {}", marks.join(", "), contestant.samples));
        }
    }
    let all = "samples with marks, all of them kept: ";
    (!parts.is_empty()).then(|| format!("{all}{}", parts.join("; ")))
}
