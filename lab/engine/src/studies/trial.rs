//! Tries a workload before anything is planned: judges answers, and runs the pilot. Verifies
//! answers on all inputs of a study.

use super::functions::Functions;
use super::pilot::{self, Brief, Piloted};
use super::setup::{Ready, Setup};
use super::{Environment, Step, StudyRequest, fault, questions};
use crate::error::{LabError, Result};
use std::collections::BTreeSet;
use std::path::Path;
use tiebreak_core::claim::Claim;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{ENGINE_VERSION, PlannedClaim, Scope};
use tiebreak_core::result::VerifyRow;
use tiebreak_core::study::{BuiltForm, FunctionPlan, Placements, Team, Verification, Workload};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;
use tiebreak_input as input;
use tiebreak_measure::MissingMeter;
use tiebreak_measure::build::Placer;
use tiebreak_measure::oracle::{Input, Oracle, OracleError};
use tiebreak_measure::runners;
use tiebreak_measure::workers::{Clock, shortest_energy_batch_ns};
use tiebreak_stats::bettor::Table;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::decide::width_of;
use tiebreak_stats::family;
use tiebreak_stats::ratio_test::spread_of_twice_the_fewest;
use tiebreak_stats::unit::Goal;

/// The longest `prepare` that is not reported: the sum of this many times the shortest of the
/// study, this many of its own calls, and the time of a few system calls.
const PREPARED_TIMES: f64 = 10.0;
const PREPARED_CALLS: f64 = 100.0;
const PREPARED_NS: f64 = 20e3;
/// The same for a runner, whose runtime has compiled nothing yet.
const PREPARED_COLD_NS: f64 = 20e6;

/// A workload on which functions are tried, and what to settle on it.
pub struct Trial<'a> {
    setup: &'a Setup<'a>,
    /// The plan of the functions.
    pub functions: FunctionPlan,
    /// Contestants that are void before the first round, by their index.
    pub void: Vec<(usize, Fault)>,
    /// The claims and questions to settle, of the study or of the user.
    pub claims: Vec<Claim>,
    /// The ratios of the study's table, which are settled after the claims.
    pub cells: Vec<Claim>,
    /// What is not judged, and why.
    not_judged: Vec<Warning>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// Judges every contestant's answer on a workload, and runs the pilot with those that are right.
/// Returns `None` if claims were typed and none is about this workload.
///
/// # Errors
/// Fails if the oracle fails, or for an error that no contestant caused; also with
/// [`LabError::Interrupted`].
pub fn run<'a>(
    setup: &'a Setup<'_>,
    workload: &Workload,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Option<Trial<'a>>> {
    let mut not_judged = Vec::new();
    let claims = questions::claims(setup, workload, &mut not_judged)?;
    if claims.is_empty() && !setup.asked.claims.is_empty() {
        return Ok(None);
    }
    progress(Step::Checking(&workload.name));
    let seed = format!("{} {} pilot", setup.asked.seed, workload.name);
    let functions = measured_plan(setup, workload, &seed)?;
    let claimed = setup.planned(&claims, 0.0, 0)?;
    let mut first = setup.sampler(functions.clone(), &claimed)?;
    let missing = first.missing_meters().to_vec();
    // Who is not raced here is not judged either: that can take longer than the race.
    let is_raced = |one: &usize| workload.races(setup.name(*one));
    let judged = functions.judged_order().into_iter().filter(is_raced);
    let void = check(&mut first, &functions, judged, &seed)?;
    drop(first);
    let clock = Clock::measure();
    let batch_ns = if setup.asked.has_runners() {
        runners::BATCH_NS_MIN
    } else {
        shortest_batch_ns(&clock, &claims, &missing)
    };
    let (cells, warnings) = (Vec::new(), Vec::new());
    let mut trial = Trial { setup, functions, void, claims, cells, not_judged, warnings };
    let piloted = pilot::run(trial.brief(&claimed, seed, batch_ns), &mut |calls| {
        let calls_a_batch = calls.clone();
        setup.sampler(FunctionPlan { calls_a_batch, ..trial.functions.clone() }, &claimed)
    })?;
    trial.void.extend(piloted.void.iter().cloned());
    for (index, fault) in &trial.void {
        let contestant = setup.name(*index);
        progress(Step::Void { workload: &workload.name, contestant, fault });
    }
    trial.warn(&piloted, &clock);
    trial.keep_measured(&piloted.measured, &missing);
    let batch_ns = piloted.batches().map(|[shorter, _]| shorter.1).fold(f64::INFINITY, f64::min);
    let batch_ns = if batch_ns.is_finite() { batch_ns } else { 0.0 };
    trial.take(piloted);
    let FunctionPlan { pilot, rounds_a_unit, .. } = &trial.functions;
    let rounds_a_unit = *rounds_a_unit;
    progress(Step::Piloted { workload: &workload.name, pilot, rounds_a_unit, batch_ns });
    trial.ask();
    Ok(Some(trial))
}

