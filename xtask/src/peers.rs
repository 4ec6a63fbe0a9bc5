//! The table of the comparison with other tools, from what `bench/peers` measured.

use crate::measured::{Machine, median};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::fmt::Write;

/// Where the data is, from the root.
pub const DATA: &str = "docs/measured/peers.json";

const SCHEMA: &str = "tiebreak/peers/1";

#[derive(Deserialize)]
struct Data {
    schema: String,
    date: String,
    machine: Machine,
    tools: Tools,
    settings: Settings,
    neighbour: Neighbour,
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
    budget_seconds: Budgets,
}

/// What the neighbour would have used of a CPU of its own, and what it got.
#[derive(Deserialize)]
struct Neighbour {
    duty: f64,
    cpu_seconds: f64,
    wall_seconds: f64,
}

#[derive(Deserialize)]
struct Budgets {
    same: f64,
    slower5: f64,
    slower2: f64,
}

/// What was compared: a program with itself, or with one that does 5% or 2% more work.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Case {
    Same,
    Slower5,
    Slower2,
}

#[derive(Deserialize)]
struct Comparison {
    case: Case,
    hyperfine: Peer,
    tiebreak: Ours,
}

/// Two tests on hyperfine's exported times; `a_faster` is the side to which the test leans.
#[derive(Deserialize)]
struct Peer {
    seconds: f64,
    welch: Test,
    u: Test,
}

#[derive(Clone, Copy, Deserialize)]
struct Test {
    p: f64,
    a_faster: bool,
}

#[derive(Deserialize)]
struct Ours {
    seconds: f64,
    verdict: String,
    faster: Option<Side>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
enum Side {
    A,
    B,
}

/// What a judge said of one comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdicts {
    Faster(Side),
    TooClose,
    Nothing,
}

/// A way to come to a verdict, one row of the table.
struct Judge {
    name: String,
    says: fn(&Comparison, f64) -> Verdicts,
    seconds: fn(&Comparison) -> f64,
    /// The largest p that counts; of no meaning for tiebreak, whose error was fixed before.
    level: f64,
}

/// The text of the block.
///
/// # Errors
/// The data is not what `bench/peers` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data = serde_json::from_str(json).with_context(|| format!("reading {DATA}"))?;
    ensure!(data.schema == SCHEMA, "{DATA}: schema {} instead of {SCHEMA}", data.schema);
    ensure!(!data.comparisons.is_empty(), "{DATA}: no comparisons");
    let mut out = String::new();
    writeln!(
        out,
        "| judged by | A against A: false | B 5% slower: found | wrong | B 2% slower: found \
         | wrong | median seconds a comparison |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for judge in judges(&data) {
        writeln!(out, "{}", row(&judge, &data.comparisons))?;
    }
    writeln!(out, "\n{}", conditions(&data))?;
    Ok(out)
}

/// The first page's rows of the same data: tiebreak beside Welch's t-test at 5%.
///
/// # Errors
/// As of [`render`].
pub fn in_short(json: &str) -> Result<String> {
    let data: Data = serde_json::from_str(json).with_context(|| format!("reading {DATA}"))?;
    let judges = judges(&data);
    let [ours, welch] = [&judges[0], &judges[1]];
    let [left, right] = [ours, welch].map(|judge| cells(judge, &data.comparisons));
    let rows = [
        ("a program against itself: called different", 0),
        ("2% slower: found", 3),
        ("2% slower: called faster or equal", 4),
        ("median seconds: against itself / 5% / 2% slower", 5),
    ];
    let mut out = format!("| | {} | {} |\n|---|---|---|\n", ours.name, welch.name);
    for (what, cell) in rows {
        writeln!(out, "| {what} | {} | {} |", left[cell], right[cell])?;
    }
    Ok(out)
}

fn judges(data: &Data) -> Vec<Judge> {
    let peer = |name: &str, level, says| Judge {
        name: format!("hyperfine, {name}, p < {level}"),
        says,
        seconds: |comparison| comparison.hyperfine.seconds,
        level,
    };
    let welch = |comparison: &Comparison, level| by_test(comparison.hyperfine.welch, level);
    let u = |comparison: &Comparison, level| by_test(comparison.hyperfine.u, level);
    vec![
        Judge {
            name: format!("tiebreak, `--error {}`", data.settings.error),
            says: |comparison, _| by_verdict(&comparison.tiebreak),
            seconds: |comparison| comparison.tiebreak.seconds,
            level: 1.0,
        },
        peer("Welch's t-test", 0.05, welch),
        peer("Welch's t-test", 0.01, welch),
        peer("U test", 0.05, u),
        peer("U test", 0.01, u),
    ]
}

