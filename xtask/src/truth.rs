//! The tables of `make truth`: how often verdicts and intervals are wrong, world by world, from
//! what the example `truth` of `lab/engine` simulated and from what `bench/truth` measured.

use crate::measured::{Machine, Tools, rate, read, source};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use tiebreak_report::markdown::table;
use tiebreak_report::text::each_once;

/// Where the data is, from the root: in virtual time, and on the real clock.
pub const VIRTUAL: &str = "docs/measured/truth.json";
pub const REAL: &str = "docs/measured/truth-real.json";
/// The same of a machine of another make: `bench/truth/truth.py --to`.
pub const OTHER: &str = "docs/measured/truth-real-xeon.json";

const SCHEMA: &str = "tiebreak/truth/1";
const REAL_SCHEMA: &str = "tiebreak/truth-real/1";
/// What is compared, in the order of the rows.
const FORMS: [&str; 3] = ["programs", "functions", "runners"];

#[derive(Deserialize)]
struct Virtual {
    comparisons: usize,
    rounds: u64,
    error: f64,
    slower: f64,
    rows: Vec<Row>,
}

/// A world by one way to compare: of equals, and where B takes longer.
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
    date: String,
    machine: Machine,
    tools: Tools,
    settings: Settings,
    comparisons: Vec<Comparison>,
}

