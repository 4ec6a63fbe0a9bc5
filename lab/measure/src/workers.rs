//! Functions as a sampler: contestants that are shared libraries, run by workers.
//!
//! A *unit* is a worker process of its own ([`crate::worker`]): both sides are in it, each in the
//! placement that was drawn for this unit, and all the unit's rounds run there on one request, so
//! that nothing of the laboratory runs between its batches. At scope `layout` the process stays,
//! and later rounds go on in it.

mod alone;
mod batch_length;
mod beside;
mod blame;
mod checking;
mod conduct;
mod counting;
mod difference;
mod inputs;
mod pace;
pub(crate) mod probe;
pub(crate) mod process;
mod sample;
mod session;
mod together;
mod trials;
mod unit;

pub use batch_length::{Clock, shortest_energy_batch_ns};
pub use probe::{Facts, LoadError, probe};
pub use process::WorkerProgram;

use crate::build::Stock;
use crate::error::StartError;
use crate::honesty::Trials;
use crate::meters::{MissingMeter, asks};
use crate::oracle::Oracle;
use crate::worker::message::HelperCpus;
use beside::Lookout;
use counting::Counting;
use inputs::Inputs;
use pace::Pace;
use session::Session;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Plan, Scope};
use tiebreak_core::sampler::{
    Contestants, FunctionSampler, Quiet, Sampler, UnitFailure, UnitRan, UnitRequest,
};
use tiebreak_core::study::{Built, BuiltForm, FunctionPlan, Untimed};
use tiebreak_machine::quiet::QuietGate;
use tiebreak_machine::{clock, cpus};

/// A unit may always wait this long for a quiet machine.
const WAIT_NS_MIN: u64 = 1_000_000;
/// The first one this long: a budget may be a second.
const FIRST_WAIT_NS_MAX: u64 = 100_000_000;

/// Runs the contestants of a plan as functions in workers, a process a unit.
///
/// One at a time and from one thread, which must live as long as this does: its end ends the
/// workers. When this is dropped, what runs is ended.
#[derive(Debug)]
pub struct Workers {
    functions: Box<FunctionPlan>,
    /// Of the contestants, as the plan has them.
    names: Vec<String>,
    scope: Scope,
    waits_for_quiet: bool,
    /// How long the latest unit took: a wait for a quiet machine is no longer.
    latest_unit_ns: u64,
    timeout_ns: Option<u64>,
    program: WorkerProgram,
    files: Vec<PathBuf>,
    stock: Stock,
    /// Each contestant as it was built, linked when it is first checked.
    as_built: HashMap<usize, PathBuf>,
    /// By contestant, why it was not called without memory when it was checked.
    unstarved: HashMap<usize, u64>,
    inputs: Inputs,
    /// The CPUs of threads that run beside the timed one; none if they are not pinned.
    helpers: HelperCpus,
    /// At scope `layout`, the process of the session.
    session: Option<Session>,
    quiet: QuietGate,
    lookout: Lookout,
    trials: Trials,
    pace: Pace,
    /// By contestant, what it does outside of the timed spans, at least.
    untimed: HashMap<usize, Untimed>,
    counting: Counting,
    meters_energy: bool,
    missing: Vec<MissingMeter>,
    interrupted: &'static AtomicBool,
}

