//! Whole programs as a sampler: what is checked before a program runs, the run, and how it becomes
//! a sample or a fault. [`servers`] are programs that are loaded instead of waited for.

pub(crate) mod servers;

use crate::children::{broken, run_shell};
use crate::error::StartError;
use crate::image::{Environment, Image, MOST_PADDING_BYTES};
use crate::launcher::message::{End, Reply, Run};
use crate::launcher::{Launcher, Prepared};
use crate::resources::{Gate, Surroundings, asks, check_cpu, counted, marked};
use crate::{files, program, words};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Check, Contestant, Hooks, OutputPlan, Plan, ProgramPlan};
use tiebreak_core::sample::{Mark, Marks, Meters, Outcome, Sample};
use tiebreak_core::sampler::{
    Contestants, OutputDigest, ProgramSampler, Quiet, Ran, RunFailure, RunRequest, Sampler,
};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;
use tiebreak_machine::meters::{Counted, Counters, CountersReading, Energy, EnergyReading};
use tiebreak_machine::{clock, cpus};

/// Runs the contestants of a plan as whole programs, one process for each sample.
///
/// Use it from one thread; it runs one program at a time. Dropping it ends what runs.
#[derive(Debug)]
pub struct Programs {
    contestants: Vec<Contestant>,
    plan: ProgramPlan,
    files: Vec<PathBuf>,
    launcher: Launcher,
    quiet: Gate,
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
    problems.extend(check_input(&plan.program).err());
    problems.extend(check_cpus(&plan.program.cpus, &cpus::allowed()).err());
    for contestant in &plan.contestants {
        problems.extend(prepare(contestant, &plan.program, &mut Vec::new()).err());
    }
    let mut seen = HashSet::new();
    problems.retain(|problem| seen.insert(problem.to_string()));
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
        let null = File::options().read(true).write(true).open("/dev/null").map_err(|reason| {
            StartError::Launcher { doing: "/dev/null cannot be opened", reason }
        })?;
        check_input(&program)?;
        if matches!(program.check, Check::Judge(_)) && program.output == OutputPlan::Null {
            return Err(StartError::JudgeWithoutOutput);
        }
        let allowed = cpus::allowed();
        let cpus = check_cpus(&program.cpus, &allowed)?;
        let mut files = Vec::new();
        let prepared = plan.contestants.iter().map(|one| prepare(one, &program, &mut files));
        let prepared = prepared.collect::<Result<Vec<_>, _>>()?;
        let (images, directories) = prepared.into_iter().unzip();
        files.extend(program.input.as_ref().map(PathBuf::from));
        let environment = Environment::new(std::env::vars_os());
        let pinned = program.cpus.clone();
        let prepared = Prepared { images, directories, environment, cpus: pinned };
        let launcher = Launcher::start(prepared)?;
        // Hardware counters slow what is counted, so only what a claim is about is counted.
        let counters = Counters::open(launcher.pid, asks(plan, &counted()));
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
            files: files::without_repetition(files),
            quiet: Gate::new(plan, &cpus, &[launcher.pid as u32], interrupted),
            surroundings: Surroundings::new(&cpus, &allowed, Some(launcher.pid)),
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

    /// Runs a shell command for a contestant, outside of the timed span. Returns its exit status
    /// and the end of its standard error.
    fn shell(
        &self,
        contestant: usize,
        command: &str,
        input: Stdio,
        insists: bool,
    ) -> Result<(i32, String), RunFailure> {
        let Contestant { name, directory, .. } = self.contestant(contestant)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("TIEBREAK_CONTESTANT", name).stdin(input);
        if let Some(directory) = directory.as_deref().or(self.plan.directory.as_deref()) {
            shell.current_dir(directory);
        }
        run_shell(&mut shell, self.interrupted, insists)
    }

    /// Runs a hook of a contestant, if it has it.
    fn hook(
        &self,
        contestant: usize,
        hook: &str,
        of: fn(&Hooks) -> &Option<String>,
        insists: bool,
    ) -> Result<(), RunFailure> {
        let Some(command) = of(&self.contestant(contestant)?.hooks) else {
            return Ok(());
        };
        self.run_hook(contestant, hook, command, insists)
    }

