//! The laboratory's handle of a worker process, and the inspection of a library without a race.

use crate::children::Leader;
use crate::files::{memory_file, tail};
use crate::interrupt::NEVER;
use crate::resources::Waits;
use crate::system::{poll, process_descriptor, wait_for};
use crate::wire::area::{Area, WORKER_ITSELF};
use crate::wire::channel::{Inbox, pair};
use crate::wire::message::{self, Facts, Reply, Request};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_machine::clock;

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

/// A running worker. Dropping it ends the worker, with everything that it has started.
#[derive(Debug)]
pub(crate) struct Process {
    leader: Leader,
    descriptor: OwnedFd,
    socket: OwnedFd,
    inbox: Inbox,
    errors: File,
    waits: Waits,
}

/// Why a worker did not answer.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// The user interrupted; the worker has been ended.
    Interrupted,
    /// No step was completed for too long; the worker has been ended.
    Hung,
    /// It ended by itself, or was killed.
    Ended(ExitStatus),
    /// The system failed.
    Lost(io::Error),
}

/// The conditions of a wait for an answer.
pub(crate) struct Patience<'a> {
    /// Becomes true when the user interrupts.
    pub(crate) interrupted: &'a AtomicBool,
    /// The longest time without a completed step, without waits for a CPU.
    pub(crate) timeout_ns: u64,
    /// Where the worker records its steps.
    pub(crate) area: Option<&'a Area>,
}

impl Patience<'_> {
    /// Returns the number of steps so far, and whose code runs.
    fn step(&self) -> (u64, u32) {
        self.area.map_or((0, WORKER_ITSELF), |area| area.header().look())
    }
}

impl Process {
    /// Starts a worker with this many bytes of padding in its environment.
    ///
    /// # Errors
    /// Fails if a system call fails.
    pub(crate) fn start(program: &WorkerProgram, padding_bytes: u32) -> io::Result<Process> {
        let (ours, theirs) = pair()?;
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
        Ok(Process { leader, descriptor, socket: ours, inbox, errors, waits })
    }

    /// Sends a request with its descriptors and waits for the answer. If there is none, ends the
    /// worker.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        descriptors: &[BorrowedFd<'_>],
        patience: &Patience<'_>,
    ) -> Result<Reply, NoReply> {
        match message::send(self.socket.as_fd(), request, descriptors) {
            Ok(()) => self.reply(patience).inspect_err(|_| {
                self.end();
            }),
            Err(error) if is_end(&error) => Err(NoReply::Ended(self.end())),
            Err(error) => Err(NoReply::Lost(error)),
        }
    }

    fn reply(&mut self, patience: &Patience<'_>) -> Result<Reply, NoReply> {
        let (mut last, mut since_ns) = (patience.step(), clock::monotonic_ns());
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
            if patience.interrupted.load(Ordering::Relaxed) {
                return Err(NoReply::Interrupted);
            }
            let (now, now_ns) = (patience.step(), clock::monotonic_ns());
            if now != last {
                (last, since_ns) = (now, now_ns);
            }
            // A worker that waits for a CPU is not hung; its earlier waits are added too.
            let idle_ns = now_ns.saturating_sub(since_ns);
            if idle_ns >= patience.timeout_ns
                && idle_ns >= patience.timeout_ns.saturating_add(self.waits.waited_ns())
            {
                return Err(NoReply::Hung);
            }
            self.shorten_errors();
        }
    }

    /// Frees the memory of a long standard error. The worker's write position does not change.
    fn shorten_errors(&self) {
        if self.errors.metadata().is_ok_and(|data| data.len() > ERRORS_LIMIT_BYTES) {
            // A file that cannot be shortened only costs memory.
            let _ = self.errors.set_len(0);
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
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.leader.end()
    }
}

/// Returns whether an error of the socket says that its other end is closed.
fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// How long loading a library may take.
const TIMEOUT_NS: u64 = 60_000_000_000;

/// Why a library is not a contestant that can be raced here.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system's linker refuses it, or it has no table, or one that this version of tiebreak
    /// does not know.
    #[error("'{library}' is not a contestant: {why}")]
    Refused {
        /// The library.
        library: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// It needs a feature that this CPU lacks.
    #[error("'{library}' needs the CPU feature '{feature}', which this machine does not have")]
    Needs {
        /// The library.
        library: PathBuf,
        /// The first feature that is missing.
        feature: String,
    },
    /// It kills the process that loads it.
    #[error("'{library}' ended the process that loaded it ({how}){said}")]
    Crashed {
        /// The library.
        library: PathBuf,
        /// The signal or the exit status.
        how: String,
        /// What it wrote to standard error, after a semicolon.
        said: String,
    },
    /// No worker is available.
    #[error("no worker could look at '{library}': {reason}: free memory, or raise the limits")]
    Worker {
        /// The library.
        library: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
}

/// Loads a contestant in a separate process and returns the content of its table. Costs some
/// milliseconds.
///
/// # Errors
/// Fails if it cannot be raced here; the text says why.
pub fn probe(library: &Path, program: &WorkerProgram) -> Result<Facts, LoadError> {
    let path = library.to_owned();
    let mut process = match Process::start(program, 0) {
        Ok(process) => process,
        Err(reason) => return Err(LoadError::Worker { library: path, reason }),
    };
    let patience = Patience { interrupted: &NEVER, timeout_ns: TIMEOUT_NS, area: None };
    let request = Request::Probe(absolute(library));
    let facts = match process.ask(&request, &[], &patience) {
        Ok(Reply::Table(facts)) => facts,
        Ok(Reply::Refused(_, refusal)) => {
            let why = refusal.sentence();
            return Err(LoadError::Refused { library: path, why });
        }
        Ok(other) => {
            let reason = io::Error::other(format!("it answered {other:?}"));
            return Err(LoadError::Worker { library: path, reason });
        }
        Err(NoReply::Lost(reason)) => return Err(LoadError::Worker { library: path, reason }),
        Err(no_reply) => {
            let said = process.error_clause();
            return Err(LoadError::Crashed { library: path, how: how(&no_reply), said });
        }
    };
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if let Some(feature) = missing(&facts.needs, &cpuinfo) {
        return Err(LoadError::Needs { library: path, feature: feature.to_owned() });
    }
    Ok(facts)
}

/// Describes how a process ended.
pub(crate) fn how(no_reply: &NoReply) -> String {
    match no_reply {
        NoReply::Interrupted => "interrupted".to_owned(),
        NoReply::Hung => "it did not come back".to_owned(),
        NoReply::Lost(error) => error.to_string(),
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