impl Trial<'_> {
    /// Returns what the pilot needs to know: it runs what claims or cells need and is not void.
    fn brief(&self, claimed: &[PlannedClaim], seed: String, batch_ns: f64) -> Brief {
        let Trial { setup, functions, .. } = self;
        let mut contestants: Vec<usize> = self.raced().collect();
        let pairs = self.pairs(claimed, &contestants);
        contestants.retain(|one| pairs.iter().any(|pair| pair.contains(one)));
        Brief {
            seed,
            scope: setup.scope,
            contestants,
            pairs,
            is_exact: setup.ready.iter().map(|ready| ready.built.is_exact).collect(),
            times_each_call: functions.times_each_call,
            goal: goal(setup),
            batch_ns,
            calls: setup.asked.study.calls,
            is_warm: setup.asked.has_runners(),
        }
    }

    /// Returns the pairs of these contestants that are raced: those of claims and, if none was
    /// typed, each with the reference, or with the first exact one if the reference is void.
    fn pairs(&self, claims: &[PlannedClaim], contestants: &[usize]) -> Vec<[usize; 2]> {
        let claimed = claims.iter().filter_map(|claim| Some((claim.left, claim.right?)));
        let mut wanted: Vec<(usize, usize)> = claimed.collect();
        if self.setup.asked.claims.is_empty() {
            let reference = Some(self.functions.reference).filter(|one| contestants.contains(one));
            let of = reference.or_else(|| self.setup.first_exact(contestants)).into_iter();
            wanted.extend(of.flat_map(|of| contestants.iter().map(move |one| (of, *one))));
        }
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        for (one, other) in wanted {
            let pair = [one.min(other), one.max(other)];
            let is_there = pair.iter().all(|one| contestants.contains(one));
            if one != other && is_there && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs
    }

    /// Completes the plan of the functions. If the study's reference takes no part, the first
    /// contestant with an exact contract becomes the reference.
    fn take(&mut self, piloted: Piloted) {
        let all: Vec<usize> = self.raced().collect();
        let (setup, functions) = (self.setup, &mut self.functions);
        functions.pilot = piloted.pilot;
        functions.rounds_a_unit = piloted.rounds_a_unit;
        functions.calls_a_batch = piloted.calls_a_batch;
        if piloted.untimed.iter().any(Option::is_some) {
            functions.untimed = piloted.untimed;
        }
        let reference = setup.asked.study.reference.clone();
        let is_there = setup.name(functions.reference) == reference;
        if is_there && all.contains(&functions.reference) {
            return;
        }
        if let Some(other) = setup.first_exact(&all).or(all.first().copied()) {
            functions.reference = other;
            let instead = setup.name(other).to_owned();
            self.warnings.push(Warning::OtherReference { reference, instead });
        }
    }

    /// Removes the claims about metrics that this machine does not measure; `missing` says why.
    fn keep_measured(&mut self, measured: &[Metric], missing: &[MissingMeter]) {
        for claim in self.claims.extract_if(.., |claim| !measured.contains(&claim.metric)) {
            let mut why = format!("{} is not measured here", claim.metric.name());
            for meter in missing.iter().filter(|meter| meter.metrics.contains(&claim.metric)) {
                why += &format!("; {}", meter.why);
            }
            self.not_judged.push(Warning::NotJudged { claim: claim.text, why });
        }
    }

    /// Returns those that are compared on this workload: built, not void, and raced here.
    fn raced(&self) -> impl Iterator<Item = usize> {
        let is_raced = |one: &usize| self.functions.workload.races(self.setup.name(*one));
        self.setup.without(&self.void).filter(is_raced)
    }

    /// Returns the same as contestants.
    fn compared(&self) -> impl Iterator<Item = &Ready> {
        self.raced().map(|one| &self.setup.ready[one])
    }

    /// Returns the nanoseconds that the claims are expected to need, by the units that the pilot
    /// has raced: twice the fewest that prove anything, for each pair that they name.
    pub fn claims_need_ns(&self) -> f64 {
        let pairs = self.claims.iter().map(|claim| {
            let mut pair = [claim.left.as_str(), claim.right.as_deref().unwrap_or_default()];
            pair.sort_unstable();
            pair
        });
        let pairs = pairs.collect::<BTreeSet<_>>().len();
        let FunctionPlan { pilot, rounds_a_unit, .. } = &self.functions;
        let unit_ns = pilot.unit_cost_ns + f64::from(*rounds_a_unit) * pilot.round_cost_ns;
        pairs as f64 * goal(self.setup).units as f64 * unit_ns
    }

    /// Returns a question for each contestant with an exact contract: whether it or the reference
    /// is faster.
    fn orders(&self) -> Vec<Claim> {
        let reference = self.setup.name(self.functions.reference);
        let exact = self.compared().filter(|one| one.built.is_exact);
        let names = exact.map(|one| one.entrant.name.as_str()).filter(|name| *name != reference);
        let questions = names.map(|name| input::question(name, reference, Metric::WallTime));
        let workload = &self.functions.workload;
        questions.filter_map(|question| questions::on(question, workload)).collect()
    }

    /// Returns a cell of the table for each contestant that is compared with the reference, and the
    /// ratio of each contestant on several threads to the same on one, which is its efficiency in
    /// the table, unless a claim or a cell is about the two by wall time.
    fn cells(&self, precision: f64) -> Vec<Claim> {
        let reference = self.setup.name(self.functions.reference);
        let names = self.compared().map(|one| one.entrant.name.as_str());
        let mut pairs: Vec<[&str; 2]> =
            names.filter(|name| *name != reference).map(|name| [name, reference]).collect();
        for ready in self.compared() {
            let Some(of) = ready.built.team.as_ref().filter(|of| of.threads > 1) else { continue };
            let alone = Some(Team { threads: 1, ..of.clone() });
            let Some(alone) = self.compared().find(|one| one.built.team == alone) else { continue };
            let pair = [ready.entrant.name.as_str(), alone.entrant.name.as_str()];
            let is_claimed = self.claims.iter().any(|claim| is_ratio_of(claim, pair));
            if !pair.contains(&reference) && !is_claimed {
                pairs.push(pair);
            }
        }
        let workload = &self.functions.workload.name;
        let cells = pairs.into_iter().map(|[left, right]| {
            input::measure_question(left, right, precision, Metric::WallTime, workload)
        });
        cells.collect()
    }

    /// Adds the ratios of the study's table or, if only that is asked, who is faster.
    fn ask(&mut self) {
        let asked = self.setup.asked;
        if let Some(precision) = asked.table_precision() {
            self.cells = self.cells(precision);
        } else if asked.claims.is_empty() {
            self.claims = self.orders();
        }
        self.warnings.append(&mut self.not_judged);
        if let Placements::Reused(count) = asked.placements {
            self.warnings.push(Warning::PlacementsReused { count });
        }
        self.warn_of_links();
    }

    /// Warns about contestants that tiebreak could not place, so that the linker has to.
    fn warn_of_links(&mut self) {
        if self.setup.scope != Scope::Code {
            return;
        }
        let refused = self.compared().filter_map(|ready| {
            let BuiltForm::Objects { reference: Some(_), .. } = &ready.built.form else {
                return None;
            };
            let why = Placer::of(&ready.built.form).err()?.to_string();
            Some(Warning::Linked { contestant: ready.entrant.name.clone(), why })
        });
        let refused: Vec<_> = refused.collect();
        self.warnings.extend(refused);
    }

    /// Warns about a call that is not long for the clock if each is timed separately, about a
    /// contestant whose batch lasts far longer than another's, and about a `prepare` that takes far
    /// longer than another's, and than many calls of its contestant: it may contain work that
    /// others do in each call.
    fn warn(&mut self, piloted: &Piloted, clock: &Clock) {
        let setup = self.setup;
        let name = |contestant: usize| setup.name(contestant).to_owned();
        let fastest = piloted.fastest().filter(|_| self.functions.times_each_call);
        if let Some((index, call_ns)) = fastest.filter(|(_, ns)| *ns < clock.shortest_batch_ns()) {
            let (contestant, clock_ns) = (name(index), clock.cost_ns);
            self.warnings.push(Warning::ShortCall { contestant, call_ns, clock_ns });
        }
        if let Some([(other, other_ns), (contestant, batch_ns)]) = piloted.uneven() {
            let (contestant, other) = (name(contestant), name(other));
            self.warnings.push(Warning::UnevenBatches { contestant, batch_ns, other, other_ns });
        }
        let all = piloted.calls_ns.iter().filter_map(|(one, call_ns)| {
            let untimed = (*piloted.untimed.get(*one)?)?;
            Some((*one, *call_ns, untimed.prepare_ns as f64))
        });
        let least = all.clone().min_by(|a, b| a.2.total_cmp(&b.2));
        let Some((other, _, other_ns)) = least else { return };
        for (one, call_ns, prepare_ns) in all {
            let is_runner = matches!(setup.ready[one].built.form, BuiltForm::Runner { .. });
            let cold_ns = if is_runner { PREPARED_COLD_NS } else { PREPARED_NS };
            let own_ns = cold_ns + PREPARED_CALLS * call_ns;
            if prepare_ns > own_ns + PREPARED_TIMES * other_ns {
                self.warnings.push(Warning::LongPreparation {
                    contestant: name(one),
                    prepare_ns,
                    calls: prepare_ns / call_ns.max(f64::MIN_POSITIVE),
                    other: name(other),
                    other_ns,
                });
            }
        }
    }
}

