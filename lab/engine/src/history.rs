//! The list of earlier runs.

use crate::error::Result;
use crate::source;
use serde_json::{Value, json};
use std::path::Path;
use tiebreak_core::journal::StopReason;
use tiebreak_report::date::format_unix_ms;
use tiebreak_report::shell_line;
use tiebreak_report::table::HistoryRow;
use tiebreak_store::RunSummary;

/// Returns the runs of a store, the latest first, at most `limit` of them.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn runs(store: Option<&Path>, limit: Option<u64>) -> Result<Vec<RunSummary>> {
    let store = source::store_if_any(store)?;
    Ok(store.map_or(Ok(Vec::new()), |store| store.runs(limit))?)
}

/// Returns a run as a row of a table.
pub fn row(run: &RunSummary) -> HistoryRow {
    let verdicts = verdicts(run).join(", ");
    HistoryRow {
        id: run.id.as_str().to_owned(),
        when: format_unix_ms(run.created_unix_ms),
        command: match &run.study {
            Some((study, workload)) => format!("study {study} on {workload}"),
            None => shell_line(&run.command),
        },
        verdicts: match run.repetition {
            1 => verdicts,
            n => format!("{verdicts} (run {n})"),
        },
        rounds: run.rounds,
        seconds: run.seconds,
    }
}

/// Returns the verdicts in words, each once with its number; or the state of the run if it has
/// none.
fn verdicts(run: &RunSummary) -> Vec<String> {
    let mut words: Vec<&str> =
        run.claims.iter().filter_map(|claim| Some(claim.verdict?.name())).collect();
    words.sort_unstable();
    if words.is_empty() || run.running {
        return vec![state(run).to_owned()];
    }
    let counted = words.chunk_by(|one, other| one == other).map(|same| match same.len() {
        1 => same[0].to_owned(),
        n => format!("{n} {}", same[0]),
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

/// Returns runs as JSON.
pub fn json(runs: &[RunSummary]) -> String {
    let runs = runs.iter().map(|run| {
        let claims = run.claims.iter().map(|claim| {
            let verdict = claim.verdict.map(|verdict| verdict.name());
            json!({ "claim": claim.text, "verdict": verdict })
        });
        json!({
            "journal": run.id.as_str(),
            "created_unix_ms": run.created_unix_ms,
            "command": run.command,
            "rounds": run.rounds,
            "seconds": run.seconds,
            "state": state(run),
            "repetition": run.repetition,
            "claims": claims.collect::<Vec<_>>(),
        })
    });
    format!("{:#}\n", Value::from(runs.collect::<Vec<_>>()))
}