impl Workers {
    /// Starts the study's oracle and finds out which meters there are. Placements are linked in a
    /// folder of their own in `folder`, from where libraries can be loaded.
    ///
    /// `interrupted` becomes true when the user asks to stop; then whatever runs is ended within a
    /// tenth of a second and the unit fails with [`UnitFailure::Interrupted`].
    ///
    /// # Errors
    /// The first thing that cannot be as the plan says; no contestant has run then.
    pub fn new(
        plan: &Plan,
        program: WorkerProgram,
        folder: &Path,
        interrupted: &'static AtomicBool,
    ) -> Result<Workers, StartError> {
        let functions = plan.functions.clone();
        let functions = functions.ok_or_else(|| not_started("the contestants are programs"))?;
        let allowed = cpus::allowed();
        if let Some(cpu) = functions.cpu.filter(|cpu| !allowed.contains(cpu)) {
            return Err(StartError::CpuNotAllowed { cpu, allowed: cpus::format_list(&allowed) });
        }
        let helpers = together::helper_cpus(&functions, &allowed).map_err(not_started)?;
        let start = |library| Oracle::start(library, &program);
        let oracle = inputs::oracle_of(&functions).map(start).transpose().map_err(not_started)?;
        let oracle = oracle.map(|oracle| oracle.interruptible(interrupted));
        let inputs = Inputs::new(&functions, oracle);
        let forms: Vec<BuiltForm> =
            functions.built.iter().map(|built| built.form.clone()).collect();
        let files = files(&functions, &inputs);
        let stock = Stock::new(folder.to_owned(), forms, functions.placements);
        let digest = Sha256::digest(plan.seed.as_bytes());
        let salt = digest.iter().take(8).fold(0, |salt, byte| salt << 8 | u64::from(*byte));
        let beside = helpers.iter().map(|cpu| *cpu as usize);
        let cpus = functions.cpu.map_or(allowed, |cpu| beside.chain([cpu]).collect());
        let meters_energy = asks(plan, &[Metric::Energy]);
        let (counting, uncounted) = Counting::of(plan);
        let missing = [uncounted, counting::missing_energy(meters_energy)];
        let names = plan.contestants.iter().map(|contestant| contestant.name.clone());
        Ok(Workers {
            names: names.collect(),
            scope: plan.scope,
            waits_for_quiet: plan.program.wait_for_quiet,
            timeout_ns: plan.program.timeout_ns,
            program,
            files,
            stock: stock.map_err(not_started)?.with_salt(salt),
            latest_unit_ns: FIRST_WAIT_NS_MAX,
            as_built: HashMap::new(),
            unstarved: HashMap::new(),
            helpers,
            inputs,
            session: None,
            quiet: QuietGate::new(&cpus, &[]),
            lookout: Lookout::new(&cpus),
            trials: Trials::default(),
            pace: Pace::default(),
            untimed: HashMap::new(),
            counting,
            meters_energy,
            missing: missing.into_iter().flatten().collect(),
            interrupted,
            functions,
        })
    }

    /// The files that the contestants are made of: their objects, the oracle's library, and the
    /// input if it is a file.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// The meters that are not read, whether a claim asks for them or not: what this machine lacks,
    /// each with what was tried, and what is read only if a claim is about it.
    pub fn missing_meters(&self) -> &[MissingMeter] {
        &self.missing
    }

    /// How many items the input of a unit with this seed has, and how many bytes.
    ///
    /// # Errors
    /// The oracle fails.
    pub fn measure_input(&mut self, input_seed: u64) -> Result<(u64, u64), UnitFailure> {
        self.inputs.of_unit(input_seed).map(|input| (input.items, input.bytes))
    }

    fn contract(&self, contestant: usize) -> Result<&str, UnitFailure> {
        let built = self.functions.built.get(contestant);
        let nobody = || UnitFailure::Broken(format!("the plan has no contestant {contestant}"));
        built.map(|built| built.contract.as_str()).ok_or_else(nobody)
    }

    /// A contestant's library as it was built; linked once.
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
        if !self.waits_for_quiet {
            return Quiet { waited_ns: 0, quiet: true };
        }
        let interrupted = self.interrupted;
        // Waiting for longer than a unit takes costs more than a neighbour beside it.
        let at_most_ns = at_most_ns.min(self.latest_unit_ns.max(WAIT_NS_MIN));
        self.quiet.wait(at_most_ns, &|| interrupted.load(Ordering::Relaxed))
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

    /// Links the placements that are not there yet, on all CPUs, and removes the others.
    fn expect(&mut self, placements: &[(usize, u64)]) {
        // A link that fails here fails again when the placement is needed, and is told there.
        let _ = self.stock.ahead(placements);
    }

    fn untimed(&self, contestant: usize) -> Option<Untimed> {
        self.untimed.get(&contestant).copied()
    }
}

fn files(functions: &FunctionPlan, inputs: &Inputs) -> Vec<PathBuf> {
    let objects = |built: &Built| match &built.form {
        BuiltForm::Objects { objects, .. } => objects.iter().map(PathBuf::from).collect(),
        BuiltForm::Runner { .. } => Vec::new(),
    };
    let mut files: Vec<PathBuf> = functions.built.iter().flat_map(objects).collect();
    files.extend(inputs::oracle_of(functions).map(Path::to_owned));
    files.extend(inputs.file());
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    files
}

fn not_started(why: impl std::fmt::Display) -> StartError {
    StartError::Worker { what: why.to_string() }
}

fn not_linked(error: impl std::fmt::Display) -> UnitFailure {
    UnitFailure::Broken(format!("a placement could not be linked: {error}"))
}
