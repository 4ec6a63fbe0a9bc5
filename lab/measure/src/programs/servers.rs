//! Servers as a sampler: a program that is started, waited for until it is ready, loaded, and
//! stopped. Each run is a fresh start, so that a verdict is about the server and not about how one
//! start of it lay in memory.

mod place;

use self::place::{Place, Ports};
use super::{Programs, broken, cannot_prepare, files, launcher_gone, marked, not_started};
use crate::error::StartError;
use crate::launcher::message::{Accounts, Serve, Started};
use crate::words;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tiebreak_core::load::{LoadEnding, MessageCounts};
use tiebreak_core::plan::{Hooks, Plan};
use tiebreak_core::sample::{Mark, Marks, Meters, Outcome, Sample};
use tiebreak_core::sampler::{
    Contestants, ProgramSampler, Quiet, Ran, RunFailure, RunRequest, Sampler,
};
use tiebreak_core::server::{Driver, LoadFailure, LoadOrder, LoadSeen, ServerPlan};
use tiebreak_core::verdict::Fault;
use tiebreak_core::warning::Warning;
use tiebreak_machine::clock;

/// The pause after the first try to reach a server that starts, which doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How often, and after which pause, is looked whether a server that broke its load has ended.
const LOOKS_FOR_END: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Runs the contestants of a plan as servers under load, one start for each sample.
///
/// Use it from one thread; it runs one server at a time. Dropping it ends what runs.
pub struct Servers {
    programs: Programs,
    plan: ServerPlan,
    /// The untimed load that comes first.
    warm_up: ServerPlan,
    driver: Box<dyn Driver>,
    ports: Ports,
}

impl Servers {
    /// Checks everything that can be checked before a server runs, and starts the launcher.
    /// `driver` loads the servers of this plan.
    ///
    /// # Errors
    /// As [`Programs::new`].
    pub fn new(
        plan: &Plan,
        of_servers: &ServerPlan,
        driver: Box<dyn Driver>,
        interrupted: &'static AtomicBool,
    ) -> Result<Servers, StartError> {
        let programs = Programs::new(plan, interrupted)?;
        let ports = Ports::from(std::process::id());
        let (plan, warm_up) = (of_servers.clone(), of_servers.warm_up());
        Ok(Servers { programs, plan, warm_up, driver, ports })
    }

    /// Returns the files that the contestants are made of, as [`Programs::files`].
    pub fn files(&self) -> Vec<PathBuf> {
        self.programs.files()
    }

    /// Returns the meters that a claim asks for and this machine lacks, as
    /// [`Programs::missing_meters`].
    pub fn missing_meters(&self) -> &[String] {
        self.programs.missing_meters()
    }

    /// Runs a hook of a contestant in its place, if it has it.
    fn hook(
        &self,
        contestant: usize,
        place: &Place,
        (hook, of): (&str, fn(&Hooks) -> &Option<String>),
        insists: bool,
    ) -> Result<(), RunFailure> {
        match of(&self.programs.contestant(contestant)?.hooks) {
            Some(command) => {
                self.programs.run_hook(contestant, hook, &place.fill(command), insists)
            }
            None => Ok(()),
        }
    }

    /// Returns the words of a contestant's command in its place.
    fn words(&self, contestant: usize, place: &Place) -> Result<Vec<String>, RunFailure> {
        let command = &self.programs.contestant(contestant)?.command;
        match &self.programs.plan.shell {
            // The words are those that were checked: what is filled in is no word of its own.
            None => {
                words::split(command).map(|words| words.iter().map(|w| place.fill(w)).collect())
            }
            Some(shell) => words::split(shell).map(|mut words| {
                words.extend(["-c".to_owned(), place.fill(command)]);
                words
            }),
        }
        .map_err(|error| RunFailure::Broken(error.to_string()))
    }

    /// Starts a server, loads it, and stops it, without the hooks.
    fn serve(&mut self, request: &RunRequest, place: &Place) -> Result<Ran, RunFailure> {
        let output = files::memory_file().map_err(cannot_prepare)?;
        let serve = Serve {
            contestant: request.contestant as u64,
            padding_bytes: request.padding_bytes,
            words: self.words(request.contestant, place)?,
            folder: place.folder().into(),
        };
        let null = self.programs.null.as_fd();
        let standard = [null, output.as_fd(), output.as_fd()];
        let Started(errno) =
            self.programs.launcher.serve(serve, standard).map_err(launcher_gone)?;
        if let Some(errno) = errno {
            return Err(not_started(errno));
        }
        let run = Run { request, place, output: &output };
        let is_warm = self.warm(&run);
        let ran = is_warm.and_then(|is| if is { self.measure(&run) } else { Ok(run.cut_off()) });
        let stopped = self.programs.launcher.stop().map_err(launcher_gone);
        let ran = ran?;
        if stopped?.killed > 0 {
            self.note_killed(request.contestant)?;
        }
        Ok(ran)
    }

