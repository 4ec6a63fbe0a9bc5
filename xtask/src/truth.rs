//! The tables of `make truth`: how often verdicts and intervals are wrong, world by world, from the
//! simulations of the example `truth` of `lab/engine` and the measurements of `bench/truth`.

use crate::measured::{Part, rate, rate_of, rendered, source};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use tiebreak_report::markdown::table;
use tiebreak_report::text::each_once;

/// The path of the data in virtual time, from the root.
pub const VIRTUAL: &str = "docs/measured/truth.json";
/// The path of the data on the real clock.
pub const REAL: &str = "docs/measured/truth-real.json";
/// The path of the same data of a machine of another make: `bench/truth/truth.py --to`.
pub const OTHER: &str = "docs/measured/truth-real-xeon.json";

const SCHEMA: &str = "tiebreak/truth/1";
const REAL_SCHEMA: &str = "tiebreak/truth-real/1";
/// The forms of contestants, in the order of the rows.
const FORMS: [&str; 3] = ["programs", "functions", "runners"];

/// Renders the block; with the second table if there are measurements.
///
/// # Errors
/// Fails if the data is not what the example and `bench/truth` write.
pub fn render(json: &str, real: Option<&str>) -> Result<String> {
    let simulated = rendered(json, VIRTUAL, SCHEMA, simulated)?;
    let real = match real {
        Some(real) => measured(real, REAL)?,
        None => "Nothing was measured on the real clock yet.\n".to_owned(),
    };
    Ok(simulated + "\n" + &real)
}

/// Renders the table of the other machine alone.
///
/// # Errors
/// Fails if the data is not what `bench/truth` writes.
pub fn other_machine(json: &str) -> Result<String> {
    measured(json, OTHER)
}

fn simulated(data: Part<'_>) -> Result<String> {
    let (comparisons, error) = (data.number("comparisons"), data.number("error"));
    let rows = data.list("rows");
    let whats = each_once(rows.clone().map(|row| row.text("what")));
    let mut head = vec!["world".to_owned()];
    head.extend(whats.iter().map(|what| what.replace("Welch", "Welch's t-test of programs")));
    let mut table_rows = Vec::new();
    for world in each_once(rows.clone().map(|row| row.text("world"))) {
        let mut cells = vec![world.to_owned()];
        for what in &whats {
            let mut in_world = rows.clone().filter(|row| row.text("world") == world);
            let row = in_world.find(|row| row.text("what") == *what);
            let row = row.with_context(|| format!("{VIRTUAL}: no {what}"))?;
            let [wrong, missed] = ["wrong", "missed"].map(|count| {
                ["same", "slower"].map(|case| row.at(case).number(count).to_string()).join(" / ")
            });
            cells.push(format!("{wrong}, {missed}; {}", row.number("slower/found")));
        }
        table_rows.push(cells);
    }
    let ours = rows.filter(|row| row.text("what") != "Welch");
    let cells = ours.flat_map(|row| [row.at("same"), row.at("slower")]);
    let counts = cells.flat_map(|cell| [cell.number("wrong"), cell.number("missed")]);
    Ok(format!(
        "{}\nEach cell: false verdicts of A against A / of B {:.0}% slower, missed intervals of \
         the same two, and after the semicolon how often the difference was found. Each number is \
         of {comparisons} comparisons at an error of {:.0}%, of at most {} rounds; {:.0} are what \
         the error allows on average. Of ours the highest number of false verdicts or missed \
         intervals in any cell is {}. Every number is simulated, with fixed seeds. {}\n",
        table(&head, table_rows),
        100.0 * data.number("slower"),
        100.0 * error,
        data.number("rounds"),
        error * comparisons,
        rate(counts.fold(0.0, f64::max) as usize, comparisons as usize),
        source(VIRTUAL),
    ))
}

fn measured(json: &str, path: &str) -> Result<String> {
    rendered(json, path, REAL_SCHEMA, |data| Ok(real(data, path)))
}

fn real(data: Part<'_>, path: &str) -> String {
    let head = [
        "what, under which load",
        "judged by",
        "A against A: false",
        "interval missed",
        "B 2% slower: found",
        "wrong",
        "load average",
    ];
    let all: Vec<Part<'_>> = data.list("comparisons").collect();
    let places: BTreeSet<(usize, u32, &str)> = all.iter().map(|one| place(*one)).collect();
    let mut rows = Vec::new();
    for at in places {
        let of: Vec<Part<'_>> = all.iter().filter(|one| place(**one) == at).copied().collect();
        let what = FORMS.get(at.0).unwrap_or(&"others");
        let loads = of.iter().map(|one| one.number("load_average"));
        let least = loads.clone().fold(f64::INFINITY, f64::min);
        let beside = format!("{least:.0} to {:.0}", loads.fold(0.0, f64::max));
        rows.push(row([format!("{what}, {}", at.2), "tiebreak".to_owned(), beside], &of));
        let welch: Vec<_> = of.into_iter().filter(|one| !one.at("welch").is_null()).collect();
        if !welch.is_empty() {
            rows.push(row(["", "hyperfine, Welch's t-test", ""].map(str::to_owned), &welch));
        }
    }
    // A void verdict accuses a contestant.
    let accused = all.iter().map(|one| one.maybe_text("tiebreak/verdict") == Some("void"));
    let of = data.at("settings");
    let budgets = FORMS.iter().filter_map(|form| {
        let rounds = of.maybe(&format!("rounds/{form}"))?;
        Some(format!("{rounds} rounds ({form})"))
    });
    let error = of.number("error");
    let [date, machine] = data.day_and_machine();
    format!(
        "{}\nEach cell: how many of how many, and the share with its 95% interval (Wilson). Of our \
         comparisons a contestant was called void in {}; all are honest, so each counts as false. \
         Measured on {date} on {machine}, each comparison on one CPU, under the load of the first \
         column and whatever else the machine did, as the last column shows: programs of about {} \
         ms, `--error {error}`, budgets of {}. tiebreak {}; hyperfine {}, {} runs of each; SciPy \
         {}, p < {error}. {}\n",
        table(&head, rows),
        rate_of(accused),
        of.number("process_ms"),
        budgets.collect::<Vec<_>>().join(", "),
        data.text("tools/tiebreak"),
        data.text("tools/hyperfine"),
        of.number("runs"),
        data.text("tools/scipy"),
        source(path),
    )
}

