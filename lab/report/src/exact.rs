//! The page of `tiebreak exact`: whether two sets of numbers differ.

#[cfg(test)]
mod tests;

use crate::number::trimmed;
use crate::prelude::*;
use crate::property::capitalised;
use crate::{histogram, json};
use tiebreak_core::journal::StopReason;
use tiebreak_core::resampling::{
    Null, RESAMPLING_SCHEMA, Resampled, ResamplingMethod, ResamplingResult, Sides,
};

/// The result as JSON with a line feed at the end, as `docs/schema/exact-1.schema.json` describes
/// it.
pub fn json(result: &ResamplingResult) -> String {
    json::text_of(RESAMPLING_SCHEMA, result)
}

/// Returns the result as a sentence without styles.
pub fn sentence(result: &ResamplingResult) -> String {
    letters(&verdict_spans(result))
}

/// Renders the whole page: the sentence, the sets, p with its limits, the resampled differences.
pub fn render(result: &ResamplingResult, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &verdict_spans(result));
    page.gap();
    page.table(sets(result));
    page.gap();
    page.paragraph(INDENT, &[words(p_line(result))]);
    if let Some(resampled) = &result.resampled {
        picture(&mut page, result, resampled, *look);
    }
    page.gap();
    small_print(result).into_iter().for_each(|line| page.say(Tone::Dim, line));
    page.finish()
}

/// Writes a number with six significant digits, without trailing zeros.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e9).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let digits = if value == 0.0 { 0.0 } else { 5.0 - value.abs().log10().floor() };
    trimmed(&format!("{value:.*}", digits.clamp(0.0, 9.0) as usize)).to_owned()
}

fn verdict_spans(result: &ResamplingResult) -> Spans {
    let alpha = percent(result.alpha, Rounding::Nearest);
    let drawn = count(result.permutations, "permutation");
    let found = found(result);
    let (tone, word, text) = match (result.verdict, result.stopped) {
        (Verdict::Holds, _) => {
            let (rejected, found) = (rejected(result), capitalised(&found));
            let text = format!(": {rejected}, at the level of {alpha} ({drawn}). {found}.");
            (Tone::Good, "Proven", text)
        }
        (_, StopReason::Interrupted) => {
            let text = format!(" after {drawn}: {found}, and whether that is chance is undecided.");
            (Tone::Doubt, "Interrupted", text)
        }
        (_, StopReason::Settled) => {
            let text = format!(
                ": {found}, but chance alone gives such a difference in more than {alpha} of cases \
                 ({drawn}). That does not say that there is none."
            );
            (Tone::Doubt, "Not proven", text)
        }
        _ => {
            let text = format!(": {found}, and {drawn} cannot tell whether p is at most {alpha}.");
            (Tone::Doubt, "Undecided", text)
        }
    };
    vec![span(tone, word), words(text)]
}

/// Describes the statistic of the sets.
fn found(result: &ResamplingResult) -> String {
    let (difference, size) = (number(result.difference), number(result.difference.abs()));
    let shift = shift(result).map_or(String::new(), |shift| format!(" ({shift})"));
    let statistic = statistic(result);
    match (result.by_program, result.is_paired, result.difference) {
        (true, ..) => format!("the statistic of X and Y is {difference}"),
        (_, true, _) => format!("the {statistic} of the differences Y - X is {difference}{shift}"),
        (.., d) if d > 0.0 => format!("the {statistic} of Y is {size} above that of X{shift}"),
        (.., d) if d < 0.0 => format!("the {statistic} of Y is {size} below that of X{shift}"),
        _ => format!("the {statistic} of Y is that of X{shift}"),
    }
}

/// Writes the interval of the shift.
fn shift(result: &ResamplingResult) -> Option<String> {
    let shift = result.shift?;
    let confidence = percent(shift.confidence, Rounding::Down);
    let limits = match (shift.low, shift.high) {
        (None, None) => return None,
        (Some(low), Some(high)) if low == high => format!("of {}", number(low)),
        (Some(low), Some(high)) => format!("from {} to {}", number(low), number(high)),
        (Some(low), None) => format!("at least {}", number(low)),
        (None, Some(high)) => format!("at most {}", number(high)),
    };
    Some(format!("a shift {limits} with confidence {confidence}"))
}

/// Returns the negation of the null hypothesis.
fn rejected(result: &ResamplingResult) -> String {
    let x = match result.null {
        Null::Same => "X",
        Null::Shift { .. } => "X plus the shift",
        Null::Ratio { .. } => "X times the ratio",
    };
    match (result.is_paired, result.null) {
        (true, _) => format!("in a pair, {x} and Y do not take each other's place by chance"),
        (false, Null::Same) => "X and Y are not from one distribution".to_owned(),
        (false, _) => format!("Y is not distributed as {x}"),
    }
}

/// Names the statistic.
fn statistic(result: &ResamplingResult) -> String {
    match result.statistic.strip_prefix("quantile:").and_then(|share| share.parse().ok()) {
        _ if result.by_program => "statistic".to_owned(),
        Some(share) => format!("{} quantile", percent(share, Rounding::Nearest)),
        None => plain(&result.statistic),
    }
}

