//! The caller's side of the launcher: starts it, requests runs, stops it.

pub(crate) mod message;
mod serve;
mod wait;

use crate::error::StartError;
use crate::image::{Environment, Image};
use crate::launcher::message::{CANCEL, Hello, Reply, Request};
use crate::system::wait_for;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use zerocopy::{FromBytes, IntoBytes};

/// The longest sleep before the next check whether the user interrupted. A signal between the check
/// and the sleep does not end the sleep.
const SLICE_NS: u64 = 100_000_000;
/// How long the launcher may take to end an interrupted run.
const CANCEL_NS: u64 = 10_000_000_000;

/// Everything that the launcher needs; `fork` gives it a copy.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) images: Vec<Image>,
    /// The folder of each contestant, if it is not the current one.
    pub(crate) directories: Vec<Option<PathBuf>>,
    pub(crate) environment: Environment,
    /// If empty, any CPU that this process may use.
    pub(crate) cpus: Vec<usize>,
}

/// A running launcher.
#[derive(Debug)]
pub(crate) struct Launcher {
    socket: Option<OwnedFd>,
    pub(crate) pid: i32,
}

/// Why a run has no reply.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// The user interrupted; the run has been ended.
    Interrupted,
    /// The launcher has ended or does not answer.
    Lost(io::Error),
}

impl Launcher {
    /// Forks the launcher and waits until it is ready.
    ///
    /// # Errors
    /// Fails if no process can be created, or if it cannot enter its directory or use its CPUs.
    pub(crate) fn start(prepared: Prepared) -> Result<Launcher, StartError> {
        let failed = |doing| move |reason| StartError::Launcher { doing, reason };
        // If a parent process ignored SIGCHLD, ended children could not be waited for. SAFETY: sets
        // a disposition to its default.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        let (ours, theirs) =
            crate::wire::channel::pair().map_err(failed("the launcher has no socket"))?;
        // SAFETY: the child calls nothing but the launcher's loop, which takes no lock that another
        // thread of this process could have held at this moment (glibc makes its allocator usable
        // in the child), never returns, and closes every descriptor that is not its own.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(failed("the launcher cannot be started")(io::Error::last_os_error())),
            0 => serve::run(theirs, prepared),
            pid => {
                drop(theirs);
                let launcher = Launcher { socket: Some(ours), pid };
                let hello =
                    launcher.receive::<Hello>().map_err(failed("the launcher did not start"))?;
                let error = io::Error::from_raw_os_error(hello.errno);
                match hello.stage {
                    Hello::READY => Ok(launcher),
                    Hello::DIRECTORY => {
                        let directory = prepared.directories.get(hello.contestant as usize);
                        let path = directory.cloned().flatten().unwrap_or_else(|| ".".into());
                        Err(StartError::Directory { path, reason: error })
                    }
                    _ => Err(failed("the launcher cannot be set up")(error)),
                }
            }
        }
    }

    /// Receives a message, which must come.
    fn receive<T: FromBytes + IntoBytes + Default>(&self) -> io::Result<T> {
        message::receive(self.socket()?)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn socket(&self) -> io::Result<BorrowedFd<'_>> {
        let socket = self.socket.as_ref().map(AsFd::as_fd);
        socket.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Runs one program with these standard input, output and error.
    ///
    /// # Errors
    /// Fails if the user interrupted (`interrupted` became true), or if the launcher has ended.
    pub(crate) fn run(
        &self,
        request: &Request,
        standard: [BorrowedFd<'_>; 3],
        interrupted: &AtomicBool,
    ) -> Result<Reply, NoReply> {
        if interrupted.load(Ordering::Relaxed) {
            return Err(NoReply::Interrupted);
        }
        let socket = self.socket().map_err(NoReply::Lost)?;
        message::send(socket, request, &standard).map_err(NoReply::Lost)?;
        loop {
            if wait_for(socket, SLICE_NS).map_err(NoReply::Lost)? {
                return self.receive().map_err(NoReply::Lost);
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(self.cancel(socket));
            }
        }
    }

    /// Ends the current run and receives its reply, so that the next request gets its own reply.
    fn cancel(&self, socket: BorrowedFd<'_>) -> NoReply {
        let asked = message::send(socket, &CANCEL, &[]);
        let mut waited = 0;
        while asked.is_ok() && waited < CANCEL_NS {
            match wait_for(socket, SLICE_NS) {
                Ok(true) => {
                    let reply = message::receive::<Reply>(socket);
                    return reply.map_or_else(NoReply::Lost, |_| NoReply::Interrupted);
                }
                Ok(false) => waited += SLICE_NS,
                Err(error) => return NoReply::Lost(error),
            }
        }
        NoReply::Interrupted
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // The launcher ends when the other end of its socket is closed.
        self.socket = None;
        // SAFETY: the process is a child of ours that nothing else waits for; no status is kept.
        while unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) } == -1
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}
