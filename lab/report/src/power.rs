//! The page of `tiebreak power`: the rounds that a claim will need.

#[cfg(test)]
mod tests;

use crate::histogram::level;
use crate::json;
use crate::number::trimmed;
use crate::prelude::*;
use tiebreak_core::claim::{Property, Statement};
use tiebreak_core::forecast::{
    FORECAST_SCHEMA, ForecastMethod, ForecastResult, ForecastRow, NoiseSource, Says, Shape,
};

/// The result as JSON with a line feed at the end, as `docs/schema/power-1.schema.json` describes
/// it.
pub fn json(result: &ForecastResult) -> String {
    json::text_of(FORECAST_SCHEMA, result)
}

/// Returns the forecast in one or two sentences without styles.
pub fn sentence(result: &ForecastResult) -> String {
    letters(&verdict_spans(result))
}

/// Renders the page: the sentence, a line for each truth, and the share of ended runs over rounds.
pub fn render(result: &ForecastResult, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &verdict_spans(result));
    if !result.rows.is_empty() {
        let unit = unit(result);
        page.gap();
        page.note(format!("{unit}s by which so many runs had ended, and what they said"));
        page.table(table(result));
        curves(&mut page, result, *look);
    }
    page.gap();
    small_print(result).into_iter().for_each(|line| page.say(Tone::Dim, line));
    page.finish()
}

/// Returns the noun for one unit of the budget.
fn unit(result: &ForecastResult) -> &'static str {
    if result.noise == NoiseSource::Trials { "trial" } else { "round" }
}

fn small_print(result: &ForecastResult) -> Vec<String> {
    let [error, resolution, wanted] = [result.error, result.resolution, result.chance_wanted]
        .map(|share| percent(share, Rounding::Nearest));
    let resolution = match result.contestants {
        Some(_) => format!(", resolution {resolution}"),
        None => String::new(),
    };
    let runs = count(result.rows.iter().map(|row| row.runs).max().unwrap_or(0), "run");
    let most = count(result.rounds_max, unit(result));
    let mut lines = vec![
        format!("{} Error {error}{resolution}.", noise(result)),
        format!("Simulated: up to {runs} for each line, none longer than {most}."),
    ];
    if let Some(chance) = result.rows.iter().find_map(|row| row.chance) {
        let wrong = 1.0 - chance.confidence;
        lines.push(match result.method {
            ForecastMethod::Recommended => format!(
                "The chance to end within the budget lies in its interval, and on the side of \
                 {wanted} that is named; this is wrong with a probability of {wrong:.1e}."
            ),
            ForecastMethod::Classic => format!(
                "The chance to decide rightly within the budget is found by the published \
                 recursion, the driver within the driver, at an error of {wrong:.1e}."
            ),
        });
    }
    if let Statement::Property(Property::Succeeds { .. }) = result.statement {
        let independent = "Trials are simulated independent of each other: where failures come in \
                           bursts, slo counts blocks and needs more.";
        lines.push(independent.to_owned());
    }
    lines.push(format!("Seed {}.", plain(&result.seed)));
    lines
}

fn noise(result: &ForecastResult) -> String {
    match &result.noise {
        NoiseSource::Stated { deviation, shape } => {
            let shape = match shape {
                Shape::Normal => "normal",
                Shape::Spiky => "normal with spikes",
                Shape::Bimodal => "of two modes",
            };
            format!("Noise as stated: {shape}, {} a round.", percent(*deviation, Rounding::Nearest))
        }
        NoiseSource::Pilot { run, rounds, deviation, .. } => {
            let size = deviation.map(|size| percent(size, Rounding::Nearest));
            let size = size.map_or(String::new(), |size| format!(", {size} a round"));
            format!("Noise of the pilot {}: {}{size}.", plain(run), count(*rounds, "round"))
        }
        NoiseSource::Trials if result.method == ForecastMethod::Classic => {
            "Success rates, by the published driver.".to_owned()
        }
        NoiseSource::Trials => "Success rates.".to_owned(),
    }
}

/// Writes the distance of a ratio from 1: `3%`, or from 2 on `2.5x`.
fn difference(ratio: f64) -> String {
    if ratio >= 2.0 {
        return format!("{}x", trimmed(&format!("{ratio:.4}")));
    }
    // A ratio such as 1.03 has no exact binary form.
    percent(((ratio - 1.0) * 1e9).round() / 1e9, Rounding::Nearest)
}

