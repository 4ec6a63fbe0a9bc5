//! The table of the comparison with other tools, from the measurements of `bench/peers`.

use crate::measured::{Data, Neighbour, median, rate_of, read, source};
use anyhow::{Result, ensure};
use serde::Deserialize;
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/peers.json";

const SCHEMA: &str = "tiebreak/peers/1";

#[derive(Deserialize)]
struct Peers {
    neighbour: Neighbour,
    comparisons: Vec<Comparison>,
}

/// The pair of a comparison: a program with itself, or with one that does 5% or 2% more work.
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

/// Two tests on hyperfine's exported times.
#[derive(Deserialize)]
struct Peer {
    seconds: f64,
    welch: Test,
    u: Test,
}

#[derive(Deserialize)]
struct Test {
    p: f64,
    /// Whether the test leans to "A is faster", else to "B is faster".
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

/// The verdict of a judge on one comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Faster(Side),
    TooClose,
    Nothing,
}

/// The tests of hyperfine's times, one row each after that of tiebreak: the name, the test, and the
/// largest p that counts.
type Judge = (&'static str, fn(&Peer) -> &Test, f64);
const TESTS: [Judge; 4] = [
    ("Welch's t-test", |peer| &peer.welch, 0.05),
    ("Welch's t-test", |peer| &peer.welch, 0.01),
    ("U test", |peer| &peer.u, 0.05),
    ("U test", |peer| &peer.u, 0.01),
];

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what `bench/peers` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data<Peers> = read(json, DATA, SCHEMA)?;
    ensure!(!data.of.comparisons.is_empty(), "{DATA}: no comparisons");
    let head = [
        "judged by",
        "A against A: false",
        "B 5% slower: found",
        "wrong",
        "B 2% slower: found",
        "wrong",
        "median seconds a comparison",
    ];
    let tests = TESTS.iter().map(Some);
    let rows = [None].into_iter().chain(tests).map(|test| row(&data, test));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let [process_ms, runs, error] = data.settings(["process_ms", "runs", "error"])?;
    let budgets = ["budget_seconds/same", "budget_seconds/slower5", "budget_seconds/slower2"];
    let [same_s, slower5_s, slower2_s] = data.settings(budgets)?;
    Ok(format!(
        "{}\nEach cell: comparisons that came to this verdict, of how many, and the share with its \
         95% interval (Wilson). \"Wrong\" is the wrong way round, or \"too close\". The seconds \
         are those of A against A, 5% and 2%.\n\n\
         Measured on {} on {}: a process of about {process_ms:.0} ms, on one CPU with a bursty \
         neighbour ({}). The tools took turns, in an order drawn for each comparison. \
         tiebreak {}: `--error {error} --budget` {same_s} s, {slower5_s} s and {slower2_s} s. \
         hyperfine {}: `-N -w 3 -r {runs}`, both commands in one call; its exported times judged \
         by SciPy {}. {}\n",
        table(&head, rows),
        data.date,
        data.machine,
        data.of.neighbour,
        data.tool("tiebreak")?,
        data.tool("hyperfine")?,
        data.tool("scipy")?,
        source(DATA),
    ))
}

/// Renders the first page's rows of the same data: tiebreak and Welch's t-test at 5%.
///
/// # Errors
/// Fails where [`render`] does.
pub fn in_short(json: &str) -> Result<String> {
    let data: Data<Peers> = read(json, DATA, SCHEMA)?;
    let (ours, welch) = (row(&data, None)?, row(&data, Some(&TESTS[0]))?);
    let rows = [
        ("a program against itself: called different", 1),
        ("2% slower: found", 4),
        ("2% slower: called faster or equal", 5),
        ("median seconds: against itself / 5% / 2% slower", 6),
    ];
    let rows = rows.map(|(what, at)| [what.to_owned(), ours[at].clone(), welch[at].clone()]);
    Ok(table(&["", &ours[0], &welch[0]], rows))
}

/// Makes the row of a test of hyperfine's times, or of tiebreak: its name, how often it is wrong
/// about A against A, how often it finds and misjudges 5% and 2%, and its time.
fn row(data: &Data<Peers>, test: Option<&Judge>) -> Result<[String; 7]> {
    let verdict = |comparison: &Comparison| match test {
        None => match (comparison.tiebreak.verdict.as_str(), comparison.tiebreak.faster) {
            ("holds", Some(side)) => Verdict::Faster(side),
            ("too close", _) => Verdict::TooClose,
            _ => Verdict::Nothing,
        },
        Some((_, test, level)) => match test(&comparison.hyperfine) {
            Test { p, .. } if p >= level => Verdict::Nothing,
            Test { a_faster: true, .. } => Verdict::Faster(Side::A),
            _ => Verdict::Faster(Side::B),
        },
    };
    let of = |case| data.of.comparisons.iter().filter(move |comparison| comparison.case == case);
    let rate = |case, counts: fn(Verdict) -> bool| {
        rate_of(of(case).map(|comparison| counts(verdict(comparison))))
    };
    let [[found5, wrong5], [found2, wrong2]] = [Case::Slower5, Case::Slower2].map(|case| {
        [
            rate(case, |verdict| verdict == Verdict::Faster(Side::A)),
            // A difference beyond the resolution is denied by "too close" as well.
            rate(case, |verdict| matches!(verdict, Verdict::Faster(Side::B) | Verdict::TooClose)),
        ]
    });
    let seconds = [Case::Same, Case::Slower5, Case::Slower2].map(|case| {
        let seconds = of(case).map(|comparison| match test {
            None => comparison.tiebreak.seconds,
            Some(_) => comparison.hyperfine.seconds,
        });
        median(seconds).map_or("-".to_owned(), |seconds| format!("{seconds:.2}"))
    });
    let [error] = data.settings(["error"])?;
    Ok([
        match test {
            None => format!("tiebreak, `--error {error}`"),
            Some((name, _, level)) => format!("hyperfine, {name}, p < {level}"),
        },
        rate(Case::Same, |verdict| matches!(verdict, Verdict::Faster(_))),
        found5,
        wrong5,
        found2,
        wrong2,
        seconds.join(" / "),
    ])
}

#[cfg(test)]
mod tests;
