//! A study: the table of each workload, with the published figures beside ours, and what became of
//! its claims.

pub(crate) mod block;
mod claims;
pub(crate) mod ecdf;
mod facts;
pub(crate) mod figure;
mod footer;
mod looked_for;
mod markdown;
mod metrics;
mod rows;
mod scaling;
mod spread;
mod verify;

pub(crate) use self::block::{Block, Reason, summary as metric_summary};
pub use self::claims::highlight;
pub(crate) use self::claims::{claims, sentence_on};
pub use self::ecdf::ecdf;
pub(crate) use self::facts::{about, facts, notes};
pub(crate) use self::footer::{built_with, columns_mean};
pub use self::looked_for::looked_for;
pub use self::markdown::markdown;
pub(crate) use self::metrics::{per_item, table as metrics_table};
use self::rows::block_lines;
pub(crate) use self::rows::columns;
pub(crate) use self::scaling::table as scaling_table;
pub(crate) use self::spread::{shares, spread_of};
pub use self::verify::verify;

use self::claims::claims_section;
use crate::check::{counts_text, tone_of};
use crate::footer::INTERRUPTED;
use crate::live::{study_frame, study_line};
use crate::look::{Look, Tone, span, words};
use crate::number::{Rounding, count, percent};
use crate::page::Page;
use crate::text::plain;
use tiebreak_core::result::{ClaimResult, RunResult, StudyResult};

/// The result of a study as text: what became of its claims in a line, what its error means, a
/// block a workload, the claims with their verdicts, what was odd, and how to get the same again.
///
/// Every line ends with a line feed and takes at most the columns of the screen; tables take up to
/// 140 of them, everything else up to [`Look::columns`].
pub fn table(study: &StudyResult, look: &Look) -> String {
    let look = *look;
    let mut page = Page::new(look);
    if study.interrupted {
        page.line(&[span(Tone::Dim, INTERRUPTED)]);
        page.gap();
    }
    page.say(Tone::Strong, plain(&study.title));
    let tone = tone_of(study.runs.iter().flat_map(claims));
    page.paragraph("", &[span(tone, summary(study)), words(".")]);
    page.say(Tone::Plain, promise(study));
    for block in study.runs.iter().filter_map(Block::of) {
        block_lines(&mut page, &block, look);
    }
    claims_section(&mut page, study);
    footer::footer(&mut page, study);
    page.finish()
}

/// The same of a run on one workload, as a part of its page.
pub(crate) fn of_run(page: &mut Page, run: &RunResult, look: Look) {
    let Some(block) = Block::of(run) else { return };
    for claim in claims(run) {
        page.paragraph("", &crate::sentence::spans(run, claim));
    }
    if let Some(helps) = crate::sentence::what_helps(run) {
        page.paragraph("", &helps);
    }
    block_lines(page, &block, look);
    footer::notes_of(page, &[block]);
}

/// The verdicts on the claims of a study and nothing else: a line a claim, behind its workload,
/// without styles.
pub fn verdicts(study: &StudyResult) -> String {
    let mut text = String::new();
    for run in &study.runs {
        text.extend(claims(run).map(|claim| format!("{}\n", sentence_on(run, claim))));
        let rows = run.study.iter().flat_map(|block| &block.rows);
        for (name, fault) in rows.filter_map(|row| Some((&row.name, row.fault.as_ref()?))) {
            text += &format!("Void: {name} {fault}.\n");
        }
    }
    text
}

/// Progress of a study: the lines of a frame that is drawn again in place, or the one line that is
/// shown now and then where nothing can be redrawn.
pub fn progress(study: &StudyResult, look: &Look, is_frame: bool) -> Vec<String> {
    if is_frame { study_frame(study, look) } else { vec![study_line(study, look)] }
}

/// What became of a study in one line, without a full stop: `parse-uint8: 4 of 9 claims hold, 5 are
/// refuted; 22 of 24 ratios are as exact as asked`.
pub fn summary(study: &StudyResult) -> String {
    let all: Vec<&ClaimResult> = study.runs.iter().flat_map(claims).collect();
    let name = plain(&study.study);
    let text = match all.as_slice() {
        [] => name,
        all => format!("{name}: {}", counts_text(all.iter().copied())),
    };
    let (settled, ratios) = cells(study);
    match ratios {
        0 => text,
        1 if settled == 1 => format!("{text}; the ratio is as exact as asked"),
        _ if settled == ratios => format!("{text}; all {ratios} ratios are as exact as asked"),
        _ => {
            let ratios = count(ratios as u64, "ratio");
            format!("{text}; {settled} of {ratios} as exact as asked")
        }
    }
}

/// Of the ratios in the tables, those that are settled, and all.
pub(crate) fn cells(study: &StudyResult) -> (usize, usize) {
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    let rows = || blocks.iter().flat_map(|block| block.rows.iter().map(move |row| (block, row)));
    let has_ratio = |block: &Block, row| !block.is_reference(row);
    let all = rows().filter(|(block, row)| row.ratio.is_some() && has_ratio(block, row)).count();
    let open = rows().filter(|(block, row)| block.is_open(row)).count();
    (all - open, all)
}

/// What the error of a study means, as a sentence.
pub fn promise(study: &StudyResult) -> String {
    promise_of(study.error, "study")
}

/// The same of the error of a study or of its run on one workload.
pub(crate) fn promise_of(error: f64, what: &str) -> String {
    let error = percent(error, Rounding::Up);
    format!(
        "The probability that any verdict of this {what}, or any interval of a ratio in its \
         tables, is wrong is at most {error}, whenever it stops."
    )
}

/// What absolute figures are worth: nothing protects them by randomisation (rule A11).
pub(crate) const ABOUT_TIMES: &str =
    "Times and other absolute figures describe this run; the error does not cover them.";

/// What no verdict and no ratio of a study speaks of.
pub(crate) fn not_covered(is_drawn: bool) -> String {
    let inputs = if is_drawn { "inputs of another kind" } else { "other inputs" };
    format!(
        "Not covered: other machines and {inputs}, fixed paths and environment names, the mean."
    )
}