/// Returns whether a claim is about the ratio of these two by wall time.
fn is_ratio_of(claim: &Claim, [one, other]: [&str; 2]) -> bool {
    let pair = [claim.left.as_str(), claim.right.as_deref().unwrap_or("")];
    claim.metric == Metric::WallTime
        && claim.statement.relation().is_some()
        && [[one, other], [other, one]].contains(&pair)
}

/// Returns the plan of the functions on a workload before the pilot, with items and bytes of the
/// input that this seed draws.
///
/// # Errors
/// Fails if the oracle fails.
pub fn measured_plan(setup: &Setup<'_>, workload: &Workload, seed: &str) -> Result<FunctionPlan> {
    let Setup { asked, environment, .. } = setup;
    let mut functions = setup.first_plan(workload);
    let folder = Path::new(&asked.study.folder);
    let input = match (&functions.oracle, &workload.file) {
        (Some(oracle), _) => {
            Oracle::start(oracle.as_ref(), folder, &environment.program, environment.stop)
                .and_then(|mut oracle| oracle.input(workload, input_seed(workload, seed)))
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

/// Judges the answers of contestants on an input that is drawn only for this.
fn check(
    functions: &mut Functions,
    plan: &FunctionPlan,
    contestants: impl IntoIterator<Item = usize>,
    seed: &str,
) -> Result<Vec<(usize, Fault)>> {
    let input_seed = input_seed(&plan.workload, seed);
    let mut void = Vec::new();
    for contestant in contestants {
        void.extend(fault(functions.check(contestant, input_seed))?.err());
    }
    Ok(void)
}

/// Returns the seed of an input before the first round.
pub fn input_seed(workload: &Workload, seed: &str) -> u64 {
    if workload.is_drawn {
        Stream::new(Seed::from_text(seed), Purpose::Input, 0, u16::MAX.into()).next_u64()
    } else {
        workload.seed
    }
}

/// Returns what the units of each pair are to find out, within a workload's part of the budget: the
/// precision of the table, if there is one; a claim may need any. Twice the fewest units that can
/// prove anything should fit, so that not all of them need to agree.
fn goal(setup: &Setup<'_>) -> Goal {
    let asked = setup.asked;
    let claims = match asked.claims.len() {
        0 => asked.study.claims.len() + setup.ready.len(),
        typed => typed,
    };
    let error = family::bonferroni_error(asked.error, claims * setup.workloads.len()) / 2.0;
    let fewest = Table::of(setup.request.centre, ENGINE_VERSION).fewest_rounds(error);
    let spread = asked
        .table_precision()
        .map_or(0.0, |precision| spread_of_twice_the_fewest(fewest, width_of(precision), error));
    Goal { spread, units: 2 * fewest, seconds: setup.seconds() }
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
) -> Result<Vec<VerifyRow>> {
    let setup = Setup::new(asked, environment, steps)?;
    let mut all = Vec::new();
    let mut last = None;
    for workload in &asked.all_workloads()? {
        progress(Progress { workload: &workload.name, part: 1, parts: 1 });
        let seed = format!("{} {} verify", asked.seed, workload.name);
        let first = measured_plan(&setup, workload, &seed)?;
        let mut functions = setup.sampler(first.clone(), &[])?;
        let mut rows = rows(&setup, &workload.name);
        let judged = &mut rows[setup.not_run.len()..];
        let is_raced = |one: &usize| workload.races(setup.name(*one));
        let order = first.judged_order().into_iter().filter(is_raced);
        for (index, fault) in check(&mut functions, &first, order, &seed)? {
            judged[index].fault = Some(fault);
        }
        for (index, row) in judged.iter_mut().enumerate() {
            row.items = first.items;
            row.unstarved = functions.unstarved(index).map(str::to_owned);
        }
        rows.retain(|row| workload.races(&row.contestant));
        all.append(&mut rows);
        last = Some(functions);
    }
    if let Some(functions) = last.as_mut().filter(|_| asked.only.is_empty()) {
        let verifications = asked.study.verifications.iter();
        for verification in verifications.filter(|one| is_full || !one.is_full) {
            all.extend(verify_parts(&setup, verification, functions, progress)?);
        }
    }
    Ok(all)
}

/// Judges one verification. A contestant that is wrong in one part is not run again: the first
/// difference helps most.
fn verify_parts(
    setup: &Setup<'_>,
    verification: &Verification,
    functions: &mut Functions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<VerifyRow>> {
    let Verification { name, parts, .. } = verification;
    let mut rows = rows(setup, name);
    for part in 0..*parts {
        progress(Progress { workload: name, part: part + 1, parts: *parts });
        let judged = rows[setup.not_run.len()..].iter_mut().enumerate();
        let is_judged =
            |row: &VerifyRow| row.fault.is_none() && verification.judges(&row.contestant);
        for (index, row) in judged.filter(|(_, row)| is_judged(row)) {
            match fault(functions.verify(index, verification, part))? {
                Ok(items) => row.items += items,
                Err((_, fault)) => row.fault = Some(fault),
            }
        }
    }
    rows.retain(|row| verification.judges(&row.contestant));
    Ok(rows)
}

/// Returns a row for each contestant, before it is judged: first those that are not run.
fn rows(setup: &Setup<'_>, workload: &str) -> Vec<VerifyRow> {
    let not_run = setup.not_run.iter().map(|one| (&one.name, Some(one.why.clone())));
    let ready = setup.ready.iter().map(|one| (&one.entrant.name, None));
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
