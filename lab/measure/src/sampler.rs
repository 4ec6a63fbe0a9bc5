//! Whole programs as a sampler.

use crate::error::StartError;
use crate::image::{Environment, MOST_PADDING_BYTES};
use crate::launcher::message::Request;
use crate::launcher::{Launcher, NoReply, Prepared};
use crate::meters::{asks, counted};
use crate::output;
use crate::resources::Surroundings;
use crate::shell::Shell;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Check, Contestant, OutputPlan, Plan, ProgramPlan};
use tiebreak_core::sample::Outcome;
use tiebreak_core::sampler::{
    Contestants, OutputDigest, ProgramSampler, Quiet, Ran, RunFailure, RunRequest, Sampler,
};
use tiebreak_core::warning::Warning;
use tiebreak_machine::clock;
use tiebreak_machine::cpus;
use tiebreak_machine::meters::{Counters, CountersReading, Energy, EnergyReading};
use tiebreak_machine::quiet::QuietGate;

mod after;
mod before;

/// Runs the contestants of a plan as whole programs, one process for each sample.
///
/// Use it from one thread; it runs one program at a time. Dropping it ends what runs.
#[derive(Debug)]
pub struct Programs {
    contestants: Vec<Contestant>,
    plan: ProgramPlan,
    files: Vec<PathBuf>,
    launcher: Launcher,
    quiet: QuietGate,
    surroundings: Surroundings,
    counters: Counters,
    energy: Option<Energy>,
    unavailable: Vec<String>,
    /// The launcher's peak memory at the last run.
    floor_bytes: u64,
    /// Opened once: the input or output of programs that have none.
    null: File,
    judged: HashSet<(usize, OutputDigest)>,
    warned: HashSet<usize>,
    warnings: Vec<Warning>,
    interrupted: &'static AtomicBool,
}

/// Returns every reason why the programs of a plan could not be started, each once. Starts nothing
/// to determine it.
pub fn problems(plan: &Plan) -> Vec<StartError> {
    let mut problems = Vec::new();
    problems.extend(before::check_input(&plan.program).err());
    problems.extend(before::check_cpus(&plan.program.cpus, &cpus::allowed()).err());
    for contestant in &plan.contestants {
        let alone = Plan { contestants: vec![contestant.clone()], ..plan.clone() };
        let image = |directories: Vec<Option<PathBuf>>| {
            let directory = directories.into_iter().flatten().next();
            before::image(contestant, &plan.program, directory.as_deref(), &mut Vec::new())
        };
        problems.extend(before::directories(&alone).and_then(image).err());
    }
    let mut said = HashSet::new();
    problems.retain(|problem| said.insert(problem.to_string()));
    problems
}

impl Programs {
    /// Checks everything that can be checked before a program runs, and starts the launcher.
    ///
    /// `interrupted` becomes true when the user asks to stop. Then whatever runs is ended within a
    /// tenth of a second and the run fails with [`RunFailure::Interrupted`].
    ///
    /// # Errors
    /// Returns the first part of the plan that is impossible; nothing has run then.
    pub fn new(plan: &Plan, interrupted: &'static AtomicBool) -> Result<Programs, StartError> {
        let program = plan.program.clone();
        let directories = before::directories(plan)?;
        let null = before::open_null()?;
        before::check_input(&program)?;
        if matches!(program.check, Check::Judge(_)) && program.output == OutputPlan::Null {
            return Err(StartError::JudgeWithoutOutput);
        }
        let allowed = cpus::allowed();
        let cpus = before::check_cpus(&program.cpus, &allowed)?;
        let mut files = Vec::new();
        let mut images = Vec::new();
        for (contestant, directory) in plan.contestants.iter().zip(&directories) {
            images.push(before::image(contestant, &program, directory.as_deref(), &mut files)?);
        }
        files.extend(program.input.as_ref().map(PathBuf::from));
        let environment = Environment::new(std::env::vars_os());
        let pinned = program.cpus.clone();
        let prepared = Prepared { images, directories, environment, cpus: pinned };
        let launcher = Launcher::start(prepared)?;
        // Hardware counters slow what is counted, so only what a claim is about is counted.
        let counters = Counters::open(launcher.pid(), asks(plan, &counted()));
        // Proving that an energy meter never moves takes a quarter of a second.
        let is_asked = asks(plan, &[Metric::Energy]);
        let opened = if is_asked { Energy::open() } else { Energy::open_unproven() };
        let (energy, no_energy) = match opened {
            Ok(energy) => (Some(energy), None),
            Err(reason) => (None, Some(reason).filter(|_| is_asked)),
        };
        let no_counters = counters.unavailable().cloned();
        let missing = [no_counters, no_energy];
        Ok(Programs {
            contestants: plan.contestants.clone(),
            plan: program,
            files: before::without_repetition(files),
            quiet: QuietGate::new(&cpus, &[launcher.pid() as u32]),
            surroundings: Surroundings::new(&cpus, &allowed, launcher.pid()),
            launcher,
            counters,
            energy,
            unavailable: missing.into_iter().flatten().map(|reason| reason.to_string()).collect(),
            floor_bytes: 0,
            null,
            judged: HashSet::new(),
            warned: HashSet::new(),
            warnings: Vec::new(),
            interrupted,
        })
    }

