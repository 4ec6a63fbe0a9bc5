//! The runs of a study, one for each workload, under one error and one budget: begun from what was
//! prepared or resumed from their journals, and raced in turns.

use super::functions::Functions;
use super::plans::{self, Frame, Setup};
use super::prepare::prepare;
use super::questions::Questions;
use super::trial::{self, Trial};
use super::{Environment, Step, StudyRequest};
use crate::check::{self, Contest, Rules};
use crate::error::{LabError, usage};
use crate::planning::{check_error, check_resolution};
use crate::replay;
use crate::resume::{NewBudget, budget_from_here, is_over, refused};
use crate::session::{Origin, Session};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::{Journal, RunHeader};
use tiebreak_core::plan::{Centre, Plan};
use tiebreak_core::result::{CheckResult, ContestResult, Family, StudyResult};
use tiebreak_core::study::{FunctionPlan, Placements, Workload};
use tiebreak_core::warning::Warning;
use tiebreak_machine::clock;
use tiebreak_stats::family;
use tiebreak_store::{RunId, Store};

/// The runs of a study that will be raced.
pub struct LineUp {
    /// One run for each workload.
    pub contests: Vec<Contest<Functions>>,
    /// Workloads that earlier races have settled.
    pub done: Vec<ContestResult>,
    /// Error and budget of all of them.
    pub rules: Rules,
    /// The study's title.
    pub title: String,
}

/// The store of the runs, and what it records about their origin.
#[derive(Clone, Debug)]
pub struct Book {
    /// The store.
    pub store: PathBuf,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// The machine.
    pub machine: Fingerprint,
}

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
) -> Result<LineUp, LabError> {
    let (frame, workloads) = frame(asked)?;
    let prepared = prepare(asked, environment, progress)?;
    let setup = Setup { asked, prepared: &prepared, environment, frame: &frame };
    let mut tried = Vec::with_capacity(workloads.len());
    for workload in &workloads {
        tried.extend(try_workload(&setup, workload, progress)?);
    }
    let claims: usize = tried.iter().map(|(_, asked)| asked.claims.len() + asked.cells.len()).sum();
    if claims == 0 && !asked.claims.is_empty() {
        return usage("none of these claims is about what is raced here");
    }
    let error = family::bonferroni_error(asked.error, claims);
    let workloads: Vec<String> =
        tried.iter().map(|(trial, ..)| trial.functions.workload.name.clone()).collect();
    let waits_ns = plans::waits_ns(frame.budget, workloads.len());
    let mut lined_up = Vec::with_capacity(tried.len());
    for (mut trial, Questions { claims: own, cells, .. }) in tried {
        trial.functions.workloads.clone_from(&workloads);
        let mut planned = plans::planned(&own, &prepared, error, 0)?;
        planned.extend(plans::planned(&cells, &prepared, error, waits_ns)?);
        let plan = plans::plan(&setup, trial.functions.clone(), planned);
        let sampler = Functions::new(&plan, environment)?;
        lined_up.push((trial, plan, sampler));
    }
    // Only fast steps follow: a kill between two of them leaves a study that cannot be resumed.
    let contests = lined_up.into_iter().enumerate();
    let contests =
        contests.map(|(index, (trial, plan, sampler))| begin(index, trial, plan, sampler, book));
    let contests = contests.collect::<Result<_, _>>()?;
    let rules = Rules {
        file: asked.study.name.clone(),
        family: Family::EBonferroni,
        error: asked.error,
        claims,
        budget: frame.budget,
    };
    Ok(LineUp { contests, done: Vec::new(), rules, title: asked.study.title.clone() })
}

/// Returns the settings of all workloads, and the workloads. Builds nothing.
///
/// # Errors
/// Fails for numbers, names or scopes that make no plan.
pub fn frame(asked: &StudyRequest) -> Result<(Frame, Vec<Workload>), LabError> {
    check_numbers(asked)?;
    asked.entrants()?;
    let workloads = asked.workloads()?;
    let frame = Frame {
        scope: asked.scope()?,
        cpu: asked.cpu(),
        budget: asked.budget(workloads.len()),
        workloads: workloads.len(),
        clock_step_ns: clock::step_ns() as f64,
    };
    Ok((frame, workloads))
}

