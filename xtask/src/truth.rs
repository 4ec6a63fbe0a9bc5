//! The tables of `make truth`: how often verdicts and intervals are wrong, world by world, from
//! what the example `truth` of `lab/tiebreak` simulated and from what `bench/truth` measured.

use crate::measured::Machine;
use crate::peers::rate;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::fmt::Write;

/// Where the data is, from the root: in virtual time, and on the real clock.
pub const VIRTUAL: &str = "docs/measured/truth.json";
pub const REAL: &str = "docs/measured/truth-real.json";

const SCHEMA: &str = "tiebreak/truth/1";
const REAL_SCHEMA: &str = "tiebreak/truth-real/1";

#[derive(Deserialize)]
struct Virtual {
    schema: String,
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
    schema: String,
    date: String,
    machine: Machine,
    tools: Tools,
    settings: Settings,
    comparisons: Vec<Comparison>,
}

#[derive(Deserialize)]
struct Tools {
    tiebreak: String,
    hyperfine: String,
    scipy: String,
}

#[derive(Deserialize)]
struct Settings {
    process_ms: f64,
    runs: u32,
    error: f64,
    budget_seconds: f64,
}

#[derive(Deserialize)]
struct Comparison {
    load: String,
    what: String,
    slower: bool,
    tiebreak: Said,
    /// Programs only.
    welch: Option<Said>,
}

/// What was said of a comparison; `missed` only where the true ratio is known: of equals.
#[derive(Clone, Copy, Deserialize)]
struct Said {
    found: bool,
    wrong: bool,
    missed: Option<bool>,
}

/// The text of the block; the second table is made where something was measured.
///
/// # Errors
/// The data is not what the example and `bench/truth` write.
pub fn render(json: &str, real: Option<&str>) -> Result<String> {
    let data: Virtual = serde_json::from_str(json).with_context(|| format!("reading {VIRTUAL}"))?;
    ensure!(data.schema == SCHEMA, "{VIRTUAL}: schema {} instead of {SCHEMA}", data.schema);
    let Some(real) = real else {
        return Ok(simulated(&data)? + "\nNothing was measured on the real clock yet.\n");
    };
    let real: Real = serde_json::from_str(real).with_context(|| format!("reading {REAL}"))?;
    ensure!(real.schema == REAL_SCHEMA, "{REAL}: schema {}, not {REAL_SCHEMA}", real.schema);
    Ok(simulated(&data)? + "\n" + &measured(&real)?)
}

/// Values in the order in which they come first.
fn in_order<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    values.for_each(|value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
    });
    seen
}

fn simulated(data: &Virtual) -> Result<String> {
    let whats = in_order(data.rows.iter().map(|row| row.what.as_str()));
    let mut out = "| world |".to_owned();
    for what in &whats {
        write!(out, " {} |", if *what == "Welch" { "Welch's t-test of programs" } else { what })?;
    }
    writeln!(out, "\n|---|{}", "---|".repeat(whats.len()))?;
    for world in in_order(data.rows.iter().map(|row| row.world.as_str())) {
        write!(out, "| {world} |")?;
        for what in &whats {
            let row = data.rows.iter().find(|row| row.world == world && row.what == *what);
            let Row { same, slower, .. } = row.with_context(|| format!("{VIRTUAL}: no {what}"))?;
            let (wrong, missed) = (slower.wrong, slower.missed);
            write!(
                out,
                " {} / {wrong}, {} / {missed}; {} |",
                same.wrong, same.missed, slower.found
            )?;
        }
        writeln!(out)?;
    }
    let Virtual { comparisons, rounds, error, slower, .. } = data;
    writeln!(
        out,
        "\nEach cell: false verdicts of A against A / of B {:.0}% slower, missed intervals of the \
         same two, and after the semicolon how often the difference was found. Each number is of \
         {comparisons} comparisons at an error of {:.0}%, of at most {rounds} rounds; {:.0} are \
         what the error allows on average. Of ours the highest number of false verdicts or missed \
         intervals in any cell is {}. Every number is simulated, with fixed seeds. The data is in \
         [truth.json](../measured/truth.json).",
        100.0 * slower,
        100.0 * error,
        error * *comparisons as f64,
        highest(data),
    )?;
    Ok(out)
}

