//! The laboratory's handle of a worker process, and the inspection of a library without a race.

use crate::children::Leader;
use crate::files::{memory_file, tail};
use crate::interrupt::NEVER;
use crate::resources::Waits;
use crate::stillness::{self, Enrolled};
use crate::system::{poll, process_descriptor, wait_for};
use crate::wire::area::Area;
use crate::wire::channel::{self, Inbox, pair};
use crate::wire::message::{self, Facts, Reply, Request, Trouble};
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_machine::{clock, cpus};

/// The longest sleep before the next check whether the user interrupted, or a contestant hangs.
const SLICE_NS: u64 = 100_000_000;
/// Standard error beyond this is discarded, except its end.
const ERRORS_LIMIT_BYTES: u64 = 64 << 20;
/// The most bytes of padding: Linux limits one variable to 128 KiB.
const MOST_PADDING_BYTES: u32 = 127 << 10;

/// The program of a worker: when started with these arguments, its `main` is
/// [`crate::worker::main`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl WorkerProgram {
    /// Returns this program with the argument `__worker`: the running image, even if its file was
    /// replaced.
    pub fn this() -> WorkerProgram {
        let running = PathBuf::from("/proc/self/exe");
        // Without /proc nothing else works either; the error then names the program.
        let typed = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        let program = if running.exists() { running } else { typed };
        WorkerProgram { program, arguments: vec!["__worker".into()] }
    }
}

/// How workers are started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) program: WorkerProgram,
    /// Becomes true when the user interrupts.
    pub(crate) interrupted: &'static AtomicBool,
}

/// A running worker, and the memory that it shares. Dropping it ends the worker, with everything
/// that it has started.
#[derive(Debug)]
pub(crate) struct Process {
    leader: Leader,
    descriptor: OwnedFd,
    socket: OwnedFd,
    inbox: Inbox,
    errors: File,
    waits: Waits,
    pub(crate) area: Area,
    interrupted: &'static AtomicBool,
    /// Set while it works ahead, or ends.
    enrolled: Option<Enrolled>,
}

/// Why a worker did not do what was requested.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// The user interrupted; the worker has been ended.
    Interrupted,
    /// No step was completed for too long; the worker has been ended.
    Hung,
    /// It ended by itself, or was killed.
    Ended(ExitStatus),
    /// The system failed; the worker has been ended.
    Lost(io::Error),
    /// It replied that it cannot.
    Trouble(Trouble),
}

impl Process {
    /// Starts a worker with this many bytes of padding in its environment, and room for the records
    /// of this many batches.
    ///
    /// # Errors
    /// Fails if a system call fails.
    pub(crate) fn start(
        Launch { program, interrupted }: &Launch,
        padding_bytes: u32,
        capacity: usize,
    ) -> io::Result<Process> {
        let (socket, theirs) = pair()?;
        let (area, shared) = Area::create(capacity)?;
        let errors = memory_file()?;
        let padding = "x".repeat(padding_bytes.min(MOST_PADDING_BYTES) as usize);
        let mut command = Command::new(&program.program);
        command
            .args(&program.arguments)
            .env("TIEBREAK_PADDING", padding)
            // The socket of the worker; nothing else is inherited.
            .stdin(Stdio::from(theirs))
            // One file for both, so that any output of a contestant is detected.
            .stdout(Stdio::from(errors.try_clone()?))
            .stderr(Stdio::from(errors.try_clone()?));
        let leader = Leader::spawn(&mut command)?;
        // Only the worker then has its end of the socket, so that its closing is detected.
        drop(command);
        let descriptor = process_descriptor(leader.pid() as i32)?;
        let (inbox, waits) = (Inbox::new(), Waits::open(leader.pid()));
        // If the worker has ended already, the first request fails too, and says how it ended.
        let _ = channel::send(socket.as_fd(), b"area", &[shared.as_fd()]);
        let enrolled = None;
        Ok(Process {
            leader,
            descriptor,
            socket,
            inbox,
            errors,
            waits,
            area,
            interrupted,
            enrolled,
        })
    }

    /// Starts a worker that stands still while something is timed, until [`Process::work_now`].
    ///
    /// # Errors
    /// As [`Process::start`].
    pub(crate) fn start_ahead(
        launch: &Launch,
        padding_bytes: u32,
        capacity: usize,
    ) -> io::Result<Process> {
        let start = || Process::start(launch, padding_bytes, capacity);
        let (mut process, enrolled) = stillness::start(start, Process::descriptor)?;
        process.enrolled = Some(enrolled);
        Ok(process)
    }

