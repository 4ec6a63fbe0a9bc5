//! The tables of how many rounds a verdict takes in made and in recorded noise, and of the errors
//! there, by each engine, from the example `rounds` of `lab/stats`.

use crate::measured::{Part, rendered, source};
use anyhow::{Context, Result};
use tiebreak_report::markdown::table;
use tiebreak_report::number::share_text;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/rounds.json";

const SCHEMA: &str = "tiebreak/rounds/1";

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what the example writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        Ok(format!(
            "{}\n{}\nEvery number is simulated, with fixed seeds. {}\n",
            rounds(data)?,
            errors(data)?,
            source(DATA)
        ))
    })
}

fn rounds(data: Part<'_>) -> Result<String> {
    let first = data.list("rows").next().with_context(|| format!("{DATA}: no rows"))?;
    let names: Vec<&str> = first.list("engines").map(|engine| engine.text("name")).collect();
    let (before, now) = names.first().zip(names.last()).context("a row without engines")?;
    let rows = data.list("rows").map(|row| {
        let mut cells = vec![row.text("world").to_owned(), row.number("effect").to_string()];
        cells.extend(row.list("engines").map(|engine| {
            format!("{} ({})", count(engine.maybe("median")), count(engine.maybe("p90")))
        }));
        cells.push(ratio(row).map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
        cells
    });
    let [streams, most] = ["streams", "rounds_most"].map(|place| data.number(place));
    let head = format!("{now} / {before}");
    let of_peaks = |wanted: bool| -> Vec<f64> {
        let rows = data.list("rows").filter(|row| row.is("is_peaked") == wanted);
        let mut ratios: Vec<f64> = rows.filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    };
    let said = |ratios: &[f64]| match (ratios.first(), ratios.last()) {
        (Some(least), Some(most)) => format!(
            "{least:.2} to {most:.2} times the rounds of {before}, {:.2} in the middle row",
            ratios[ratios.len() / 2]
        ),
        _ => "no rows".to_owned(),
    };
    Ok(format!(
        "{}\nRounds to \"A is faster\" at an error of {}: in half of {streams} streams and, in \
         brackets, in nine of ten; - is more than {most}. Where noise has several modes, {now} \
         needs {}; elsewhere {}.\n",
        table(&[&["noise", "effect"][..], &names, &[head.as_str()]].concat(), rows),
        percent(data.number("error")),
        said(&of_peaks(true)),
        said(&of_peaks(false)),
    ))
}

/// Returns the rounds of the last engine over those of the first, in half of the streams; `None` if
/// either needed more than were tried.
fn ratio(row: Part<'_>) -> Option<f64> {
    let medians: Vec<Option<f64>> = row.list("engines").map(|one| one.maybe("median")).collect();
    Some((*medians.last()?)? / (*medians.first()?)?)
}

fn count(rounds: Option<f64>) -> String {
    rounds.map_or("-".to_owned(), |rounds| rounds.to_string())
}

fn errors(data: Part<'_>) -> Result<String> {
    let first = data.list("wrong").next().with_context(|| format!("{DATA}: no errors"))?;
    let mut head = vec!["noise".to_owned()];
    for engine in first.list("engines") {
        let name = engine.text("name");
        head.extend([format!("{name}: false"), format!("{name}: missed")]);
    }
    let streams = data.number("wrong_streams");
    let rows = data.list("wrong").map(|row| {
        let mut cells = vec![row.text("world").to_owned()];
        let kinds = ["false_alarms", "missed"];
        let counts = row.list("engines").flat_map(|engine| kinds.map(|kind| engine.part(kind)));
        cells.extend(counts.map(|rate| percent(rate.number("count") / streams)));
        cells
    });
    let confidence = percent(data.number("confidence"));
    let highest = data.list("wrong").flat_map(|row| row.list("engines"));
    let highest =
        highest.flat_map(|engine| ["false_alarms/low", "missed/low"].map(|low| engine.number(low)));
    let highest = highest.fold(0.0, f64::max);
    Ok(format!(
        "{}\nOf {streams} streams of {} rounds, those in which \"A is faster\" ever holds where \
         neither is, and those in which a limit of the ratio ever excludes the truth; {} is asked \
         for. No rate is proven to be above {} (each with probability {confidence}).\n",
        table(&head, rows),
        data.number("wrong_rounds"),
        percent(data.number("error")),
        percent(highest)
    ))
}

fn percent(share: f64) -> String {
    share_text(share, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": "tiebreak/rounds/1", "error": 0.01, "streams": 40,
        "rounds_most": 8000, "wrong_streams": 200, "wrong_rounds": 1000, "confidence": 0.99,
        "rows": [{"world": "bimodal", "is_peaked": true, "effect": 0.5, "engines": [
            {"name": "old", "median": 300, "p90": null},
            {"name": "new", "median": 100, "p90": 250}]}],
        "wrong": [{"world": "bimodal", "engines": [
            {"name": "old", "false_alarms": {"count": 2, "low": 0.001},
             "missed": {"count": 0, "low": 0.0}}]}]}"#;

    #[test]
    fn rounds_and_errors_are_written() {
        let text = render(JSON).unwrap();
        for expected in [
            "| noise | effect | old | new | new / old |\n",
            "| bimodal | 0.5 | 300 (-) | 100 (250) | 0.33 |\n",
            "new needs 0.33 to 0.33 times the rounds of old, 0.33 in the middle row; elsewhere no",
            "| noise | old: false | old: missed |\n",
            "| bimodal | 1% | 0% |\n",
            "No rate is proven to be above 0.1%",
        ] {
            assert!(text.contains(expected), "{expected}\nis not in\n{text}");
        }
        assert!(render("{}").is_err());
    }
}
