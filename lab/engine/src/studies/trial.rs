//! Tries a workload before anything is planned: judges answers, and runs the pilot.

use super::functions::Functions;
use super::pilot::{self, Brief, Piloted};
use super::plans::{Setup, first_plan, plan, planned};
use super::prepare::Prepared;
use super::request::{Environment, Step, StudyRequest};
use crate::error::LabError;
use std::path::Path;
use tiebreak_core::claim::Claim;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Centre;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{BatchCalls, BuiltForm, FunctionPlan, Workload};
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

/// A workload on which functions were tried.
#[derive(Debug)]
pub struct Trial {
    /// The plan of the functions.
    pub functions: FunctionPlan,
    /// Contestants that are void before the first round, by their index.
    pub void: Vec<(usize, Fault)>,
    /// The metrics that every contestant's samples have.
    pub measured: Vec<Metric>,
    /// The meters that are not read, each with the reason.
    pub missing_meters: Vec<MissingMeter>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

impl Trial {
    /// Returns the name of the workload.
    pub fn name(&self) -> &str {
        &self.functions.workload.name
    }
}

/// Judges every contestant's answer on a workload, and runs the pilot with those that are right.
/// `claims` determine what is measured.
///
/// # Errors
/// Fails if the oracle fails, or for an error that no contestant caused; also with
/// [`LabError::Interrupted`].
pub fn run(
    setup: &Setup<'_>,
    workload: &Workload,
    claims: &[Claim],
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Trial, LabError> {
    let Setup { asked, prepared, environment, frame } = *setup;
    progress(Step::Checking { workload: &workload.name });
    let mut functions = first_plan(asked, prepared, frame, workload);
    let seed = format!("{} {} pilot", asked.seed, workload.name);
    measure_input(&mut functions, asked, environment, &seed)?;
    let make = |functions: &FunctionPlan| {
        let claims = planned(claims, 0.0, prepared)?;
        let plan = plan(setup, functions.clone(), claims);
        Functions::new(&plan, environment)
    };
    let mut first = make(&functions)?;
    let missing_meters = first.missing_meters().to_vec();
    let mut void = check(&mut first, &functions, &seed)?;
    drop(first);
    let is_void = |index: usize, void: &[(usize, Fault)]| void.iter().any(|(one, _)| *one == index);
    let all = 0..prepared.ready.len();
    let mut contestants: Vec<usize> = all.clone().filter(|one| !is_void(*one, &void)).collect();
    let pairs = pairs(setup, claims, &contestants, functions.reference)?;
    contestants.retain(|one| pairs.iter().any(|pair| pair.contains(one)));
    let clock = Clock::measure();
    let brief = Brief {
        seed,
        scope: frame.scope,
        contestants,
        pairs,
        is_exact: prepared.ready.iter().map(|ready| ready.built.is_exact).collect(),
        times_each_call: functions.times_each_call,
        seconds: frame.seconds(),
        units_wanted: units_wanted(setup),
        batch_ns: if asked.has_runners() {
            runners::BATCH_NS_MIN
        } else {
            shortest_batch_ns(&clock, claims, &missing_meters)
        },
    };
    let piloted = pilot::run(brief, &mut |calls| {
        let calls_a_batch = BatchCalls::Each(calls.to_vec());
        make(&FunctionPlan { calls_a_batch, ..functions.clone() })
    })?;
    void.extend(piloted.void.iter().cloned());
    for (index, fault) in &void {
        let contestant = &prepared.ready[*index].entrant.name;
        progress(Step::Void { workload: &workload.name, contestant, fault });
    }
    let mut warnings = short_call(&piloted, prepared, &functions, &clock);
    warnings.extend(uneven_batches(&piloted, prepared));
    warnings.extend(long_preparations(&piloted, prepared));
    settle(&mut functions, &piloted);
    warnings.extend(choose_reference(&mut functions, asked, prepared, |one| is_void(one, &void)));
    progress(Step::Piloted {
        workload: &workload.name,
        pilot: &functions.pilot,
        rounds_a_unit: functions.rounds_a_unit,
        batch_ns: piloted.batches.map_or(0.0, |[shortest, _]| shortest.1),
    });
    Ok(Trial { functions, void, measured: piloted.measured, missing_meters, warnings })
}

/// Returns the plan of the functions on a workload before the pilot, and their sampler.
///
/// # Errors
/// Fails if the oracle fails, or if a process cannot be started.
pub(super) fn functions(
    setup: &Setup<'_>,
    workload: &Workload,
) -> Result<(FunctionPlan, Functions), LabError> {
    let Setup { asked, prepared, environment, frame } = *setup;
    let mut first = first_plan(asked, prepared, frame, workload);
    let seed = format!("{} {} verify", asked.seed, workload.name);
    measure_input(&mut first, asked, environment, &seed)?;
    let plan = plan(setup, first.clone(), Vec::new());
    Ok((first, Functions::new(&plan, environment)?))
}

/// Returns the pairs of these contestants that are raced: those of claims and, if none was typed,
/// each with the reference, or with the first exact one if the reference is void.
fn pairs(
    setup: &Setup<'_>,
    claims: &[Claim],
    contestants: &[usize],
    reference: usize,
) -> Result<Vec<[usize; 2]>, LabError> {
    let Setup { asked, prepared, .. } = *setup;
    let is_there = |one: &usize| contestants.contains(one);
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for planned in planned(claims, 0.0, prepared)? {
        let pair = planned.right.map(|right| [planned.left.min(right), planned.left.max(right)]);
        pairs.extend(pair.filter(|pair| !pairs.contains(pair) && pair.iter().all(is_there)));
    }
    if asked.claims.is_empty() {
        let mut exact =
            contestants.iter().copied().filter(|one| prepared.ready[*one].built.is_exact);
        let reference = Some(reference).filter(is_there).or_else(|| exact.next());
        let others = contestants.iter().filter(|one| Some(**one) != reference);
        let cells = others.flat_map(|one| reference.map(|of| [of.min(*one), of.max(*one)]));
        let cells: Vec<_> = cells.filter(|pair| !pairs.contains(pair)).collect();
        pairs.extend(cells);
    }
    Ok(pairs)
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
        match functions.check(contestant, input_seed) {
            Ok(()) => {}
            Err(UnitFailure::Fault(index, fault)) => void.push((index, fault)),
            Err(UnitFailure::Interrupted) => return Err(LabError::Interrupted),
            Err(UnitFailure::Broken(why)) => return Err(LabError::Broken(why)),
        }
    }
    Ok(void)
}

/// Returns the seed of an input before the first round.
pub(super) fn input_seed(workload: &Workload, seed: &str) -> u64 {
    if workload.is_drawn {
        Stream::new(Seed::from_text(seed), Purpose::Input, 0, u16::MAX.into()).next_u64()
    } else {
        workload.seed
    }
}

/// Measures items and bytes of the input on which answers are judged.
fn measure_input(
    functions: &mut FunctionPlan,
    asked: &StudyRequest,
    environment: &Environment,
    seed: &str,
) -> Result<(), LabError> {
    let wrong = |why: String| LabError::Study { study: asked.study.name.clone(), why };
    let workload = &functions.workload;
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
            return Ok(());
        }
    };
    let input = match input {
        Err(OracleError::Interrupted) => return Err(LabError::Interrupted),
        input => input.map_err(|error| wrong(format!("on {}: {error}", workload.name)))?,
    };
    (functions.items, functions.input_bytes) = (input.items, input.bytes);
    Ok(())
}

