//! Going on with a study from its journals alone.

use super::asked::Shop;
use super::functions::Functions;
use super::line_up::{Book, LineUp};
use crate::check::{Contest, Rules};
use crate::error::LabError;
use crate::replay;
use crate::resume::{NewBudget, budget_of};
use crate::session::{Session, has_changed};
use std::path::Path;
use tiebreak_core::journal::{Journal, RunHeader, StopReason};
use tiebreak_core::plan::Budget;
use tiebreak_core::result::{ContestResult, Family};
use tiebreak_core::study::FunctionPlan;
use tiebreak_store::{RunId, Store};

/// Takes up all runs that were begun together with this one: the workloads of one study.
///
/// # Errors
/// The run is no study's; all of them are settled; no budget is left; another machine; a file of
/// theirs is gone or has changed.
pub fn take_up(
    run: &RunId,
    budget: NewBudget,
    shop: &Shop,
    book: &Book,
) -> Result<LineUp, LabError> {
    let store = Store::open(&book.store)?;
    let header = store.header(run)?;
    let refuse = |why: String| LabError::Resume { id: run.as_str().to_owned(), why };
    let Some(functions) = header.plan.functions.as_deref() else {
        return Err(refuse("it is no study's".to_owned()));
    };
    let mut journals = Vec::new();
    for sibling in siblings(&store, run, &header, functions)? {
        journals.push((sibling.clone(), store.journal(&sibling)?));
    }
    let old = journals.iter().find(|(one, _)| one == run).map(|(_, journal)| budget_of(journal));
    let budget = new_budget(budget, old.unwrap_or(header.plan.budget), &header, &journals);
    let is_over = |journal: &Journal| {
        matches!(replay::last_stop(journal), Some(StopReason::Settled | StopReason::Void))
    };
    if journals.iter().all(|(_, journal)| is_over(journal)) {
        return Err(refuse(format!("it is finished: 'tiebreak show {}' shows it", run.as_str())));
    }
    let was_stopped = journals.iter().all(|(_, journal)| replay::last_stop(journal).is_some());
    if was_stopped && is_used_up(budget, &journals) {
        return Err(refuse("the study's budget is used up: give it more by --more".to_owned()));
    }
    let plans = journals.iter().map(|(_, journal)| &journal.header.plan);
    let rules = Rules {
        file: functions.study.clone(),
        family: Family::EBonferroni,
        error: plans.clone().map(|plan| plan.error).sum(),
        claims: plans.map(|plan| plan.claims.len()).sum(),
        budget,
    };
    let mut line_up =
        LineUp { contests: Vec::new(), done: Vec::new(), rules, title: functions.title.clone() };
    for (index, (sibling, journal)) in journals.into_iter().enumerate() {
        let lines = vec![index as u64 + 1; journal.header.plan.claims.len().max(1)];
        let name = workload(&journal.header).to_owned();
        if is_over(&journal) {
            line_up.done.push(ContestResult { name, run: replay::result(&journal), lines });
            continue;
        }
        if let Some(file) = journal.header.files.iter().find(|file| has_changed(file)) {
            let path = &file.path;
            return Err(refuse(format!("{path} is gone or has changed: start a new run")));
        }
        let sampler = Functions::new(&journal.header.plan, &shop.program, shop.stop)?;
        let session = session(&book.store, sibling, book, budget)?;
        line_up.contests.push(Contest { name, lines, session, sampler });
    }
    Ok(line_up)
}

fn session(store: &Path, run: RunId, book: &Book, budget: Budget) -> Result<Session, LabError> {
    Session::take_up(Store::open(store)?, run, &book.machine, NewBudget::Is(budget))
}

/// The runs that the same command began for the same study with the same seed, one a workload, in
/// the order in which they were begun: where it was typed twice, those nearest to this one.
fn siblings(
    store: &Store,
    run: &RunId,
    header: &RunHeader,
    functions: &FunctionPlan,
) -> Result<Vec<RunId>, LabError> {
    let seed = base_seed(header);
    let mut chosen: Vec<(String, u64, RunId)> = Vec::new();
    let mut summaries = store.runs(None)?;
    summaries.reverse();
    for summary in summaries.into_iter().filter(|one| one.command == header.command) {
        let other = store.header(&summary.id)?;
        let is_same = |plan: &FunctionPlan| {
            (&plan.folder, &plan.study) == (&functions.folder, &functions.study)
        };
        let is_study = other.plan.functions.as_deref().is_some_and(is_same);
        if !is_study || base_seed(&other) != seed {
            continue;
        }
        let name = workload(&other).to_owned();
        let away_ms = other.created_unix_ms.abs_diff(header.created_unix_ms);
        let is_this = summary.id == *run;
        match chosen.iter_mut().find(|(workload, ..)| *workload == name) {
            None => chosen.push((name, away_ms, summary.id)),
            Some((_, nearest_ms, id)) if *id != *run && (is_this || away_ms < *nearest_ms) => {
                (*nearest_ms, *id) = (away_ms, summary.id);
            }
            Some(_) => {}
        }
    }
    Ok(chosen.into_iter().map(|(.., id)| id).collect())
}

fn workload(header: &RunHeader) -> &str {
    header.plan.functions.as_deref().map_or("", |functions| &functions.workload.name)
}

/// The seed of the study: its runs add the workload to it.
fn base_seed(header: &RunHeader) -> &str {
    let seed = header.plan.seed.as_str();
    let base = seed.strip_suffix(workload(header));
    base.and_then(|base| base.strip_suffix(' ')).unwrap_or(seed)
}

/// The budget from here on, for all workloads together.
fn new_budget(
    asked: NewBudget,
    old: Budget,
    header: &RunHeader,
    journals: &[(RunId, Journal)],
) -> Budget {
    match asked {
        NewBudget::Same => old,
        NewBudget::Is(budget) => budget,
        NewBudget::More(more) => {
            let Budget { rounds, seconds } = more.unwrap_or(header.plan.budget);
            let (used_rounds, used_seconds) = used(journals);
            Budget {
                rounds: rounds.map(|rounds| rounds.saturating_add(used_rounds)),
                seconds: seconds.map(|seconds| seconds + used_seconds),
            }
        }
    }
}

fn is_used_up(budget: Budget, journals: &[(RunId, Journal)]) -> bool {
    let (rounds, seconds) = used(journals);
    budget.rounds.is_some_and(|most| rounds >= most)
        || budget.seconds.is_some_and(|most| seconds >= most)
}

/// Rounds and seconds of all runs together.
fn used(journals: &[(RunId, Journal)]) -> (u64, f64) {
    let rounds = journals.iter().map(|(_, journal)| journal.rounds.len() as u64).sum();
    let last = journals.iter().filter_map(|(_, journal)| journal.rounds.last());
    (rounds, last.map(|round| round.elapsed_ns as f64 / 1e9).sum())
}
