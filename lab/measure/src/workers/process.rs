//! The laboratory's handle of a worker process.

use crate::channel::pair;
use crate::channel::{self, Inbox};
use crate::launcher::process_descriptor;
use crate::leader::Leader;
use crate::output::{memory_file, tail};
use crate::waits::Waits;
use crate::worker::area::{Area, NOBODY};
use crate::worker::message::{self, Reply, Request};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_machine::clock;

/// The longest sleep before the next check whether the user interrupted, or a contestant hangs.
const SLICE_MS: i32 = 100;
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
        let typed = || std::env::args_os().next().map_or_else(PathBuf::new, PathBuf::from);
        let program = if running.exists() { running } else { typed() };
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
    pub(crate) interrupted: Option<&'a AtomicBool>,
    /// The longest time without a completed step, without waits for a CPU.
    pub(crate) timeout_ns: u64,
    /// Where the worker records its steps.
    pub(crate) area: Option<&'a Area>,
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
        let (inbox, waits) = (Inbox::new(), Waits::of(leader.pid()));
        Ok(Process { leader, descriptor, socket: ours, inbox, errors, waits })
    }

    /// Sends a request with its descriptors.
    ///
    /// # Errors
    /// Fails if the worker has ended.
    pub(crate) fn send(&self, request: &Request, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        channel::send(self.socket.as_fd(), &message::bytes(request), descriptors)
    }

    /// Waits for the answer. If there is none, ends the worker.
    pub(crate) fn wait(&mut self, patience: &Patience<'_>) -> Result<Reply, NoReply> {
        self.reply(patience).inspect_err(|_| {
            self.end();
        })
    }

    /// Sends a request and waits for the answer.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        descriptors: &[BorrowedFd<'_>],
        patience: &Patience<'_>,
    ) -> Result<Reply, NoReply> {
        match self.send(request, descriptors) {
            Ok(()) => self.wait(patience),
            Err(error) if is_end(&error) => Err(NoReply::Ended(self.end())),
            Err(error) => Err(NoReply::Lost(error)),
        }
    }

    fn reply(&mut self, patience: &Patience<'_>) -> Result<Reply, NoReply> {
        let beat = || patience.area.map_or((0, NOBODY), |area| area.header().look());
        let (mut last, mut since_ns) = (beat(), clock::monotonic_ns());
        loop {
            let (is_spoken, is_ended) = self.poll().map_err(NoReply::Lost)?;
            if is_spoken {
                return match self.inbox.receive(self.socket.as_fd()) {
                    Ok(Some((bytes, _))) => {
                        let garbled = || NoReply::Lost(io::ErrorKind::InvalidData.into());
                        message::read(bytes).ok_or_else(garbled)
                    }
                    Err(error) if !is_end(&error) => Err(NoReply::Lost(error)),
                    Ok(None) | Err(_) => Err(NoReply::Ended(self.end_of_itself())),
                };
            }
            if is_ended {
                return Err(NoReply::Ended(self.end_of_itself()));
            }
            if patience.interrupted.is_some_and(|asked| asked.load(Ordering::Relaxed)) {
                return Err(NoReply::Interrupted);
            }
            let (now, now_ns) = (beat(), clock::monotonic_ns());
            if now != last {
                (last, since_ns) = (now, now_ns);
            }
            // A worker that waits for a CPU is not hung; its earlier waits are added too.
            let is_late = |most_ns: u64| now_ns.saturating_sub(since_ns) >= most_ns;
            if is_late(patience.timeout_ns)
                && is_late(patience.timeout_ns.saturating_add(self.waits.waited_ns()))
            {
                return Err(NoReply::Hung);
            }
            self.shorten_errors();
        }
    }

    /// Waits for a slice of time at most. Returns whether the worker has sent a message, and
    /// whether it has ended.
    fn poll(&self) -> io::Result<(bool, bool)> {
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut polled = [entry(self.socket.as_raw_fd()), entry(self.descriptor.as_raw_fd())];
        // SAFETY: the array has two valid entries.
        if unsafe { libc::poll(polled.as_mut_ptr(), 2, SLICE_MS) } < 0 {
            let error = io::Error::last_os_error();
            let is_signal = error.kind() == io::ErrorKind::Interrupted;
            return if is_signal { Ok((false, false)) } else { Err(error) };
        }
        Ok((polled[0].revents != 0, polled[1].revents != 0))
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
    pub(crate) fn said(&self) -> String {
        tail(&self.errors)
    }

    /// Waits for a process that ends by itself: its socket is closed, so it does nothing more.
    fn end_of_itself(&mut self) -> ExitStatus {
        let mut polled =
            libc::pollfd { fd: self.descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the entry is valid. If a signal interrupts the wait, the process is killed
        // instead.
        unsafe { libc::poll(&raw mut polled, 1, 10 * SLICE_MS) };
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