fn highest(data: &Virtual) -> String {
    let ours = data.rows.iter().filter(|row| row.what != "Welch");
    let cells = ours.flat_map(|row| [row.same, row.slower]);
    let most = cells.map(|cell| cell.wrong.max(cell.missed)).max().unwrap_or(0);
    rate(most, data.comparisons)
}

fn measured(data: &Real) -> Result<String> {
    let mut out = "| what, beside | judged by | A against A: false | interval missed \
                   | B 2% slower: found | wrong |\n|---|---|---|---|---|---|\n"
        .to_owned();
    let name = |comparison: &Comparison| format!("{}, {}", comparison.what, comparison.load);
    let names: Vec<String> = data.comparisons.iter().map(name).collect();
    let mut cells = in_order(names.iter().map(String::as_str));
    cells.sort_unstable();
    for cell in cells {
        let of: Vec<&Comparison> = data.comparisons.iter().filter(|c| name(c) == cell).collect();
        let ours: Vec<(bool, Said)> = of.iter().map(|c| (c.slower, c.tiebreak)).collect();
        writeln!(out, "| {cell} | tiebreak | {} |", judged(&ours))?;
        let welch: Vec<(bool, Said)> =
            of.iter().filter_map(|c| Some((c.slower, c.welch?))).collect();
        if !welch.is_empty() {
            writeln!(out, "| {cell} | hyperfine, Welch's t-test | {} |", judged(&welch))?;
        }
    }
    let Real { date, machine, tools, settings, .. } = data;
    writeln!(
        out,
        "\nEach cell: how many of how many, and the share with its 95% interval (Wilson). Measured \
         on {date} on {machine}, all on one CPU, beside what the first column says: programs of \
         about {} ms, `--error {}`, a budget of {} s. tiebreak {}; hyperfine {}, {} runs of each; \
         SciPy {}, p < {}. The data is in [truth-real.json](../measured/truth-real.json).",
        settings.process_ms,
        settings.error,
        settings.budget_seconds,
        tools.tiebreak,
        tools.hyperfine,
        settings.runs,
        tools.scipy,
        settings.error,
    )?;
    Ok(out)
}

/// Four cells of a row: of equals, and of others.
fn judged(all: &[(bool, Said)]) -> String {
    let cell = |slower: bool, is: fn(&Said) -> Option<bool>| {
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
    .join(" | ")
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
        "settings": {"process_ms": 2.0, "runs": 80, "error": 0.05, "budget_seconds": 2},
        "comparisons": [
        {"load": "quiet", "what": "programs", "slower": false,
         "tiebreak": {"found": false, "wrong": false, "missed": false},
         "welch": {"found": false, "wrong": true, "missed": null}},
        {"load": "quiet", "what": "programs", "slower": true,
         "tiebreak": {"found": true, "wrong": false, "missed": null}, "welch": null}]}"#;

    #[test]
    fn counts_of_both_clocks_are_told() {
        let text = render(VIRTUAL_DATA, Some(REAL_DATA)).unwrap();
        let expected = [
            "| world | programs | Welch's t-test of programs |\n",
            "| drift | 3 / 1, 4 / 5; 300 | 400 / 2, 399 / 390; 1 |\n",
            "in any cell is 5 of 400: 1.2% (0.5 to 2.9)",
            "| programs, quiet | tiebreak | 0 of 1: 0.0% (0.0 to 79.3) | 0 of 1: 0.0% (0.0 to \
             79.3) | 1 of 1: 100.0% (20.7 to 100.0) | 0 of 1: 0.0% (0.0 to 79.3) |\n",
            "| programs, quiet | hyperfine, Welch's t-test | 1 of 1: 100.0% (20.7 to 100.0) | - |",
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
