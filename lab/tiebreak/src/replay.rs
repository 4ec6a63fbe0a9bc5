//! The verdict of a journal again, from its samples alone.

use crate::error::LabError;
use crate::outcome::{self, Detail};
use crate::referee::Referee;
use tiebreak_core::journal::{Event, Journal, RecordedVerdict, StopReason};
use tiebreak_core::plan::ENGINE_VERSION;
use tiebreak_core::result::RunResult;

/// Why the run last stopped, if it has.
pub fn last_stop(journal: &Journal) -> Option<StopReason> {
    journal.events.iter().rev().find_map(|event| match event {
        Event::Stopped { reason, .. } => Some(*reason),
        Event::Resumed { .. } => None,
        _ => None,
    })
}

/// The result of a journal, without comparing it with the verdicts that it records.
pub fn result(journal: &Journal) -> RunResult {
    let referee = Referee::from_journal(journal);
    outcome::result(&referee, &journal.header, &journal.id, last_stop(journal), Detail::Full)
}

/// The result of a journal, every verdict of which must come out as it was recorded, bit for bit.
///
/// # Errors
/// Another engine wrote the journal, or a verdict comes out otherwise.
pub fn replay(journal: &Journal) -> Result<RunResult, LabError> {
    let engine = journal.header.plan.engine_version;
    if engine != ENGINE_VERSION {
        return Err(LabError::Usage(format!(
            "run {} was judged by version {engine} of the engine, this is version \
             {ENGINE_VERSION}: replay it with tiebreak {}",
            journal.id, journal.header.version
        )));
    }
    let referee = Referee::from_journal(journal);
    for (claim, planned) in journal.header.plan.claims.iter().enumerate() {
        let mut latest_first = journal.verdicts.iter().rev();
        let recorded = latest_first.find(|verdict| verdict.claim == claim);
        let Some(recorded) = recorded else { continue };
        let replayed = referee.record(claim);
        let later_rounds = replayed.rounds > recorded.rounds && !is_final(recorded);
        if !later_rounds && !is_same(recorded, &replayed) {
            return Err(LabError::Replay {
                id: journal.id.clone(),
                claim: planned.claim.text.clone(),
                recorded: describe(recorded),
                replayed: describe(&replayed),
            });
        }
    }
    Ok(outcome::result(&referee, &journal.header, &journal.id, last_stop(journal), Detail::Full))
}

/// Whether more rounds can change a recorded verdict: they can if it is `undecided`.
fn is_final(recorded: &RecordedVerdict) -> bool {
    recorded.verdict != tiebreak_core::verdict::Verdict::Undecided
}

fn is_same(a: &RecordedVerdict, b: &RecordedVerdict) -> bool {
    let bits = |limit: Option<f64>| limit.map(f64::to_bits);
    a.verdict == b.verdict
        && a.rounds == b.rounds
        && bits(a.low) == bits(b.low)
        && bits(a.high) == bits(b.high)
}

fn describe(verdict: &RecordedVerdict) -> String {
    let limit = |limit: Option<f64>| limit.map_or("none".to_owned(), |limit| format!("{limit:e}"));
    format!(
        "{} after {} rounds (log ratio from {} to {})",
        verdict.verdict,
        verdict.rounds,
        limit(verdict.low),
        limit(verdict.high)
    )
}