    /// Runs this command as a hook of a contestant.
    fn run_hook(
        &self,
        contestant: usize,
        hook: &str,
        command: &str,
        insists: bool,
    ) -> Result<(), RunFailure> {
        let (status, stderr) = self.shell(contestant, command, Stdio::null(), insists)?;
        if status == 0 {
            return Ok(());
        }
        let (hook, command) = (hook.to_owned(), command.to_owned());
        Err(RunFailure::Fault(Fault::Hook { hook, command, status, stderr }))
    }

    fn contestant(&self, index: usize) -> Result<&Contestant, RunFailure> {
        self.contestants
            .get(index)
            .ok_or_else(|| RunFailure::Broken(format!("the plan has no contestant {index}")))
    }

    /// Starts, times and judges one run, without the hooks.
    fn measure(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        let captures = self.plan.output == OutputPlan::Capture;
        if request.padding_bytes > MOST_PADDING_BYTES {
            let most = MOST_PADDING_BYTES;
            return Err(RunFailure::Broken(format!("padding is at most {most} bytes")));
        }
        let files = self.open_files(captures).map_err(cannot_prepare)?;
        let run = Run {
            contestant: request.contestant as u64,
            padding_bytes: request.padding_bytes,
            timeout_ns: request.timeout_ns,
            output_limit_bytes: if captures { self.plan.output_limit_bytes.max(1) } else { 0 },
        };
        let input = files.input.as_ref().unwrap_or(&self.null);
        let output = files.output.as_ref().unwrap_or(&self.null);
        let standard = [input.as_fd(), output.as_fd(), files.errors.as_fd()];
        self.surroundings.before_run();
        let (counters, energy) = self.meters();
        let reply = self.launcher.run(run, standard, self.interrupted).map_err(launcher_gone)?;
        let reply = reply.ok_or(RunFailure::Interrupted)?;
        let (counters_after, energy_after) = self.meters();
        let counted = counters_after.since(&counters);
        let energies = self.energy.as_ref().zip(energy_after.as_ref()).zip(energy.as_ref());
        let energy_nj = energies.and_then(|((meter, after), before)| meter.since_nj(after, before));
        self.floor_bytes = self.floor_bytes.max(reply.floor_kib * 1024);
        self.note_left_behind(request.contestant, &reply)?;
        self.check_end(&reply, &files)?;
        let sample = self.sample(request, &reply, counted, energy_nj);
        let judged = files.output.as_ref().filter(|_| sample.outcome != Outcome::TimedOut);
        let output = judged.map(|file| self.judge(request.contestant, file)).transpose()?;
        Ok(Ran { sample, output, histogram: Vec::new() })
    }

    fn open_files(&self, captures: bool) -> io::Result<Files> {
        Ok(Files {
            input: self.plan.input.as_ref().map(File::open).transpose()?,
            output: captures.then(files::memory_file).transpose()?,
            errors: files::memory_file()?,
        })
    }

    fn meters(&self) -> (CountersReading, Option<EnergyReading>) {
        let energy = self.energy.as_ref().and_then(Energy::read);
        (self.counters.read(), energy)
    }
}

impl Sampler for Programs {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Programs(self)
    }

    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet {
        self.quiet.wait(at_most_ns)
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
        self.hook(contestant, "setup", |hooks| &hooks.setup, false)
    }

    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        let contestant = request.contestant;
        self.hook(contestant, "prepare", |hooks| &hooks.prepare, false)?;
        let ran = self.measure(request);
        // Also after a failure: what prepare has made must be removed.
        let concluded = self.hook(contestant, "conclude", |hooks| &hooks.conclude, true);
        ran.and_then(|ran| concluded.map(|()| ran))
    }

    fn clean_up(&mut self, contestant: usize) -> Result<(), RunFailure> {
        self.hook(contestant, "cleanup", |hooks| &hooks.cleanup, true)
    }
}

/// The open files of a run.
struct Files {
    input: Option<File>,
    output: Option<File>,
    errors: File,
}

/// Returns the system's text for one of its numbers of errors.
fn os_error(errno: i32) -> String {
    io::Error::from_raw_os_error(errno).to_string()
}

