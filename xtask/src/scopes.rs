//! The table of the same code against itself at each scope, from what `bench/scopes` measured.

use crate::measured::{Machine, Neighbour, median, rate, read, source};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tiebreak_report::markdown::table;

/// Where the data is, from the root.
pub const DATA: &str = "docs/measured/scopes.json";

const SCHEMA: &str = "tiebreak/scopes/1";

/// The cases of a thing against itself, as the data names them and as the page does.
const SAME: [(&str, &str); 4] = [
    ("chain code", "a dependency chain, scope `code`"),
    ("branches code", "short branches, whose speed depends on where they lie, scope `code`"),
    ("branches layout", "the same branches, scope `layout`"),
    (
        "branches reused",
        "the same branches, 32 placements drawn again and again (`--placements 32`)",
    ),
];

/// The cases of a thing against one with 2% more work, with the budget.
const MORE: [(&str, &str); 3] = [
    ("chain more layout", "a dependency chain, scope `layout`, one second"),
    ("chain more code", "a dependency chain, scope `code`, ten seconds"),
    ("branches more code", "short branches, scope `code`, a minute"),
];

#[derive(Deserialize)]
struct Data {
    date: String,
    machine: Machine,
    settings: Settings,
    neighbour: Neighbour,
    forecast: Forecast,
    races: Vec<Race>,
}

#[derive(Deserialize)]
struct Settings {
    error: f64,
}

/// What `tiebreak power` said of the branches before they were raced.
#[derive(Deserialize)]
struct Forecast {
    /// How much the ratio varies from unit to unit, as a natural logarithm.
    noise: f64,
    /// Half of the races need no more units; none if no race would end.
    units_median: Option<u64>,
}

#[derive(Deserialize)]
struct Race {
    case: String,
    verdict: String,
    /// The side that is said to be faster.
    faster: Option<String>,
    units: u64,
    seconds: f64,
}

/// The text of the block, with links as seen from the root.
///
/// # Errors
/// The data is not what `bench/scopes` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data = read(json, DATA, SCHEMA)?;
    let is_false = |race: &Race| race.verdict == "holds";
    let same = SAME.iter().map(|case| row(&data, *case, is_false)).collect::<Result<Vec<_>>>()?;
    let found = |race: &Race| race.faster.as_deref() == Some("first");
    let more = MORE.iter().map(|case| row(&data, *case, found)).collect::<Result<Vec<_>>>()?;
    let head = ["the same code against itself", "said to differ: false", "units", "seconds"];
    Ok(format!(
        "{}\n{}\n{}\n",
        table(&head, same),
        table(&["against 2% more work", "found", "units", "seconds"], more),
        conditions(&data)?
    ))
}

/// A case: how many of its races came to this verdict, and what half of them needed.
fn row(
    data: &Data,
    (case, name): (&str, &str),
    is_counted: fn(&Race) -> bool,
) -> Result<[String; 4]> {
    let races: Vec<&Race> = data.races.iter().filter(|race| race.case == case).collect();
    ensure!(!races.is_empty(), "{DATA}: no races of '{case}'");
    let counted = races.iter().filter(|race| is_counted(race)).count();
    let middle = |of: fn(&Race) -> f64| median(races.iter().map(|race| of(race)).collect());
    let units = middle(|race| race.units as f64).unwrap_or_default();
    let seconds = middle(|race| race.seconds).unwrap_or_default();
    let counted = rate(counted, races.len());
    Ok([name.to_owned(), counted, format!("{units:.0}"), format!("{seconds:.2}")])
}

fn conditions(data: &Data) -> Result<String> {
    let found = data.races.iter().filter(|race| race.case == "branches more code");
    let needed = median(found.map(|race| race.units as f64).collect()).unwrap_or_default();
    let forecast = data.forecast.units_median;
    let forecast = forecast.with_context(|| format!("{DATA}: no forecast"))?;
    Ok(format!(
        "Each cell: races that came to this verdict, of how many, and the share with its 95% \
         interval (Wilson); units and seconds are medians. Of the branches with 2% more work, \
         `tiebreak power` had predicted {forecast} units from the noise of 200 others ({:.1}% a \
         unit): half of the races needed {:.2} times as many.\n\n\
         Measured on {} on {}, `--error {}`, on one CPU with a bursty neighbour ({}). No two \
         races share a placement, the last case of the first table apart. {}",
        100.0 * data.forecast.noise,
        needed / forecast as f64,
        data.date,
        data.machine,
        data.settings.error,
        data.neighbour,
        source(DATA),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(broken: (&str, &str)) -> String {
        let mut races = Vec::new();
        for (case, _) in SAME.iter().chain(&MORE) {
            for (verdict, faster) in [("holds", "\"first\""), ("too_close", "null")] {
                races.push(format!(
                    r#"{{"case": "{case}", "verdict": "{verdict}", "faster": {faster},
                        "units": 30, "seconds": 0.5}}"#
                ));
            }
        }
        let json = format!(
            r#"{{"schema": "{SCHEMA}", "date": "2026-01-02",
                "machine": {{"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"}},
                "settings": {{"error": 0.01}},
                "neighbour": {{"duty": 0.3, "cpu_seconds": 22.0, "wall_seconds": 100.0}},
                "forecast": {{"noise": 0.07, "units_median": 24}}, "races": [{}]}}"#,
            races.join(",")
        );
        json.replace(broken.0, broken.1)
    }

    #[test]
    fn false_verdicts_finds_and_the_forecast_are_told() {
        let text = render(&data(("", ""))).unwrap();
        let expected = [
            "| a dependency chain, scope `code` | 1 of 2: 50.0% (9.5 to 90.5) | 30 | 0.50 |",
            "| short branches, scope `code`, a minute | 1 of 2: 50.0% (9.5 to 90.5) | 30 | 0.50 |",
            "predicted 24 units from the noise of 200 others (7.0% a unit): half of the races \
             needed 1.25 times",
        ];
        for part in expected {
            assert!(text.contains(part), "{part}\nis not in\n{text}");
        }
    }

    #[test]
    fn data_without_a_case_or_of_another_kind_is_refused() {
        for (from, to) in [("chain code", "chain"), ("scopes/1", "scopes/2"), ("24", "null")] {
            assert!(render(&data((from, to))).is_err(), "{from}");
        }
    }
}
