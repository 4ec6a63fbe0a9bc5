//! Resumes a study from its journals alone.

use super::functions::Functions;
use super::line_up::{Book, LineUp};
use super::request::Environment;
use crate::check::{Contest, Rules};
use crate::error::LabError;
use crate::replay;
use crate::resume::{NewBudget, budget_from_here, is_over};
use crate::session::Session;
use tiebreak_core::journal::{Journal, RunHeader};
use tiebreak_core::result::{ContestResult, Family};
use tiebreak_core::study::FunctionPlan;
use tiebreak_store::{RunId, Store};

/// Resumes all runs that were begun together with this one: the workloads of one study.
///
/// # Errors
/// Fails if the run does not belong to a study; the study was killed before all of its runs were
/// begun; all of them are settled; no budget is left; this is another machine; or a file of theirs
/// is missing or has changed.
pub fn take_up(
    run: &RunId,
    budget: NewBudget,
    environment: &Environment,
    book: &Book,
) -> Result<LineUp, LabError> {
    let store = Store::open(&book.store)?;
    let header = store.header(run)?;
    let refuse = |why: String| LabError::Resume { id: run.as_str().to_owned(), why };
    let Some(functions) = header.plan.functions.as_deref() else {
        return Err(refuse("it does not belong to a study".to_owned()));
    };
    let siblings = siblings(&store, run, &header, functions)?;
    let is_begun = |name: &&String| siblings.iter().any(|(workload, _)| workload == *name);
    let missing: Vec<&str> =
        functions.workloads.iter().filter(|name| !is_begun(name)).map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(refuse(format!(
            "of its study there is no run on {}: start a new one",
            missing.join(", ")
        )));
    }
    let mut journals = Vec::with_capacity(siblings.len());
    for (_, sibling) in &siblings {
        journals.push(store.journal(sibling)?);
    }
    let all: Vec<&Journal> = journals.iter().collect();
    let budget = budget_from_here(&all, budget).map_err(refuse)?;
    let plans = all.iter().map(|journal| &journal.header.plan);
    let rules = Rules {
        file: functions.study.clone(),
        family: Family::EBonferroni,
        error: plans.clone().map(|plan| plan.error).sum(),
        claims: plans.map(|plan| plan.claims.len()).sum(),
        budget,
    };
    let mut line_up =
        LineUp { contests: Vec::new(), done: Vec::new(), rules, title: functions.title.clone() };
    for (index, ((name, sibling), journal)) in siblings.into_iter().zip(journals).enumerate() {
        let lines = vec![index as u64 + 1; journal.header.plan.claims.len().max(1)];
        if is_over(&journal) {
            line_up.done.push(ContestResult { name, run: replay::result(&journal), lines });
            continue;
        }
        let sampler = Functions::new(&journal.header.plan, environment)?;
        let store = Store::open(&book.store)?;
        let session = Session::take_up(store, sibling, &book.machine, NewBudget::Is(budget))?;
        line_up.contests.push(Contest { name, lines, session, sampler });
    }
    Ok(line_up)
}

/// Returns the runs that were begun together with this one, by workload, in the order of their
/// beginning: of all that the same command began for the same study with the same seed, those
/// between two beginnings of the study.
fn siblings(
    store: &Store,
    run: &RunId,
    header: &RunHeader,
    functions: &FunctionPlan,
) -> Result<Vec<(String, RunId)>, LabError> {
    let seed = base_seed(header);
    let mut together: Vec<(String, RunId)> = Vec::new();
    let mut summaries = store.runs(None)?;
    summaries.reverse();
    for summary in summaries.into_iter().filter(|one| one.command == header.command) {
        let other = store.header(&summary.id)?;
        let is_same = |plan: &&FunctionPlan| {
            (&plan.folder, &plan.study) == (&functions.folder, &functions.study)
        };
        let Some(plan) = other.plan.functions.as_deref().filter(is_same) else { continue };
        if base_seed(&other) != seed {
            continue;
        }
        let name = &plan.workload.name;
        let is_known = together.iter().any(|(workload, _)| workload == name);
        if is_known || plan.workloads.first() == Some(name) {
            if together.iter().any(|(_, id)| id == run) {
                break;
            }
            together.clear();
        }
        together.push((name.clone(), summary.id));
    }
    Ok(together)
}

fn workload(header: &RunHeader) -> &str {
    header.plan.functions.as_deref().map_or("", |functions| &functions.workload.name)
}

/// Returns the seed of the study, to which its runs append the workload.
fn base_seed(header: &RunHeader) -> &str {
    let seed = header.plan.seed.as_str();
    let base = seed.strip_suffix(workload(header));
    base.and_then(|base| base.strip_suffix(' ')).unwrap_or(seed)
}
