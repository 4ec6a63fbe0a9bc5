//! The claims of a study beside its table.

use crate::look::{NO_BREAK, Spans, Tone, letters, span};
use crate::page::{INDENT, Page};
use crate::sentence::{head, spans, what_helps};
use crate::text::plain;
use tiebreak_core::result::{ClaimResult, RunResult, StudyResult};
use tiebreak_core::verdict::Verdict;

/// The claims of a run; those that only stand for a ratio of its table apart.
pub(crate) fn claims(run: &RunResult) -> impl Iterator<Item = &ClaimResult> {
    let has_table = run.study.is_some();
    run.verdicts.iter().filter(move |claim| !(has_table && claim.statement.is_measure()))
}

/// The verdict on a claim, behind its workload unless the claim names it.
fn spans_on(run: &RunResult, claim: &ClaimResult) -> Spans {
    let mut text = Spans::new();
    if let Some(study) = &run.study {
        let workload = plain(&study.workload.name);
        if !plain(&claim.claim).ends_with(&format!(" on {workload}")) {
            text.push(span(Tone::Strong, format!("{workload}: ")));
        }
    }
    text.extend(spans(run, claim));
    text
}

/// Returns the first verdict of a study that one contestant is faster than another, as a sentence
/// without the study's conditions; none if nothing of the kind is proven.
pub fn highlight(study: &StudyResult) -> Option<String> {
    let all = study.runs.iter().flat_map(|run| claims(run).map(move |claim| (run, claim)));
    let mut proven = all.filter(|(_, claim)| claim.verdict == Verdict::Holds);
    let (run, claim) = proven.find(|(_, claim)| claim.right.is_some())?;
    Some(letters(&head(run, claim)).replace(NO_BREAK, " ") + ".")
}

/// The same without styles.
pub(crate) fn sentence_on(run: &RunResult, claim: &ClaimResult) -> String {
    letters(&spans_on(run, claim)).replace(NO_BREAK, " ")
}

/// Every claim in full, and how to go on where some are open.
pub(super) fn claims_section(page: &mut Page, study: &StudyResult) {
    if study.runs.iter().flat_map(claims).next().is_some() {
        page.gap();
        page.note("claims");
    }
    for run in &study.runs {
        for claim in claims(run) {
            page.paragraph(&format!("{INDENT}- "), &spans_on(run, claim));
        }
    }
    if let Some(helps) = study.runs.iter().find_map(what_helps) {
        page.gap();
        page.paragraph(INDENT, &helps);
    }
}
