//! `tiebreak history`: lists earlier runs.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::source;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::journal::StopReason;
use tiebreak_lab::report;
use tiebreak_lab::report::date::format_unix_ms;
use tiebreak_lab::report::table::{self, HistoryRow};
use tiebreak_lab::store::{RunSummary, Store};

#[derive(Debug, Args)]
pub struct HistoryOptions {
    /// How many runs, the latest first
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,

    /// All runs
    #[arg(long)]
    pub all: bool,

    /// As JSON
    #[arg(long)]
    pub json: bool,

    /// Watch each claim over all runs of it, and raise an alarm when it has changed
    #[arg(long, conflicts_with_all = ["limit", "all"])]
    pub watch: bool,

    /// With --watch: of this claim only
    #[arg(long, value_name = "SENTENCE", requires = "watch")]
    pub claim: Option<String>,

    /// With --watch: so many runs pass on average, at least, between two false alarms
    #[arg(long, value_name = "RUNS", default_value_t = 1000, requires = "watch",
          value_parser = clap::value_parser!(u64).range(2..))]
    pub between_alarms: u64,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,
}

/// The explanation of "(run 3)" after a verdict.
const REPEATED: &str = "run n of a claim on the same files: any of n is wrong with probability at \
                        most n times its error\n";

pub fn run(options: &HistoryOptions, io: &mut Io) -> Result<u8, Failure> {
    if options.watch {
        return watch(options, io);
    }
    let path = source::store_path(options.store.as_ref())?;
    let limit = (!options.all).then_some(options.limit);
    // Before the first run there is neither a store nor a run.
    let runs = if path.exists() { Store::open_existing(&path)?.runs(limit)? } else { Vec::new() };
    if options.json {
        let rows: Vec<_> = runs.iter().map(json_row).collect();
        io.out(&format!("{:#}\n", serde_json::Value::from(rows)));
    } else {
        let rows: Vec<HistoryRow> = runs.iter().map(row).collect();
        let page = table::history(&rows, &io.out_look());
        io.out(&page);
        if runs.iter().any(|run| run.repetition > 1) {
            io.out(REPEATED);
        }
    }
    Ok(exit::HOLDS)
}

/// Prints claims over all their runs. The exit code says whether the latest run of one raised the
/// alarm.
fn watch(options: &HistoryOptions, io: &mut Io) -> Result<u8, Failure> {
    let path = source::store_path(options.store.as_ref())?;
    let series = if path.exists() {
        let store = Store::open_existing(&path)?;
        tiebreak_lab::watch::watch(&store, options.claim.as_deref(), options.between_alarms as f64)?
    } else {
        Vec::new()
    };
    if let Some(claim) = options.claim.as_ref().filter(|_| series.is_empty()) {
        return Err(Failure::data(format!("no run has the claim '{claim}'")));
    }
    if options.json {
        let json = serde_json::json!({ "schema": "tiebreak/watch/1", "series": series });
        io.out(&format!("{json:#}\n"));
    } else {
        let page = report::watch::page(&series, &io.out_look());
        io.out(&page);
    }
    Ok(if report::watch::is_alarmed(&series) { exit::REFUTED } else { exit::HOLDS })
}

fn row(run: &RunSummary) -> HistoryRow {
    HistoryRow {
        id: run.id.as_str().to_owned(),
        when: format_unix_ms(run.created_unix_ms),
        command: match &run.study {
            Some((study, workload)) => format!("study {study} on {workload}"),
            None => tiebreak_lab::report::shell_line(&run.command),
        },
        verdicts: match run.repetition {
            1 => words(run).join(", "),
            n => format!("{} (run {n})", words(run).join(", ")),
        },
        rounds: run.rounds,
        seconds: run.seconds,
    }
}

/// Returns the verdicts in words, each once with its number; or the state of the run if it has
/// none.
fn words(run: &RunSummary) -> Vec<String> {
    let reached: Vec<&str> =
        run.claims.iter().filter_map(|claim| Some(claim.verdict?.name())).collect();
    let mut words: Vec<&str> = reached.clone();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() || run.running {
        return vec![state(run).to_owned()];
    }
    let counted = words.into_iter().map(|word| {
        match reached.iter().filter(|other| **other == word).count() {
            1 => word.to_owned(),
            n => format!("{n} {word}"),
        }
    });
    counted.collect()
}

fn state(run: &RunSummary) -> &'static str {
    match run.stopped {
        _ if run.running => "running",
        Some(StopReason::Interrupted) => "interrupted",
        Some(StopReason::Void) => "void",
        Some(_) => "finished",
        None => "cut off",
    }
}

fn json_row(run: &RunSummary) -> serde_json::Value {
    let claims: Vec<_> = run
        .claims
        .iter()
        .map(|claim| {
            let verdict = claim.verdict.map(|verdict| verdict.name());
            serde_json::json!({ "claim": claim.text, "verdict": verdict })
        })
        .collect();
    serde_json::json!({
        "journal": run.id.as_str(),
        "created_unix_ms": run.created_unix_ms,
        "command": run.command,
        "rounds": run.rounds,
        "seconds": run.seconds,
        "state": state(run),
        "repetition": run.repetition,
        "claims": claims,
    })
}
