//! What a forecast says, in a sentence or two.

use super::{difference, rate, unit};
use crate::look::{Spans, Tone, span, words};
use crate::number::{Rounding, count, percent, seconds};
use crate::text::plain;
use tiebreak_core::forecast::{ForecastResult, ForecastRow, NoiseSource};

/// The first paragraph of the page.
pub(super) fn said(result: &ForecastResult) -> Spans {
    let mut said = match (result.budget, result.rows.as_slice()) {
        _ if result.interrupted => {
            vec![span(Tone::Doubt, "Interrupted"), words(": what follows is less.")]
        }
        (Some(_), rows) if !rows.is_empty() => chance_said(result),
        (None, [row]) => needed_said(result, row),
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
        said.push(span(
            Tone::Plain,
            format!(
                " The pilot's rounds stay evidence: 'tiebreak resume {} --more BUDGET' goes on \
                 with them.",
                plain(run)
            ),
        ));
    }
    said
}

fn subject(result: &ForecastResult) -> String {
    format!("'{}'", plain(&result.claim))
}

fn truth_in_words(result: &ForecastResult, row: &ForecastRow) -> String {
    match &result.contestants {
        None => format!("at a true rate of {}", rate(row.truth)),
        Some([left, right]) => {
            let (left, right) = (plain(left), plain(right));
            match row.truth {
                1.0 => format!("if {left} and {right} are equal"),
                truth if truth > 1.0 => {
                    format!("if {left} is ahead by {}", difference(truth, Rounding::Nearest))
                }
                truth => {
                    format!("if {right} is ahead by {}", difference(1.0 / truth, Rounding::Nearest))
                }
            }
        }
    }
}

fn chance_said(result: &ForecastResult) -> Spans {
    let wanted = percent(result.chance_wanted, Rounding::Nearest);
    let budget = result.budget.map_or(String::new(), |budget| {
        let rounds = count(budget.rounds, unit(result));
        match budget.seconds {
            Some(within) => format!("{} ({rounds})", seconds(within)),
            None => rounds,
        }
    });
    let enough = |row: &ForecastRow| row.chance.and_then(|chance| chance.is_enough);
    let all = |wanted: bool| result.rows.iter().all(|row| enough(row) == Some(wanted));
    let when = match result.rows.as_slice() {
        [row] => format!(" {}", truth_in_words(result, row)),
        _ => String::new(),
    };
    let ends = format!("{} ends within {budget}{when}", subject(result));
    let cases = result.rows.len();
    let (tone, word, text) = if all(true) {
        (Tone::Good, "Enough", format!("{ends} with a chance of at least {wanted}."))
    } else if cases > 1 {
        let enough = result.rows.iter().filter(|row| enough(row) == Some(true)).count();
        let (tone, word) =
            if enough == 0 { (Tone::Bad, "Not enough") } else { (Tone::Doubt, "It depends") };
        let text =
            format!("{ends} with a chance of at least {wanted} in {enough} of {cases} cases.");
        (tone, word, text)
    } else if all(false) {
        (Tone::Bad, "Not enough", format!("{ends} with a chance below {wanted}."))
    } else {
        let text = format!(
            "the chance that {ends} is so close to {wanted} that it cannot be told on which side."
        );
        (Tone::Doubt, "Undecided", text)
    };
    vec![span(tone, word), words(format!(": {text}"))]
}

fn needed_said(result: &ForecastResult, row: &ForecastRow) -> Spans {
    let Some(median) = row.rounds_median else {
        return vec![
            span(Tone::Doubt, format!("More than {}", count(result.rounds_max, unit(result)))),
            span(
                Tone::Plain,
                format!(
                    ": most runs of {} had not ended by then {}.",
                    subject(result),
                    truth_in_words(result, row)
                ),
            ),
        ];
    };
    let wide = row.rounds_q10.zip(row.rounds_q90).filter(|(low, high)| low < high);
    let wide =
        wide.map_or(String::new(), |(low, high)| format!(", {low} to {high} in eight of ten runs"));
    let time = result
        .seconds_a_round
        .map_or(String::new(), |a_round| format!(" ({})", seconds(a_round * median as f64)));
    vec![
        span(Tone::Strong, format!("About {}{time}", count(median, unit(result)))),
        span(
            Tone::Plain,
            format!(" settle {} {}{wide}.", subject(result), truth_in_words(result, row)),
        ),
    ]
}