    /// Returns the descriptor of the process.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Makes it stand still while something is timed, from when nothing is.
    ///
    /// # Errors
    /// Fails if there is no descriptor left.
    pub(crate) fn work_ahead(&mut self) -> io::Result<()> {
        self.enrolled = Some(stillness::enrol(self.descriptor())?);
        Ok(())
    }

    /// Lets it work although something is timed.
    pub(crate) fn work_now(&mut self) {
        self.enrolled = None;
    }

    /// Kills what still runs, and waits for nothing: the next timed span begins after its end, and
    /// dropping it waits for that. What is left to do for the kernel happens on these CPUs, if
    /// there are any.
    pub(crate) fn kill(&mut self, cpus: &[usize]) {
        // Where it may not be moved, it ends where it is.
        let _ = cpus::move_process(self.pid(), cpus);
        self.leader.kill();
        if self.work_ahead().is_err() {
            self.end();
        }
    }

    /// Sends a request with its files and waits for the reply, which has the content that
    /// [`Request`] names. The worker may take this long for a step, without waits for a CPU. Ends
    /// the worker if it does not reply.
    pub(crate) fn ask<T: DeserializeOwned>(
        &mut self,
        request: &Request,
        files: &[&File],
        timeout_ns: u64,
    ) -> Result<T, NoReply> {
        self.ask_and(request, files, timeout_ns, &mut || ())
    }

