//! Compares every contestant's answers on all inputs of a study with the oracle's.

use super::functions::Functions;
use super::line_up::frame;
use super::plans::Setup;
use super::prepare::{Prepared, prepare};
use super::request::{Environment, Step, StudyRequest};
use super::trial;
use crate::error::LabError;
use tiebreak_core::result::VerifyRow;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{FunctionPlan, Verification};
use tiebreak_core::verdict::Fault;

/// The progress of a verification.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// The workload or verification.
    pub workload: &'a str,
    /// The part that is judged, counted from 1.
    pub part: u64,
    /// The number of parts.
    pub parts: u64,
}

/// Judges all contestants on an input of each workload, drawn only for this, and on each
/// verification of the study, part by part; on those that are only for `full` if `is_full`.
///
/// # Errors
/// As [`line_up`](super::line_up()).
pub fn verify(
    asked: &StudyRequest,
    is_full: bool,
    environment: &Environment,
    steps: &mut dyn FnMut(Step<'_>),
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<VerifyRow>, LabError> {
    let (frame, workloads) = frame(asked)?;
    let prepared = prepare(asked, environment, steps)?;
    let setup = Setup { asked, prepared: &prepared, environment, frame: &frame };
    let mut rows = Vec::new();
    let mut last = None;
    for workload in &workloads {
        progress(Progress { workload: &workload.name, part: 1, parts: 1 });
        let (plan, mut functions) = trial::functions(&setup, workload)?;
        rows.extend(of_workload(asked, &prepared, &plan, &mut functions)?);
        last = Some(functions);
    }
    let wanted = |one: &&Verification| asked.only.is_empty() && (is_full || !one.is_full);
    if let Some(functions) = &mut last {
        for verification in asked.study.verifications.iter().filter(wanted) {
            rows.extend(of_verification(&prepared, verification, functions, progress)?);
        }
    }
    Ok(rows)
}

fn of_workload(
    asked: &StudyRequest,
    prepared: &Prepared,
    plan: &FunctionPlan,
    functions: &mut Functions,
) -> Result<Vec<VerifyRow>, LabError> {
    let workload = &plan.workload;
    let seed = trial::input_seed(workload, &format!("{} {} verify", asked.seed, workload.name));
    let mut rows = not_run(prepared, &workload.name);
    let mut faults = vec![None; prepared.ready.len()];
    for contestant in plan.judged_order() {
        faults[contestant] = fault(functions.check(contestant, seed))?.err();
    }
    for (index, (ready, fault)) in prepared.ready.iter().zip(faults).enumerate() {
        let row = row(&ready.entrant.name, &workload.name, plan.items, fault);
        let unstarved = functions.unstarved(index).map(str::to_owned);
        rows.push(VerifyRow { unstarved, ..row });
    }
    Ok(rows)
}

/// Judges one verification. A contestant that is wrong in one part is not run again: the first
/// difference helps most.
fn of_verification(
    prepared: &Prepared,
    verification: &Verification,
    functions: &mut Functions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<VerifyRow>, LabError> {
    let mut rows = not_run(prepared, &verification.name);
    let mut judged: Vec<VerifyRow> = prepared
        .ready
        .iter()
        .map(|ready| row(&ready.entrant.name, &verification.name, 0, None))
        .collect();
    for part in 0..verification.parts {
        let parts = verification.parts;
        progress(Progress { workload: &verification.name, part: part + 1, parts });
        for (index, row) in judged.iter_mut().enumerate().filter(|(_, row)| row.fault.is_none()) {
            match fault(functions.verify(index, verification, part))? {
                Ok(items) => row.items += items,
                Err(fault) => row.fault = Some(fault),
            }
        }
    }
    rows.append(&mut judged);
    Ok(rows)
}

/// Separates a fault, which is a finding, from other failures, which end the verification.
fn fault<T>(judged: Result<T, UnitFailure>) -> Result<Result<T, Fault>, LabError> {
    match judged {
        Ok(judged) => Ok(Ok(judged)),
        Err(UnitFailure::Fault(_, fault)) => Ok(Err(fault)),
        Err(UnitFailure::Interrupted) => Err(LabError::Interrupted),
        Err(UnitFailure::Broken(why)) => Err(LabError::Broken(why)),
    }
}

fn row(contestant: &str, workload: &str, items: u64, fault: Option<Fault>) -> VerifyRow {
    let (contestant, workload) = (contestant.to_owned(), workload.to_owned());
    VerifyRow { contestant, workload, items, fault, not_run: None, unstarved: None }
}

fn not_run(prepared: &Prepared, workload: &str) -> Vec<VerifyRow> {
    let row = |one: &tiebreak_core::study::NotRun| VerifyRow {
        not_run: Some(one.why.clone()),
        ..row(&one.name, workload, 0, None)
    };
    prepared.not_run.iter().map(row).collect()
}