    /// Loads it, untimed, with a part of the load, as soon as that can be opened. Returns whether
    /// it ended within the time-out.
    fn warm(&mut self, run: &Run<'_>) -> Result<bool, RunFailure> {
        let deadline_ns = clock::monotonic_ns() + self.plan.ready_within_ns;
        let mut pause = FIRST_PAUSE;
        loop {
            let why = match self.driver.load(&run.order(&self.warm_up, 1), &mut || ()) {
                Err(LoadFailure::NotOpen(why)) => why,
                seen => {
                    let seen = self.judged(run, seen, "in its untimed load")?;
                    return Ok(seen.ending != LoadEnding::Interrupted);
                }
            };
            self.still_runs(run, "before it was ready")?;
            if clock::monotonic_ns() >= deadline_ns {
                let within = Duration::from_nanos(self.plan.ready_within_ns);
                return Err(run.fault(format!("was not ready within {within:?} ({why})")));
            }
            if self.programs.interrupted.load(Ordering::Relaxed) {
                return Err(RunFailure::Interrupted);
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Returns what a server has used so far.
    ///
    /// # Errors
    /// Fails if it has ended.
    fn still_runs(&mut self, run: &Run<'_>, when: &str) -> Result<Accounts, RunFailure> {
        let accounts = self.programs.launcher.account().map_err(launcher_gone)?;
        if !accounts.is_over() {
            return Ok(accounts);
        }
        let how = match accounts.ended {
            Some(status) if libc::WIFSIGNALED(status) => {
                format!("was killed by signal {}", libc::WTERMSIG(status))
            }
            Some(status) => format!("ended with exit status {}", libc::WEXITSTATUS(status)),
            None => "ended".to_owned(),
        };
        Err(run.fault(format!("{how} {when}")))
    }

    /// Loads it and measures that, from when all connections are open.
    fn measure(&mut self, run: &Run<'_>) -> Result<Ran, RunFailure> {
        let Servers { programs, driver, plan, .. } = self;
        let mut begun = None;
        let seen = driver.load(&run.order(plan, 2), &mut || {
            let before = programs.launcher.account();
            programs.surroundings.before_run();
            begun = Some((before, programs.meters(), clock::monotonic_ns()));
        });
        let (end_ns, (counters_after, energy_after)) =
            (clock::monotonic_ns(), self.programs.meters());
        let seen = self.judged(run, seen, "under load")?;
        let Some((before, (counters, energy), start_ns)) = begun else {
            return Err(RunFailure::Broken("a load has begun that was not seen to".to_owned()));
        };
        let (before, took_ns) = (before.map_err(launcher_gone)?, end_ns - start_ns);
        let used = self.still_runs(run, "under load")?;
        let counted = counters_after.since(&counters);
        let energies = self.programs.energy.as_ref().zip(energy_after).zip(energy);
        let usage = used.since(&before);
        let mut around = self.programs.surroundings.after_run(start_ns, took_ns, usage.cpu_ns());
        // The wait for what never arrives is no part of the sample.
        around.beside.take_part(seen.wall_ns as f64 / took_ns.max(1) as f64);
        let is_cut_off = seen.ending == LoadEnding::Interrupted;
        let sample = Sample {
            outcome: if is_cut_off { Outcome::TimedOut } else { Outcome::Finished },
            peak_memory_bytes: used.peak_kib.max(before.peak_kib) * 1024,
            meters: Meters {
                energy_nj: energies.and_then(|((of, after), then)| of.since_nj(&after, &then)),
                ..counted.meters
            },
            beside: around.beside,
            marks: marked(
                around.marks(Marks::NONE),
                [
                    (counted.multiplexed, Mark::Multiplexed),
                    (seen.is_behind_schedule, Mark::BehindSchedule),
                ],
            ),
            served: Some(seen.served),
            ..usage.sample(if is_cut_off { run.request.timeout_ns } else { seen.wall_ns })
        };
        Ok(Ran { sample, output: None, histogram: seen.histogram })
    }

    /// Checks that a server has done what it was asked for.
    fn judged(
        &mut self,
        run: &Run<'_>,
        seen: Result<LoadSeen, LoadFailure>,
        when: &str,
    ) -> Result<LoadSeen, RunFailure> {
        let what = match seen {
            Ok(seen) => match self.misdeed(&seen) {
                None => return Ok(seen),
                Some(what) => what,
            },
            Err(LoadFailure::NotOpen(why)) => format!("did not open all connections: {why}"),
            Err(LoadFailure::Distrusted(why)) => {
                return Err(run.fault(format!("cannot be trusted: {why}")));
            }
            Err(LoadFailure::Interrupted) => return Err(RunFailure::Interrupted),
            Err(LoadFailure::Broken(why)) => return Err(RunFailure::Broken(why)),
        };
        // Connections of a process that ends break before its end can be seen.
        for _ in 0..LOOKS_FOR_END {
            self.still_runs(run, when)?;
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Err(run.fault(format!("{what}, {when}")))
    }

    /// Returns what a server did that makes it void, without its subject.
    fn misdeed(&self, seen: &LoadSeen) -> Option<String> {
        let traffic = &self.plan.traffic;
        let noun = traffic.message_noun();
        let MessageCounts { sent, arrived, refused, .. } = seen.served.counts;
        match &seen.ending {
            LoadEnding::Broken { connection, why } => {
                Some(format!("{why} (connection {connection})"))
            }
            LoadEnding::Interrupted => None,
            _ if refused > 0 => Some(format!("refused {refused} of {sent} {noun}s")),
            _ if arrived == 0 => Some(format!("answered none of {sent} {noun}s")),
            _ => traffic.broken_promise(&self.plan.pace, &seen.served.counts),
        }
    }

    /// Warns, once, of a server that had to be killed.
    fn note_killed(&mut self, index: usize) -> Result<(), RunFailure> {
        if self.programs.warned.insert(index) {
            let contestant = self.programs.contestant(index)?.name.clone();
            self.programs.warnings.push(Warning::NotStopped { contestant });
        }
        Ok(())
    }
}

/// A run of one server.
struct Run<'a> {
    request: &'a RunRequest,
    place: &'a Place,
    /// What it wrote to standard output and standard error.
    output: &'a File,
}

impl Run<'_> {
    /// Returns the order of a load of this run, of which there are several.
    fn order<'a>(&self, plan: &'a ServerPlan, number: u64) -> LoadOrder<'a> {
        LoadOrder {
            plan,
            port: self.place.port,
            // Each load has names and topics of its own.
            seed: self.request.load_seed.wrapping_add(number),
            limit_ns: self.request.timeout_ns,
        }
    }