/// Returns the failure of a run whose process the system refused to start.
fn not_started(errno: i32) -> RunFailure {
    let reason = os_error(errno);
    match errno {
        libc::EAGAIN | libc::ENOMEM => RunFailure::Broken(format!(
            "no process could be started: {reason}: raise the limits on processes, or free memory"
        )),
        _ => RunFailure::Fault(Fault::CannotStart { reason }),
    }
}

fn cannot_prepare(error: io::Error) -> RunFailure {
    RunFailure::Broken(format!(
        "a run could not be prepared: {error}: check the input file and the limit on open files"
    ))
}

fn launcher_gone(error: io::Error) -> RunFailure {
    RunFailure::Broken(format!(
        "the process that starts contestants is gone ({error}): was it killed, or is memory short?"
    ))
}

fn check_directory(directory: Option<&str>) -> Result<Option<PathBuf>, StartError> {
    let Some(directory) = directory else {
        return Ok(None);
    };
    let path = PathBuf::from(directory);
    match std::fs::read_dir(&path) {
        Err(reason) if reason.kind() != io::ErrorKind::PermissionDenied => {
            Err(StartError::Directory { path, reason })
        }
        // A folder that cannot be listed may still be entered: the launcher tries.
        _ => Ok(Some(path)),
    }
}

fn check_input(plan: &ProgramPlan) -> Result<(), StartError> {
    let Some(input) = &plan.input else {
        return Ok(());
    };
    // Checked before it is opened: opening a pipe waits for its writer.
    let opened = std::fs::metadata(input).and_then(|kind| {
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !kind.is_file() {
            return Err(io::Error::other(
                "it is not a regular file, so two runs would not read the same from it",
            ));
        }
        File::open(input)
    });
    opened.map(drop).map_err(|reason| StartError::Input { path: PathBuf::from(input), reason })
}

