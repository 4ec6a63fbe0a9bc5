//! The runs of a study, one for each workload, under one error and one budget: begun from what was
//! prepared or resumed from their journals, and raced in turns.

use super::functions::Functions;
use super::setup::{Setup, waits_ns};
use super::trial::Trial;
use super::{Environment, Step, StudyRequest};
use super::{short, trial};
use crate::check::{self, Contest, Rules, together};
use crate::error::{Result, usage};
use crate::replay;
use crate::resume::{NewBudget, budget_from_here, budget_of, is_over, refused};
use crate::session::{Book, Session};
use std::sync::atomic::AtomicBool;
use tiebreak_core::journal::{Event, Journal, RunHeader};
use tiebreak_core::plan::{Budget, Plan};
use tiebreak_core::result::{CheckResult, ContestResult, Family, StudyResult};
use tiebreak_core::study::Study;
use tiebreak_core::warning::Warning;
use tiebreak_stats::family;
use tiebreak_store::{RunId, Store};

/// The runs of a study that will be raced, one for each workload.
pub type LineUp = check::LineUp<Functions>;

/// Builds the requested contestants, judges the answers, runs the pilots, and begins a run for each
/// workload. Splits the error equally over all claims and ratios of all workloads, before the first
/// sample.
///
/// # Errors
/// Fails if the request is invalid, a build fails, an oracle fails, or a journal cannot be written;
/// also with [`LabError::Interrupted`].
pub fn line_up(
    asked: &StudyRequest,
    environment: &Environment,
    book: &Book,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<LineUp> {
    let setup = Setup::new(asked, environment, progress)?;
    let mut tried = Vec::with_capacity(setup.workloads.len());
    for workload in &setup.workloads {
        tried.extend(trial::run(&setup, workload, progress)?);
    }
    let claims: usize = tried.iter().map(|trial| trial.claims.len() + trial.cells.len()).sum();
    if claims == 0 && !asked.claims.is_empty() {
        return usage("none of these claims is about what is raced here");
    }
    let error = family::bonferroni_error(asked.error, claims);
    let workloads: Vec<String> =
        tried.iter().map(|trial| trial.functions.workload.name.clone()).collect();
    let needs_ns: Vec<f64> = tried.iter().map(Trial::claims_need_ns).collect();
    let waits_ns = waits_ns(setup.budget, &needs_ns);
    let mut lined_up = Vec::with_capacity(tried.len());
    for (mut trial, waits_ns) in tried.into_iter().zip(waits_ns) {
        trial.functions.workloads.clone_from(&workloads);
        let mut planned = setup.planned(&trial.claims, error, 0)?;
        planned.extend(setup.planned(&trial.cells, error, waits_ns)?);
        let plan = setup.plan(trial.functions.clone(), planned);
        let sampler = Functions::new(&plan, environment)?;
        lined_up.push((trial, plan, sampler));
    }
    let plans: Vec<&Plan> = lined_up.iter().map(|(_, plan, _)| plan).collect();
    if let Some(warning) = short::foreseen(&plans, setup.budget) {
        progress(Step::ShortBudget(&warning));
    }
    // Only fast steps follow: a kill between two of them leaves a study that cannot be resumed.
    let mut contests = Vec::with_capacity(lined_up.len());
    for (index, (trial, plan, sampler)) in lined_up.into_iter().enumerate() {
        let lines = lines(index, &plan);
        let mut session = Session::begin(book, plan, &sampler.files())?;
        for (contestant, fault) in trial.void {
            session.event(Event::Void { contestant, round: 0, attempt: None, fault })?;
        }
        let missing = sampler.missing_meters().iter();
        let missing = missing.map(|meter| Warning::NoMeter { what: meter.why.clone() });
        for warning in trial.warnings.into_iter().chain(missing) {
            session.event(Event::Warned { warning })?;
        }
        contests.push(Contest { name: trial.functions.workload.name, lines, session, sampler });
    }
    let rules = Rules {
        file: asked.study.name.clone(),
        family: Family::EBonferroni,
        error: asked.error,
        claims,
        budget: setup.budget,
    };
    Ok(LineUp { contests, done: Vec::new(), rules })
}

/// Returns the lines of a file of claims that correspond to the claims of a workload.
fn lines(index: usize, plan: &Plan) -> Vec<u64> {
    vec![index as u64 + 1; plan.claims.len().max(1)]
}

/// Races the workloads to their end. Calls `watch` with their standing after each turn, between two
/// units.
///
/// # Errors
/// Fails if a journal cannot be written, or if the machine fails. What was finished is in the
/// journals.
pub fn race(
    line_up: &mut LineUp,
    stop: &AtomicBool,
    mut watch: impl FnMut(&dyn Fn() -> StudyResult),
) -> Result<StudyResult> {
    line_up.race(stop, |standing| watch(&|| of_study(standing()))).map(of_study)
}

/// Converts the result: a study's workloads correspond to a file's contests.
fn of_study(raced: CheckResult) -> StudyResult {
    let mut runs: Vec<_> = raced.contests.into_iter().map(|contest| contest.run).collect();
    short::warn(&mut runs, raced.budget);
    let title = runs.iter().find_map(|run| run.study.as_ref()).map(|study| study.title.clone());
    StudyResult {
        study: raced.file,
        title: title.unwrap_or_default(),
        error: raced.error,
        budget: raced.budget,
        seconds: raced.seconds,
        interrupted: raced.interrupted,
        runs,
    }
}

/// Returns the newest result of a study in the store, all its workloads together; `None` if it was
/// never raced.
///
/// # Errors
/// Fails if a journal cannot be read.
pub fn newest(of: &Study, store: &Store) -> Result<Option<StudyResult>> {
    for summary in store.runs(None)? {
        let header = store.header(&summary.id)?;
        let functions = header.plan.functions.as_deref();
        if functions.is_none_or(|one| (&one.study, &one.folder) != (&of.name, &of.folder)) {
            continue;
        }
        let siblings = siblings(store, &summary.id, &header)?;
        let journals = siblings.iter().map(|(_, id)| store.journal(id));
        let journals = journals.collect::<Result<Vec<_>, _>>()?;
        let Some(first) = journals.first() else { continue };
        let rules = rules(&of.name, &journals, budget_of(first));
        let contests = siblings.into_iter().zip(&journals).enumerate();
        let contests = contests.map(|(index, ((name, _), journal))| {
            let lines = lines(index, &journal.header.plan);
            ContestResult { name, run: replay::result(journal), lines }
        });
        return Ok(Some(of_study(together(&rules, contests.collect()))));
    }
    Ok(None)
}

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
) -> Result<LineUp> {
    let store = Store::open(&book.store)?;
    let header = store.header(run)?;
    let Some(functions) = header.plan.functions.as_deref() else {
        return Err(refused(run.as_str(), "it does not belong to a study"));
    };
    let siblings = siblings(&store, run, &header)?;
    let mut missing: Vec<&str> = functions.workloads.iter().map(String::as_str).collect();
    missing.retain(|name| !siblings.iter().any(|(workload, _)| workload == name));
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let why = format!("of its study there is no run on {missing}: start a new one");
        return Err(refused(run.as_str(), &why));
    }
    let journals = siblings.iter().map(|(_, sibling)| store.journal(sibling));
    let journals = journals.collect::<Result<Vec<_>, _>>()?;
    let all: Vec<&Journal> = journals.iter().collect();
    let budget = budget_from_here(&all, budget).map_err(|why| refused(run.as_str(), &why))?;
    let rules = rules(&functions.study, &journals, budget);
    let mut line_up = LineUp { contests: Vec::new(), done: Vec::new(), rules };
    for (index, ((name, sibling), journal)) in siblings.into_iter().zip(journals).enumerate() {
        let lines = lines(index, &journal.header.plan);
        if is_over(&journal) {
            line_up.done.push(ContestResult { name, run: replay::result(&journal), lines });
            continue;
        }
        let sampler = Functions::new(&journal.header.plan, environment)?;
        let session = Session::take_up(book, sibling, NewBudget::Is(budget))?;
        line_up.contests.push(Contest { name, lines, session, sampler });
    }
    Ok(line_up)
}