    fn fault(&self, what: String) -> RunFailure {
        RunFailure::Fault(Fault::Server { what, stderr: files::tail(self.output) })
    }

    /// Returns the sample of a server that did not end its untimed load within the time-out.
    fn cut_off(&self) -> Ran {
        let sample = Sample {
            outcome: Outcome::TimedOut,
            user_ns: 0,
            peak_memory_bytes: 0,
            served: Some(Default::default()),
            ..Sample::of_wall_ns(self.request.timeout_ns)
        };
        Ran { sample, output: None, histogram: Vec::new() }
    }
}

impl Sampler for Servers {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Programs(self)
    }

    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet {
        self.programs.wait_for_quiet(at_most_ns)
    }

    /// Returns each contestant's warnings at most once.
    fn take_warnings(&mut self) -> Vec<Warning> {
        self.programs.take_warnings()
    }

    fn now_ns(&self) -> u64 {
        self.programs.now_ns()
    }
}

impl ProgramSampler for Servers {
    fn set_up(&mut self, contestant: usize) -> Result<(), RunFailure> {
        self.programs.set_up(contestant)
    }

    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        if self.programs.interrupted.load(Ordering::Relaxed) {
            return Err(RunFailure::Interrupted);
        }
        let contestant = request.contestant;
        let place = self.ports.place().map_err(broken("a server has no place"))?;
        let prepare: (_, fn(&Hooks) -> &Option<String>) = ("prepare", |hooks| &hooks.prepare);
        let ran = self.hook(contestant, &place, prepare, false);
        let ran = ran.and_then(|()| self.serve(request, &place));
        // Also after a failure: what prepare has made must be removed.
        let conclude: (_, fn(&Hooks) -> &Option<String>) = ("conclude", |hooks| &hooks.conclude);
        let concluded = self.hook(contestant, &place, conclude, true);
        ran.and_then(|ran| concluded.map(|()| ran))
    }

    fn clean_up(&mut self, contestant: usize) -> Result<(), RunFailure> {
        self.programs.clean_up(contestant)
    }
}
