//! The page of `tiebreak exact`: whether two sets of numbers differ.

mod picture;
#[cfg(test)]
mod tests;

use crate::contestants::INDENT;
use crate::look::{Look, Spans, Tone, letters, span};
use crate::number::{Rounding, count, percent};
use crate::page::Page;
use crate::table::{Align, Column, indented, rows};
use crate::text::plain;
use picture::picture;
use tiebreak_core::journal::StopReason;
use tiebreak_core::resampling::{
    Null, NumberSet, RESAMPLING_SCHEMA, ResamplingMethod, ResamplingResult, Sides,
};
use tiebreak_core::verdict::Verdict;

/// The result as JSON with a line feed at the end, as `docs/schema/exact-1.schema.json` describes
/// it.
pub fn json(result: &ResamplingResult) -> String {
    #[derive(serde::Serialize)]
    struct Document<'a> {
        schema: &'static str,
        #[serde(flatten)]
        result: &'a ResamplingResult,
    }
    // Keys are texts and numbers finite or null, so that nothing here can fail.
    let document = Document { schema: RESAMPLING_SCHEMA, result };
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// What the test says, in a sentence without styles.
pub fn sentence(result: &ResamplingResult) -> String {
    letters(&said(result))
}

/// The whole page: the sentence, the sets, p with its limits, the resampled differences.
pub fn render(result: &ResamplingResult, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &said(result));
    page.gap();
    for row in rows(sets(result), look.columns() - INDENT.len()) {
        page.line(&indented(row, INDENT));
    }
    page.gap();
    page.paragraph(INDENT, &[span(Tone::Plain, p_line(result))]);
    if let Some(resampled) = &result.resampled {
        picture(&mut page, result, resampled, *look);
    }
    page.gap();
    for line in small_print(result) {
        page.paragraph("", &[span(Tone::Dim, line)]);
    }
    page.finish()
}

/// A number with six significant digits, without idle zeros.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e9).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let digits = if value == 0.0 { 0.0 } else { 5.0 - value.abs().log10().floor() };
    let text = format!("{value:.*}", digits.clamp(0.0, 9.0) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn said(result: &ResamplingResult) -> Spans {
    let alpha = percent(result.alpha, Rounding::Nearest);
    let drawn = count(result.permutations, "permutation");
    let how_far = found(result);
    let (tone, word, text) = match (result.verdict, result.stopped) {
        (Verdict::Holds, _) => (
            Tone::Good,
            "Proven",
            format!(
                ": {how_far}, and that is not chance, at the level of {alpha} ({drawn}). {}.",
                rejected(result)
            ),
        ),
        (Verdict::Refuted, _) => (
            Tone::Bad,
            "Not proven",
            format!(
                ": {how_far}, but chance alone gives such a difference in more than {alpha} of \
                 cases ({drawn})."
            ),
        ),
        (_, StopReason::Interrupted) => (
            Tone::Doubt,
            "Interrupted",
            format!(" after {drawn}: {how_far}, and whether that is chance is undecided."),
        ),
        _ => (
            Tone::Doubt,
            "Undecided",
            format!(": {how_far}, and {drawn} cannot tell whether p is at most {alpha}."),
        ),
    };
    vec![span(tone, word), span(Tone::Plain, text)]
}

/// What was computed of the sets, in words.
fn found(result: &ResamplingResult) -> String {
    let difference = number(result.difference.abs());
    if result.by_program {
        return format!("the statistic of X and Y is {}", number(result.difference));
    }
    let which = match result.difference {
        d if d > 0.0 => format!("{difference} above that of X"),
        d if d < 0.0 => format!("{difference} below that of X"),
        _ => "that of X".to_owned(),
    };
    format!("the {} of Y is {which}", statistic(result))
}

/// The null hypothesis, denied.
fn rejected(result: &ResamplingResult) -> &'static str {
    match (result.null, result.sides) {
        (Null::Same, _) => "They are not from one distribution",
        (Null::Shift { .. }, _) => "Y is not distributed as X plus the shift",
        (Null::Ratio { .. }, _) => "Y is not distributed as X times the ratio",
    }
}

