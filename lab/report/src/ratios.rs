//! The ratios of a run as a table with pictures: a line a claim, all on one axis.

use crate::contestants::{INDENT, ranges, short_name};
use crate::look::{Look, Span, Tone, columns_of, span};
use crate::page::Page;
use crate::picture::Axis;
use crate::ratio::Told;
use crate::sentence::tone;
use crate::table::align_decimals;
use crate::text::shorten_middle;
use tiebreak_core::result::{ClaimResult, RunResult};
use tiebreak_core::verdict::Verdict;
use unicode_width::UnicodeWidthStr;

/// The narrowest picture that still shows something.
const LEAST_PICTURE: usize = 16;

/// Draws every claim's ratio: picture, estimate, interval and, of several, the verdict.
pub(crate) fn ratios(page: &mut Page, run: &RunResult, look: Look) {
    let claims: Vec<_> = run.verdicts.iter().collect();
    if claims.iter().all(|claim| claim.verdict == Verdict::Void) {
        return;
    }
    page.gap();
    let told: Vec<_> = claims.iter().map(|claim| Told::of(claim)).collect();
    let labels = padded(told.iter().map(|told| pair(told, look)).collect());
    let numbers = numbers(&told, &claims, look);
    let taken = 2 * INDENT.len() + labels[0].width() + INDENT.len() + columns_of(&numbers[0]);
    let room = look.columns().saturating_sub(taken);
    let picture = if room >= LEAST_PICTURE { room } else { 0 };
    let axis = Axis::around(&told, run.resolution, picture.max(LEAST_PICTURE));
    for ((label, told), numbers) in labels.iter().zip(&told).zip(numbers) {
        let mut line = vec![span(Tone::Plain, INDENT), span(Tone::Strong, label), gap()];
        if picture > 0 {
            line.extend(axis.draw(told, run.resolution, look));
            line.push(gap());
        }
        line.extend(numbers);
        page.line(&line);
    }
    if picture > 0 {
        let indent = 2 * INDENT.len() + labels[0].width();
        let labels = axis.labels(common_bars(&told));
        page.line(&[span(Tone::Plain, " ".repeat(indent)), span(Tone::Dim, labels)]);
    }
}

/// The bars that all claims have, so that they can be labelled under the pictures.
pub(crate) fn common_bars<'a>(told: &'a [Told]) -> &'a [f64] {
    match told {
        [first, others @ ..] if others.iter().all(|told| told.bars == first.bars) => &first.bars,
        _ => &[],
    }
}

fn gap() -> Span {
    span(Tone::Plain, INDENT)
}

/// `B / A`, cut to a part of the screen.
pub(crate) fn pair(told: &Told, look: Look) -> String {
    let names = format!("{} / {}", short_name(told.behind, look), short_name(told.ahead, look));
    shorten_middle(&names, look.columns() / 4, look)
}

/// All as wide as the widest.
pub(crate) fn padded(texts: Vec<String>) -> Vec<String> {
    let width = texts.iter().map(|text| text.width()).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text}{}", " ".repeat(width - text.width()))).collect()
}

/// Estimate and interval, aligned; with several claims, the verdict after them.
fn numbers(told: &[Told], claims: &[&ClaimResult], look: Look) -> Vec<Vec<Span>> {
    let all: Vec<_> = told.iter().map(Told::numbers).collect();
    let cells = |index: usize| {
        let cell = |numbers: &[Option<String>; 3]| numbers[index].clone().unwrap_or("-".to_owned());
        all.iter().map(cell).collect::<Vec<_>>()
    };
    let estimates = align_decimals(&cells(0));
    let limits = padded(ranges(&cells(1), &cells(2)));
    let words = padded(claims.iter().map(|claim| verdict_words(claim, look)).collect());
    let line =
        |((estimate, limits), (word, claim)): ((&String, &String), (&String, &&ClaimResult))| {
            let mut line = vec![span(Tone::Strong, estimate), gap(), span(Tone::Plain, limits)];
            if claims.len() > 1 {
                line.extend([gap(), span(tone(claim.verdict), word)]);
            }
            line
        };
    estimates.iter().zip(&limits).zip(words.iter().zip(claims)).map(line).collect()
}

/// A verdict in a table: of a question, the winner.
pub(crate) fn verdict_words(claim: &ClaimResult, look: Look) -> String {
    match (&claim.winner, claim.verdict, claim.is_question) {
        (Some(winner), Verdict::Holds, true) => {
            let (better, _) = claim.metric.comparative();
            let better = if better == "faster" { better } else { "less" };
            format!("{} {better}", shorten_middle(&short_name(winner, look), 10, look))
        }
        _ => claim.verdict.name().to_owned(),
    }
}