/// Returns the place of a comparison's row: by form, then by the number of other programs.
fn place(comparison: Part<'_>) -> (usize, u32, &str) {
    let (what, load) = (comparison.text("what"), comparison.text("load"));
    let form = FORMS.iter().position(|form| *form == what).unwrap_or(FORMS.len());
    let count = load.split(' ').find_map(|word| word.parse().ok()).unwrap_or(0);
    (form, count, load)
}

/// Makes a row from the verdicts of a judge: tiebreak, or Welch's t-test. Whether an interval
/// missed is known only where the true ratio is: of equals.
fn row([what, judge, beside]: [String; 3], all: &[Part<'_>]) -> [String; 7] {
    let tool = if judge == "tiebreak" { "tiebreak" } else { "welch" };
    let cell = |slower: bool, count: &str| {
        let of = all.iter().filter(|one| one.is("slower") == slower).map(|one| one.at(tool));
        let known = of.filter(|one| count != "missed" || !one.at(count).is_null());
        rate_of(known.map(|one| one.is(count)))
    };
    let [wrong_of_same, missed] = ["wrong", "missed"].map(|count| cell(false, count));
    let [found, wrong] = ["found", "wrong"].map(|count| cell(true, count));
    [what, judge, wrong_of_same, missed, found, wrong, beside]
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIRTUAL_DATA: &str = r#"{"schema": "tiebreak/truth/1", "comparisons": 400, "rounds": 9,
        "error": 0.05, "slower": 0.02, "rows": [
        {"world": "drift", "what": "programs", "same": {"found": 0, "wrong": 3, "missed": 4},
         "slower": {"found": 300, "wrong": 1, "missed": 5}},
        {"world": "drift", "what": "Welch", "same": {"found": 0, "wrong": 400, "missed": 399},
         "slower": {"found": 1, "wrong": 2, "missed": 390}}]}"#;

    const REAL_DATA: &str = r#"{"schema": "tiebreak/truth-real/1", "date": "2026-01-01",
        "machine": {"cpu": "X", "cpus": 2, "kernel": "6.1"},
        "tools": {"tiebreak": "0.1.0", "hyperfine": "1.15", "scipy": "1.10"},
        "settings": {"process_ms": 2.0, "runs": 80, "error": 0.05,
         "rounds": {"programs": 40, "runners": 10}},
        "comparisons": [
        {"load": "busy 16", "what": "programs", "slower": false, "load_average": 17.4,
         "tiebreak": {"verdict": "void", "found": false, "wrong": true, "missed": null},
         "welch": null},
        {"load": "quiet", "what": "runners", "slower": false, "load_average": 0.2,
         "tiebreak": {"verdict": "open", "found": false, "wrong": false, "missed": true},
         "welch": null},
        {"load": "quiet", "what": "programs", "slower": false, "load_average": 0.2,
         "tiebreak": {"verdict": "open", "found": false, "wrong": false, "missed": false},
         "welch": {"found": false, "wrong": true, "missed": null}},
        {"load": "quiet", "what": "programs", "slower": true, "load_average": 1.9,
         "tiebreak": {"verdict": "holds", "found": true, "wrong": false, "missed": null},
         "welch": null}]}"#;

    #[test]
    fn counts_of_both_clocks_are_written() {
        let text = render(VIRTUAL_DATA, Some(REAL_DATA)).unwrap();
        let expected = [
            "| world | programs | Welch's t-test of programs |\n",
            "| drift | 3 / 1, 4 / 5; 300 | 400 / 2, 399 / 390; 1 |\n",
            "in any cell is 5 of 400: 1.2% (0.5 to 2.9)",
            "| programs, quiet | tiebreak | 0 of 1: 0.0% (0.0 to 79.3) | 0 of 1: 0.0% (0.0 to \
             79.3) | 1 of 1: 100.0% (20.7 to 100.0) | 0 of 1: 0.0% (0.0 to 79.3) | 0 to 2 |\n\
             | | hyperfine, Welch's t-test | 1 of 1: 100.0% (20.7 to 100.0) | - | - | - | |\n\
             | programs, busy 16 | tiebreak | 1 of 1: 100.0% (20.7 to 100.0) | - | - | - | 17 to \
             17 |\n| runners, quiet |",
            "`--error 0.05`, budgets of 40 rounds (programs), 10 rounds (runners). tiebreak 0.1.0;",
            "called void in 1 of 4: 25.0% (4.6 to 69.9); all are honest",
        ];
        for part in expected {
            assert!(text.contains(part), "{part}\nis not in\n{text}");
        }
    }

    #[test]
    fn data_of_another_kind_is_refused() {
        let other = |json: &str| json.replace("/1\"", "/2\"");
        assert!(render(&other(VIRTUAL_DATA), None).is_err());
        assert!(render(VIRTUAL_DATA, Some(&other(REAL_DATA))).is_err());
        assert!(render(VIRTUAL_DATA, None).unwrap().ends_with("real clock yet.\n"));
        assert!(render("{}", Some(REAL_DATA)).is_err());
    }
}
