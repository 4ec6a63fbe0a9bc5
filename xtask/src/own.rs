//! The tables of what tiebreak itself costs, from what `bench/peers/own.py` measured.

use crate::measured::{Machine, median};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Where the data is, from the root.
pub const DATA: &str = "docs/measured/own.json";

const SCHEMA: &str = "tiebreak/own/2";

/// Rounds after which an interval is timed.
const EVIDENCE_ROUNDS: u64 = 1000;

#[derive(Deserialize)]
struct Data {
    schema: String,
    date: String,
    machine: Machine,
    tools: BTreeMap<String, String>,
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum Measurement {
    /// A run of a short program against itself, in one of three ways.
    Round { way: Way, rounds: u64, program_ms: f64, added_ms: f64 },
    /// From the exec of tiebreak to the first instruction of what it runs first.
    Start { journal: String, ms: f64 },
    /// The most memory of a run that took so many samples.
    Memory { samples: f64, peak_bytes: f64 },
    /// An update and an interval after so many rounds.
    Evidence { engine: String, rounds: u64, update_ns: f64, interval_ms: f64 },
    /// A run of one of two tools on a program that does nothing.
    Tool { tool: String, seconds: f64, timed_runs: f64, program_ms: f64 },
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Way {
    Quiet,
    Terminal,
    Waiting,
}

/// The text of the block.
///
/// # Errors
/// The data is not what `bench/peers/own.py` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data = serde_json::from_str(json).with_context(|| format!("reading {DATA}"))?;
    ensure!(data.schema == SCHEMA, "{DATA}: schema {} instead of {SCHEMA}", data.schema);
    let mut out = String::new();
    writeln!(out, "| what | demanded | measured | how |\n|---|---|---|---|")?;
    for rows in [rounds, starts, memory, evidence] {
        out += &rows(&data)?;
    }
    writeln!(out, "\n| tool | timed runs of `true` a second | beside each of them, ms |")?;
    writeln!(out, "|---|---|---|")?;
    out += &tools(&data)?;
    writeln!(
        out,
        "\nMedians, with the least and the most in brackets, measured on {} on {}. In the second \
         table the tools took turns; tiebreak starts three processes for two timed runs, looks at \
         each output and writes each round into its journal. The data is in \
         [own.json](../measured/own.json).",
        data.date, data.machine
    )?;
    Ok(out)
}

/// The values of some measurements with their median, `digits` after the point.
fn spread(data: &Data, digits: usize, of: impl Fn(&Measurement) -> Option<f64>) -> Result<String> {
    spread_of(data.measurements.iter().filter_map(of).collect(), digits)
}

fn spread_of(values: Vec<f64>, digits: usize) -> Result<String> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = median(values).with_context(|| format!("{DATA}: a row without measurements"))?;
    Ok(format!("{middle:.digits$} ({least:.digits$} to {most:.digits$})"))
}

fn count(data: &Data, is_meant: impl Fn(&Measurement) -> bool) -> usize {
    data.measurements.iter().filter(|each| is_meant(each)).count()
}

fn rounds(data: &Data) -> Result<String> {
    let programs = data.measurements.iter().filter_map(|each| match each {
        Measurement::Round { program_ms, .. } => Some(*program_ms),
        _ => None,
    });
    let program_ms = median(programs.collect()).with_context(|| format!("{DATA}: no rounds"))?;
    let lengths = data.measurements.iter().find_map(|each| match each {
        Measurement::Round { rounds, .. } => Some(*rounds),
        _ => None,
    });
    let what = format!("added to a round: three runs of a program of {program_ms:.1} ms");
    let ways = [
        (Way::Quiet, what.as_str(), "`--no-wait --quiet`"),
        (Way::Terminal, "the same, with progress on a terminal", "`--no-wait`"),
        (Way::Waiting, "the same, waiting for quiet, the waiting apart", "`--quiet`"),
    ];
    let mut out = String::new();
    for (wanted, what, options) in ways {
        let added = |each: &Measurement| match each {
            Measurement::Round { way, added_ms, .. } if *way == wanted => Some(*added_ms),
            _ => None,
        };
        let measured = spread(data, 2, added)?;
        let runs = count(data, |each| added(each).is_some());
        let how = format!("{options}, {runs} runs of {} rounds", lengths.unwrap_or_default());
        writeln!(out, "| {what} | under 1 ms | {measured} ms | {how} |")?;
    }
    Ok(out)
}