/// Returns the first paragraph of the page.
fn verdict_spans(result: &ForecastResult) -> Spans {
    let mut spans = match (result.budget, result.rows.as_slice()) {
        _ if result.interrupted => {
            vec![
                span(Tone::Doubt, "Interrupted"),
                words(": the figures below rest on fewer simulations."),
            ]
        }
        (Some(_), [_, ..]) => chance_spans(result),
        (None, [row]) => needed_spans(result, row),
        _ => {
            let what = match &result.contestants {
                Some([left, _]) => format!("how far {} is ahead", plain(left)),
                None => "the true rate".to_owned(),
            };
            let text = format!(": what it takes depends on {what}.");
            vec![span(Tone::Strong, subject(result)), words(text)]
        }
    };
    if let NoiseSource::Pilot { run, is_evidence: true, .. } = &result.noise {
        spans.push(words(format!(
            " The pilot's rounds stay evidence: 'tiebreak resume {} --more BUDGET' goes on with \
             them.",
            plain(run)
        )));
    }
    spans
}

fn subject(result: &ForecastResult) -> String {
    format!("'{}'", plain(&result.claim))
}

fn truth_in_words(result: &ForecastResult, row: &ForecastRow) -> String {
    let Some(two) = &result.contestants else {
        return format!("at a true rate of {}", share_text(row.truth, 4));
    };
    let [left, right] = [plain(&two[0]), plain(&two[1])];
    match row.truth {
        1.0 => format!("if {left} and {right} are equal"),
        truth if truth > 1.0 => format!("if {left} is ahead by {}", difference(truth)),
        truth => format!("if {right} is ahead by {}", difference(1.0 / truth)),
    }
}

fn chance_spans(result: &ForecastResult) -> Spans {
    let wanted = percent(result.chance_wanted, Rounding::Nearest);
    let budget = result.budget.map_or(String::new(), |budget| {
        let rounds = count(budget.rounds, unit(result));
        match budget.seconds {
            Some(within) => format!("{} ({rounds})", seconds(within)),
            None => rounds,
        }
    });
    let rows = result.rows.iter();
    let answers: Vec<_> = rows.map(|row| row.chance.and_then(|chance| chance.is_enough)).collect();
    let enough = answers.iter().filter(|answer| **answer == Some(true)).count();
    let when = match result.rows.as_slice() {
        [row] => format!(" {}", truth_in_words(result, row)),
        _ => String::new(),
    };
    let ends = format!("{} ends within {budget}{when}", subject(result));
    let least = format!("{ends} with a chance of at least {wanted}");
    let (tone, word, text) = match (enough, answers.as_slice()) {
        (enough, all) if enough == all.len() => (Tone::Good, "Enough", format!("{least}.")),
        (_, [Some(_)]) => {
            (Tone::Bad, "Not enough", format!("{ends} with a chance below {wanted}."))
        }
        (_, [None]) => {
            let text = format!(
                "the chance that {ends} is too close to {wanted} to say on which \
                 side."
            );
            (Tone::Doubt, "Undecided", text)
        }
        (enough, all) => {
            let (tone, word) =
                if enough == 0 { (Tone::Bad, "Not enough") } else { (Tone::Doubt, "It depends") };
            (tone, word, format!("{least} in {enough} of {} cases.", all.len()))
        }
    };
    vec![span(tone, word), words(format!(": {text}"))]
}

fn needed_spans(result: &ForecastResult, row: &ForecastRow) -> Spans {
    let (subject, truth) = (subject(result), truth_in_words(result, row));
    let Some(median) = row.rounds_median else {
        let most = count(result.rounds_max, unit(result));
        let text = format!(": most runs of {subject} had not ended by then {truth}.");
        return vec![span(Tone::Doubt, format!("More than {most}")), words(text)];
    };
    let wide = row.rounds_q10.zip(row.rounds_q90).filter(|(low, high)| low < high);
    let wide = wide.map(|(low, high)| format!(", {low} to {high} in eight of ten runs"));
    let time = result.seconds_a_round.map(|a_round| seconds(a_round * median as f64));
    let time = time.map_or(String::new(), |time| format!(" ({time})"));
    let about = format!("About {}{time}", count(median, unit(result)));
    let text = format!(" settle {subject} {truth}{}.", wide.unwrap_or_default());
    vec![span(Tone::Strong, about), words(text)]
}

