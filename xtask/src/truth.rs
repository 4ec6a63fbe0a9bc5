//! The tables of `make truth`: how often verdicts and intervals are wrong, world by world, from the
//! simulations of the example `truth` of `lab/engine` and the measurements of `bench/truth`.

use crate::measured::{Data, rate, rate_of, read, source};
use anyhow::{Context, Result};
use serde::Deserialize;
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

#[derive(Deserialize)]
struct Virtual {
    comparisons: usize,
    rounds: u64,
    error: f64,
    slower: f64,
    rows: Vec<Row>,
}

/// The comparisons in a world in one way: of equals, and where B takes longer.
#[derive(Deserialize)]
struct Row {
    world: String,
    what: String,
    same: Cell,
    slower: Cell,
}

#[derive(Clone, Copy, Deserialize)]
struct Cell {
    found: usize,
    wrong: usize,
    missed: usize,
}

#[derive(Deserialize)]
struct Real {
    comparisons: Vec<Comparison>,
}

#[derive(Deserialize)]
struct Comparison {
    load: String,
    what: String,
    slower: bool,
    /// The load average of the machine at the beginning, over a minute.
    load_average: f64,
    tiebreak: Verdicts,
    /// Only for programs.
    welch: Option<Verdicts>,
}

/// The verdict on a comparison; `missed` is known only where the true ratio is: of equals.
#[derive(Deserialize)]
struct Verdicts {
    /// The verdict of tiebreak.
    verdict: Option<String>,
    found: bool,
    wrong: bool,
    missed: Option<bool>,
}

/// Renders the block; with the second table if there are measurements.
///
/// # Errors
/// Fails if the data is not what the example and `bench/truth` write.
pub fn render(json: &str, real: Option<&str>) -> Result<String> {
    let simulated = simulated(&read(json, VIRTUAL, SCHEMA)?)?;
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

fn simulated(data: &Virtual) -> Result<String> {
    let Virtual { comparisons, rounds, error, slower, rows } = data;
    let whats = each_once(rows.iter().map(|row| row.what.as_str()));
    let mut head = vec!["world".to_owned()];
    head.extend(whats.iter().map(|what| what.replace("Welch", "Welch's t-test of programs")));
    let mut table_rows = Vec::new();
    for world in each_once(rows.iter().map(|row| row.world.as_str())) {
        let mut cells = vec![world.to_owned()];
        for what in &whats {
            let row = rows.iter().find(|row| row.world == world && row.what == *what);
            let Row { same, slower, .. } = row.with_context(|| format!("{VIRTUAL}: no {what}"))?;
            cells.push(format!(
                "{} / {}, {} / {}; {}",
                same.wrong, slower.wrong, same.missed, slower.missed, slower.found
            ));
        }
        table_rows.push(cells);
    }
    let ours = rows.iter().filter(|row| row.what != "Welch");
    let cells = ours.flat_map(|row| [row.same, row.slower]);
    let highest = cells.map(|cell| cell.wrong.max(cell.missed)).max().unwrap_or(0);
    Ok(format!(
        "{}\nEach cell: false verdicts of A against A / of B {:.0}% slower, missed intervals of \
         the same two, and after the semicolon how often the difference was found. Each number is \
         of {comparisons} comparisons at an error of {:.0}%, of at most {rounds} rounds; {:.0} are \
         what the error allows on average. Of ours the highest number of false verdicts or missed \
         intervals in any cell is {}. Every number is simulated, with fixed seeds. {}\n",
        table(&head, table_rows),
        100.0 * slower,
        100.0 * error,
        error * *comparisons as f64,
        rate(highest, *comparisons),
        source(VIRTUAL),
    ))
}

fn measured(json: &str, path: &str) -> Result<String> {
    let data: Data<Real> = read(json, path, REAL_SCHEMA)?;
    let all = &data.of.comparisons;
    let head = [
        "what, beside",
        "judged by",
        "A against A: false",
        "interval missed",
        "B 2% slower: found",
        "wrong",
        "load average",
    ];
    let mut cells: Vec<(usize, u32, &str)> = all.iter().map(place).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut rows = Vec::new();
    for cell in cells {
        let of: Vec<&Comparison> = all.iter().filter(|one| place(one) == cell).collect();
        let what = FORMS.get(cell.0).unwrap_or(&"others");
        let loads = of.iter().map(|one| one.load_average);
        let least = loads.clone().fold(f64::INFINITY, f64::min);
        let beside = format!("{least:.0} to {:.0}", loads.fold(0.0, f64::max));
        let ours = of.iter().map(|one| (one.slower, &one.tiebreak)).collect();
        rows.push(row(format!("{what}, {}", cell.2), "tiebreak", ours, beside));
        let welch: Vec<_> =
            of.iter().filter_map(|one| Some((one.slower, one.welch.as_ref()?))).collect();
        if !welch.is_empty() {
            let name = "hyperfine, Welch's t-test";
            rows.push(row(String::new(), name, welch, String::new()));
        }
    }
    // A void verdict accuses a contestant.
    let accused = all.iter().map(|one| one.tiebreak.verdict.as_deref() == Some("void"));
    let budgets = FORMS.iter().filter_map(|form| {
        let [rounds] = data.settings([&format!("rounds/{form}")]).ok()?;
        Some(format!("{rounds} rounds ({form})"))
    });
    let [process_ms, runs, error] = data.settings(["process_ms", "runs", "error"])?;
    Ok(format!(
        "{}\nEach cell: how many of how many, and the share with its 95% interval (Wilson). Of our \
         comparisons a contestant was called void in {}; all are honest, so each counts as false. \
         Measured on {} on {}, each comparison on one CPU, beside what the first column says and \
         whatever else the machine did, which the last column shows: programs of about \
         {process_ms} ms, `--error {error}`, budgets of {}. tiebreak {}; hyperfine {}, {runs} runs \
         of each; SciPy {}, p < {error}. {}\n",
        table(&head, rows),
        rate_of(accused),
        data.date,
        data.machine,
        budgets.collect::<Vec<_>>().join(", "),
        data.tool("tiebreak")?,
        data.tool("hyperfine")?,
        data.tool("scipy")?,
        source(path),
    ))
}

/// Returns the place of a comparison's row: by form, then by the number of other programs.
fn place(comparison: &Comparison) -> (usize, u32, &str) {
    let form = FORMS.iter().position(|form| *form == comparison.what).unwrap_or(FORMS.len());
    let count = comparison.load.split(' ').find_map(|word| word.parse().ok()).unwrap_or(0);
    (form, count, &comparison.load)
}

/// Makes a row from a judge's verdicts, each with whether B was slower.
fn row(what: String, judge: &str, all: Vec<(bool, &Verdicts)>, beside: String) -> [String; 7] {
    let cell = |slower: bool, is: fn(&Verdicts) -> Option<bool>| {
        rate_of(all.iter().filter(|one| one.0 == slower).filter_map(|one| is(one.1)))
    };
    [
        what,
        judge.to_owned(),
        cell(false, |verdict| Some(verdict.wrong)),
        cell(false, |verdict| verdict.missed),
        cell(true, |verdict| Some(verdict.found)),
        cell(true, |verdict| Some(verdict.wrong)),
        beside,
    ]
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