fn statistic(result: &ResamplingResult) -> String {
    match result.statistic.strip_prefix("quantile:").and_then(|share| share.parse().ok()) {
        Some(share) => format!("{} quantile", percent(share, Rounding::Nearest)),
        None => plain(&result.statistic),
    }
}

fn sets(result: &ResamplingResult) -> Vec<Column> {
    let sets = [("X", &result.x), ("Y", &result.y)];
    let cells = |text: &dyn Fn(&NumberSet) -> String, last: String| {
        sets.iter().map(|(_, set)| text(set)).chain([last]).collect::<Vec<_>>()
    };
    let of = |set: &NumberSet| set.statistic.map_or("-".to_owned(), number);
    let title = if result.by_program { "statistic".to_owned() } else { statistic(result) };
    let difference = if result.by_program { "X and Y" } else { "Y - X" };
    vec![
        Column::new("", Align::Left, ["X", "Y", difference].map(str::to_owned).to_vec()),
        Column::new(&title, Align::Right, cells(&of, number(result.difference))),
        Column::new("numbers", Align::Right, cells(&|set| set.count.to_string(), String::new())),
        Column::new("from", Align::Left, cells(&|set| place(&set.name), String::new())),
    ]
}

fn place(name: &str) -> String {
    match name.strip_prefix('-') {
        Some("") => "standard input".to_owned(),
        Some(column) if column.starts_with(':') => plain(&format!("standard input{column}")),
        _ => plain(name),
    }
}

fn p_line(result: &ResamplingResult) -> String {
    let extreme = match (result.sides, result.null) {
        (Sides::Two, Null::Same) => "at least as far from 0",
        (Sides::Two, _) => "at least as far from what the null hypothesis says",
        (Sides::Greater, _) => "at least as large",
        (Sides::Less, _) => "at least as small",
    };
    let Some(estimate) = result.p.estimate else {
        return "no permutation was drawn".to_owned();
    };
    format!(
        "p {}: {} of {} gave a difference {extreme}; {} to {} with probability at least {}",
        percent(estimate, Rounding::Nearest),
        result.extreme,
        count(result.permutations, "permutation"),
        percent(result.p.low, Rounding::Down),
        percent(result.p.high, Rounding::Up),
        close_to_one(result.p.confidence),
    )
}

/// A probability near 1 with all the nines that it has.
fn close_to_one(probability: f64) -> String {
    match 1.0 - probability {
        missing if missing < 1e-6 => format!("1 - {missing:.1e}"),
        _ => percent(probability, Rounding::Down),
    }
}

fn small_print(result: &ResamplingResult) -> Vec<String> {
    let alpha = percent(result.alpha, Rounding::Up);
    let mut lines = vec![match result.method {
        ResamplingMethod::Mixture => format!(
            "Sets that do not differ are said to differ with probability at most {alpha}, however \
             many permutations are drawn; that p is above {alpha} is said wrongly, and the limits \
             of p are wrong, with probability at most {} each.",
            percent(result.error, Rounding::Up)
        ),
        ResamplingMethod::Classic => format!(
            "By the Confidence Sequence Method as published: sets that do not differ are said to \
             differ with probability at most {alpha} and {:.1e}.",
            result.error
        ),
    }];
    if result.verdict == Verdict::Holds && result.p.high > result.alpha {
        lines.push(format!(
            "The limits of p are another statement, and may reach beyond {alpha} where the \
             test has seen enough; more permutations would narrow them."
        ));
    }
    if result.p_least > result.alpha {
        lines.push(format!(
            "With {} and {} numbers no p is below {}: at this level only more numbers can prove a \
             difference.",
            result.x.count,
            result.y.count,
            percent(result.p_least, Rounding::Down)
        ));
    }
    lines.push(
        "This is for finished sets of numbers that are independent of each other. Looking again \
         while they grow is not covered: 'tiebreak compare' and 'tiebreak slo' are for that."
            .to_owned(),
    );
    lines.push(format!("Seed {}.", plain(&result.seed)));
    lines
}