#[derive(Deserialize)]
struct Settings {
    process_ms: f64,
    runs: u32,
    error: f64,
    /// The budget of each form.
    rounds: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
struct Comparison {
    load: String,
    what: String,
    slower: bool,
    /// Of the machine when it began, over a minute.
    load_average: f64,
    tiebreak: Verdicts,
    /// Programs only.
    welch: Option<Verdicts>,
}

/// What was said of a comparison; `missed` only where the true ratio is known: of equals.
#[derive(Clone, Deserialize)]
struct Verdicts {
    /// Of tiebreak's.
    verdict: Option<String>,
    found: bool,
    wrong: bool,
    missed: Option<bool>,
}

/// The text of the block; the second table is made where something was measured.
///
/// # Errors
/// The data is not what the example and `bench/truth` write.
pub fn render(json: &str, real: Option<&str>) -> Result<String> {
    let simulated = simulated(&read(json, VIRTUAL, SCHEMA)?)?;
    let real = match real {
        Some(real) => measured(&read(real, REAL, REAL_SCHEMA)?, REAL),
        None => "Nothing was measured on the real clock yet.\n".to_owned(),
    };
    Ok(simulated + "\n" + &real)
}

/// The table of the other machine alone.
///
/// # Errors
/// The data is not what `bench/truth` writes.
pub fn other_machine(json: &str) -> Result<String> {
    Ok(measured(&read(json, OTHER, REAL_SCHEMA)?, OTHER))
}

fn simulated(data: &Virtual) -> Result<String> {
    let whats = each_once(data.rows.iter().map(|row| row.what.as_str()));
    let row = |world: &str| {
        let cell = |what: &&str| {
            let row = data.rows.iter().find(|row| row.world == world && row.what == *what);
            let Row { same, slower, .. } = row.with_context(|| format!("{VIRTUAL}: no {what}"))?;
            let Cell { found, wrong, missed } = slower;
            Ok(format!("{} / {wrong}, {} / {missed}; {found}", same.wrong, same.missed))
        };
        let cells = [Ok(world.to_owned())].into_iter().chain(whats.iter().map(cell));
        cells.collect::<Result<Vec<_>>>()
    };
    let worlds = each_once(data.rows.iter().map(|row| row.world.as_str()));
    let rows = worlds.into_iter().map(row).collect::<Result<Vec<_>>>()?;
    let title = |what: &&str| match *what {
        "Welch" => "Welch's t-test of programs".to_owned(),
        what => what.to_owned(),
    };
    let head: Vec<String> =
        ["world".to_owned()].into_iter().chain(whats.iter().map(title)).collect();
    let Virtual { comparisons, rounds, error, slower, .. } = data;
    Ok(format!(
        "{}\nEach cell: false verdicts of A against A / of B {:.0}% slower, missed intervals of \
         the same two, and after the semicolon how often the difference was found. Each number is \
         of {comparisons} comparisons at an error of {:.0}%, of at most {rounds} rounds; {:.0} are \
         what the error allows on average. Of ours the highest number of false verdicts or missed \
         intervals in any cell is {}. Every number is simulated, with fixed seeds. {}\n",
        table(&head, rows),
        100.0 * slower,
        100.0 * error,
        error * *comparisons as f64,
        highest(data),
        source(VIRTUAL),
    ))
}

fn highest(data: &Virtual) -> String {
    let ours = data.rows.iter().filter(|row| row.what != "Welch");
    let cells = ours.flat_map(|row| [row.same, row.slower]);
    let most = cells.map(|cell| cell.wrong.max(cell.missed)).max().unwrap_or(0);
    rate(most, data.comparisons)
}

fn measured(data: &Real, path: &str) -> String {
    let head = [
        "what, beside",
        "judged by",
        "A against A: false",
        "interval missed",
        "B 2% slower: found",
        "wrong",
        "load average",
    ];
    let mut cells: Vec<(usize, u32, &str)> = data.comparisons.iter().map(place).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut rows = Vec::new();
    for cell in cells {
        let of: Vec<&Comparison> = data.comparisons.iter().filter(|c| place(c) == cell).collect();
        let (what, load) = (FORMS.get(cell.0).copied().unwrap_or("others"), cell.2);
        let ours: Vec<(bool, &Verdicts)> = of.iter().map(|c| (c.slower, &c.tiebreak)).collect();
        let beside = range(of.iter().map(|c| c.load_average));
        rows.push(row(format!("{what}, {load}"), "tiebreak", judged(&ours), beside));
        let welch = of.iter().filter_map(|c| Some((c.slower, c.welch.as_ref()?)));
        let welch: Vec<(bool, &Verdicts)> = welch.collect();
        if !welch.is_empty() {
            let (judge, none) = ("hyperfine, Welch's t-test", String::new());
            rows.push(row(none.clone(), judge, judged(&welch), none));
        }
    }
    let Real { date, machine, tools, settings, .. } = data;
    format!(
        "{}\nEach cell: how many of how many, and the share with its 95% interval (Wilson). {} \
         Measured on {date} on {machine}, each comparison on one CPU, beside what the first column \
         says and whatever else the machine did, which the last column shows: programs of about {} \
         ms, `--error {}`, budgets of {}. tiebreak {}; hyperfine {}, {} runs of each; SciPy {}, \
         p < {}. {}\n",
        table(&head, rows),
        accused(data),
        settings.process_ms,
        settings.error,
        budgets(settings),
        tools.tiebreak,
        tools.hyperfine,
        settings.runs,
        tools.scipy,
        settings.error,
        source(path),
    )
}

fn row(what: String, judge: &str, [a, b, c, d]: [String; 4], beside: String) -> [String; 7] {
    [what, judge.to_owned(), a, b, c, d, beside]
}

/// Where the row of a comparison stands: by form, then by how many others there were.
fn place(comparison: &Comparison) -> (usize, u32, &str) {
    let form = FORMS.iter().position(|form| *form == comparison.what).unwrap_or(FORMS.len());
    let count = comparison.load.split(' ').find_map(|word| word.parse().ok()).unwrap_or(0);
    (form, count, &comparison.load)
}

/// How often an honest contestant was accused, which counts as a false verdict.
fn accused(data: &Real) -> String {
    let is_void = |c: &&Comparison| c.tiebreak.verdict.as_deref() == Some("void");
    let void = data.comparisons.iter().filter(is_void).count();
    format!(
        "Of our comparisons a contestant was called void in {}; all are honest, so each counts as \
         false.",
        rate(void, data.comparisons.len())
    )
}

/// "40 rounds (programs), 16 rounds (functions), 10 rounds (runners)".
fn budgets(settings: &Settings) -> String {
    let told = FORMS.iter().filter_map(|form| Some((form, settings.rounds.get(*form)?)));
    let told: Vec<String> =
        told.map(|(form, rounds)| format!("{rounds} rounds ({form})")).collect();
    told.join(", ")
}

/// The least and the most of values.
fn range(values: impl Iterator<Item = f64> + Clone) -> String {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    format!("{least:.0} to {:.0}", values.fold(0.0, f64::max))
}

/// Four cells of a row: of equals, and of others.
fn judged(all: &[(bool, &Verdicts)]) -> [String; 4] {
    let cell = |slower: bool, is: fn(&Verdicts) -> Option<bool>| {
        let of = all.iter().filter(|(of, _)| *of == slower).filter_map(|(_, said)| is(said));
        let of: Vec<bool> = of.collect();
        rate(of.iter().filter(|is| **is).count(), of.len())
    };
    [
        cell(false, |said| Some(said.wrong)),
        cell(false, |said| said.missed),
        cell(true, |said| Some(said.found)),
        cell(true, |said| Some(said.wrong)),
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
    fn counts_of_both_clocks_are_told() {
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