fn check_numbers(asked: &StudyRequest) -> Result<(), LabError> {
    check_error(asked.error)?;
    check_resolution(asked.resolution)?;
    if asked.centre == Some(Centre::Mean) {
        return usage(
            "a ratio of means needs a cap, and the time of a call has none: --centre median, or \
             race programs by 'tiebreak compare --mean'"
                .to_owned(),
        );
    }
    match asked.precision {
        Some(precision) if !(precision > 0.0 && precision <= 1.0) => usage(format!(
            "a precision of {precision} is none: it must be above 0 and at most 100%, such as \
             --precision 5%"
        )),
        _ => Ok(()),
    }
}

/// Tries a workload, and returns the claims and the cells of the table to settle on it; `None` if
/// there are none.
fn try_workload(
    setup: &Setup<'_>,
    workload: &Workload,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Option<(Trial, Questions)>, LabError> {
    let Setup { asked, prepared, .. } = *setup;
    let mut questions = Questions::of_claims(asked, prepared, workload)?;
    if questions.claims.is_empty() && !asked.claims.is_empty() {
        return Ok(None);
    }
    let mut trial = trial::run(setup, workload, &questions.claims, progress)?;
    questions.keep_measured(&trial.measured, &trial.missing_meters);
    if asked.claims.is_empty() {
        let compared: Vec<_> =
            prepared.without(&trial.void).map(|index| &prepared.ready[index]).collect();
        let reference = prepared.name(trial.functions.reference);
        if asked.asks_order {
            questions.add_orders(&compared, reference);
        } else {
            let precision = asked.precision.unwrap_or(asked.study.precision);
            questions.add_cells(&compared, reference, precision);
        }
    }
    trial.warnings.append(&mut questions.warnings);
    if let Placements::Reused(count) = asked.placements {
        trial.warnings.push(Warning::PlacementsReused { count });
    }
    Ok(Some((trial, questions)))
}

/// Begins the run of a workload.
fn begin(
    index: usize,
    trial: Trial,
    plan: Plan,
    sampler: Functions,
    book: &Book,
) -> Result<Contest<Functions>, LabError> {
    let lines = lines(index, &plan);
    let origin = Origin {
        command: book.command.clone(),
        machine: book.machine.clone(),
        files: sampler.files(),
    };
    let mut session = Session::begin(Store::open(&book.store)?, plan, origin)?;
    for (contestant, fault) in trial.void {
        session.void(contestant, fault)?;
    }
    let missing = sampler.missing_meters().iter();
    let missing = missing.map(|meter| Warning::NoMeter { what: meter.why.clone() });
    for warning in trial.warnings.into_iter().chain(missing) {
        session.warn(warning)?;
    }
    Ok(Contest { name: trial.functions.workload.name, lines, session, sampler })
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
) -> Result<StudyResult, LabError> {
    let LineUp { contests, done, rules, title } = line_up;
    let raced = check::race::<Functions>(contests, done, rules, stop, |standing| {
        watch(&|| of_study(standing(), title));
    })?;
    Ok(of_study(raced, title))
}

/// Converts the result: a study's workloads correspond to a file's contests.
fn of_study(raced: CheckResult, title: &str) -> StudyResult {
    StudyResult {
        study: raced.file,
        title: title.to_owned(),
        error: raced.error,
        budget: raced.budget,
        seconds: raced.seconds,
        interrupted: raced.interrupted,
        runs: raced.contests.into_iter().map(|contest| contest.run).collect(),
    }
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
) -> Result<LineUp, LabError> {
    let store = Store::open(&book.store)?;
    let header = store.header(run)?;
    let Some(functions) = header.plan.functions.as_deref() else {
        return Err(refused(run.as_str(), "it does not belong to a study"));
    };
    let siblings = siblings(&store, run, &header, functions)?;
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
        let lines = lines(index, &journal.header.plan);
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
    let mut together: Vec<(String, RunId)> = Vec::new();
    let mut summaries = store.runs(None)?;
    summaries.reverse();
    for summary in summaries.into_iter().filter(|one| one.command == header.command) {
        let other = store.header(&summary.id)?;
        let Some(plan) = other.plan.functions.as_deref() else { continue };
        if (&plan.folder, &plan.study) != (&functions.folder, &functions.study)
            || base_seed(&other, plan) != base_seed(header, functions)
        {
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

/// Returns the seed of the study, to which its runs append the workload.
fn base_seed<'a>(header: &'a RunHeader, functions: &FunctionPlan) -> &'a str {
    let seed = header.plan.seed.as_str();
    let base = seed.strip_suffix(functions.workload.name.as_str());
    base.and_then(|base| base.strip_suffix(' ')).unwrap_or(seed)
}