/// Writes the truth of a row.
fn truth_cell(result: &ForecastResult, row: &ForecastRow) -> String {
    match row.truth {
        truth if result.contestants.is_none() => share_text(truth, 4),
        truth if truth >= 1.0 => difference(truth),
        truth => format!("-{}", difference(1.0 / truth)),
    }
}

/// Makes the table with a row for each truth.
fn table(result: &ForecastResult) -> Vec<Column> {
    let rows = &result.rows;
    let title = match &result.contestants {
        Some([left, _]) => format!("{} ahead by", plain(left)),
        None => "true rate".to_owned(),
    };
    let mut columns = vec![Column::right(&title, cells(rows, |row| truth_cell(result, row)))];
    type Rounds = fn(&ForecastRow) -> Option<u64>;
    let quantiles: [(&str, u8, Rounds); 3] = [
        ("10% by", 3, |row| row.rounds_q10),
        ("half by", 0, |row| row.rounds_median),
        ("90% by", 3, |row| row.rounds_q90),
    ];
    for (title, rank, rounds) in quantiles {
        let cells = cells(rows, |row| match rounds(row) {
            Some(rounds) => rounds.to_string(),
            None => format!("> {}", result.rounds_max),
        });
        columns.push(Column::right(title, cells).rank(rank));
    }
    if let Some(a_round) = result.seconds_a_round {
        let times = cells(rows, |row| {
            or_none(row.rounds_median.map(|rounds| seconds(a_round * rounds as f64)))
        });
        columns.push(Column::right("time", times).rank(4));
    }
    if result.budget.is_some() {
        columns.push(Column::right("in budget", cells(rows, chance_cell)));
    }
    type Share = fn(&Says) -> f64;
    let verdicts: [(&str, Share); 4] = [
        ("holds", |says| says.holds),
        ("refuted", |says| says.refuted),
        ("too close", |says| says.too_close),
        ("open", |says| says.undecided),
    ];
    for (title, share) in verdicts {
        let cells = cells(rows, |row| match share(&row.says) {
            0.0 => "-".to_owned(),
            share => percent(share, Rounding::Nearest),
        });
        columns.push(Column::right(title, cells).rank(1));
    }
    columns
}

/// The distance from 0 or 1 within which limits of a chance are rounded to them.
const NEAR_AN_END: f64 = 1e-4;

/// Writes the limits of the chance to end within the budget.
fn chance_cell(row: &ForecastRow) -> String {
    or_none(row.chance.map(|chance| {
        // A limit this close to an end is written as the end.
        let low = if chance.low < NEAR_AN_END { 0.0 } else { chance.low };
        let high = if chance.high > 1.0 - NEAR_AN_END { 1.0 } else { chance.high };
        format!("{} to {}", percent(low, Rounding::Down), percent(high, Rounding::Up))
    }))
}

/// Adds a line of blocks for each truth: the share of runs that had ended, over rounds.
fn curves(page: &mut Page, result: &ForecastResult, look: Look) {
    let truths = cells(&result.rows, |row| truth_cell(result, row));
    let label = truths.iter().map(|truth| truth.width()).max().unwrap_or(0);
    page.gap();
    let title = format!("share of runs that had ended, over {}s", unit(result));
    page.line(&[words(INDENT), span(Tone::Dim, title)]);
    let mut width = 0;
    for (truth, row) in truths.iter().zip(&result.rows) {
        let line: String = row.curve.iter().map(|share| level(*share, look)).collect();
        width = line.width();
        page.blocks(&format!("{truth:>label$}"), &line, "");
    }
    if let [first, .., last] = result.curve_rounds.as_slice() {
        let middle = result.curve_rounds[result.curve_rounds.len() / 2].to_string();
        let (first, last) = (first.to_string(), last.to_string());
        let left = (width / 2).saturating_sub(first.len()).max(1);
        let right = width.saturating_sub(first.len() + left + middle.len() + last.len()).max(1);
        let axis = format!("{first}{}{middle}{}{last}", " ".repeat(left), " ".repeat(right));
        let indent = " ".repeat(label + 2 * INDENT.len());
        page.line(&[words(indent), span(Tone::Dim, axis)]);
    }
}
