//! Makes runs from what was prepared: one for each workload, under one error and one budget.

use super::functions::Functions;
use super::plans::{self, Frame, Setup};
use super::prepare::{Ready, prepare};
use super::questions::Questions;
use super::request::{Environment, Step, StudyRequest};
use super::trial::{self, Trial};
use crate::check::{Contest, Rules};
use crate::error::LabError;
use crate::planning::{check_error, check_resolution, usage};
use crate::session::{Origin, Session};
use std::path::PathBuf;
use tiebreak_core::claim::Claim;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::plan::{Centre, Plan, PlannedClaim};
use tiebreak_core::result::{ContestResult, Family};
use tiebreak_core::study::{Placements, Workload};
use tiebreak_core::warning::Warning;
use tiebreak_machine::clock;
use tiebreak_stats::family;
use tiebreak_store::Store;

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

/// A workload with the claims to settle on it.
struct Entry {
    trial: Trial,
    claims: Vec<Claim>,
    cells: Vec<Claim>,
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
    let mut entries = Vec::with_capacity(workloads.len());
    for workload in &workloads {
        entries.extend(entry(&setup, workload, progress)?);
    }
    let claims: usize = entries.iter().map(|entry| entry.claims.len() + entry.cells.len()).sum();
    if claims == 0 && !asked.claims.is_empty() {
        return usage("none of these claims is about what is raced here".to_owned());
    }
    let error = family::bonferroni_error(asked.error, claims);
    let names: Vec<String> = entries.iter().map(|entry| entry.trial.name().to_owned()).collect();
    for entry in &mut entries {
        entry.trial.functions.workloads = names.clone();
    }
    let lined_up = entries.into_iter().map(|entry| Lined::of(&setup, entry, error));
    let lined_up = lined_up.collect::<Result<Vec<_>, LabError>>()?;
    // Only fast steps follow: a kill between two of them leaves a study that cannot be resumed.
    let lined_up = lined_up.into_iter().enumerate();
    let contests = lined_up.map(|(index, lined)| lined.begin(index, book));
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

/// Tries a workload; `None` if there is nothing to settle on it.
fn entry(
    setup: &Setup<'_>,
    workload: &Workload,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Option<Entry>, LabError> {
    let Setup { asked, prepared, .. } = *setup;
    let mut questions = Questions::of_claims(asked, prepared, workload)?;
    if questions.claims.is_empty() && !asked.claims.is_empty() {
        return Ok(None);
    }
    let mut trial = trial::run(setup, workload, &questions.claims, progress)?;
    questions.keep_measured(&trial.measured, &trial.missing_meters);
    if asked.claims.is_empty() {
        let is_void = |index: usize| trial.void.iter().any(|(one, _)| *one == index);
        let all = prepared.ready.iter().enumerate().filter(|(index, _)| !is_void(*index));
        let ready: Vec<&Ready> = all.map(|(_, one)| one).collect();
        let compared: Vec<&str> = ready.iter().map(|one| one.entrant.name.as_str()).collect();
        let reference = &prepared.ready[trial.functions.reference].entrant.name;
        let precision = asked.precision.unwrap_or(asked.study.precision);
        if asked.asks_order {
            let is_exact = |name: &&str| {
                let mut ready = prepared.ready.iter();
                ready.any(|one| one.entrant.name == **name && one.built.is_exact)
            };
            let compared: Vec<&str> = compared.into_iter().filter(is_exact).collect();
            questions.add_orders(&compared, reference, workload);
        } else {
            questions.add_cells(&compared, reference, precision, workload);
            questions.add_efficiencies(&ready, reference, precision, workload);
        }
    }
    trial.warnings.extend(questions.warnings);
    if let Placements::Reused(count) = asked.placements {
        trial.warnings.push(Warning::PlacementsReused { count });
    }
    Ok(Some(Entry { trial, claims: questions.claims, cells: questions.cells }))
}

/// A workload that is ready to be raced.
struct Lined {
    trial: Trial,
    plan: Plan,
    sampler: Functions,
}

impl Lined {
    /// Plans the run of a workload, and starts what it needs.
    fn of(setup: &Setup<'_>, entry: Entry, error: f64) -> Result<Lined, LabError> {
        let Entry { trial, claims, cells } = entry;
        let waits_ns = plans::waits_ns(setup.frame.budget, trial.functions.workloads.len());
        let mut planned = plans::planned(&claims, error, setup.prepared)?;
        let cells = plans::planned(&cells, error, setup.prepared)?;
        planned.extend(cells.into_iter().map(|cell| PlannedClaim { waits_ns, ..cell }));
        let plan = plans::plan(setup, trial.functions.clone(), planned);
        let sampler = Functions::new(&plan, setup.environment)?;
        Ok(Lined { trial, plan, sampler })
    }

    /// Begins the run.
    fn begin(self, index: usize, book: &Book) -> Result<Contest<Functions>, LabError> {
        let Lined { trial, plan, sampler } = self;
        let name = trial.name().to_owned();
        let lines = vec![index as u64 + 1; plan.claims.len().max(1)];
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
        Ok(Contest { name, lines, session, sampler })
    }
}
