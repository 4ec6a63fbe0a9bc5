//! Functions as a sampler: contestants that are shared libraries, run by workers.
//!
//! A *unit* is a new worker process ([`crate::worker`]). Both sides are in it, each in the
//! placement that was drawn for this unit. All the unit's rounds run there on one request, so that
//! no code of the laboratory runs between its batches. At scope `layout` the process stays, and
//! later rounds continue in it.

mod blame;
mod checking;
mod conduct;
mod counting;
mod inputs;
mod maker;
mod sample;
mod unit;

use crate::build::{Stock, objects};
use crate::error::StartError;
use crate::files::without_repetition;
use crate::honesty::{Excess, Trials, no_contestant};
use crate::oracle::Oracle;
use crate::resources::{Gate, MissingMeter, Surroundings, asks, check_cpu};
use crate::stillness;
use crate::worker_process::{Launch, Process};
use crate::workers::conduct::Pace;
use crate::workers::counting::Counting;
use crate::workers::inputs::Inputs;
use crate::workers::maker::Wanted;
use crate::workers::unit::{Session, Started};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Plan, Scope};
use tiebreak_core::sampler::{
    Contestants, FunctionSampler, Quiet, Sampler, UnitFailure, UnitRan, UnitRequest,
};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_core::study::{BuiltForm, FunctionPlan, Untimed};
use tiebreak_machine::{clock, cpus};

pub use crate::wire::message::{Facts, Place, Profiled};
pub use crate::worker_process::{LoadError, WorkerProgram, probe};
pub use counting::{Clock, shortest_energy_batch_ns};

/// The time that a unit may always wait for a quiet machine.
const WAIT_NS_MIN: u64 = 1_000_000;
/// The longest wait of the first unit: a budget may be a second.
const FIRST_WAIT_NS_MAX: u64 = 100_000_000;

/// Runs the contestants of a plan as functions in workers, one process for each unit.
///
/// Use it from one thread, which must live as long as this: its end ends the workers. It runs one
/// unit at a time. Dropping it ends what runs.
#[derive(Debug)]
pub struct Workers {
    functions: Box<FunctionPlan>,
    /// The names of the contestants, as in the plan.
    names: Vec<String>,
    scope: Scope,
    /// How long the latest unit took: a wait for a quiet machine is not longer.
    latest_unit_ns: u64,
    check_timeout_ns: u64,
    launch: Launch,
    stock: Stock,
    /// The number of units whose placements were linked at once.
    linked_ahead: usize,
    /// The unit after the one that runs, if it is known, and a process for it.
    coming: Option<RoundCoins>,
    started: Option<Started>,
    /// The process of an earlier unit, which was killed.
    ending: Option<Process>,
    /// The CPUs on which nothing is timed.
    spare_cpus: Vec<usize>,
    /// Each contestant as it was built, linked when it is first checked.
    as_built: HashMap<usize, PathBuf>,
    /// By contestant, why it was not called without memory when it was checked.
    unstarved: HashMap<usize, String>,
    inputs: Inputs,
    /// The CPUs of the helper threads; none if threads are not pinned.
    helpers: Vec<usize>,
    /// The process of the session, at scope `layout`.
    session: Option<Session>,
    quiet: Gate,
    surroundings: Surroundings,
    trials: Trials,
    pace: Pace,
    /// By contestant, the least that it does outside of the timed spans.
    untimed: HashMap<usize, Untimed>,
    /// By contestant, what its resets say about its honesty.
    resets: HashMap<usize, Excess>,
    /// By contestant, what its own threads do while others are timed.
    threads: HashMap<usize, Excess>,
    counting: Counting,
    meters_energy: bool,
    missing: Vec<MissingMeter>,
}

impl Workers {
    /// Starts the study's oracle and determines which meters there are. Links placements in a new
    /// folder in `folder`; libraries must be loadable from there.
    ///
    /// `interrupted` becomes true when the user asks to stop. Then whatever runs is ended within a
    /// tenth of a second and the unit fails with [`UnitFailure::Interrupted`].
    ///
    /// # Errors
    /// Returns the first part of the plan that is impossible; no contestant has run then.
    pub fn new(
        plan: &Plan,
        program: WorkerProgram,
        folder: &Path,
        interrupted: &'static AtomicBool,
    ) -> Result<Workers, StartError> {
        let functions = plan.functions.clone();
        let functions = functions.ok_or_else(|| not_started("the contestants are programs"))?;
        let allowed = cpus::allowed();
        check_cpu(functions.cpu, &allowed)?;
        let helpers = checking::helper_cpus(&functions, &allowed).map_err(not_started)?;
        let oracle = functions.oracle.as_ref().map(|library| {
            let home = Path::new(&functions.folder);
            Oracle::start(Path::new(library), home, &program, interrupted)
        });
        let mut spare_cpus = allowed.clone();
        spare_cpus.retain(|cpu| functions.cpu != Some(*cpu) && !helpers.contains(cpu));
        if functions.cpu.is_none() {
            spare_cpus.clear();
        }
        let oracle = oracle.transpose().map_err(not_started)?;
        let inputs = Inputs::new(&functions, oracle, spare_cpus.clone());
        let forms: Vec<BuiltForm> =
            functions.built.iter().map(|built| built.form.clone()).collect();
        let stock = Stock::new(folder.to_owned(), forms, functions.placements);
        let digest = Sha256::digest(plan.seed.as_bytes());
        let salt = digest.iter().take(8).fold(0, |salt, byte| salt << 8 | u64::from(*byte));
        let of_helpers = helpers.iter().copied();
        let cpus = functions.cpu.map_or(allowed, |cpu| of_helpers.chain([cpu]).collect());
        let meters_energy = asks(plan, &[Metric::Energy]);
        let (counting, uncounted) = Counting::of(plan);
        let missing = [uncounted, counting::missing_energy(meters_energy)];
        let names = plan.contestants.iter().map(|contestant| contestant.name.clone());
        Ok(Workers {
            names: names.collect(),
            scope: plan.scope,
            check_timeout_ns: plan.program.timeout_ns.unwrap_or(checking::TIMEOUT_NS),
            launch: Launch { program, interrupted },
            stock: stock.map_err(not_started)?.with_salt(salt),
            latest_unit_ns: FIRST_WAIT_NS_MAX,
            as_built: HashMap::new(),
            unstarved: HashMap::new(),
            helpers,
            inputs,
            linked_ahead: 0,
            coming: None,
            started: None,
            ending: None,
            spare_cpus,
            session: None,
            quiet: Gate::new(plan, &cpus, &[], interrupted),
            // Only stolen time and throttling are used, so this process' own time does not matter.
            surroundings: Surroundings::new(&cpus, &[], None),
            trials: Trials::default(),
            pace: Pace::default(),
            untimed: HashMap::new(),
            resets: HashMap::new(),
            threads: HashMap::new(),
            counting,
            meters_energy,
            missing: missing.into_iter().flatten().collect(),
            functions,
        })
    }

