//! Going on with a run: only its budget may change.

use crate::error::LabError;
use crate::replay;
use crate::session::has_changed;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::{Event, Journal, StopReason};
use tiebreak_core::plan::{Budget, ENGINE_VERSION};
use tiebreak_store::{RunId, Store};

/// The budget in force, and whether it is another than before.
fn budget_of(journal: &Journal) -> Budget {
    let resumed = journal.events.iter().rev().find_map(|event| match event {
        Event::Resumed { budget, .. } => Some(*budget),
        _ => None,
    });
    resumed.unwrap_or(journal.header.plan.budget)
}

/// Checks that the run can go on, on this machine and with these files, and journals another
/// budget.
///
/// A run that was killed goes on as if nothing had happened: its journal stays what it would have
/// been.
///
/// # Errors
/// Its claims are settled; another engine, machine or file; no budget is left.
pub fn prepare(
    store: &mut Store,
    run: &RunId,
    journal: &mut Journal,
    machine: &Fingerprint,
    budget: Option<Budget>,
) -> Result<(), LabError> {
    let refuse = |why: String| Err(LabError::Resume { id: journal.id.clone(), why });
    let header = &journal.header;
    if header.plan.engine_version != ENGINE_VERSION {
        return refuse(format!("it was begun by tiebreak {}: use that one", header.version));
    }
    let differing = header.machine.differences(machine);
    if !differing.is_empty() {
        return refuse(format!(
            "this is another machine ({} differ): start a new run",
            differing.join(", ")
        ));
    }
    for file in &header.files {
        if has_changed(file) {
            return refuse(format!("{} has changed: start a new run", file.path));
        }
    }
    let stopped = replay::last_stop(journal);
    if matches!(stopped, Some(StopReason::Settled | StopReason::Void)) {
        return refuse(format!("it is finished: 'tiebreak show {}' shows it", journal.id));
    }
    let referee = crate::referee::Referee::from_journal(journal);
    let old = budget_of(journal);
    let mut extended = referee.clone();
    extended.set_budget(budget.unwrap_or(old));
    // A run that was killed before it could say why it stopped goes on to say so.
    if extended.is_out_of_budget() && stopped.is_some() {
        return refuse(format!(
            "its budget is used up after {} rounds and {:.1} s: give a larger one by --budget",
            referee.rounds(),
            referee.elapsed_ns() as f64 / 1e9
        ));
    }
    if budget.is_some_and(|budget| budget != old) || stopped.is_some() {
        let budget = budget.unwrap_or(old);
        let (rounds, lost) = (referee.rounds(), journal.lost.len() as u64);
        let event = Event::Resumed { rounds, lost, budget };
        store.event(run, &event)?;
        journal.events.push(event);
    }
    Ok(())
}