fn sets(result: &ResamplingResult) -> Vec<Column> {
    let difference = match (result.by_program, result.is_paired) {
        (true, _) => "X and Y",
        (false, true) => "of Y - X",
        (false, false) => "Y - X",
    };
    let sets = [&result.x, &result.y];
    let [x, y] = sets.map(|set| or_none(set.statistic.map(number)));
    let counts = sets.iter().map(|set| set.count.to_string());
    vec![
        Column::left("", ["X", "Y", difference].map(str::to_owned)),
        Column::right(&statistic(result), [x, y, number(result.difference)]),
        Column::right("numbers", counts.chain([String::new()])),
        Column::left("from", sets.iter().map(|set| place(&set.name)).chain([String::new()])),
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
    // A probability near 1 is written with all its nines.
    let confidence = match 1.0 - result.p.confidence {
        missing if missing < 1e-6 => format!("1 - {missing:.1e}"),
        _ => percent(result.p.confidence, Rounding::Down),
    };
    let (p, drawn) =
        (percent(estimate, Rounding::Nearest), count(result.permutations, "permutation"));
    let (low, high) = (percent(result.p.low, Rounding::Down), percent(result.p.high, Rounding::Up));
    format!(
        "p about {p}: {} of {drawn} gave a difference {extreme}; {low} to {high} with probability \
         at least {confidence}",
        result.extreme
    )
}

/// Returns the condition under which the level holds.
fn meaning(result: &ResamplingResult) -> String {
    let what = statistic(result);
    match (result.is_paired, result.is_studentised) {
        (true, _) => "Exact where the difference of each pair is as likely to be above as below \
                      what is tested by the same amount."
            .to_owned(),
        (false, true) => format!(
            "Exact for sets of one distribution. Differences count by their own spread, so that \
             the level holds for sets that have only the {what} in common too, nearly, and the \
             better the more numbers there are."
        ),
        (false, false) => format!(
            "Exact for sets of one distribution. Sets that have only the {what} in common, and \
             unequal spreads, may well be said to differ."
        ),
    }
}

/// Whether a difference proves nothing because equal numbers leave the place of a quantile open.
fn has_ties(result: &ResamplingResult) -> bool {
    let expected = if let Null::Shift { by } = result.null { by } else { 0.0 };
    let is_free = result.resampled.as_ref().is_some_and(|resampled| resampled.observed == 0.0);
    let is_apart = result.is_studentised && result.difference != expected;
    is_free && is_apart && result.verdict != Verdict::Holds && result.statistic != "mean"
}

fn small_print(result: &ResamplingResult) -> Vec<String> {
    let alpha = percent(result.alpha, Rounding::Up);
    let mut lines = Vec::new();
    for order in result.order.iter().filter(|order| order.is_serial) {
        let of = match order.of {
            "x" => "the numbers of X",
            "y" => "the numbers of Y",
            _ => "the differences of pairs",
        };
        lines.push(format!(
            "Warning: as they stand in the file, {of} are each like the one before ({:.1} standard \
             deviations): they are not independent of each other, so that p is too small, or \
             they were sorted.",
            order.z
        ));
    }
    lines.push(match result.method {
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
    });
    lines.push(meaning(result));
    if has_ties(result) {
        let (statistic, difference) = (statistic(result), number(result.difference.abs()));
        lines.push(format!(
            "Ties: so many numbers are equal that one value may be the {statistic} of both sets; a \
             difference of {difference} then proves nothing."
        ));
    }
    if result.verdict == Verdict::Holds && result.p.high > result.alpha {
        lines.push(format!(
            "The limits of p are another statement, and may reach beyond {alpha} where the \
             test has seen enough; more permutations would narrow them."
        ));
    }
    if result.p_least > result.alpha {
        let (x, y, least) =
            (result.x.count, result.y.count, percent(result.p_least, Rounding::Down));
        lines.push(format!(
            "With {x} and {y} numbers no p is below {least}: at this level only more numbers can \
             prove a difference."
        ));
    }
    let limits = "This is for finished sets of numbers that are independent of each other. Looking \
                  again while they grow, or stopping when they please, is not covered: 'tiebreak \
                  compare' and 'tiebreak slo' are for that.";
    lines.push(limits.to_owned());
    lines.push(format!("Seed {}.", plain(&result.seed)));
    lines
}

/// Draws the differences of resampled sets as a line of blocks, and the observed one below it.
fn picture(page: &mut Page, result: &ResamplingResult, resampled: &Resampled, look: Look) {
    let histogram = &resampled.histogram;
    let width = look.columns().saturating_sub(2 * INDENT.len()).min(histogram.counts.len());
    let bars = histogram::bars(histogram, width, look);
    let columns = bars.chars().count().max(1);
    let share = (resampled.observed - histogram.low) / (histogram.high - histogram.low);
    let at = (share * columns as f64).floor();
    let mark = match at {
        ..0.0 => '<',
        at if at > columns as f64 => '>',
        _ => '^',
    };
    let column = at.clamp(0.0, (columns - 1) as f64) as usize;
    let observed = format!("observed {}", number(resampled.observed));
    let marked = if column > columns / 2 && column > observed.len() {
        format!("{:>column$}{mark}", format!("{observed} "))
    } else {
        format!("{:>column$}{mark} {observed}", "")
    };
    let ends = histogram::apart(&[number(histogram.low), number(histogram.high)], columns);
    let of = match result.null {
        Null::Ratio { factor } => format!(", of X and Y / {}", number(factor)),
        _ => String::new(),
    };
    let measured = if result.is_studentised { " by their own spread" } else { "" };
    let splits = count(result.permutations, "split");
    let title = format!("differences{measured} of {splits} if it were chance{of}");
    page.gap();
    for (tone, text) in
        [(Tone::Dim, title), (Tone::Plain, bars), (Tone::Strong, marked), (Tone::Dim, ends)]
    {
        page.line(&[words(INDENT), span(tone, text)]);
    }
}
