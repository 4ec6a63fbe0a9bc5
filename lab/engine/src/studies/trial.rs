//! Tries a workload before anything is planned: judges answers, and runs the pilot. Verifies
//! answers on all inputs of a study.

use super::functions::Functions;
use super::pilot::{self, Brief, Piloted};
use super::prepare::Prepared;
use super::questions::Questions;
use super::setup::Setup;
use super::{Environment, Step, StudyRequest, fault};
use crate::error::LabError;
use std::path::Path;
use tiebreak_core::claim::Claim;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Centre, PlannedClaim};
use tiebreak_core::result::VerifyRow;
use tiebreak_core::study::{
    BatchCalls, BuiltForm, FunctionPlan, Placements, Verification, Workload,
};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;
use tiebreak_measure::MissingMeter;
use tiebreak_measure::oracle::{Input, Oracle, OracleError};
use tiebreak_measure::runners;
use tiebreak_measure::workers::{Clock, shortest_energy_batch_ns};
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::{bettor, family};

/// The longest `prepare` that is not reported: the sum of this many times the shortest of the
/// study, this many of its own calls, and the time of a few system calls.
const PREPARED_TIMES: f64 = 10.0;
const PREPARED_CALLS: f64 = 100.0;
const PREPARED_NS: f64 = 20e3;
/// The same for a runner, whose runtime has compiled nothing yet.
const PREPARED_COLD_NS: f64 = 20e6;

