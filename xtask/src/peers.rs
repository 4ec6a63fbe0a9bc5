//! The table of the comparison with other tools, from what `bench/peers` measured.

use crate::measured::{Machine, Neighbour, Tools, median, rate, read, source};
use anyhow::{Result, ensure};
use serde::Deserialize;
use tiebreak_report::markdown::table;

/// Where the data is, from the root.
pub const DATA: &str = "docs/measured/peers.json";

const SCHEMA: &str = "tiebreak/peers/1";

#[derive(Deserialize)]
struct Data {
    date: String,
    machine: Machine,
    tools: Tools,
    settings: Settings,
    neighbour: Neighbour,
    comparisons: Vec<Comparison>,
}

#[derive(Deserialize)]
struct Settings {
    process_ms: f64,
    runs: u32,
    error: f64,
    budget_seconds: Budgets,
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
    let data: Data = read(json, DATA, SCHEMA)?;
    ensure!(!data.comparisons.is_empty(), "{DATA}: no comparisons");
    let head = [
        "judged by",
        "A against A: false",
        "B 5% slower: found",
        "wrong",
        "B 2% slower: found",
        "wrong",
        "median seconds a comparison",
    ];
    let rows = judges(&data).into_iter().map(|judge| {
        let cells = cells(&judge, &data.comparisons);
        [judge.name].into_iter().chain(cells).collect::<Vec<_>>()
    });
    Ok(format!("{}\n{}\n", table(&head, rows), conditions(&data)))
}

/// The first page's rows of the same data: tiebreak beside Welch's t-test at 5%.
///
/// # Errors
/// As of [`render`].
pub fn in_short(json: &str) -> Result<String> {
    let data: Data = read(json, DATA, SCHEMA)?;
    let judges = judges(&data);
    let [ours, welch] = [&judges[0], &judges[1]];
    let [left, right] = [ours, welch].map(|judge| cells(judge, &data.comparisons));
    let rows = [
        ("a program against itself: called different", 0),
        ("2% slower: found", 3),
        ("2% slower: called faster or equal", 4),
        ("median seconds: against itself / 5% / 2% slower", 5),
    ];
    let row =
        |(what, cell): (&str, usize)| [what.to_owned(), left[cell].clone(), right[cell].clone()];
    Ok(table(&["", &ours.name, &welch.name], rows.map(row)))
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
         Measured on {} on {machine}: a process of about {:.0} ms, on one CPU with a bursty \
         neighbour ({neighbour}). The tools took turns, in an order drawn for each comparison. \
         tiebreak {}: `--error {} --budget` {} s, {} s and {} s. hyperfine {}: `-N -w 3 -r {}`, \
         both commands in one call; its exported times judged by SciPy {}. {}",
        data.date,
        settings.process_ms,
        tools.tiebreak,
        settings.error,
        budgets.same,
        budgets.slower5,
        budgets.slower2,
        tools.hyperfine,
        settings.runs,
        tools.scipy,
        source(DATA),
    )
}

#[cfg(test)]
mod tests;
