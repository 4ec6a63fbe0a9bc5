//! Contestants that run in another runtime, as a sampler: one process each, which keeps running and
//! speaks the runner protocol (`docs/runner-protocol.md`).
//!
//! In a unit, a fresh process for each contestant is started, in the order of the coins, and loaded
//! with the same input, as many at a time as there are CPUs; then each is warmed up. The rounds
//! follow. From the warm-up on only one runner works at a time: the others wait in a read. A runner
//! times itself, and each of its times is compared with an outside clock; CPU time, faults,
//! switches and peak memory come from the kernel.

mod judge;
mod process;
mod runner;
mod session;
mod suspicion;
mod usage;

use crate::clients::{self, Clients};
use crate::error::StartError;
use crate::files;
use crate::honesty::{Excess, Trials, no_contestant};
use crate::oracle::Oracle;
use crate::program;
use crate::resources::{Gate, MissingMeter, Surroundings, check_cpu};
use crate::runners::judge::Expected;
use crate::runners::process::Launch;
use crate::runners::runner::Runner;
use crate::runners::session::Session;
use crate::runners::suspicion::Suspicion;
use crate::workers::WorkerProgram;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::{Plan, Scope};
use tiebreak_core::sampler::{Contestants, Quiet, Sampler, UnitFailure};
use tiebreak_core::study::{BatchCalls, BuiltForm, FunctionPlan, Untimed};
use tiebreak_machine::{clock, cpus};

/// How long one answer may take outside of a race, if the plan does not say.
const CHECK_TIMEOUT_NS: u64 = 60_000_000_000;

/// The least time of a batch of a runner, in nanoseconds. The cost of an exchange, by which its
/// time is uncertain, is then below 1% of it.
pub const BATCH_NS_MIN: f64 = 10_000_000.0;

/// Runs the contestants of a plan as runners, a fresh process each in every unit.
///
/// Use it from one thread. Dropping it ends what runs.
#[derive(Debug)]
pub struct Runners {
    functions: Box<FunctionPlan>,
    scope: Scope,
    check_timeout_ns: u64,
    launches: Vec<Launch>,
    files: Vec<PathBuf>,
    oracle: Option<Oracle>,
    /// Without an oracle: the answer that was accepted first, by contract.
    accepted: HashMap<String, Expected>,
    /// By contestant, what its batches say about its honesty, in all of its processes.
    suspicions: Vec<Suspicion>,
    /// Contestants whose answer was checked, in a study whose oracle gives no checksums.
    checked: HashSet<usize>,
    trials: Trials,
    untimed: HashMap<usize, Untimed>,
    /// By contestant, what its resets say about its honesty.
    resets: HashMap<usize, Excess>,
    /// The processes of the session, at scope `layout`.
    session: Option<Session>,
    /// How many runners may start and load at the same time.
    at_once: usize,
    missing: [MissingMeter; 2],
    /// The contestant of `verify` and its process.
    verified: Option<(usize, Runner)>,
    quiet: Gate,
    surroundings: Surroundings,
}