    /// [`Process::ask`], which does something else after the request was sent.
    pub(crate) fn ask_and<T: DeserializeOwned>(
        &mut self,
        request: &Request,
        files: &[&File],
        timeout_ns: u64,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<T, NoReply> {
        let descriptors: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        let sent = message::send(self.socket.as_fd(), request, &descriptors);
        let reply: Result<Reply<T>, NoReply> = match sent {
            Ok(()) => {
                meanwhile();
                self.reply(timeout_ns)
            }
            Err(error) if is_end(&error) => Err(NoReply::Ended(self.end())),
            Err(error) => Err(NoReply::Lost(error)),
        };
        if reply.is_err() {
            self.end();
        }
        reply?.map_err(NoReply::Trouble)
    }

    fn reply<T: DeserializeOwned>(&mut self, timeout_ns: u64) -> Result<Reply<T>, NoReply> {
        let (mut last, mut since_ns) = (self.area.header().look(), clock::monotonic_ns());
        loop {
            let polled = poll([self.socket.as_fd(), self.descriptor.as_fd()], SLICE_NS);
            let [is_spoken, is_ended] = polled.map_err(NoReply::Lost)?;
            if is_spoken {
                return match message::receive(&mut self.inbox, self.socket.as_fd()) {
                    Ok(Some((reply, _))) => Ok(reply),
                    Err(error) if !is_end(&error) => Err(NoReply::Lost(error)),
                    Ok(None) | Err(_) => Err(NoReply::Ended(self.end_of_itself())),
                };
            }
            if is_ended {
                return Err(NoReply::Ended(self.end_of_itself()));
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(NoReply::Interrupted);
            }
            let (now, now_ns) = (self.area.header().look(), clock::monotonic_ns());
            if now != last {
                (last, since_ns) = (now, now_ns);
            }
            // A worker that waits for a CPU is not hung; its earlier waits are added too.
            let idle_ns = now_ns.saturating_sub(since_ns);
            if idle_ns >= timeout_ns && idle_ns >= timeout_ns.saturating_add(self.waits.waited_ns())
            {
                return Err(NoReply::Hung);
            }
            // Frees the memory of a long standard error. The worker's write position does not
            // change, and a file that cannot be shortened only costs memory.
            if self.errors.metadata().is_ok_and(|data| data.len() > ERRORS_LIMIT_BYTES) {
                let _ = self.errors.set_len(0);
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.leader.pid()
    }

    /// Returns how it ended, once it has.
    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        self.leader.ended()
    }

    /// Returns the last lines that it wrote to standard error.
    pub(crate) fn last_errors(&self) -> String {
        tail(&self.errors)
    }

    /// Returns the same as the end of an error message; empty if it wrote nothing.
    pub(crate) fn error_clause(&self) -> String {
        let errors = self.last_errors();
        if errors.is_empty() { errors } else { format!("; it said: {errors}") }
    }

    /// Waits for a process that ends by itself: its socket is closed, so it does nothing more.
    fn end_of_itself(&mut self) -> ExitStatus {
        // If the wait is interrupted or fails, the process is killed instead.
        let _ = wait_for(self.descriptor.as_fd(), 10 * SLICE_NS);
        self.end()
    }

    /// Kills what still runs and waits for the end.
    fn end(&mut self) -> ExitStatus {
        self.leader.end()
    }
}

/// Returns whether an error of the socket says that its other end is closed.
fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// How long loading a library may take.
const TIMEOUT_NS: u64 = 60_000_000_000;

/// Why a library is not a contestant that can be raced here. Each names the library.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system's linker refuses it, or it has no table, or one that this version of tiebreak
    /// does not know. Says why, and what to do.
    #[error("'{0}' is not a contestant: {1}")]
    Refused(PathBuf, String),
    /// It needs this feature, which this CPU lacks: the first one that is missing.
    #[error("it needs the CPU feature '{0}', which this machine does not have")]
    Needs(String),
    /// It kills the process that loads it: how the process ended, and what it wrote to standard
    /// error, after a semicolon.
    #[error("'{0}' ended the process that loaded it ({1}){2}")]
    Crashed(PathBuf, String, String),
    /// No worker is available: the error of the system.
    #[error("no worker could look at '{0}': {1}: free memory, or raise the limits")]
    Worker(PathBuf, io::Error),
}

/// Loads a contestant in a separate process and returns the content of its table. Costs some
/// milliseconds.
///
/// # Errors
/// Fails if it cannot be raced here; the text says why.
pub fn probe(library: &Path, program: &WorkerProgram) -> Result<Facts, LoadError> {
    let path = library.to_owned();
    let launch = Launch { program: program.clone(), interrupted: &NEVER };
    let mut process = match Process::start(&launch, 0, 0) {
        Ok(process) => process,
        Err(reason) => return Err(LoadError::Worker(path, reason)),
    };
    let request = Request::Probe(absolute(library).into());
    let facts: Facts = match process.ask(&request, &[], TIMEOUT_NS) {
        Ok(facts) => facts,
        Err(NoReply::Trouble(trouble)) => {
            return Err(LoadError::Refused(path, trouble.to_string()));
        }
        Err(NoReply::Lost(reason)) => return Err(LoadError::Worker(path, reason)),
        Err(other) => return Err(LoadError::Crashed(path, how(&other), process.error_clause())),
    };
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    match missing(&facts.needs, &cpuinfo) {
        Some(feature) => Err(LoadError::Needs(feature.to_owned())),
        None => Ok(facts),
    }
}

/// Describes why there is no reply.
pub(crate) fn how(no_reply: &NoReply) -> String {
    match no_reply {
        NoReply::Interrupted => "interrupted".to_owned(),
        NoReply::Hung => "it did not come back".to_owned(),
        NoReply::Lost(error) => error.to_string(),
        NoReply::Trouble(trouble) => trouble.to_string(),
        NoReply::Ended(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => format!("signal {signal}"),
            (None, code) => format!("status {}", code.unwrap_or_default()),
        },
    }
}

/// Makes a path absolute: the linker searches its own folders for a name without a slash.
pub(crate) fn absolute(library: &Path) -> PathBuf {
    std::path::absolute(library).unwrap_or_else(|_| library.to_owned())
}

/// Returns the features of a list that is separated by commas.
pub(crate) fn features(needs: &str) -> Vec<String> {
    let features = needs.split(',').map(str::trim).filter(|feature| !feature.is_empty());
    features.map(str::to_owned).collect()
}

/// Returns the first feature that the text of `/proc/cpuinfo` does not name; `None` if the text
/// names no features, because then they are unknown.
fn missing<'a>(needs: &'a [String], cpuinfo: &str) -> Option<&'a str> {
    let line = cpuinfo.lines().find_map(|line| {
        let (name, values) = line.split_once(':')?;
        matches!(name.trim(), "flags" | "Features").then_some(values)
    })?;
    let mut needs = needs.iter().map(String::as_str);
    needs.find(|feature| !line.split_ascii_whitespace().any(|word| word == *feature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_looked_up_as_whole_words() {
        let x86 = "processor\t: 0\nflags\t\t: fpu avx avx2 bmi2\nbugs\t: x\n";
        let arm = "processor : 0\nFeatures\t: fp asimd sve\n";
        let check = |needs: &str, cpuinfo: &str, expected: Option<&str>| {
            let needs = features(needs);
            assert_eq!(missing(&needs, cpuinfo), expected, "{needs:?}");
        };
        check("", x86, None);
        check("avx2, bmi2,", x86, None);
        check("avx2,avx512f,none", x86, Some("avx512f"));
        check("bmi", x86, Some("bmi"));
        check("sve", arm, None);
        check("avx2", arm, Some("avx2"));
        check("avx2", "", None);
    }
}
