//! The quantities of a run's claims, as a table with pictures.

use crate::contestants::{ranges, short_name};
use crate::picture::Axis;
use crate::prelude::*;
use crate::presented::pair;
use crate::sentence::tone;
use crate::table::align_decimals;

/// The narrowest picture, in columns.
const LEAST_PICTURE: usize = 16;

/// Draws the quantity of every claim: picture, estimate, interval and, of several, the verdict. The
/// ratios stand below each other on one axis; every other quantity has an axis of its own, and a
/// share the curve of plausible rates above it.
pub(crate) fn effects(page: &mut Page, run: &RunResult, look: Look) {
    if run.verdicts.iter().all(|claim| claim.verdict == Verdict::Void) {
        return;
    }
    let has_word = run.verdicts.len() > 1;
    let rows =
        run.verdicts.iter().map(|claim| Row { claim, quantity: Presented::of(claim), has_word });
    let (ratios, others): (Vec<_>, Vec<_>) = rows.partition(|row| row.quantity.is_ratio());
    if !ratios.is_empty() {
        block(page, &ratios, run.resolution, look);
    }
    for row in others {
        // Below a quantile stands the share that proves it.
        let share = Presented::share_of(row.claim).filter(|_| !row.quantity.is_share());
        let share = share.map(|quantity| Row { quantity, has_word: false, ..row });
        block(page, &[row], run.resolution, look);
        share.into_iter().for_each(|share| block(page, &[share], run.resolution, look));
    }
}

/// A quantity of a claim.
struct Row<'a> {
    claim: &'a ClaimResult,
    quantity: Presented<'a>,
    has_word: bool,
}

/// Draws some quantities on one axis, below an empty line.
fn block(page: &mut Page, rows: &[Row], resolution: f64, look: Look) {
    page.gap();
    let quantities: Vec<_> = rows.iter().map(|row| row.quantity.clone()).collect();
    let labels = padded(quantities.iter().map(|one| pair(one, look)).collect());
    let fixed = 3 * INDENT.len() + labels[0].width();
    let mut numbers = numbers_of(rows, true, look);
    if look.columns() < fixed + columns_of(&numbers[0]) + LEAST_PICTURE {
        numbers = numbers_of(rows, false, look);
    }
    let room = look.columns().saturating_sub(fixed + columns_of(&numbers[0]));
    let has_picture = room >= LEAST_PICTURE;
    let axis = Axis::around(&quantities, resolution, room.max(LEAST_PICTURE));
    let indent = words(" ".repeat(2 * INDENT.len() + labels[0].width()));
    for ((label, row), numbers) in labels.iter().zip(rows).zip(numbers) {
        let share = row.claim.share.as_ref().filter(|_| has_picture && row.quantity.is_share());
        let share = share.filter(|share| row.quantity.is_known() && !share.density.is_empty());
        if let Some(share) = share {
            page.line(&[indent.clone(), span(Tone::Dim, axis.curve(&share.density, look))]);
        }
        let mut line = vec![words(INDENT), span(Tone::Strong, label), words(INDENT)];
        if has_picture {
            line.extend(axis.draw(&row.quantity, resolution, look));
            line.push(words(INDENT));
        }
        line.extend(numbers);
        page.line(&line);
    }
    if has_picture {
        // The axis can label bars that all have.
        let is_common = quantities.iter().all(|one| one.bars == quantities[0].bars);
        let bars = if is_common { &quantities[0].bars[..] } else { &[] };
        let labels = axis.labels(&quantities[0], bars);
        page.line(&[indent, span(Tone::Dim, labels)]);
    }
}

/// Returns estimate and interval, aligned; then the sign of a share, with its word if there is
/// room, and the verdict's word.
fn numbers_of(rows: &[Row], has_sign_word: bool, look: Look) -> Vec<Vec<Span>> {
    let numbers = rows.iter().map(|row| row.quantity.numbers().map(or_none));
    let [estimates, lows, highs] = transposed(numbers);
    let estimates = align_decimals(&estimates);
    let limits = padded(ranges(&lows, &highs));
    let verdicts = padded(cells(rows, |row| verdict_words(row.claim, look)));
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let estimate = span(Tone::Strong, &estimates[index]);
        let mut line = vec![estimate, words(INDENT), words(&limits[index])];
        if let Some(sign) = Sign::of(&row.quantity) {
            line.extend([words(INDENT), span(Tone::Strong, sign.symbol(look))]);
            if has_sign_word {
                line.push(span(Tone::Dim, format!(" {}", sign.word())));
            }
        }
        if row.has_word {
            line.extend([words(INDENT), span(tone(row.claim), &verdicts[index])]);
        }
        lines.push(line);
    }
    lines
}

/// Returns a verdict for a table: for a question, the winner.
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
