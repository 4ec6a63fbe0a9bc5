//! The tables of what tiebreak itself costs, from what `bench/peers/own.py` measured.

use crate::measured::{self, Machine, median, read, source};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use tiebreak_report::markdown::table;

/// Where the data is, from the root.
pub const DATA: &str = "docs/measured/own.json";

const SCHEMA: &str = "tiebreak/own/2";

/// Rounds after which an interval is timed.
const EVIDENCE_ROUNDS: u64 = 1000;

#[derive(Deserialize)]
struct Data {
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
    let data: Data = read(json, DATA, SCHEMA)?;
    let mut costs = rounds(&data)?;
    costs.extend(starts(&data)?);
    costs.push(memory(&data)?);
    costs.extend(evidence(&data)?);
    let tools_head = ["tool", "timed runs of `true` a second", "beside each of them, ms"];
    Ok(format!(
        "{}\n{}\nMedians, with the least and the most in brackets, measured on {} on {}. In the \
         second table the tools took turns; tiebreak starts three processes for two timed runs, \
         looks at each output and writes each round into its journal. {}\n",
        table(&["what", "demanded", "measured", "how"], costs),
        table(&tools_head, tools(&data)?),
        data.date,
        data.machine,
        source(DATA)
    ))
}

/// The values of some measurements with their median, `digits` after the point.
fn spread(data: &Data, digits: usize, of: impl Fn(&Measurement) -> Option<f64>) -> Result<String> {
    spread_of(data.measurements.iter().filter_map(of).collect(), digits)
}

fn spread_of(values: Vec<f64>, digits: usize) -> Result<String> {
    measured::spread(values, digits).with_context(|| format!("{DATA}: a row without measurements"))
}

/// What was demanded and measured of a cost, and how.
type Row = [String; 4];

fn row(what: &str, demanded: &str, measured: String, how: String) -> Row {
    [what.to_owned(), demanded.to_owned(), measured, how]
}

fn count(data: &Data, is_meant: impl Fn(&Measurement) -> bool) -> usize {
    data.measurements.iter().filter(|each| is_meant(each)).count()
}

fn rounds(data: &Data) -> Result<Vec<Row>> {
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
    let rows = ways.into_iter().map(|(wanted, what, options)| {
        let added = |each: &Measurement| match each {
            Measurement::Round { way, added_ms, .. } if *way == wanted => Some(*added_ms),
            _ => None,
        };
        let measured = spread(data, 2, added)?;
        let runs = count(data, |each| added(each).is_some());
        let how = format!("{options}, {runs} runs of {} rounds", lengths.unwrap_or_default());
        Ok(row(what, "under 1 ms", format!("{measured} ms"), how))
    });
    rows.collect()
}

fn starts(data: &Data) -> Result<Vec<Row>> {
    let journals = [
        ("new", "from its exec to the first instruction of what it runs, `--no-wait`"),
        ("existing", "the same, with the runs before in the journal"),
    ];
    let rows = journals.into_iter().map(|(wanted, how)| {
        let start = |each: &Measurement| match each {
            Measurement::Start { journal, ms } if journal == wanted => Some(*ms),
            _ => None,
        };
        let measured = spread(data, 1, start)?;
        let starts = count(data, |each| start(each).is_some());
        let what = format!("start-up, journal {wanted}");
        Ok(row(&what, "under 20 ms", format!("{measured} ms"), format!("{how}; {starts} starts")))
    });
    rows.collect()
}

/// What the samples of a long run need more than those of a short one, pair by pair.
fn memory(data: &Data) -> Result<Row> {
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
    let measured = format!("{} bytes", spread_of(growths.collect(), 0)?);
    let how = format!("peak memory of {most} samples of `true` less that of {fewest}");
    Ok(row("memory a sample", "under 200 bytes", measured, how))
}

fn evidence(data: &Data) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
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
        let of = |what: &str| format!("{what}, {option}");
        let update = format!("{update_ns:.0} ns");
        rows.push(row(&of("an update"), "under 200 ns", update, how.clone()));
        let interval = format!("{interval_ms:.2} ms");
        rows.push(row(&of("an interval"), "under 2 ms", interval, how));
    }
    Ok(rows)
}

fn tools(data: &Data) -> Result<Vec<[String; 3]>> {
    let rows = data.tools.iter().rev().map(|(name, version)| {
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
        Ok([format!("{name} {version}"), rate, spread(data, 2, beside_ms)?])
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
