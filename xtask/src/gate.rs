//! The table of gates of `docs/ci/README.md`, from the measurements of `bench/gate`.

use crate::measured::{Part, median, rendered, source};
use anyhow::{Result, ensure};
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/gate.json";

const SCHEMA: &str = "tiebreak/gate/1";

/// The number of ways to gate, one per row of the table.
const WAYS: usize = 6;

/// Renders the block, with links as seen from `docs/ci`.
///
/// # Errors
/// Fails if the data is not what `bench/gate` writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        let checks: Vec<Part<'_>> = data.list("checks").collect();
        ensure!(!checks.is_empty(), "{DATA}: no checks");
        let of = data.at("settings");
        let [slower, max_slowdown, error] =
            ["slower", "max_slowdown", "error"].map(|share| 100.0 * of.number(share));
        let p = of.number("p");
        let (sum, count) =
            data.numbers("baseline_ms").fold((0.0, 0.0), |(sum, n), ms| (sum + ms, n + 1.0));
        let stored_ms = sum / count;
        let before = checks.iter().map(|check| check.number("hyperfine/base_ms"));
        let latest_ms = std::iter::once(stored_ms).chain(before);
        let judged: Vec<_> = (checks.iter().zip(latest_ms))
            .map(|(check, latest_ms)| {
                let ways = judge(*check, [stored_ms, latest_ms], of.number("max_slowdown"), p);
                (check.is("slower"), ways)
            })
            .collect();
        let mean = format!("hyperfine, mean over {max_slowdown:.0}% above");
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
        let open = checks.iter().filter(|check| check.number("tiebreak/exit") == 0.0);
        let undecided =
            open.filter(|one| one.is("slower") && one.text("tiebreak/verdict") == "undecided");
        let [date, machine] = data.day_and_machine();
        Ok(format!(
            "{}\nMeasured on {date} on {machine}: pull requests of a made-up repository, in random \
             order; each changes something innocent, and those that are slower do {slower:.0}% \
             more work in a process of about {:.0} ms. A bursty neighbour was on the same CPU \
             ({}). tiebreak {}: `--max-slowdown {max_slowdown:.0}% --error {error:.0}% --budget \
             {:.0}s`; of the slower ones that passed, {} were undecided, which is said as a \
             warning. hyperfine {}: `-N -w 3 -r {}`, judged by SciPy {}. \"The latest main \
             stored\" is main as measured for the check before. Median seconds, builds included. \
             {}\n",
            table(&head, rows),
            of.number("process_ms"),
            data.neighbour(),
            data.text("tools/tiebreak"),
            of.number("budget_seconds"),
            undecided.count(),
            data.text("tools/hyperfine"),
            of.number("runs"),
            data.text("tools/scipy"),
            source(DATA),
        ))
    })
}

/// Returns, for each way to gate, whether it closes the check, and the seconds that it takes. The
/// mean of main was stored once at the beginning, and for the check before.
fn judge(
    check: Part<'_>,
    [stored_ms, latest_ms]: [f64; 2],
    max_slowdown: f64,
    p: f64,
) -> [(bool, f64); WAYS] {
    let (ours, peer) = (check.at("tiebreak"), check.at("hyperfine"));
    let [above_stored, above_latest, above_now] = [stored_ms, latest_ms, peer.number("base_ms")]
        .map(|standard_ms| peer.number("head_ms") > standard_ms * (1.0 + max_slowdown));
    // Welch's test counts if it leans to "the pull request is slower".
    let [proven_stored, proven_now] = ["welch_stored", "welch_now"].map(|test| {
        let test = peer.at(test);
        test.is("slower") && test.number("p") < p
    });
    let [stored_s, now_s] = ["seconds_stored", "seconds_now"].map(|way| peer.number(way));
    [
        (ours.number("exit") != 0.0, ours.number("seconds")),
        (above_stored, stored_s),
        (above_latest, stored_s),
        (above_now, now_s),
        (proven_stored, stored_s),
        (proven_now, now_s),
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
