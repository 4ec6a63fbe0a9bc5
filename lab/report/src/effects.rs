//! What a run's claims are about, as a table with pictures.

use crate::contestants::{ranges, short_name};
use crate::look::{Look, Span, Tone, columns_of, span, words};
use crate::number::or_none;
use crate::page::{INDENT, Page};
use crate::picture::Axis;
use crate::presented::{Presented, short_label};
use crate::sentence::tone;
use crate::sign::Sign;
use crate::table::align_decimals;
use crate::text::shorten_middle;
use tiebreak_core::result::{ClaimResult, RunResult};
use tiebreak_core::verdict::Verdict;
use unicode_width::UnicodeWidthStr;

/// The narrowest picture that still shows something.
const LEAST_PICTURE: usize = 16;

/// Draws the quantity of every claim: picture, estimate, interval and, of several, the verdict. The
/// ratios stand below each other on one axis; every other quantity has an axis of its own, and a
/// share the curve of plausible rates above it.
pub(crate) fn effects(page: &mut Page, run: &RunResult, look: Look) {
    let said = || run.verdicts.iter();
    if said().all(|claim| claim.verdict == Verdict::Void) {
        return;
    }
    let told = |claim| Row { claim, told: Presented::of(claim), has_word: run.verdicts.len() > 1 };
    let (ratios, others): (Vec<_>, Vec<_>) = said().map(told).partition(|row| row.told.is_ratio());
    if !ratios.is_empty() {
        page.gap();
        block(page, &ratios, run.resolution, look);
    }
    for row in others {
        page.gap();
        let share = Presented::share_of(row.claim).filter(|_| !row.told.is_share());
        let claim = row.claim;
        block(page, &[row], run.resolution, look);
        if let Some(told) = share {
            page.gap();
            block(page, &[Row { claim, told, has_word: false }], run.resolution, look);
        }
    }
}

/// A quantity of a claim.
struct Row<'a> {
    claim: &'a ClaimResult,
    told: Presented<'a>,
    has_word: bool,
}

/// Some quantities on one axis.
fn block(page: &mut Page, rows: &[Row], resolution: f64, look: Look) {
    let told: Vec<_> = rows.iter().map(|row| row.told.clone()).collect();
    let labels = padded(told.iter().map(|told| pair(told, look)).collect());
    let fixed = 3 * INDENT.len() + labels[0].width();
    let room =
        |numbers: &[Vec<Span>]| look.columns().saturating_sub(fixed + columns_of(&numbers[0]));
    let mut numbers = numbers_of(rows, true, look);
    if room(&numbers) < LEAST_PICTURE {
        numbers = numbers_of(rows, false, look);
    }
    let room = room(&numbers);
    let picture = if room >= LEAST_PICTURE { room } else { 0 };
    let axis = Axis::around(&told, resolution, picture.max(LEAST_PICTURE));
    let indent = " ".repeat(2 * INDENT.len() + labels[0].width());
    for ((label, row), numbers) in labels.iter().zip(rows).zip(numbers) {
        if let Some(curve) = curve(row, &axis, look).filter(|_| picture > 0) {
            page.line(&[words(&indent), span(Tone::Dim, curve)]);
        }
        let mut line = vec![words(INDENT), span(Tone::Strong, label), gap()];
        if picture > 0 {
            line.extend(axis.draw(&row.told, resolution, look));
            line.push(gap());
        }
        line.extend(numbers);
        page.line(&line);
    }
    if picture > 0 {
        let labels = axis.labels(&told[0], common_bars(&told));
        page.line(&[words(indent), span(Tone::Dim, labels)]);
    }
}

/// The mass of plausible rates, of a share that is known.
fn curve(row: &Row, axis: &Axis, look: Look) -> Option<String> {
    let share = row.claim.share.as_ref()?;
    let is_drawn = row.told.is_share() && row.told.is_known() && !share.density.is_empty();
    is_drawn.then(|| axis.curve(&share.density, look))
}

/// The bars that all claims have, so that they can be labelled under the pictures.
fn common_bars<'a>(told: &'a [Presented]) -> &'a [f64] {
    match told {
        [first, others @ ..] if others.iter().all(|told| told.bars == first.bars) => &first.bars,
        _ => &[],
    }
}

fn gap() -> Span {
    words(INDENT)
}

/// `B / A`, cut to a part of the screen.
pub(crate) fn pair(told: &Presented, look: Look) -> String {
    short_label(told, look.columns() / 4, look)
}

/// All as wide as the widest.
pub(crate) fn padded(texts: Vec<String>) -> Vec<String> {
    let width = texts.iter().map(|text| text.width()).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text}{}", " ".repeat(width - text.width()))).collect()
}

/// Estimate and interval, aligned; after them the sign of a share, in a word too if there is room,
/// and the verdict's word.
fn numbers_of(rows: &[Row], has_sign_word: bool, look: Look) -> Vec<Vec<Span>> {
    let all: Vec<_> = rows.iter().map(|row| row.told.numbers()).collect();
    let cells = |index: usize| {
        let cell = |numbers: &[Option<String>; 3]| or_none(numbers[index].clone());
        all.iter().map(cell).collect::<Vec<_>>()
    };
    let estimates = align_decimals(&cells(0));
    let limits = padded(ranges(&cells(1), &cells(2)));
    let verdicts = padded(rows.iter().map(|row| verdict_words(row.claim, look)).collect());
    let line = |((estimate, limits), (word, row)): ((&String, &String), (&String, &Row))| {
        let mut line = vec![span(Tone::Strong, estimate), gap(), words(limits)];
        if let Some(sign) = Sign::of(&row.told) {
            line.extend([gap(), span(Tone::Strong, sign.symbol(look))]);
            if has_sign_word {
                line.push(span(Tone::Dim, format!(" {}", sign.word())));
            }
        }
        if row.has_word {
            line.extend([gap(), span(tone(row.claim), word)]);
        }
        line
    };
    estimates.iter().zip(&limits).zip(verdicts.iter().zip(rows)).map(line).collect()
}

/// A verdict in a table: of a question, the winner.
pub(crate) fn verdict_words(claim: &ClaimResult, look: Look) -> String {
    match (&claim.winner, claim.verdict, claim.is_question) {
        (Some(winner), Verdict::Holds, true) => {
            let (better, _) = claim.metric.comparative();
            let better = if better == "faster" { better } else { "less" };
            format!("{} {better}", shorten_middle(&short_name(winner, look), 10, look))
        }
        (None, Verdict::Holds, true) if claim.statement.is_measure() => "measured".to_owned(),
        _ => claim.verdict.name().to_owned(),
    }
}
