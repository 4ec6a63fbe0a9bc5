//! The table of the differences that a machine can find, from the result of `tiebreak aa`.

use crate::measured::{Machine, read, source};
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use tiebreak_report::markdown::table;
use tiebreak_report::number::share_text;

/// The path of the result, from the root.
pub const DATA: &str = "docs/measured/aa.json";

const SCHEMA: &str = "tiebreak/result/1";

#[derive(Deserialize)]
struct Run {
    seconds: f64,
    rounds: u64,
    contestants: Value,
    machine: Facts,
    self_check: Option<SelfCheck>,
}

/// The facts about the machine that the page names.
#[derive(Deserialize)]
struct Facts {
    cpu_model: Option<String>,
    architecture: String,
    cpus_online: u32,
    kernel: String,
}

#[derive(Deserialize)]
struct SelfCheck {
    comparisons: u64,
    false_verdicts: u64,
    too_close: u64,
    undecided: u64,
    error: f64,
    rate: f64,
    rate_low: f64,
    rate_high: f64,
    confidence: f64,
    smallest: Vec<Smallest>,
}

/// The difference that nine of ten comparisons of this length would find; `None` if it is larger
/// than those that were tried.
#[derive(Deserialize)]
struct Smallest {
    seconds: f64,
    rounds: u64,
    fraction: Option<f64>,
}

/// Renders the block.
///
/// # Errors
/// Fails if the data is not the result of `tiebreak aa`.
pub fn render(json: &str) -> Result<String> {
    let run: Run = read(json, DATA, SCHEMA)?;
    let found = run.self_check.as_ref().with_context(|| format!("{DATA}: not of tiebreak aa"))?;
    let wall = &run.contestants[0]["metrics"]["wall_ns"];
    let [median, p10, p90] = ["median", "p10", "p90"].map(|name| wall[name].as_f64());
    let times_ms =
        median.zip(p10).zip(p90).map(|((m, low), high)| [m, low, high].map(|ns| ns / 1e6));
    let [median, p10, p90] = times_ms.with_context(|| format!("{DATA}: no contestants"))?;
    let rate = format!(
        "{}: {} to {} with probability at least {}; asked for: at most {}",
        percent(found.rate),
        percent((1e3 * found.rate_low).floor() / 1e3),
        percent((1e3 * found.rate_high).ceil() / 1e3),
        percent(found.confidence),
        percent(found.error),
    );
    let rows = [
        ("comparisons", found.comparisons.to_string()),
        ("said that one side is faster, which is false", found.false_verdicts.to_string()),
        ("said that they are too close to matter", found.too_close.to_string()),
        ("undecided", found.undecided.to_string()),
        ("rate of false verdicts", rate),
    ];
    let mut rows = rows.map(|(what, text)| [what.to_owned(), text]).to_vec();
    rows.extend(found.smallest.iter().map(|Smallest { seconds, rounds, fraction }| {
        let what = format!("smallest difference that {seconds} s ({rounds} rounds) would find");
        let size = fraction.map_or("none that was tried".to_owned(), percent);
        [what + ", nine times of ten", size]
    }));
    let table = table(&["a program against itself", "here"], rows);
    Ok(format!(
        "{table}\nThe program took {median:.2} ms in the median; eight runs of ten took {p10:.2} \
         to {p90:.2} ms. Measured in {} rounds and {:.0} s on {}. {}\n",
        run.rounds,
        run.seconds,
        machine(&run.machine),
        source(DATA)
    ))
}

/// Writes a share in percent with one digit after the point, below 1% with two, and no needless
/// zeros.
fn percent(share: f64) -> String {
    share_text(share, if share < 0.00995 { 2 } else { 1 })
}

fn machine(facts: &Facts) -> Machine {
    let mut parts = facts.kernel.splitn(3, '.');
    let kernel = [parts.next(), parts.next()].into_iter().flatten().collect::<Vec<_>>().join(".");
    let cpu = facts.cpu_model.clone().unwrap_or_else(|| facts.architecture.clone());
    Machine { cpu, cpus: facts.cpus_online, kernel }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": "tiebreak/result/1", "seconds": 155.4, "rounds": 12000,
        "contestants": [{"name": "A", "metrics": {"wall_ns":
            {"median": 4049501.0, "low": 4022626.0, "p10": 3824086.0, "p90": 4421317.0}}}],
        "machine": {"cpu_model": "Some CPU", "architecture": "x86_64", "cpus_online": 2,
            "kernel": "6.1.44-some-v5"},
        "self_check": {"comparisons": 200, "false_verdicts": 1, "too_close": 4, "undecided": 195,
            "error": 0.01, "rate": 0.005, "rate_low": 0.00013, "rate_high": 0.03012,
            "confidence": 0.95, "smallest": [
                {"seconds": 1.0, "rounds": 78, "fraction": 0.03836},
                {"seconds": 10.0, "rounds": 783, "fraction": null}]}}"#;

    #[test]
    fn the_counts_the_rate_and_the_smallest_differences_are_written() {
        let text = render(JSON).unwrap();
        let expected = [
            "| comparisons | 200 |",
            "| said that one side is faster, which is false | 1 |",
            "| said that they are too close to matter | 4 |",
            "| undecided | 195 |",
            "| rate of false verdicts | 0.5%: 0% to 3.1% with probability at least 95%; asked for: \
             at most 1% |",
            "| smallest difference that 1 s (78 rounds) would find, nine times of ten | 3.8% |",
            "| smallest difference that 10 s (783 rounds) would find, nine times of ten | none \
             that was tried |",
            "The program took 4.05 ms in the median; eight runs of ten took 3.82 to 4.42 ms. \
             Measured in 12000 rounds and 155 s on Some CPU (2 CPUs, Linux 6.1).",
        ];
        for row in expected {
            assert!(text.contains(&format!("\n{row}")), "{row}\nis not in\n{text}");
        }
    }

    #[test]
    fn percentages_have_the_digits_that_matter() {
        for (share, expected) in
            [(0.0, "0%"), (0.0004, "0.04%"), (0.005, "0.5%"), (0.00996, "1%"), (0.104, "10.4%")]
        {
            assert_eq!(percent(share), expected);
        }
    }

    #[test]
    fn the_result_of_another_command_is_refused() {
        let (head, _) = JSON.split_once("\"self_check\"").unwrap();
        let error = render(&format!("{head}\"self_check\": null}}")).unwrap_err();
        assert!(error.to_string().contains("not of tiebreak aa"), "{error}");
        assert!(render(&JSON.replace("result/1", "result/2")).is_err());
    }
}
