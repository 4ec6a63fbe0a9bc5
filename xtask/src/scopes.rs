//! The table of the same code against itself at each scope, from the measurements of
//! `bench/scopes`.

use crate::measured::{Part, median, rate_of, rendered, source};
use anyhow::{Context, Result};
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
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

/// Renders the block, with links as seen from the root.
///
/// # Errors
/// Fails if the data is not what `bench/scopes` writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        let same = SAME.map(|case| row(data, case, |race| race.text("verdict") == "holds"));
        let more =
            MORE.map(|case| row(data, case, |race| race.maybe_text("faster") == Some("first")));
        let predicted = of_case(data, "branches more code").map(|race| race.number("units"));
        let needed = median(predicted).unwrap_or_default();
        // What `tiebreak power` forecast for the branches, before they were raced.
        let units = data.number("forecast/units_median");
        let [date, machine] = data.day_and_machine();
        Ok(format!(
            "{}\n{}\nEach cell: races that came to this verdict, of how many, and the share with \
             its 95% interval (Wilson); units and seconds are medians. Of the branches with 2% \
             more work, `tiebreak power` had predicted {units} units from the noise of 200 others \
             ({:.1}% a unit): half of the races needed {:.2} times as many.\n\n\
             Measured on {date} on {machine}, `--error {}`, on one CPU with a bursty neighbour \
             ({}). No two races share a placement, the last case of the first table apart. {}\n",
            table(
                &["the same code against itself", "said to differ: false", "units", "seconds"],
                same.into_iter().collect::<Result<Vec<_>>>()?
            ),
            table(
                &["against 2% more work", "found", "units", "seconds"],
                more.into_iter().collect::<Result<Vec<_>>>()?
            ),
            100.0 * data.number("forecast/noise"),
            needed / units,
            data.number("settings/error"),
            data.neighbour(),
            source(DATA),
        ))
    })
}

fn of_case<'a>(data: Part<'a>, case: &str) -> impl Iterator<Item = Part<'a>> + Clone {
    data.list("races").filter(move |race| race.text("case") == case)
}

/// Makes the row of a case: how many of its races count, and the units and seconds that half of
/// them needed.
fn row(
    data: Part<'_>,
    (case, name): (&str, &str),
    counts: fn(Part<'_>) -> bool,
) -> Result<[String; 4]> {
    let races = of_case(data, case);
    let [units, seconds] =
        ["units", "seconds"].map(|place| median(races.clone().map(|race| race.number(place))));
    let units = units.with_context(|| format!("{DATA}: no races of '{case}'"))?;
    let seconds = seconds.unwrap_or_default();
    Ok([
        name.to_owned(),
        rate_of(races.map(counts)),
        format!("{units:.0}"),
        format!("{seconds:.2}"),
    ])
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
    fn false_verdicts_finds_and_the_forecast_are_written() {
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
