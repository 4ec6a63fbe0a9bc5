//! The table of what tiebreak itself costs, from what `bench/peers/own.py` measured.

use crate::measured::{Machine, median};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Where the data is, from the root.
pub const DATA: &str = "docs/measured/own.json";

const SCHEMA: &str = "tiebreak/own/1";

#[derive(Deserialize)]
struct Data {
    schema: String,
    date: String,
    machine: Machine,
    tools: BTreeMap<String, String>,
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
struct Measurement {
    tool: String,
    seconds: f64,
    timed_runs: f64,
    program_ms: f64,
}

/// The text of the block.
///
/// # Errors
/// The data is not what `bench/peers/own.py` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data = serde_json::from_str(json).with_context(|| format!("reading {DATA}"))?;
    ensure!(data.schema == SCHEMA, "{DATA}: schema {} instead of {SCHEMA}", data.schema);
    let mut out = String::new();
    writeln!(
        out,
        "| tool | timed runs of `true` a second | says that `true` takes, ms \
         | beside each timed run, ms |"
    )?;
    writeln!(out, "|---|---|---|---|")?;
    for (tool, version) in data.tools.iter().rev() {
        let middle = |value: fn(&Measurement) -> f64| {
            let of_tool = data.measurements.iter().filter(|each| each.tool == *tool);
            median(of_tool.map(value).collect()).with_context(|| format!("{DATA}: no {tool}"))
        };
        let rate = middle(|each| each.timed_runs / each.seconds)?;
        let program_ms = middle(|each| each.program_ms)?;
        let beside_ms = middle(|each| 1e3 * each.seconds / each.timed_runs - each.program_ms)?;
        let row = format!("{rate:.0} | {program_ms:.2} | {beside_ms:.2}");
        writeln!(out, "| {tool} {version} | {row} |")?;
    }
    writeln!(
        out,
        "\nMedians, measured on {} on {}. tiebreak starts three processes for two timed runs, \
         looks at each output and writes each round into the journal. The data is in \
         [own.json](../measured/own.json).",
        data.date, data.machine
    )?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": "tiebreak/own/1", "date": "2026-01-02",
        "machine": {"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"},
        "tools": {"hyperfine": "1.15.0", "tiebreak": "0.1.0"},
        "measurements": [
            {"tool": "tiebreak", "seconds": 2.0, "timed_runs": 1000, "program_ms": 0.5},
            {"tool": "tiebreak", "seconds": 4.0, "timed_runs": 1000, "program_ms": 0.7},
            {"tool": "hyperfine", "seconds": 1.0, "timed_runs": 1000, "program_ms": 0.6}]}"#;

    #[test]
    fn each_tool_has_a_row_of_medians() {
        let text = render(JSON).unwrap();
        assert!(text.contains("\n| tiebreak 0.1.0 | 375 | 0.60 | 2.40 |\n"), "{text}");
        assert!(text.contains("\n| hyperfine 1.15.0 | 1000 | 0.60 | 0.40 |\n"), "{text}");
        let error = render(&JSON.replace("\"hyperfine\", \"sec", "\"other\", \"sec"));
        assert!(error.unwrap_err().to_string().contains("no hyperfine"));
    }
}