/// Returns the CPUs that contestants may run on.
fn check_cpus(wanted: &[usize], allowed: &[usize]) -> Result<Vec<usize>, StartError> {
    wanted.iter().try_for_each(|cpu| check_cpu(Some(*cpu), allowed))?;
    let mut cpus = if wanted.is_empty() { allowed } else { wanted }.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

fn split(command: &str) -> Result<Vec<String>, StartError> {
    words::split(command)
        .map_err(|reason| StartError::Words { command: command.to_owned(), reason })
}

/// Returns a contestant's program with its arguments, and the folder that it runs in, if that is
/// not the current one: its own, or the run's. Adds the files that its words name to `files`.
fn prepare(
    contestant: &Contestant,
    plan: &ProgramPlan,
    files: &mut Vec<PathBuf>,
) -> Result<(Image, Option<PathBuf>), StartError> {
    let of_run = check_directory(plan.directory.as_deref())?;
    let own = check_directory(contestant.directory.as_deref())?;
    let folder = own.or(of_run);
    let directory = folder.as_deref();
    let (words, named) = match &plan.shell {
        None => {
            let words = split(&contestant.command)?;
            let named = words[1..].to_vec();
            (words, named)
        }
        Some(shell) => {
            let mut words = split(shell)?;
            words.extend(["-c".to_owned(), contestant.command.clone()]);
            // Only the shell can determine its words with certainty; this finds the plain ones.
            (words, contestant.command.split_whitespace().map(str::to_owned).collect())
        }
    };
    let path = program::resolve(&words[0], directory)?;
    files.push(path.clone());
    if plan.shell.is_some() {
        files.extend(named.first().and_then(|word| program::resolve(word, directory).ok()));
    }
    let place = directory.unwrap_or(Path::new(""));
    files.extend(named.iter().map(|word| place.join(word)).filter(|path| path.is_file()));
    match Image::new(&path, &words) {
        Ok(image) => Ok((image, folder)),
        Err(_) => Err(StartError::ZeroByte { command: contestant.command.replace('\0', "?") }),
    }
}

/// The kernel counts resident pages in batches for each CPU, so a peak may be off by this much.
const MEMORY_FLOOR_SLACK_BYTES: u64 = 256 << 10;

impl Programs {
    /// Checks whether the run gives a sample at all.
    fn check_end(&self, reply: &Reply, files: &Files) -> Result<(), RunFailure> {
        let fault = match reply.end {
            End::TimedOut => return Ok(()),
            End::Ended if libc::WIFSIGNALED(reply.status) => {
                let signal = libc::WTERMSIG(reply.status);
                Fault::Signal { signal, stderr: files::tail(&files.errors) }
            }
            End::Ended => {
                let status = libc::WEXITSTATUS(reply.status);
                if self.plan.success.accepts(status) {
                    return Ok(());
                }
                Fault::ExitStatus { status, stderr: files::tail(&files.errors) }
            }
            End::Flooded => Fault::Flooded { limit_bytes: self.plan.output_limit_bytes },
            End::NotStarted(errno) => return Err(not_started(errno)),
            End::Cancelled => return Err(RunFailure::Interrupted),
            End::Broken(errno) => {
                let why = format!("a run could not be watched: {}", os_error(errno));
                return Err(RunFailure::Broken(why));
            }
        };
        Err(RunFailure::Fault(fault))
    }

    fn sample(
        &mut self,
        request: &RunRequest,
        reply: &Reply,
        counted: Counted,
        energy_nj: Option<u64>,
    ) -> Sample {
        let (outcome, wall_ns) = match reply.end_ns.checked_sub(reply.start_ns) {
            _ if reply.end == End::TimedOut => (Outcome::TimedOut, request.timeout_ns),
            Some(wall_ns) => (Outcome::Finished, wall_ns),
            None => (Outcome::Unusable, 0),
        };
        let cpu_ns = reply.usage.cpu_ns();
        let mut around = self.surroundings.after_run(reply.start_ns, wall_ns, cpu_ns);
        let peak_memory_bytes = reply.peak_kib * 1024;
        around.beside.migrations = counted.migrations;
        around.beside.run_delay_ns = reply.scheduled_ns.map(|(_, delay_ns)| delay_ns);
        Sample {
            outcome,
            peak_memory_bytes,
            meters: Meters {
                energy_nj,
                run_ns: reply.scheduled_ns.map(|(run_ns, _)| run_ns),
                ..counted.meters
            },
            beside: around.beside,
            marks: marked(
                around.marks(Marks::NONE),
                [
                    (reply.usage.involuntary_switches > 1, Mark::Preempted),
                    (reply.left_behind > 0, Mark::LeftBehind),
                    (outcome == Outcome::Unusable, Mark::ClockBackwards),
                    (counted.multiplexed, Mark::Multiplexed),
                    // A peak that is not well above the launcher's own, which `exec` passes on:
                    // the program may have used less.
                    (
                        peak_memory_bytes <= self.floor_bytes + MEMORY_FLOOR_SLACK_BYTES,
                        Mark::MemoryFloor,
                    ),
                ],
            ),
            ..reply.usage.sample(wall_ns)
        }
    }

    fn note_left_behind(&mut self, index: usize, reply: &Reply) -> Result<(), RunFailure> {
        if reply.left_behind > 0 && self.warned.insert(index) {
            let contestant = self.contestant(index)?.name.clone();
            let process = reply.left_name.clone();
            self.warnings.push(Warning::LeftBehind { contestant, process });
        }
        Ok(())
    }

    /// Returns the digest of an output, accepted by the judge if there is one.
    fn judge(&mut self, contestant: usize, output: &File) -> Result<OutputDigest, RunFailure> {
        let digest = files::digest(output).map_err(cannot_prepare)?;
        let key = (contestant, digest.clone());
        if let Check::Judge(judge) = &self.plan.check
            && !self.judged.contains(&key)
        {
            let input = output.try_clone().and_then(|mut input| input.rewind().map(|()| input));
            let input = input.map_err(broken("the output cannot be judged"))?;
            let (status, _) = self.shell(contestant, judge, input.into(), false)?;
            if status != 0 {
                let judge = judge.clone();
                return Err(RunFailure::Fault(Fault::Rejected { judge, status }));
            }
            self.judged.insert(key);
        }
        Ok(digest)
    }
}