/// Returns twice the fewest units that can prove anything, so that not all of them need to agree.
fn units_wanted(setup: &Setup<'_>) -> u64 {
    let Setup { asked, prepared, frame, .. } = *setup;
    let claims = match asked.claims.len() {
        0 => asked.study.claims.len() + prepared.ready.len(),
        typed => typed,
    };
    let error = family::bonferroni_error(asked.error, claims * frame.workloads);
    let table = match frame.centre(asked) {
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

/// Writes the pilot's results to the plan.
fn settle(functions: &mut FunctionPlan, piloted: &Piloted) {
    functions.pilot = piloted.pilot;
    functions.untimed = if piloted.untimed.iter().any(Option::is_some) {
        piloted.untimed.clone()
    } else {
        Vec::new()
    };
    functions.rounds_a_unit = piloted.rounds_a_unit;
    functions.calls_a_batch = BatchCalls::Each(piloted.calls_a_batch.clone());
}

/// Chooses the study's reference, or the first contestant with an exact contract if the reference
/// takes no part.
fn choose_reference(
    functions: &mut FunctionPlan,
    asked: &StudyRequest,
    prepared: &Prepared,
    is_void: impl Fn(usize) -> bool,
) -> Option<Warning> {
    let name = |index: usize| prepared.ready[index].entrant.name.as_str();
    let wanted = &asked.study.reference;
    if name(functions.reference) == wanted && !is_void(functions.reference) {
        return None;
    }
    let all = || (0..prepared.ready.len()).filter(|one| !is_void(*one));
    let exact = all().find(|one| prepared.ready[*one].built.is_exact);
    functions.reference = exact.or_else(|| all().next())?;
    let instead = name(functions.reference).to_owned();
    Some(Warning::OtherReference { reference: wanted.clone(), instead })
}

/// Warns about a contestant whose batch lasts far longer than another's, and names the other.
fn uneven_batches(piloted: &Piloted, prepared: &Prepared) -> Option<Warning> {
    let name = |index: usize| prepared.ready[index].entrant.name.clone();
    piloted.uneven().map(|[(other, other_ns), (contestant, batch_ns)]| Warning::UnevenBatches {
        contestant: name(contestant),
        batch_ns,
        other: name(other),
        other_ns,
    })
}

/// Warns about contestants whose `prepare` takes far longer than another's, and than many of its
/// own calls, with the time: it may contain work that others do in each call.
fn long_preparations(piloted: &Piloted, prepared: &Prepared) -> Vec<Warning> {
    let prepare_ns = |one: usize| Some((*piloted.untimed.get(one)?)?.prepare_ns);
    let all = || {
        let calls_ns = piloted.calls_ns.iter();
        calls_ns.filter_map(|(one, call_ns)| Some((*one, *call_ns, prepare_ns(*one)?)))
    };
    let Some((other, _, least_ns)) = all().min_by_key(|(_, _, prepare_ns)| *prepare_ns) else {
        return Vec::new();
    };
    let name = |index: usize| prepared.ready[index].entrant.name.clone();
    let is_runner = |one: usize| matches!(prepared.ready[one].built.form, BuiltForm::Runner { .. });
    let long = all().filter(|(one, call_ns, prepare_ns)| {
        let cold_ns = if is_runner(*one) { PREPARED_COLD_NS } else { PREPARED_NS };
        let own_ns = cold_ns + PREPARED_CALLS * call_ns;
        *prepare_ns as f64 > own_ns + PREPARED_TIMES * least_ns as f64
    });
    let told = long.map(|(one, call_ns, prepare_ns)| Warning::LongPreparation {
        contestant: name(one),
        prepare_ns: prepare_ns as f64,
        calls: prepare_ns as f64 / call_ns.max(f64::MIN_POSITIVE),
        other: name(other),
        other_ns: least_ns as f64,
    });
    told.collect()
}

/// Warns if each call is timed separately and the shortest is not long for the clock.
fn short_call(
    piloted: &Piloted,
    prepared: &Prepared,
    functions: &FunctionPlan,
    clock: &Clock,
) -> Vec<Warning> {
    let short = piloted
        .fastest
        .filter(|(_, call_ns)| functions.times_each_call && *call_ns < clock.shortest_batch_ns());
    let warning = short.map(|(index, call_ns)| {
        let contestant = prepared.ready[index].entrant.name.clone();
        Warning::ShortCall { contestant, call_ns, clock_ns: clock.cost_ns }
    });
    warning.into_iter().collect()
}
