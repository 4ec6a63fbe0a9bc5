//! The page of a study: the table of each workload, with the published figures next to ours, and
//! the verdicts on its claims.

pub(crate) mod block;
pub(crate) mod comparison;
pub(crate) mod ecdf;
pub(crate) mod figure;
mod footer;
mod markdown;
mod metrics;
mod rows;
mod scaling;
mod sweep;
mod verify;
mod why;

pub(crate) use self::block::{Block, Reason, quantiles};
pub use self::comparison::{comparison, comparison_markdown};
pub use self::ecdf::ecdf;
pub(crate) use self::footer::{about, built_with, columns_mean, facts, not_covered_by, notes};
pub use self::markdown::markdown;
pub(crate) use self::metrics::{per_item, table as metrics_table};
pub(crate) use self::rows::{columns, spread_of};
pub(crate) use self::scaling::table as scaling_table;
pub(crate) use self::sweep::Sweep;
pub use self::verify::{looked_for, verify};
pub use self::why::why;

pub use crate::live::of_study as progress;

use self::rows::{block_lines, chart_lines};
use crate::check::{counts_text, tone_of};
use crate::number::ratio;
use crate::prelude::*;
use crate::sentence::{head, spans, what_helps};
use tiebreak_core::result::Quantity;
use tiebreak_core::warning::Warning;

/// The result of a study as text: what became of its claims in a line, what its error means, a
/// block a workload, the claims with their verdicts, what was odd, and how to get the same again.
///
/// Every line ends with a line feed and takes at most the columns of the screen; tables take up to
/// 140 of them, everything else up to [`Look::columns`].
pub fn table(study: &StudyResult, look: &Look) -> String {
    let look = *look;
    let mut page = Page::new(look);
    page.interrupted(study.interrupted);
    page.say(Tone::Strong, plain(&study.title));
    let tone = tone_of(study.runs.iter().flat_map(claims));
    page.paragraph("", &[span(tone, summary(study)), words(".")]);
    page.say(Tone::Plain, promise_of(study.error, "study"));
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    blocks.iter().for_each(|block| block_lines(&mut page, block, look));
    for sweep in Sweep::all(&blocks) {
        page.gap();
        chart_lines(&mut page, sweep.chart().as_ref(), look);
        page.notes(sweep.crossings());
    }
    if study.runs.iter().flat_map(claims).next().is_some() {
        page.part("claims");
    }
    for (run, claim) in study.runs.iter().flat_map(|run| claims(run).map(move |claim| (run, claim)))
    {
        page.paragraph(&format!("{INDENT}- "), &spans_on(run, claim));
    }
    if let Some(helps) = study.runs.iter().find_map(what_helps) {
        page.gap();
        page.paragraph(INDENT, &helps);
    }
    footer::footer(&mut page, study);
    page.finish()
}

/// Adds the table and the claims of a run on one workload to its page.
pub(crate) fn of_run(page: &mut Page, run: &RunResult, look: Look) {
    let Some(block) = Block::of(run) else { return };
    for claim in claims(run) {
        page.paragraph("", &spans(run, claim));
    }
    if let Some(helps) = what_helps(run) {
        page.paragraph("", &helps);
    }
    block_lines(page, &block, look);
    page.notes(columns_mean(&[block]));
}

/// The verdicts on the claims of a study and nothing else: a line a claim, behind its workload,
/// without styles; of a study without claims its summary.
pub fn verdicts(study: &StudyResult) -> String {
    let mut text = String::new();
    for run in &study.runs {
        text.extend(claims(run).map(|claim| format!("{}\n", sentence_on(run, claim))));
        let rows = run.study.iter().flat_map(|block| &block.rows);
        for (name, fault) in rows.filter_map(|row| Some((&row.name, row.fault.as_ref()?))) {
            text += &format!("Void: {name} {fault}.\n");
        }
    }
    if text.is_empty() {
        text = format!("{}.\n", summary(study));
    }
    text
}

