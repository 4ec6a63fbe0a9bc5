//! The table of gates of `docs/ci/README.md`, from what `bench/gate` measured.

use crate::measured::{Machine, Neighbour, Tools, median, read, source};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tiebreak_report::markdown::table;

/// Where the data is, from the root.
pub const DATA: &str = "docs/measured/gate.json";

const SCHEMA: &str = "tiebreak/gate/1";

#[derive(Deserialize)]
struct Data {
    date: String,
    machine: Machine,
    tools: Tools,
    settings: Settings,
    neighbour: Neighbour,
    baseline_ms: Vec<f64>,
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Settings {
    process_ms: f64,
    slower: f64,
    max_slowdown: f64,
    error: f64,
    budget_seconds: f64,
    runs: u32,
    p: f64,
}

/// One pull request, gated by both tools.
#[derive(Deserialize)]
struct Check {
    /// Whether it is slower, as it was planted.
    slower: bool,
    tiebreak: Ours,
    hyperfine: Peer,
}

#[derive(Deserialize)]
struct Ours {
    exit: u8,
    verdict: String,
    seconds: f64,
}

/// hyperfine's means, and Welch's test against the stored times and against main now.
#[derive(Deserialize)]
struct Peer {
    base_ms: f64,
    head_ms: f64,
    welch_stored: Test,
    welch_now: Test,
    seconds_stored: f64,
    seconds_now: f64,
}

#[derive(Deserialize)]
struct Test {
    p: f64,
    /// Whether the test leans to "the pull request is slower".
    slower: bool,
}

/// A check with what was known of main when it was made.
struct Case<'a> {
    check: &'a Check,
    settings: &'a Settings,
    /// The mean of main, measured once at the beginning.
    stored_ms: f64,
    /// The mean of main as it was measured for the check before.
    latest_ms: f64,
}

impl Case<'_> {
    fn is_above(&self, standard_ms: f64) -> bool {
        self.check.hyperfine.head_ms > standard_ms * (1.0 + self.settings.max_slowdown)
    }

    fn is_proven(&self, test: &Test) -> bool {
        test.slower && test.p < self.settings.p
    }
}

/// A way to gate, one row of the table.
struct Judge {
    name: String,
    closes: fn(&Case) -> bool,
    seconds: fn(&Check) -> f64,
}

/// The text of the block, with links as seen from `docs/ci`.
///
/// # Errors
/// The data is not what `bench/gate` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data = read(json, DATA, SCHEMA)?;
    ensure!(!data.checks.is_empty(), "{DATA}: no checks");
    let cases = cases(&data);
    let head = ["gate", "not slower: closed", "3% slower: closed", "seconds a check"];
    let judges = judges(&data.settings);
    let rows = judges.iter().map(|judge| row(judge, &cases)).collect::<Result<Vec<_>>>()?;
    Ok(format!("{}\n{}\n", table(&head, rows), conditions(&data)))
}

fn cases(data: &Data) -> Vec<Case<'_>> {
    let stored_ms = data.baseline_ms.iter().sum::<f64>() / data.baseline_ms.len() as f64;
    let before = data.checks.iter().map(|check| check.hyperfine.base_ms);
    let latest = std::iter::once(stored_ms).chain(before);
    let cases = data.checks.iter().zip(latest).map(|(check, latest_ms)| Case {
        check,
        settings: &data.settings,
        stored_ms,
        latest_ms,
    });
    cases.collect()
}

fn judges(settings: &Settings) -> Vec<Judge> {
    let stored = |check: &Check| check.hyperfine.seconds_stored;
    let now = |check: &Check| check.hyperfine.seconds_now;
    let judge = |name: String, closes, seconds| Judge { name, closes, seconds };
    let percent = 100.0 * settings.max_slowdown;
    let mean = format!("hyperfine, mean over {percent:.0}% above");
    let p = settings.p;
    vec![
        judge(
            "tiebreak, base and head raced".to_owned(),
            |case| case.check.tiebreak.exit != 0,
            |check| check.tiebreak.seconds,
        ),
        judge(format!("{mean} main as stored once"), |case| case.is_above(case.stored_ms), stored),
        judge(
            format!("{mean} the latest main stored"),
            |case| case.is_above(case.latest_ms),
            stored,
        ),
        judge(
            format!("{mean} main measured just before"),
            |case| case.is_above(case.check.hyperfine.base_ms),
            now,
        ),
        judge(
            format!("hyperfine, Welch p < {p} against main as stored once"),
            |case| case.is_proven(&case.check.hyperfine.welch_stored),
            stored,
        ),
        judge(
            format!("hyperfine, Welch p < {p} against main just before"),
            |case| case.is_proven(&case.check.hyperfine.welch_now),
            now,
        ),
    ]
}

fn row(judge: &Judge, cases: &[Case]) -> Result<[String; 4]> {
    let closed = |slower: bool| {
        let of = cases.iter().filter(|case| case.check.slower == slower);
        let closed = of.clone().filter(|case| (judge.closes)(case)).count();
        format!("{closed} of {}", of.count())
    };
    let seconds: Vec<f64> = cases.iter().map(|case| (judge.seconds)(case.check)).collect();
    let most = seconds.iter().copied().fold(0.0, f64::max);
    let middle = median(seconds).with_context(|| format!("{DATA}: no checks"))?;
    let seconds = format!("{middle:.1}, at most {most:.1}");
    Ok([judge.name.clone(), closed(false), closed(true), seconds])
}

fn conditions(data: &Data) -> String {
    let Data { machine, tools, settings, neighbour, .. } = data;
    let open = data.checks.iter().filter(|check| check.tiebreak.exit == 0 && check.slower);
    let undecided = open.filter(|check| check.tiebreak.verdict == "undecided").count();
    format!(
        "Measured on {} on {machine}: pull requests of a made-up repository, in random order; each \
         changes something innocent, and those that are slower do {:.0}% more work in a process of \
         about {:.0} ms. A bursty neighbour was on the same CPU ({neighbour}). tiebreak {}: \
         `--max-slowdown {:.0}% --error {:.0}% --budget {:.0}s`; of the slower ones that passed, \
         {undecided} were undecided, which is said as a warning. hyperfine {}: `-N -w 3 -r {}`, \
         judged by SciPy {}. \"The latest main stored\" is main as measured for the check before. \
         Median seconds, builds included. {}",
        data.date,
        100.0 * settings.slower,
        settings.process_ms,
        tools.tiebreak,
        100.0 * settings.max_slowdown,
        100.0 * settings.error,
        settings.budget_seconds,
        tools.hyperfine,
        settings.runs,
        tools.scipy,
        source(DATA),
    )
}

#[cfg(test)]
mod tests;