    /// Returns the files that the contestants are made of: their programs, the input, and every
    /// further word of a command that names a regular file.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// Returns the launcher's own peak memory, which `exec` passes on: no program can be seen to
    /// use less. A peak memory near it means "at most this much". It is about 1 MB if this sampler
    /// was created while the calling process had little memory of its own, of which the launcher
    /// inherits what is not file-backed; 0 before the first run.
    ///
    /// The kernel counts resident pages in batches for each CPU, so both numbers may be off by some
    /// 100 KiB from run to run.
    pub fn peak_memory_floor_bytes(&self) -> u64 {
        self.floor_bytes
    }

    /// Returns the meters that a claim asks for and this machine lacks, each with what was tried,
    /// as texts for people. Hardware counters are opened only if a claim asks for one.
    pub fn missing_meters(&self) -> &[String] {
        &self.unavailable
    }

    fn shell(&self, contestant: usize, insists: bool) -> Result<Shell<'_>, RunFailure> {
        let Contestant { name, directory, .. } = self.contestant(contestant)?;
        let directory = directory.as_deref().or(self.plan.directory.as_deref()).map(Path::new);
        Ok(Shell { contestant: name, directory, interrupted: self.interrupted, insists })
    }

    fn contestant(&self, index: usize) -> Result<&Contestant, RunFailure> {
        let none = || RunFailure::Broken(format!("the plan has no contestant {index}"));
        self.contestants.get(index).ok_or_else(none)
    }

    /// Starts, times and judges one run, without the hooks.
    fn measure(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        let captures = self.plan.output == OutputPlan::Capture;
        if request.padding_bytes > MOST_PADDING_BYTES {
            let most = MOST_PADDING_BYTES;
            return Err(RunFailure::Broken(format!("padding is at most {most} bytes")));
        }
        let files = self.open_files(captures).map_err(cannot_prepare)?;
        let asked = Request {
            contestant: request.contestant as u32,
            padding_bytes: request.padding_bytes,
            timeout_ns: request.timeout_ns,
            output_limit_bytes: if captures { self.plan.output_limit_bytes.max(1) } else { 0 },
        };
        let input = files.input.as_ref().unwrap_or(&self.null);
        let output = files.output.as_ref().unwrap_or(&self.null);
        let standard = [input.as_fd(), output.as_fd(), files.errors.as_fd()];
        self.surroundings.before_run();
        let before = self.meters();
        let reply = self.launcher.run(&asked, standard, self.interrupted).map_err(no_reply)?;
        let after = self.meters();
        self.floor_bytes = self.floor_bytes.max(reply.floor_kib * 1024);
        self.note_left_behind(request.contestant, &reply)?;
        self.check_end(&reply, &files)?;
        let sample = self.sample(request, &reply, &before, &after);
        let judged = files.output.as_ref().filter(|_| sample.outcome != Outcome::TimedOut);
        let output = judged.map(|file| self.judge(request.contestant, file)).transpose()?;
        Ok(Ran { sample, output })
    }

    fn open_files(&self, captures: bool) -> io::Result<Files> {
        Ok(Files {
            input: self.plan.input.as_ref().map(File::open).transpose()?,
            output: captures.then(output::memory_file).transpose()?,
            errors: output::memory_file()?,
        })
    }

    fn meters(&self) -> MetersReading {
        let energy = self.energy.as_ref().and_then(Energy::read);
        MetersReading { counters: self.counters.read(), energy }
    }
}

impl Sampler for Programs {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Programs(self)
    }

    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet {
        if !self.plan.wait_for_quiet {
            return Quiet { waited_ns: 0, quiet: true };
        }
        let interrupted = self.interrupted;
        self.quiet.wait(at_most_ns, &|| interrupted.load(Ordering::Relaxed))
    }

    /// Returns each contestant's warnings at most once.
    fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }
}

impl ProgramSampler for Programs {
    fn set_up(&mut self, contestant: usize) -> Result<(), RunFailure> {
        match &self.contestant(contestant)?.hooks.setup {
            Some(command) => self.shell(contestant, false)?.hook("setup", command),
            None => Ok(()),
        }
    }

    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        let contestant = request.contestant;
        if let Some(command) = &self.contestant(contestant)?.hooks.prepare {
            self.shell(contestant, false)?.hook("prepare", command)?;
        }
        let ran = self.measure(request);
        // Also after a failure: what prepare has made must be removed.
        let concluded = match &self.contestant(contestant)?.hooks.conclude {
            Some(command) => self.shell(contestant, true)?.hook("conclude", command),
            None => Ok(()),
        };
        ran.and_then(|ran| concluded.map(|()| ran))
    }

    fn clean_up(&mut self, contestant: usize) -> Result<(), RunFailure> {
        match &self.contestant(contestant)?.hooks.cleanup {
            Some(command) => self.shell(contestant, true)?.hook("cleanup", command),
            None => Ok(()),
        }
    }
}

/// The open files of a run.
struct Files {
    input: Option<File>,
    output: Option<File>,
    errors: File,
}

struct MetersReading {
    counters: CountersReading,
    energy: Option<EnergyReading>,
}

fn cannot_prepare(error: io::Error) -> RunFailure {
    RunFailure::Broken(format!(
        "a run could not be prepared: {error}: check the input file and the limit on open files"
    ))
}

fn no_reply(why: NoReply) -> RunFailure {
    match why {
        NoReply::Interrupted => RunFailure::Interrupted,
        NoReply::Lost(error) => RunFailure::Broken(format!(
            "the process that starts contestants is gone ({error}): was it killed, or is memory \
             short?"
        )),
    }
}