    /// Returns the files that the contestants are made of: their objects, the oracle's library, and
    /// the input if it is a file.
    pub fn files(&self) -> Vec<PathBuf> {
        let objects = self.functions.built.iter().flat_map(|built| objects(&built.form));
        let mut files: Vec<PathBuf> = objects.map(PathBuf::from).collect();
        files.extend(self.functions.oracle.as_ref().map(PathBuf::from));
        files.extend(self.inputs.file());
        without_repetition(files)
    }

    /// Returns the meters that are not read, whether a claim asks for them or not: what this
    /// machine lacks, each with what was tried, and what is read only if a claim is about it.
    pub fn missing_meters(&self) -> &[MissingMeter] {
        &self.missing
    }

    /// Returns how many items and how many bytes the input of a unit with this seed has.
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn measure_input(&mut self, input_seed: u64) -> Result<(u64, u64), UnitFailure> {
        self.inputs.of_unit(input_seed).map(|(input, _)| (input.items, input.bytes))
    }

    /// Returns the input of a unit, with the answers that it needs.
    fn wanted(&self, coins: &RoundCoins, is_whole: bool) -> Option<Wanted> {
        let mut contracts = Vec::new();
        for contestant in &coins.order {
            let contract = contract(&self.functions, *contestant).ok()?.to_owned();
            if !contracts.contains(&contract) {
                contracts.push(contract);
            }
        }
        let seed = coins.unit.as_ref()?.input_seed;
        Some(Wanted { seed, contracts, is_whole })
    }

    /// Returns a contestant's library as it was built, linked once.
    fn as_built(&mut self, contestant: usize) -> Result<PathBuf, UnitFailure> {
        if let Some(library) = self.as_built.get(&contestant) {
            return Ok(library.clone());
        }
        let library = self.stock.take(contestant, 0).map_err(not_linked)?;
        self.as_built.insert(contestant, library.clone());
        Ok(library)
    }
}

impl Sampler for Workers {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Functions(self)
    }

    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet {
        if self.quiet.was_quiet() {
            return Quiet { waited_ns: 0, quiet: true };
        }
        // What works ahead would look like a neighbour, and will not be one.
        let _still = stillness::timed();
        // A wait longer than a unit costs more than a disturbed unit.
        self.quiet.wait(at_most_ns.min(self.latest_unit_ns.max(WAIT_NS_MIN)))
    }

    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }
}

impl FunctionSampler for Workers {
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        let began_ns = clock::monotonic_ns();
        let ran = self.unit(request);
        self.latest_unit_ns = clock::monotonic_ns().saturating_sub(began_ns);
        ran
    }

    /// Links the missing placements, on all CPUs, if the next unit needs that, and removes those of
    /// other units; has inputs made. The process of the second unit is started while the first
    /// loads.
    fn expect(&mut self, units: &[RoundCoins]) {
        let own: Vec<_> = units.iter().map(unit::placements).collect();
        if own.first().is_some_and(|next| self.stock.lacks(next)) {
            self.linked_ahead = (2 * self.linked_ahead).max(1);
            let cpus = std::thread::available_parallelism().map_or(1, usize::from);
            let most = (cpus / own[0].len().max(1)).clamp(1, self.linked_ahead);
            // A link that fails here fails again when it is needed, and is reported there.
            let _ = self.stock.ahead(&own[..most.min(own.len())].concat());
        } else {
            self.stock.forget_unwanted(&own.concat());
        }
        self.coming = units.get(1).cloned();
        let is_whole = self.trials.are_due();
        let wanted = units.iter().filter_map(|coins| self.wanted(coins, is_whole)).collect();
        self.inputs.expect(wanted);
    }

    fn untimed(&self, contestant: usize) -> Option<Untimed> {
        self.untimed.get(&contestant).copied()
    }
}

/// Returns the contract of a contestant.
fn contract(functions: &FunctionPlan, contestant: usize) -> Result<&str, UnitFailure> {
    let built = functions.built.get(contestant);
    built.map(|built| built.contract.as_str()).ok_or_else(|| no_contestant(contestant))
}

/// Returns the index of a contestant among these.
fn place(contestant: usize, all: &[usize]) -> Option<usize> {
    all.iter().position(|other| *other == contestant)
}

fn not_started(why: impl std::fmt::Display) -> StartError {
    StartError::Worker { what: why.to_string() }
}

fn not_linked(error: impl std::fmt::Display) -> UnitFailure {
    UnitFailure::Broken(format!("a placement could not be linked: {error}"))
}
