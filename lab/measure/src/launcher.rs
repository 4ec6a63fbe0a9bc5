//! The caller's side of the launcher: starts it, requests runs, stops it.

pub(crate) mod accounts;
pub(crate) mod message;
mod serve;
mod serving;
mod wait;

use crate::error::StartError;
use crate::image::{Environment, Image};
use crate::launcher::message::{Accounts, Hello, Reply, Request, Run, Serve, Started, Stopped};
use crate::system::{retried, wait_for};
use crate::wire::channel::{Inbox, pair};
use crate::wire::message::{receive, send};
use serde::de::DeserializeOwned;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

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
    socket: OwnedFd,
    inbox: Inbox,
    pub(crate) pid: i32,
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
        let (ours, theirs) = pair().map_err(failed("the launcher has no socket"))?;
        // SAFETY: the child calls nothing but the launcher's loop, which takes no lock that another
        // thread of this process could have held at this moment (glibc makes its allocator usable
        // in the child), never returns, and closes every descriptor that is not its own.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(failed("the launcher cannot be started")(io::Error::last_os_error())),
            0 => serve::run(theirs, prepared),
            pid => {
                drop(theirs);
                let mut launcher = Launcher { socket: ours, inbox: Inbox::new(), pid };
                let hello = launcher.receive().map_err(failed("the launcher did not start"))?;
                match hello {
                    Hello::Ready => Ok(launcher),
                    Hello::NoDirectory(contestant, errno) => {
                        let directory = prepared.directories.get(contestant as usize);
                        let path = directory.cloned().flatten().unwrap_or_else(|| ".".into());
                        let reason = io::Error::from_raw_os_error(errno);
                        Err(StartError::Directory { path, reason })
                    }
                    Hello::NotSetUp(errno) => {
                        let error = io::Error::from_raw_os_error(errno);
                        Err(failed("the launcher cannot be set up")(error))
                    }
                }
            }
        }
    }

    /// Receives a message, which must come.
    fn receive<M: DeserializeOwned>(&mut self) -> io::Result<M> {
        let received = receive(&mut self.inbox, self.socket.as_fd())?;
        received.map(|(message, _)| message).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Runs one program with these standard input, output and error. Returns `None` if the user
    /// interrupted (`interrupted` became true); the run has then been ended.
    ///
    /// # Errors
    /// Fails if the launcher has ended or does not answer.
    pub(crate) fn run(
        &mut self,
        run: Run,
        standard: [BorrowedFd<'_>; 3],
        interrupted: &AtomicBool,
    ) -> io::Result<Option<Reply>> {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        send(self.socket.as_fd(), &Request::Run(run), &standard)?;
        while !wait_for(self.socket.as_fd(), SLICE_NS)? {
            if interrupted.load(Ordering::Relaxed) {
                return self.cancel().map(|()| None);
            }
        }
        self.receive().map(Some)
    }

    /// Starts a server, which then runs until [`Launcher::stop`]. Nothing else can be asked for
    /// meanwhile but [`Launcher::account`].
    ///
    /// # Errors
    /// Fails if the launcher has ended.
    pub(crate) fn serve(
        &mut self,
        serve: Serve,
        standard: [BorrowedFd<'_>; 3],
    ) -> io::Result<Started> {
        send(self.socket.as_fd(), &Request::Serve(serve), &standard)?;
        self.receive()
    }

    /// Returns what the server, with all that it started, has used so far.
    ///
    /// # Errors
    /// Fails if the launcher has ended.
    pub(crate) fn account(&mut self) -> io::Result<Accounts> {
        send(self.socket.as_fd(), &Request::Account, &[])?;
        self.receive()
    }

    /// Stops the server, with all that it started: by SIGTERM, and SIGKILL five seconds later.
    ///
    /// # Errors
    /// Fails if the launcher has ended.
    pub(crate) fn stop(&mut self) -> io::Result<Stopped> {
        send(self.socket.as_fd(), &Request::Stop, &[])?;
        self.receive()
    }

    /// Ends the current run and receives its reply, so that the next request gets its own reply.
    fn cancel(&mut self) -> io::Result<()> {
        if send(self.socket.as_fd(), &Request::Cancel, &[]).is_err() {
            return Ok(());
        }
        for _ in 0..CANCEL_NS / SLICE_NS {
            if wait_for(self.socket.as_fd(), SLICE_NS)? {
                return self.receive::<Reply>().map(drop);
            }
        }
        Ok(())
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // The launcher ends when the other end of its socket is shut. SAFETY: the descriptor is
        // open; the process is a child of ours that nothing else waits for, and no status is kept.
        let _ = retried(|| unsafe {
            libc::shutdown(self.socket.as_raw_fd(), libc::SHUT_RDWR);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0)
        });
    }
}
