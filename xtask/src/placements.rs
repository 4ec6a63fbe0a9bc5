//! The table of placements by tiebreak and by the linker, from the measurements of
//! `bench/placements`.

use crate::measured::{Part, rendered, source};
use anyhow::Result;
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/placements.json";

const SCHEMA: &str = "tiebreak/placements/1";

/// What is compared, as the data names it.
const TESTS: [&str; 2] = ["median", "tail"];

/// Renders the block, with links as seen from a page in a folder of `docs`.
///
/// # Errors
/// Fails if the data is not what `bench/placements` writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        let mut studies: Vec<_> = data.list("races").map(|race| race.text("study")).collect();
        studies.dedup();
        let mut rows: Vec<_> = studies.iter().map(|study| row(data, Some(study))).collect();
        rows.push(row(data, None));
        let [medians, tails] =
            TESTS.map(|test| format!("{:.2}", data.number(&format!("chance/{test}"))));
        let [date, machine] = data.day_and_machine();
        Ok(format!(
            "{}\nEach contestant was raced with itself, placed and linked, over {} units with \
             fresh placements of both; `tiebreak exact` tested each at {:.0}%. Were the laws the \
             same, so many medians or more would be said to differ with probability {medians}, so \
             many quantiles with {tails}.\n\nMeasured on {date} on {machine}. {}\n",
            table(&["study", "contestants", "medians differ", "0.9 quantiles differ"], rows),
            data.number("settings/units"),
            100.0 * data.number("settings/level"),
            source(DATA),
        ))
    })
}

/// Makes the row of a study, or that of all.
fn row(data: Part<'_>, study: Option<&str>) -> [String; 4] {
    let races = data.list("races").filter(|race| study.is_none_or(|one| race.text("study") == one));
    let [median, tail] = TESTS.map(|test| races.clone().filter(|race| race.is(test)).count());
    [
        study.unwrap_or("all").to_owned(),
        races.count().to_string(),
        median.to_string(),
        tail.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": "tiebreak/placements/1", "date": "2026-01-02",
        "machine": {"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"},
        "settings": {"units": 200, "level": 0.05}, "chance": {"median": 0.143, "tail": 1.0},
        "races": [{"study": "a", "contestant": "x", "median": true, "tail": false},
            {"study": "a", "contestant": "y", "median": false, "tail": false},
            {"study": "b", "contestant": "x", "median": false, "tail": false}]}"#;

    #[test]
    fn what_differs_is_counted() {
        let text = render(JSON).unwrap();
        let expected = ["| a | 2 | 1 | 0 |", "| all | 3 | 1 | 0 |", "probability 0.14, so"];
        for part in expected {
            assert!(text.contains(part), "{part}\nis not in\n{text}");
        }
        assert!(render(&JSON.replace("\"tail\": 1.0", "")).is_err());
    }
}