/// A workload on which functions were tried, and what to settle on it.
#[derive(Debug)]
pub(super) struct Trial {
    /// The plan of the functions.
    pub functions: FunctionPlan,
    /// Contestants that are void before the first round, by their index.
    pub void: Vec<(usize, Fault)>,
    /// The claims and questions to settle.
    pub claims: Vec<Claim>,
    /// The ratios of the table.
    pub cells: Vec<Claim>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// Judges every contestant's answer on a workload, and runs the pilot with those that are right.
/// Returns `None` if claims were typed and none is about this workload.
///
/// # Errors
/// Fails if the oracle fails, or for an error that no contestant caused; also with
/// [`LabError::Interrupted`].
pub(super) fn run(
    setup: &Setup<'_>,
    workload: &Workload,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Option<Trial>, LabError> {
    let Setup { asked, prepared, environment, .. } = setup;
    let mut questions = Questions::of_claims(asked, prepared, workload)?;
    if questions.claims.is_empty() && !asked.claims.is_empty() {
        return Ok(None);
    }
    progress(Step::Checking { workload: &workload.name });
    let seed = format!("{} {} pilot", asked.seed, workload.name);
    let mut functions = measured_plan(setup, workload, &seed)?;
    let claimed = setup.planned(&questions.claims, 0.0, 0)?;
    let mut first = Functions::new(&setup.plan(functions.clone(), claimed.clone()), environment)?;
    let missing_meters = first.missing_meters().to_vec();
    let mut void = check(&mut first, &functions, &seed)?;
    drop(first);
    let clock = Clock::measure();
    let batch_ns = if asked.has_runners() {
        runners::BATCH_NS_MIN
    } else {
        shortest_batch_ns(&clock, &questions.claims, &missing_meters)
    };
    let brief = brief(setup, &functions, &claimed, &void, seed, batch_ns);
    let piloted = pilot::run(brief, &mut |calls| {
        let calls_a_batch = BatchCalls::Each(calls.to_vec());
        let functions = FunctionPlan { calls_a_batch, ..functions.clone() };
        Functions::new(&setup.plan(functions, claimed.clone()), environment)
    })?;
    void.extend(piloted.void.iter().cloned());
    for (index, fault) in &void {
        let contestant = prepared.name(*index);
        progress(Step::Void { workload: &workload.name, contestant, fault });
    }
    let mut warnings = pilot_warnings(&piloted, prepared, &functions, &clock);
    questions.keep_measured(&piloted.measured, &missing_meters);
    let batch_ns = piloted.batches().map_or(0.0, |[shortest, _]| shortest.1);
    functions.pilot = piloted.pilot;
    functions.rounds_a_unit = piloted.rounds_a_unit;
    functions.calls_a_batch = BatchCalls::Each(piloted.calls_a_batch);
    if piloted.untimed.iter().any(Option::is_some) {
        functions.untimed = piloted.untimed;
    }
    warnings.extend(choose_reference(&mut functions, asked, prepared, &void));
    let (pilot, rounds_a_unit) = (&functions.pilot, functions.rounds_a_unit);
    progress(Step::Piloted { workload: &workload.name, pilot, rounds_a_unit, batch_ns });
    if asked.claims.is_empty() {
        let compared: Vec<_> =
            prepared.without(&void).map(|index| &prepared.ready[index]).collect();
        questions.add(asked, &compared, prepared.name(functions.reference));
    }
    warnings.append(&mut questions.warnings);
    if let Placements::Reused(count) = asked.placements {
        warnings.push(Warning::PlacementsReused { count });
    }
    let Questions { claims, cells, .. } = questions;
    Ok(Some(Trial { functions, void, claims, cells, warnings }))
}

/// Returns what the pilot of a workload is told: it runs what claims or cells need and is not void.
fn brief(
    setup: &Setup<'_>,
    functions: &FunctionPlan,
    claimed: &[PlannedClaim],
    void: &[(usize, Fault)],
    seed: String,
    batch_ns: f64,
) -> Brief {
    let mut contestants: Vec<usize> = setup.prepared.without(void).collect();
    let pairs = pairs(setup, claimed, &contestants, functions.reference);
    contestants.retain(|one| pairs.iter().any(|pair| pair.contains(one)));
    Brief {
        seed,
        scope: setup.scope,
        contestants,
        pairs,
        is_exact: setup.prepared.ready.iter().map(|ready| ready.built.is_exact).collect(),
        times_each_call: functions.times_each_call,
        seconds: setup.seconds(),
        units_wanted: units_wanted(setup),
        batch_ns,
    }
}

/// Returns the plan of the functions on a workload before the pilot, with items and bytes of the
/// input that this seed draws.
///
/// # Errors
/// Fails if the oracle fails.
fn measured_plan(
    setup: &Setup<'_>,
    workload: &Workload,
    seed: &str,
) -> Result<FunctionPlan, LabError> {
    let Setup { asked, environment, .. } = setup;
    let mut functions = setup.first_plan(workload);
    let folder = Path::new(&asked.study.folder);
    let input = match (&functions.oracle, &workload.file) {
        (Some(oracle), _) => {
            Oracle::start(oracle.as_ref(), &environment.program).and_then(|oracle| {
                let mut oracle = oracle.in_folder(folder).interruptible(environment.stop);
                oracle.input(workload, input_seed(workload, seed))
            })
        }
        (None, Some(file)) => Input::of_file(&folder.join(file)),
        // Without an input, the whole workload counts as one item.
        (None, None) => {
            functions.items = 1;
            return Ok(functions);
        }
    };
    match input {
        Ok(input) => (functions.items, functions.input_bytes) = (input.items, input.bytes),
        Err(OracleError::Interrupted) => return Err(LabError::Interrupted),
        Err(error) => {
            return Err(asked.cannot(&format!("on {}: {error}", workload.name)));
        }
    }
    Ok(functions)
}

/// Returns the pairs of these contestants that are raced: those of claims and, if none was typed,
/// each with the reference, or with the first exact one if the reference is void.
fn pairs(
    setup: &Setup<'_>,
    claims: &[PlannedClaim],
    contestants: &[usize],
    reference: usize,
) -> Vec<[usize; 2]> {
    let Setup { asked, prepared, .. } = setup;
    let claimed = claims.iter().filter_map(|claim| Some((claim.left, claim.right?)));
    let mut wanted: Vec<(usize, usize)> = claimed.collect();
    if asked.claims.is_empty() {
        let exact = contestants.iter().find(|one| prepared.is_exact(**one)).copied();
        let reference = if contestants.contains(&reference) { Some(reference) } else { exact };
        wanted.extend(reference.iter().flat_map(|of| contestants.iter().map(|one| (*of, *one))));
    }
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for (one, other) in wanted {
        let pair = [one.min(other), one.max(other)];
        if one != other
            && !pairs.contains(&pair)
            && pair.iter().all(|one| contestants.contains(one))
        {
            pairs.push(pair);
        }
    }
    pairs
}

/// Judges each contestant's answer on an input that is drawn only for this.
fn check(
    functions: &mut Functions,
    plan: &FunctionPlan,
    seed: &str,
) -> Result<Vec<(usize, Fault)>, LabError> {
    let input_seed = input_seed(&plan.workload, seed);
    let mut void = Vec::new();
    for contestant in plan.judged_order() {
        void.extend(fault(functions.check(contestant, input_seed))?.err());
    }
    Ok(void)
}

/// Returns the seed of an input before the first round.
fn input_seed(workload: &Workload, seed: &str) -> u64 {
    if workload.is_drawn {
        Stream::new(Seed::from_text(seed), Purpose::Input, 0, u16::MAX.into()).next_u64()
    } else {
        workload.seed
    }
}

/// Returns twice the fewest units that can prove anything, so that not all of them need to agree.
fn units_wanted(setup: &Setup<'_>) -> u64 {
    let Setup { asked, prepared, .. } = setup;
    let claims = match asked.claims.len() {
        0 => asked.study.claims.len() + prepared.ready.len(),
        typed => typed,
    };
    let error = family::bonferroni_error(asked.error, claims * setup.workloads.len());
    let table = match setup.centre {
        Centre::Median | Centre::Mean => &bettor::S,
        Centre::Factor => &bettor::M3R,
    };
    2 * table.fewest_rounds(error / 2.0)
}

/// Returns how long a batch must be for what is read at its ends: the clock, and the energy meter
/// if a claim is about energy.
fn shortest_batch_ns(clock: &Clock, claims: &[Claim], missing: &[MissingMeter]) -> f64 {
    let is_asked = claims.iter().any(|claim| claim.metric == Metric::Energy);
    let is_missing = missing.iter().any(|meter| meter.metrics.contains(&Metric::Energy));
    let is_metered = is_asked && !is_missing;
    let energy_ns = is_metered.then(shortest_energy_batch_ns).flatten();
    clock.shortest_batch_ns().max(energy_ns.unwrap_or(0.0))
}

/// Chooses the study's reference, or the first contestant with an exact contract if the reference
/// takes no part.
fn choose_reference(
    functions: &mut FunctionPlan,
    asked: &StudyRequest,
    prepared: &Prepared,
    void: &[(usize, Fault)],
) -> Option<Warning> {
    let all: Vec<usize> = prepared.without(void).collect();
    let wanted = &asked.study.reference;
    if prepared.name(functions.reference) == wanted && all.contains(&functions.reference) {
        return None;
    }
    let exact = all.iter().find(|one| prepared.is_exact(**one));
    functions.reference = *exact.or(all.first())?;
    let instead = prepared.name(functions.reference).to_owned();
    Some(Warning::OtherReference { reference: wanted.clone(), instead })
}

/// Warns about a call that is not long for the clock if each is timed separately, about a
/// contestant whose batch lasts far longer than another's, and about long preparations.
fn pilot_warnings(
    piloted: &Piloted,
    prepared: &Prepared,
    functions: &FunctionPlan,
    clock: &Clock,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let fastest = piloted.fastest().filter(|_| functions.times_each_call);
    if let Some((index, call_ns)) = fastest.filter(|(_, ns)| *ns < clock.shortest_batch_ns()) {
        let contestant = prepared.name(index).to_owned();
        warnings.push(Warning::ShortCall { contestant, call_ns, clock_ns: clock.cost_ns });
    }
    if let Some([(other, other_ns), (contestant, batch_ns)]) = piloted.uneven() {
        let [contestant, other] = [contestant, other].map(|one| prepared.name(one).to_owned());
        warnings.push(Warning::UnevenBatches { contestant, batch_ns, other, other_ns });
    }
    warnings.extend(long_preparations(piloted, prepared));
    warnings
}

/// Warns about contestants whose `prepare` takes far longer than another's, and than many of its
/// own calls, with the time: it may contain work that others do in each call.
fn long_preparations(piloted: &Piloted, prepared: &Prepared) -> Vec<Warning> {
    let all = piloted.calls_ns.iter().filter_map(|(one, call_ns)| {
        let untimed = (*piloted.untimed.get(*one)?)?;
        Some((*one, *call_ns, untimed.prepare_ns))
    });
    let Some((other, _, least_ns)) = all.clone().min_by_key(|(_, _, prepare_ns)| *prepare_ns)
    else {
        return Vec::new();
    };
    let long = all.filter(|(one, call_ns, prepare_ns)| {
        let is_runner = matches!(prepared.ready[*one].built.form, BuiltForm::Runner { .. });
        let cold_ns = if is_runner { PREPARED_COLD_NS } else { PREPARED_NS };
        let own_ns = cold_ns + PREPARED_CALLS * call_ns;
        *prepare_ns as f64 > own_ns + PREPARED_TIMES * least_ns as f64
    });
    let warnings = long.map(|(one, call_ns, prepare_ns)| Warning::LongPreparation {
        contestant: prepared.name(one).to_owned(),
        prepare_ns: prepare_ns as f64,
        calls: prepare_ns as f64 / call_ns.max(f64::MIN_POSITIVE),
        other: prepared.name(other).to_owned(),
        other_ns: least_ns as f64,
    });
    warnings.collect()
}

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
    let setup = Setup::new(asked, environment, steps)?;
    let prepared = &setup.prepared;
    let mut all = Vec::new();
    let mut last = None;
    for workload in &setup.workloads {
        progress(Progress { workload: &workload.name, part: 1, parts: 1 });
        let seed = format!("{} {} verify", asked.seed, workload.name);
        let first = measured_plan(&setup, workload, &seed)?;
        let mut functions = Functions::new(&setup.plan(first.clone(), Vec::new()), environment)?;
        let mut rows = rows(prepared, &workload.name);
        let judged = &mut rows[prepared.not_run.len()..];
        for (index, fault) in check(&mut functions, &first, &seed)? {
            judged[index].fault = Some(fault);
        }
        for (index, row) in judged.iter_mut().enumerate() {
            row.items = first.items;
            row.unstarved = functions.unstarved(index).map(str::to_owned);
        }
        all.append(&mut rows);
        last = Some(functions);
    }
    if let Some(functions) = last.as_mut().filter(|_| asked.only.is_empty()) {
        let verifications = asked.study.verifications.iter();
        for verification in verifications.filter(|one| is_full || !one.is_full) {
            all.extend(verify_parts(prepared, verification, functions, progress)?);
        }
    }
    Ok(all)
}

/// Judges one verification. A contestant that is wrong in one part is not run again: the first
/// difference helps most.
fn verify_parts(
    prepared: &Prepared,
    verification: &Verification,
    functions: &mut Functions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<VerifyRow>, LabError> {
    let Verification { name, parts, .. } = verification;
    let mut rows = rows(prepared, name);
    for part in 0..*parts {
        progress(Progress { workload: name, part: part + 1, parts: *parts });
        let judged = rows[prepared.not_run.len()..].iter_mut().enumerate();
        for (index, row) in judged.filter(|(_, row)| row.fault.is_none()) {
            match fault(functions.verify(index, verification, part))? {
                Ok(items) => row.items += items,
                Err((_, fault)) => row.fault = Some(fault),
            }
        }
    }
    Ok(rows)
}

/// Returns a row for each contestant, before it is judged: first those that are not run.
fn rows(prepared: &Prepared, workload: &str) -> Vec<VerifyRow> {
    let not_run = prepared.not_run.iter().map(|one| (&one.name, Some(one.why.clone())));
    let ready = prepared.ready.iter().map(|one| (&one.entrant.name, None));
    let rows = not_run.chain(ready).map(|(contestant, not_run)| VerifyRow {
        contestant: contestant.clone(),
        workload: workload.to_owned(),
        items: 0,
        fault: None,
        not_run,
        unstarved: None,
    });
    rows.collect()
}