/// Returns the rules of a study whose runs have these journals.
fn rules(study: &str, journals: &[Journal], budget: Budget) -> Rules {
    let plans = journals.iter().map(|journal| &journal.header.plan);
    Rules {
        file: study.to_owned(),
        family: Family::EBonferroni,
        error: plans.clone().map(|plan| plan.error).sum(),
        claims: plans.map(|plan| plan.claims.len()).sum(),
        budget,
    }
}

/// Returns the runs that were begun together with this one, by workload, in the order of their
/// beginning: of all that the same command began for the same study with the same seed, those
/// between two beginnings of the study.
fn siblings(store: &Store, run: &RunId, header: &RunHeader) -> Result<Vec<(String, RunId)>> {
    let mut together: Vec<(String, RunId)> = Vec::new();
    for summary in store.runs(None)?.into_iter().rev() {
        if summary.command != header.command {
            continue;
        }
        let other = store.header(&summary.id)?;
        let is_of_study = study_and_seed(&other) == study_and_seed(header);
        let Some(functions) = other.plan.functions.filter(|_| is_of_study) else { continue };
        let name = functions.workload.name;
        let is_known = together.iter().any(|(workload, _)| *workload == name);
        if is_known || functions.workloads.first() == Some(&name) {
            if together.iter().any(|(_, id)| id == run) {
                break;
            }
            together.clear();
        }
        together.push((name, summary.id));
    }
    Ok(together)
}

/// Returns folder and name of a run's study, and the study's seed, to which its runs append the
/// workload.
fn study_and_seed(header: &RunHeader) -> Option<[&str; 3]> {
    let functions = header.plan.functions.as_deref()?;
    let seed = header.plan.seed.as_str();
    let base = seed.strip_suffix(functions.workload.name.as_str());
    let base = base.and_then(|base| base.strip_suffix(' '));
    Some([&functions.folder, &functions.study, base.unwrap_or(seed)])
}
