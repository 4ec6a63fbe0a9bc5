//! The tables of the cost of tiebreak itself, from the measurements of `bench/peers/own.py`.
//!
//! The measurements, each with a `what`:
//!
//! - `round`: a run of a short program against itself, in one of three ways;
//! - `start`: from the exec of tiebreak to the first instruction of the program that it runs first;
//! - `memory`: the peak memory of a run that took so many samples;
//! - `evidence`: an update and an interval after so many rounds;
//! - `tool`: a run of one of two tools on a program that does nothing.

use crate::measured::{Part, median, rendered, source, spread};
use anyhow::{Context, Result, ensure};
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/own.json";

const SCHEMA: &str = "tiebreak/own/2";

/// The number of rounds after which an interval is timed.
const EVIDENCE_ROUNDS: f64 = 1000.0;

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what `bench/peers/own.py` writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        let all: Vec<Part<'_>> = data.list("measurements").collect();
        let mut costs = rounds(&all)?;
        costs.extend(starts(&all)?);
        costs.push(memory(&all)?);
        costs.extend(evidence(&all)?);
        let tools = ["tiebreak", "hyperfine"].map(|name| tool(&all, name, data));
        let tools_head = ["tool", "timed runs of `true` a second", "in addition to each, ms"];
        let [date, machine] = data.day_and_machine();
        Ok(format!(
            "{}\n{}\nMedians, with the least and the most in brackets, measured on {date} on \
             {machine}. In the second table the tools took turns; tiebreak starts three processes \
             for two timed runs, looks at each output and writes each round into its journal. {}\n",
            table(&["what", "demanded", "measured", "how"], costs),
            table(&tools_head, tools.into_iter().collect::<Result<Vec<_>>>()?),
            source(DATA)
        ))
    })
}

/// Returns these numbers of each measurement whose field has this text.
fn numbers<const N: usize>(
    all: &[Part<'_>],
    (field, text): (&str, &str),
    names: [&str; N],
) -> Result<Vec<[f64; N]>> {
    let of = all.iter().filter(|measurement| measurement.maybe_text(field) == Some(text));
    let found: Vec<_> = of.map(|of| names.map(|name| of.number(name))).collect();
    ensure!(!found.is_empty(), "{DATA}: {text} without {}", names.join(" or "));
    Ok(found)
}

/// A cost: its name, the demand, the measurement, and how it was measured.
type Row = [String; 4];

fn row(what: &str, demanded: &str, measured: String, how: String) -> Row {
    [what.to_owned(), demanded.to_owned(), measured, how]
}

fn medians(values: impl Iterator<Item = f64>, decimals: usize) -> Result<String> {
    spread(values, decimals).with_context(|| format!("{DATA}: a row without measurements"))
}

fn rounds(all: &[Part<'_>]) -> Result<Vec<Row>> {
    let programs = numbers(all, ("what", "round"), ["program_ms", "rounds"])?;
    let program_ms = median(programs.iter().map(|[ms, _]| *ms)).unwrap_or_default();
    let what = format!("added to a round: three runs of a program of {program_ms:.1} ms");
    let ways = [
        ("quiet", what.as_str(), "`--no-wait --quiet`"),
        ("terminal", "the same, with progress on a terminal", "`--no-wait`"),
        ("waiting", "the same, waiting for quiet, the waiting apart", "`--quiet`"),
    ];
    let rows = ways.into_iter().map(|(way, what, options)| {
        let added = numbers(all, ("way", way), ["added_ms"])?;
        let how = format!("{options}, {} runs of {} rounds", added.len(), programs[0][1]);
        let measured = medians(added.into_iter().flatten(), 2)?;
        Ok(row(what, "under 1 ms", format!("{measured} ms"), how))
    });
    rows.collect()
}

fn starts(all: &[Part<'_>]) -> Result<Vec<Row>> {
    let journals = [
        ("new", "from its exec to the first instruction of what it runs, `--no-wait`"),
        ("existing", "the same, with the runs before in the journal"),
    ];
    let rows = journals.into_iter().map(|(journal, how)| {
        let starts = numbers(all, ("journal", journal), ["ms"])?;
        let how = format!("{how}; {} starts", starts.len());
        let measured = medians(starts.into_iter().flatten(), 1)?;
        let what = format!("start-up, journal {journal}");
        Ok(row(&what, "under 20 ms", format!("{measured} ms"), how))
    });
    rows.collect()
}

/// Makes the row of the memory that the samples of a long run need more than those of a short one,
/// pair by pair.
fn memory(all: &[Part<'_>]) -> Result<Row> {
    let runs = numbers(all, ("what", "memory"), ["samples", "peak_bytes"])?;
    let fewest = runs.iter().map(|[samples, _]| *samples).fold(f64::INFINITY, f64::min);
    let most = runs.iter().map(|[samples, _]| *samples).fold(0.0, f64::max);
    let (short, long): (Vec<[f64; 2]>, Vec<[f64; 2]>) =
        runs.into_iter().partition(|run| run[0] == fewest);
    let pairs = short.iter().zip(&long);
    let growths = pairs.map(|(short, long)| (long[1] - short[1]) / (long[0] - short[0]));
    let measured = format!("{} bytes", medians(growths, 0)?);
    let how = format!("peak memory of {most} samples of `true` less that of {fewest}");
    Ok(row("memory a sample", "under 200 bytes", measured, how))
}

fn evidence(all: &[Part<'_>]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let aims = [
        ("M4", "factor", "under 2000 ns", "under 10 ms"),
        ("S2", "median", "under 200 ns", "under 2 ms"),
    ];
    for (engine, centre, update_aim, interval_aim) in aims {
        let of = numbers(all, ("engine", engine), ["rounds", "update_ns", "interval_ms"])?;
        let middle = |place: usize| {
            let of = of.iter().filter(|numbers| numbers[0] == EVIDENCE_ROUNDS);
            let middle = median(of.map(|numbers| numbers[place]));
            middle.with_context(|| format!("{DATA}: no evidence of {engine}"))
        };
        let (update, interval) = (format!("{:.0} ns", middle(1)?), format!("{:.2} ms", middle(2)?));
        let how = format!("`cargo bench -p tiebreak-stats`, after {EVIDENCE_ROUNDS} rounds");
        let option = format!("`--centre {centre}` ({engine})");
        rows.push(row(&format!("an update, {option}"), update_aim, update, how.clone()));
        rows.push(row(&format!("an interval, {option}"), interval_aim, interval, how));
    }
    Ok(rows)
}

fn tool(all: &[Part<'_>], name: &str, data: Part<'_>) -> Result<[String; 3]> {
    let version = data.at("tools").text(name);
    let runs = numbers(all, ("tool", name), ["seconds", "timed_runs", "program_ms"])?;
    let rate = medians(runs.iter().map(|[seconds, runs, _]| runs / seconds), 0)?;
    let beside_ms = runs.iter().map(|[seconds, runs, ms]| 1e3 * seconds / runs - ms);
    Ok([format!("{name} {version}"), rate, medians(beside_ms, 2)?])
}

#[cfg(test)]
mod tests;
