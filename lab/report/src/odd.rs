//! What was odd: warnings with their remedies, and how many samples carry marks.

use crate::contestants::short_name;
use crate::look::Look;
use crate::page::Page;
use crate::text::{each_once, grouped, plain};
use tiebreak_core::metric::Metric;
use tiebreak_core::result::{ContestantResult, RunResult};
use tiebreak_core::sample::Mark;
use tiebreak_core::warning::Warning;

/// What stands above it.
pub(crate) const TITLE: &str = "what was odd";

/// Whether there is anything to say.
pub(crate) fn is_odd(run: &RunResult) -> bool {
    let marked = |c: &ContestantResult| odd_marks(run, c).next().is_some();
    told_warnings(run).next().is_some() || run.contestants.iter().any(marked)
}

/// The warnings that stand in no other place: of a study, meters that are missing stand below its
/// table.
pub(crate) fn told_warnings(run: &RunResult) -> impl Iterator<Item = &Warning> {
    let is_missing_meter = |warning: &Warning| matches!(warning, Warning::NoMeter { .. });
    run.warnings.iter().filter(move |warning| run.study.is_none() || !is_missing_meter(warning))
}

/// The warnings, wrapped and each once, and a line about the marks; nothing if there is neither.
pub(crate) fn odd(page: &mut Page, run: &RunResult, look: Look) {
    if !is_odd(run) {
        return;
    }
    page.part(TITLE);
    // Several claims may have the same to say.
    for text in each_once(told_warnings(run).map(|warning| plain(&warning.to_string()))) {
        page.item(text);
    }
    if let Some(marks) = marks(run, look) {
        page.item(marks);
    }
}

/// Tells the warnings of several runs, each once behind the names of what it is about.
pub(crate) fn odd_of<'a>(warnings: impl Iterator<Item = (&'a Warning, &'a str)>) -> Vec<String> {
    let said = grouped(warnings.map(|(warning, name)| (plain(&warning.to_string()), plain(name))));
    said.into_iter().map(|(text, names)| format!("{}: {text}", names.join(", "))).collect()
}

/// The marks that were given, that of the memory floor only where memory is what is compared.
fn odd_marks<'a>(
    run: &'a RunResult,
    contestant: &'a ContestantResult,
) -> impl Iterator<Item = (Mark, u64)> + 'a {
    let about_memory = run.verdicts.iter().any(|claim| claim.metric == Metric::PeakMemory);
    let matters = move |mark: Mark| about_memory || mark != Mark::MemoryFloor;
    let marks = contestant.marks.iter().map(|(mark, count)| (*mark, *count));
    marks.filter(move |(mark, count)| *count > 0 && matters(*mark))
}

/// `samples with marks, all of them kept: A 4 preempted of 12; B 2 preempted, 1 steal of 12`.
fn marks(run: &RunResult, look: Look) -> Option<String> {
    let of_contestant = |c: &ContestantResult| {
        let text = |(mark, count): (Mark, u64)| format!("{count} {}", mark.name());
        let texts: Vec<_> = odd_marks(run, c).map(text).collect();
        let name = short_name(&c.name, look);
        (!texts.is_empty()).then(|| format!("{name} {} of {}", texts.join(", "), c.samples))
    };
    let parts: Vec<_> = run.contestants.iter().filter_map(of_contestant).collect();
    let all = "samples with marks, all of them kept: ";
    (!parts.is_empty()).then(|| format!("{all}{}", parts.join("; ")))
}
