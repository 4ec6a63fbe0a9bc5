//! The table of gates of `docs/ci/README.md`, from the measurements of `bench/gate`.

use crate::measured::{Data, Neighbour, median, read, source};
use anyhow::{Result, ensure};
use serde::Deserialize;
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/gate.json";

const SCHEMA: &str = "tiebreak/gate/1";

#[derive(Deserialize)]
struct Gates {
    neighbour: Neighbour,
    baseline_ms: Vec<f64>,
    checks: Vec<Check>,
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

/// The number of ways to gate, one per row of the table.
const WAYS: usize = 6;

/// Renders the block, with links as seen from `docs/ci`.
///
/// # Errors
/// Fails if the data is not what `bench/gate` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data<Gates> = read(json, DATA, SCHEMA)?;
    let Gates { neighbour, baseline_ms, checks } = &data.of;
    ensure!(!checks.is_empty(), "{DATA}: no checks");
    let [slower, max_slowdown, error] = data.settings(["slower", "max_slowdown", "error"])?;
    let [process_ms, budget_s, runs, p] =
        data.settings(["process_ms", "budget_seconds", "runs", "p"])?;
    let stored_ms = baseline_ms.iter().sum::<f64>() / baseline_ms.len() as f64;
    let before = checks.iter().map(|check| check.hyperfine.base_ms);
    let latest_ms = std::iter::once(stored_ms).chain(before);
    let judged: Vec<_> = (checks.iter().zip(latest_ms))
        .map(|(check, latest_ms)| {
            (check.slower, judge(check, [stored_ms, latest_ms], max_slowdown, p))
        })
        .collect();
    let mean = format!("hyperfine, mean over {:.0}% above", 100.0 * max_slowdown);
    let names: [String; WAYS] = [
        "tiebreak, base and head raced".to_owned(),
        format!("{mean} main as stored once"),
        format!("{mean} the latest main stored"),
        format!("{mean} main measured just before"),
        format!("hyperfine, Welch p < {p} against main as stored once"),
        format!("hyperfine, Welch p < {p} against main just before"),
    ];
    let rows = (0..WAYS).zip(names).map(|(way, name)| row(name, way, &judged));
    let head = ["gate", "not slower: closed", "3% slower: closed", "seconds a check"];
    let open = checks.iter().filter(|check| check.tiebreak.exit == 0 && check.slower);
    let undecided = open.filter(|check| check.tiebreak.verdict == "undecided").count();
    Ok(format!(
        "{}\nMeasured on {} on {}: pull requests of a made-up repository, in random order; each \
         changes something innocent, and those that are slower do {:.0}% more work in a process of \
         about {process_ms:.0} ms. A bursty neighbour was on the same CPU ({neighbour}). tiebreak \
         {}: `--max-slowdown {:.0}% --error {:.0}% --budget {budget_s:.0}s`; of the slower ones \
         that passed, {undecided} were undecided, which is said as a warning. hyperfine {}: `-N -w \
         3 -r {runs}`, judged by SciPy {}. \"The latest main stored\" is main as measured for the \
         check before. Median seconds, builds included. {}\n",
        table(&head, rows),
        data.date,
        data.machine,
        100.0 * slower,
        data.tool("tiebreak")?,
        100.0 * max_slowdown,
        100.0 * error,
        data.tool("hyperfine")?,
        data.tool("scipy")?,
        source(DATA),
    ))
}

/// Returns, for each way to gate, whether it closes the check, and the seconds that it takes. The
/// mean of main was stored once at the beginning, and for the check before.
fn judge(
    check: &Check,
    [stored_ms, latest_ms]: [f64; 2],
    max_slowdown: f64,
    p: f64,
) -> [(bool, f64); WAYS] {
    let peer = &check.hyperfine;
    let [above_stored, above_latest, above_now] = [stored_ms, latest_ms, peer.base_ms]
        .map(|standard_ms| peer.head_ms > standard_ms * (1.0 + max_slowdown));
    let [proven_stored, proven_now] =
        [&peer.welch_stored, &peer.welch_now].map(|test| test.slower && test.p < p);
    [
        (check.tiebreak.exit != 0, check.tiebreak.seconds),
        (above_stored, peer.seconds_stored),
        (above_latest, peer.seconds_stored),
        (above_now, peer.seconds_now),
        (proven_stored, peer.seconds_stored),
        (proven_now, peer.seconds_now),
    ]
}

/// Makes the row of a way to gate, from all checks: whether each is slower, and its judgements.
fn row(name: String, way: usize, judged: &[(bool, [(bool, f64); WAYS])]) -> [String; 4] {
    let closed = [false, true].map(|slower| {
        let of = judged.iter().filter(|(is_slower, _)| *is_slower == slower);
        let closed = of.clone().filter(|(_, ways)| ways[way].0).count();
        format!("{closed} of {}", of.count())
    });
    let seconds = judged.iter().map(|(_, ways)| ways[way].1);
    let most = seconds.clone().fold(0.0, f64::max);
    let middle = median(seconds).unwrap_or_default();
    let [of_equal, of_slower] = closed;
    [name, of_equal, of_slower, format!("{middle:.1}, at most {most:.1}")]
}

#[cfg(test)]
mod tests;
