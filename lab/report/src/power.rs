//! The page of `tiebreak power`: what a claim will need.

mod said;
mod table;
#[cfg(test)]
mod tests;

use crate::json;
use crate::look::{Look, Tone, letters};
use crate::number::{Rounding, count, percent, share_text, trimmed};
use crate::page::Page;
use crate::text::plain;
use said::said;
use table::{curves, table};
use tiebreak_core::claim::{Property, Statement};
use tiebreak_core::forecast::{
    FORECAST_SCHEMA, ForecastMethod, ForecastResult, NoiseSource, Shape,
};

/// The result as JSON with a line feed at the end, as `docs/schema/power-1.schema.json` describes
/// it.
pub fn json(result: &ForecastResult) -> String {
    json::text_of(FORECAST_SCHEMA, result)
}

/// What the forecast says, in a sentence or two without styles.
pub fn sentence(result: &ForecastResult) -> String {
    letters(&said(result))
}

/// The whole page: the sentence, a line a truth, and the share of runs that had ended over rounds.
pub fn render(result: &ForecastResult, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &said(result));
    if !result.rows.is_empty() {
        page.gap();
        let title =
            format!("{}s by which so many runs had ended, and what they said", unit(result));
        page.note(title);
        page.table(table(result));
        curves(&mut page, result, *look);
    }
    page.gap();
    for line in small_print(result) {
        page.say(Tone::Dim, line);
    }
    page.finish()
}

/// What one unit of the budget is called.
fn unit(result: &ForecastResult) -> &'static str {
    match result.noise {
        NoiseSource::Trials => "trial",
        _ => "round",
    }
}

fn small_print(result: &ForecastResult) -> Vec<String> {
    let mut lines = vec![format!(
        "{} Error {}{}.",
        noise(result),
        percent(result.error, Rounding::Nearest),
        resolution(result)
    )];
    let runs = result.rows.iter().map(|row| row.runs).max().unwrap_or(0);
    lines.push(format!(
        "Simulated: up to {} for each line, none longer than {}.",
        count(runs, "run"),
        count(result.rounds_max, unit(result)),
    ));
    if let Some(chance) = result.rows.iter().find_map(|row| row.chance) {
        let wrong = 1.0 - chance.confidence;
        lines.push(match result.method {
            ForecastMethod::Recommended => format!(
                "The chance to end within the budget lies in its interval, and on the side of {} \
                 that is told, but for a probability of {wrong:.1e}.",
                percent(result.chance_wanted, Rounding::Nearest)
            ),
            ForecastMethod::Classic => format!(
                "The chance to decide rightly within the budget is found by the published \
                 recursion, the driver within the driver, at an error of {wrong:.1e}."
            ),
        });
    }
    if let Statement::Property(Property::Succeeds { .. }) = result.statement {
        lines.push(
            "Trials are simulated independent of each other: where failures come in bursts, slo \
             counts blocks and needs more."
                .to_owned(),
        );
    }
    lines.push(format!("Seed {}.", plain(&result.seed)));
    lines
}

fn resolution(result: &ForecastResult) -> String {
    match result.contestants {
        Some(_) => format!(", resolution {}", percent(result.resolution, Rounding::Nearest)),
        None => String::new(),
    }
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
            let size = deviation.map_or(String::new(), |deviation| {
                format!(", {} a round", percent(deviation, Rounding::Nearest))
            });
            format!("Noise of the pilot {}: {}{size}.", plain(run), count(*rounds, "round"))
        }
        NoiseSource::Trials => match result.method {
            ForecastMethod::Recommended => "Success rates.".to_owned(),
            ForecastMethod::Classic => "Success rates, by the published driver.".to_owned(),
        },
    }
}

/// How far a ratio lies from 1: `3%`, or from 2 on `2.5x`.
fn difference(ratio: f64, rounding: Rounding) -> String {
    match ratio {
        ratio if ratio >= 2.0 => {
            format!("{}x", trimmed(&format!("{ratio:.4}")))
        }
        // A ratio such as 1.03 is not quite so in binary.
        ratio => percent(((ratio - 1.0) * 1e9).round() / 1e9, rounding),
    }
}

/// A rate with all the decimals that it has, up to four.
fn rate(rate: f64) -> String {
    share_text(rate, 4)
}
