//! The table of the differences that a machine can find, from the result of `tiebreak aa`.

use crate::measured::{Part, rendered, source};
use anyhow::{Result, ensure};
use tiebreak_report::markdown::table;
use tiebreak_report::number::share_text;

/// The path of the result, from the root.
pub const DATA: &str = "docs/measured/aa.json";

const SCHEMA: &str = "tiebreak/result/1";

/// Renders the block.
///
/// # Errors
/// Fails if the data is not the result of `tiebreak aa`.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |run| {
        let found = run.at("self_check");
        ensure!(!found.is_null(), "{DATA}: not of tiebreak aa");
        let wall = run.at("contestants/0/metrics/wall_ns");
        let [median, p10, p90] = ["median", "p10", "p90"].map(|name| wall.number(name) / 1e6);
        let rate = format!(
            "{}: {} to {} with probability at least {}; asked for: at most {}",
            percent(found.number("rate")),
            percent((1e3 * found.number("rate_low")).floor() / 1e3),
            percent((1e3 * found.number("rate_high")).ceil() / 1e3),
            percent(found.number("confidence")),
            percent(found.number("error")),
        );
        let counts = [
            ("comparisons", "comparisons"),
            ("said that one side is faster, which is false", "false_verdicts"),
            ("said that they are too close to matter", "too_close"),
            ("undecided", "undecided"),
        ];
        let counts = counts.map(|(what, place)| [what.into(), found.number(place).to_string()]);
        let mut rows = counts.to_vec();
        rows.push(["rate of false verdicts".to_owned(), rate]);
        // The difference that nine of ten comparisons of this length would find.
        rows.extend(found.list("smallest").map(|smallest| {
            let [seconds, rounds] = ["seconds", "rounds"].map(|place| smallest.number(place));
            let what = format!("smallest difference that {seconds} s ({rounds} rounds) would find");
            let size = smallest.maybe("fraction").map_or("none that was tried".into(), percent);
            [what + ", nine times of ten", size]
        }));
        let table = table(&["a program against itself", "here"], rows);
        Ok(format!(
            "{table}\nThe program took {median:.2} ms in the median; eight runs of ten took \
             {p10:.2} to {p90:.2} ms. Measured in {} rounds and {:.0} s on {}. {}\n",
            run.number("rounds"),
            run.number("seconds"),
            machine(run.at("machine")),
            source(DATA)
        ))
    })
}

/// Writes a share in percent with one digit after the point, below 1% with two, and no needless
/// zeros.
fn percent(share: f64) -> String {
    share_text(share, if share < 0.00995 { 2 } else { 1 })
}

fn machine(facts: Part<'_>) -> String {
    let kernel: Vec<&str> = facts.text("kernel").splitn(3, '.').take(2).collect();
    let is_named = !facts.at("cpu_model").is_null();
    let cpu = facts.text(if is_named { "cpu_model" } else { "architecture" });
    format!("{cpu} ({} CPUs, Linux {})", facts.number("cpus_online"), kernel.join("."))
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