fn starts(data: &Data) -> Result<String> {
    let mut out = String::new();
    let journals = [
        ("new", "from its exec to the first instruction of what it runs, `--no-wait`"),
        ("existing", "the same, with the runs before in the journal"),
    ];
    for (wanted, how) in journals {
        let start = |each: &Measurement| match each {
            Measurement::Start { journal, ms } if journal == wanted => Some(*ms),
            _ => None,
        };
        let measured = spread(data, 1, start)?;
        let starts = count(data, |each| start(each).is_some());
        let what = format!("start-up, journal {wanted}");
        writeln!(out, "| {what} | under 20 ms | {measured} ms | {how}; {starts} starts |")?;
    }
    Ok(out)
}

/// What the samples of a long run need more than those of a short one, pair by pair.
fn memory(data: &Data) -> Result<String> {
    let runs = || {
        data.measurements.iter().filter_map(|each| match each {
            Measurement::Memory { samples, peak_bytes } => Some((*samples, *peak_bytes)),
            _ => None,
        })
    };
    let fewest = runs().map(|(samples, _)| samples).fold(f64::INFINITY, f64::min);
    let short = runs().filter(|(samples, _)| *samples == fewest);
    let long = runs().filter(|(samples, _)| *samples > fewest);
    let growths = short.zip(long).map(|(short, long)| (long.1 - short.1) / (long.0 - short.0));
    let most = runs().map(|(samples, _)| samples).fold(0.0, f64::max);
    Ok(format!(
        "| memory a sample | under 200 bytes | {} bytes | peak memory of {most} samples of `true` \
         less that of {fewest} |\n",
        spread_of(growths.collect(), 0)?
    ))
}

fn evidence(data: &Data) -> Result<String> {
    let mut out = String::new();
    for (wanted, centre) in [("M3r", "factor"), ("S", "median")] {
        let of = |each: &Measurement, value: fn(f64, f64) -> f64| match each {
            Measurement::Evidence { engine, rounds, update_ns, interval_ms }
                if engine == wanted && *rounds == EVIDENCE_ROUNDS =>
            {
                Some(value(*update_ns, *interval_ms))
            }
            _ => None,
        };
        let middle = |value| {
            let values = data.measurements.iter().filter_map(|each| of(each, value)).collect();
            median(values).with_context(|| format!("{DATA}: no evidence of {wanted}"))
        };
        let update_ns = middle(|update_ns, _| update_ns)?;
        let interval_ms = middle(|_, interval_ms| interval_ms)?;
        let how = format!("`cargo bench -p tiebreak-stats`, after {EVIDENCE_ROUNDS} rounds");
        let option = format!("`--centre {centre}` ({wanted})");
        writeln!(out, "| an update, {option} | under 200 ns | {update_ns:.0} ns | {how} |")?;
        writeln!(out, "| an interval, {option} | under 2 ms | {interval_ms:.2} ms | {how} |")?;
    }
    Ok(out)
}

fn tools(data: &Data) -> Result<String> {
    let mut out = String::new();
    for (name, version) in data.tools.iter().rev() {
        let of = |value: fn(f64, f64, f64) -> f64| {
            move |each: &Measurement| match each {
                Measurement::Tool { tool, seconds, timed_runs, program_ms } if tool == name => {
                    Some(value(*seconds, *timed_runs, *program_ms))
                }
                _ => None,
            }
        };
        let rate = spread(data, 0, of(|seconds, timed_runs, _| timed_runs / seconds))?;
        let beside_ms = of(|seconds, runs, program_ms| 1e3 * seconds / runs - program_ms);
        let beside_ms = spread(data, 2, beside_ms)?;
        writeln!(out, "| {name} {version} | {rate} | {beside_ms} |")?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