/// Summarises a study in one line, without a full stop: `parse-uint8: 4 of 9 claims hold, 5 are
/// refuted; 22 of 24 ratios are as exact as asked`.
pub fn summary(study: &StudyResult) -> String {
    let mut text = plain(&study.study);
    if study.runs.iter().flat_map(claims).next().is_some() {
        text += &format!(": {}", counts_text(study.runs.iter().flat_map(claims)));
    }
    let warnings = study.runs.iter().flat_map(|run| &run.warnings);
    let not_judged = warnings.filter(|one| matches!(one, Warning::NotJudged { .. })).count() as u64;
    if not_judged > 0 {
        let separator = if text.contains(':') { "," } else { ":" };
        let were = if not_judged == 1 { "was" } else { "were" };
        text += &format!("{separator} {} {were} not judged", count(not_judged, "claim"));
    }
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    let rows = blocks.iter().flat_map(|block| block.rows.iter().map(move |row| (block, row)));
    let rows = rows.filter(|(block, row)| row.ratio.is_some() && !block.is_reference(row));
    let ratios = rows.clone().count();
    let settled = rows.filter(|(_, row)| row.is_settled).count();
    match (ratios, settled) {
        (0, _) => text,
        (1, 1) => format!("{text}; the ratio is as exact as asked"),
        _ if settled == ratios => format!("{text}; all {ratios} ratios are as exact as asked"),
        _ => format!("{text}; {settled} of {} as exact as asked", count(ratios as u64, "ratio")),
    }
}

/// Returns the meaning of the error of a study or of its run on one workload.
pub(crate) fn promise_of(error: f64, what: &str) -> String {
    let error = percent(error, Rounding::Up);
    format!(
        "The probability that any verdict of this {what}, or any interval of a ratio in its \
         tables, is wrong is at most {error}, whenever it stops."
    )
}

/// The limits of absolute figures: randomisation does not protect them (rule A11).
pub(crate) const ABOUT_TIMES: &str =
    "Times and other absolute figures describe this run; the error does not cover them.";

/// Returns what the verdicts and ratios of a study do not cover.
pub(crate) fn not_covered(is_drawn: bool) -> String {
    let inputs = if is_drawn { "inputs of another kind" } else { "other inputs" };
    format!(
        "Not covered: other machines and {inputs}, fixed paths and environment names, the mean."
    )
}

/// The claims of a run; those that only stand for a ratio of its table apart.
pub(crate) fn claims(run: &RunResult) -> impl Iterator<Item = &ClaimResult> {
    let has_table = run.study.is_some();
    run.verdicts.iter().filter(move |claim| !(has_table && claim.statement.is_measure()))
}

/// The verdict on a claim, behind its workload unless the claim names it.
fn spans_on(run: &RunResult, claim: &ClaimResult) -> Spans {
    let workload = run.study.as_ref().map(|study| plain(&study.workload.name));
    let unnamed = workload.filter(|name| !plain(&claim.claim).ends_with(&format!(" on {name}")));
    let head = unnamed.map(|name| span(Tone::Strong, format!("{name}: ")));
    head.into_iter().chain(spans(run, claim)).collect()
}

/// Returns the first verdict of a study that one contestant is faster than another, as a sentence
/// without the study's conditions; none if nothing of the kind is proven.
pub fn highlight(study: &StudyResult) -> Option<String> {
    let all = study.runs.iter().flat_map(|run| claims(run).map(move |claim| (run, claim)));
    let mut proven = all.filter(|(_, claim)| claim.verdict == Verdict::Holds);
    let (run, claim) = proven.find(|(_, claim)| claim.right.is_some())?;
    Some(quotable(&head(run, claim)) + ".")
}

/// Returns the published ratio of times of the first claim that has one, next to the one measured,
/// without a full stop: `find against stream: published 30.3x, here 42.6x`. `None` if no table has
/// figures of both contestants of a claim, or none such was measured.
pub fn published_and_here(study: &StudyResult) -> Option<String> {
    let all = study.runs.iter().flat_map(|run| claims(run).map(move |claim| (run, claim)));
    let mut both = all.filter_map(|(run, claim)| {
        let Quantity::Ratio { ratio: measured } = claim.quantity else { return None };
        if claim.metric != Metric::WallTime {
            return None;
        }
        let (right, here) = (claim.right.as_ref()?, finite(measured.estimate)?);
        let published = block::published_between(run.study.as_deref()?, &claim.left, right)?;
        let [published, here] = [published, here].map(|x| ratio(x, 2, Rounding::Nearest));
        let [left, right] = [&claim.left, right].map(|name| plain(name));
        Some(format!("{left} against {right}: published {published}, here {here}"))
    });
    both.next()
}

/// Returns the verdict on a claim behind its workload, without styles.
pub(crate) fn sentence_on(run: &RunResult, claim: &ClaimResult) -> String {
    quotable(&spans_on(run, claim))
}