fn by_verdict(ours: &Ours) -> Verdicts {
    match (ours.verdict.as_str(), ours.faster) {
        ("holds", Some(side)) => Verdicts::Faster(side),
        ("too close", _) => Verdicts::TooClose,
        _ => Verdicts::Nothing,
    }
}

fn by_test(test: Test, level: f64) -> Verdicts {
    match test {
        Test { p, .. } if p >= level => Verdicts::Nothing,
        Test { a_faster: true, .. } => Verdicts::Faster(Side::A),
        _ => Verdicts::Faster(Side::B),
    }
}

fn row(judge: &Judge, comparisons: &[Comparison]) -> String {
    format!("| {} | {} |", judge.name, cells(judge, comparisons).join(" | "))
}

/// What a judge said falsely of A against A, found and got wrong of 5% and of 2%, and its time.
fn cells(judge: &Judge, comparisons: &[Comparison]) -> [String; 6] {
    let of = |case| comparisons.iter().filter(move |comparison| comparison.case == case);
    let rate = |case, counts: fn(Verdicts) -> bool| {
        let said = of(case).map(|comparison| (judge.says)(comparison, judge.level));
        let found = said.clone().filter(|said| counts(*said)).count();
        rate(found, said.count())
    };
    let found = |said| said == Verdicts::Faster(Side::A);
    // A difference beyond the resolution is denied by "too close" as well.
    let wrong = |said| matches!(said, Verdicts::Faster(Side::B) | Verdicts::TooClose);
    let seconds = [Case::Same, Case::Slower5, Case::Slower2].map(|case| {
        median(of(case).map(judge.seconds).collect()).map_or("-".to_owned(), |s| format!("{s:.2}"))
    });
    [
        rate(Case::Same, |said| matches!(said, Verdicts::Faster(_))),
        rate(Case::Slower5, found),
        rate(Case::Slower5, wrong),
        rate(Case::Slower2, found),
        rate(Case::Slower2, wrong),
        seconds.join(" / "),
    ]
}

fn conditions(data: &Data) -> String {
    let Data { machine, tools, settings, neighbour, .. } = data;
    let budgets = &settings.budget_seconds;
    format!(
        "Each cell: comparisons that came to this verdict, of how many, and the share with its 95% \
         interval (Wilson). \"Wrong\" is the wrong way round, or \"too close\". The seconds are \
         those of A against A, 5% and 2%.\n\n\
         Measured on {} on {machine}: a process of about {:.0} ms, on one CPU \
         with a bursty neighbour (made to be busy for {:.0}% of the time, it had {:.0}% of the \
         CPU). The tools took turns, in an order drawn for each comparison. tiebreak {}: \
         `--error {} --budget` {} s, {} s and {} s. hyperfine {}: `-N -w 3 -r {}`, both commands \
         in one call; its exported times judged by SciPy {}. The data is in \
         [peers.json](../measured/peers.json).",
        data.date,
        settings.process_ms,
        100.0 * neighbour.duty,
        100.0 * neighbour.cpu_seconds / neighbour.wall_seconds,
        tools.tiebreak,
        settings.error,
        budgets.same,
        budgets.slower5,
        budgets.slower2,
        tools.hyperfine,
        settings.runs,
        tools.scipy,
    )
}

/// Comparisons with a verdict, of how many, and the share with its 95% interval.
pub(crate) fn rate(count: usize, of: usize) -> String {
    let Some((low, high)) = wilson(count, of) else {
        return "-".to_owned();
    };
    let share = 100.0 * count as f64 / of as f64;
    format!("{count} of {of}: {share:.1}% ({:.1} to {:.1})", 100.0 * low, 100.0 * high)
}

/// Wilson's score interval (1927) for a share, at 95%; none of nothing.
fn wilson(count: usize, of: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.959964;
    let (count, of) = (count as f64, of as f64);
    let share = count / of;
    let scale = 1.0 + Z * Z / of;
    let centre = (share + Z * Z / (2.0 * of)) / scale;
    let half = Z / scale * (share * (1.0 - share) / of + Z * Z / (4.0 * of * of)).sqrt();
    (of > 0.0).then_some(((centre - half).max(0.0), (centre + half).min(1.0)))
}

#[cfg(test)]
mod tests;