impl Runners {
    /// Determines how to start the plan's runners, puts the clients of the protocol into `cache`
    /// unless they are there, and starts the study's oracle, served by `program`.
    ///
    /// `interrupted` becomes true when the user asks to stop. Then whatever runs is ended within a
    /// tenth of a second and the unit fails with [`UnitFailure::Interrupted`].
    ///
    /// # Errors
    /// Returns the first part of the plan that is impossible; no contestant has run then.
    pub fn new(
        plan: &Plan,
        program: &WorkerProgram,
        cache: &Path,
        interrupted: &'static AtomicBool,
    ) -> Result<Runners, StartError> {
        let functions = plan.functions.clone();
        let functions = functions.ok_or_else(|| named("the contestants are programs"))?;
        let clients = clients::install(cache).map_err(|error| {
            let folder = cache.display();
            named(format!("the clients cannot be written to '{folder}': {error}"))
        })?;
        let allowed = cpus::allowed();
        check_cpu(functions.cpu, &allowed)?;
        let mut files = Vec::new();
        let mut launches = Vec::new();
        for contestant in 0..functions.built.len() {
            let launch = launch(&functions, contestant, &clients, interrupted, &mut files)?;
            launches.push(launch);
        }
        let folder = Path::new(&functions.folder);
        files.extend(functions.workload.file.iter().map(|file| folder.join(file)));
        files.extend(functions.oracle.iter().map(PathBuf::from));
        let oracle = functions.oracle.as_ref().map(|library| {
            let started = Oracle::start(Path::new(library), folder, program, interrupted);
            started.map_err(|error| named(error.to_string()))
        });
        let cpus = functions.cpu.map_or_else(|| allowed.clone(), |cpu| vec![cpu]);
        let suspicion = Suspicion::new(plan.error / launches.len().max(1) as f64);
        Ok(Runners {
            oracle: oracle.transpose()?,
            accepted: HashMap::new(),
            functions,
            scope: plan.scope,
            check_timeout_ns: plan.program.timeout_ns.unwrap_or(CHECK_TIMEOUT_NS),
            suspicions: vec![suspicion; launches.len()],
            launches,
            files: files::without_repetition(files),
            checked: HashSet::new(),
            trials: Trials::default(),
            untimed: HashMap::new(),
            resets: HashMap::new(),
            session: None,
            at_once: cpus.len().max(1),
            missing: missing_meters(),
            verified: None,
            quiet: Gate::new(plan, &cpus, &[], interrupted),
            surroundings: Surroundings::new(&cpus, &allowed, None),
        })
    }

    /// Returns the files that the contestants are made of: interpreters, scripts and what they may
    /// import, every word of a command that names a regular file, the input and the oracle.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// Returns the meters that runners do not have, whether a claim asks for them or not, each with
    /// the reason.
    pub fn missing_meters(&self) -> &[MissingMeter] {
        &self.missing
    }

    /// Sets the number of calls in a batch from now on, for a pilot, which determines what the plan
    /// should say. Each runner reports at its load whether it times each call separately.
    pub fn set_batch(&mut self, calls_a_batch: BatchCalls) {
        self.functions.calls_a_batch = calls_a_batch;
    }

    /// Returns how many items and how many bytes the input of a unit with this seed has. Without an
    /// oracle the items are the plan's.
    ///
    /// # Errors
    /// Fails if the oracle fails, or if the input cannot be read.
    pub fn measure_input(&mut self, input_seed: u64) -> Result<(u64, u64), UnitFailure> {
        let input = self.input(input_seed)?;
        Ok((input.items, input.bytes.len() as u64))
    }

    fn launch(&self, contestant: usize) -> Result<&Launch, UnitFailure> {
        self.launches.get(contestant).ok_or_else(|| no_contestant(contestant))
    }
}

impl Sampler for Runners {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Functions(self)
    }

    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet {
        self.quiet.wait(at_most_ns)
    }

    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }
}

/// Returns how a contestant is started, and adds what it is made of to `files`.
fn launch(
    plan: &FunctionPlan,
    contestant: usize,
    clients: &Clients,
    interrupted: &'static AtomicBool,
    files: &mut Vec<PathBuf>,
) -> Result<Launch, StartError> {
    let form = &plan.built[contestant].form;
    let BuiltForm::Runner { command, environment, directory, files: imported } = form else {
        return Err(named("a contestant has no process of its own"));
    };
    let directory = PathBuf::from(directory);
    let Some((word, arguments)) = command.split_first() else {
        return Err(named("a contestant has no command"));
    };
    let program = program::resolve(word, Some(&directory))?;
    files.push(program.clone());
    files.extend(imported.iter().map(|file| directory.join(file)));
    files.extend(arguments.iter().map(|word| directory.join(word)).filter(|path| path.is_file()));
    let (arguments, environment) = (arguments.to_vec(), clients.environment(environment));
    let cpu = plan.cpu;
    Ok(Launch { contestant, program, arguments, environment, directory, cpu, interrupted })
}

/// Returns why counters and energy are not read.
fn missing_meters() -> [MissingMeter; 2] {
    let no_counters = "no hardware counters of runners: they would have to be attached before a \
                       process starts";
    let no_energy = "no energy of runners: their batches come one by one with pauses between them";
    [MissingMeter::counters(no_counters), MissingMeter::energy(no_energy)]
}

fn named(what: impl Into<String>) -> StartError {
    StartError::Runner { what: what.into() }
}
