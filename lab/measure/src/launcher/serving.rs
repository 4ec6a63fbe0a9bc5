//! A server, from its start until it is stopped: looked at when the caller asks, and ended with all
//! that it started, also if the caller is gone.

use super::accounts;
use super::message::{Accounts, Request, Serve, Started, Stopped};
use super::serve::errno;
use super::wait::{LONGEST_NS, end_children, living_children, shorten_errors};
use crate::system::{stat_field, wait_for};
use crate::wire::channel::Inbox;
use crate::wire::message;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;
use tiebreak_machine::clock;

/// How long a server may take to end after SIGTERM.
const TERM_NS: u64 = 5_000_000_000;
/// How often is looked whether processes have ended, before new children are looked for.
const REAPS_A_LOOK: u32 = 20;
const REAP_PAUSE: Duration = Duration::from_millis(1);

/// Says whether a server was started, and obeys the caller until it is stopped.
///
/// # Errors
/// Fails if the caller is gone; nothing of the server is left then either.
pub(super) fn serve(
    socket: BorrowedFd<'_>,
    inbox: &mut Inbox,
    serve: &Serve,
    started: io::Result<i32>,
    errors: &File,
) -> io::Result<()> {
    let mut server = match started {
        Ok(pid) => Serving { pid, ended: None },
        Err(error) => return message::send(socket, &Started(Some(errno(&error))), &[]),
    };
    let told = message::send(socket, &Started(None), &[]);
    let is_stopped = told.and_then(|()| server.obey(socket, inbox, errors));
    // Nothing is left of one that was stopped.
    end_children();
    if !matches!(is_stopped, Ok(true)) {
        // The caller would have removed it.
        let _ = std::fs::remove_dir_all(&serve.folder);
    }
    is_stopped.map(drop)
}

/// A server that runs.
struct Serving {
    pid: i32,
    /// The status of its first process, once that was reaped.
    ended: Option<i32>,
}

impl Serving {
    /// Obeys the caller. Returns whether the server was stopped; otherwise the caller is gone.
    fn obey(
        &mut self,
        socket: BorrowedFd<'_>,
        inbox: &mut Inbox,
        errors: &File,
    ) -> io::Result<bool> {
        loop {
            while !wait_for(socket, LONGEST_NS)? {
                shorten_errors(errors);
            }
            match message::receive::<Request>(inbox, socket)? {
                None => return Ok(false),
                Some((Request::Account, _)) => message::send(socket, &self.accounts(), &[])?,
                Some((Request::Stop, _)) => {
                    let stopped = self.stop();
                    message::send(socket, &stopped, &[])?;
                    return Ok(true);
                }
                Some(_) => {}
            }
        }
    }

    fn accounts(&mut self) -> Accounts {
        let accounts = accounts::below_this_process();
        // The list of processes is not that of one moment: one that goes into the background while
        // it is read may be missing. Whether there is a child is known at once, and each process
        // below this one is a child or has a parent that is below this one.
        let runs = self.reap();
        Accounts { ended: self.ended, runs, ..accounts }
    }

    /// Reaps what has ended. Returns whether there is still a child.
    fn reap(&mut self) -> bool {
        loop {
            let mut status = 0;
            // SAFETY: the place is valid for the result. All our children are to be reaped.
            match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
                -1 => return false,
                0 => return true,
                pid if pid == self.pid => self.ended = Some(status),
                _ => {}
            }
        }
    }

    /// Asks all processes to end, and kills those that have not within the time.
    fn stop(&mut self) -> Stopped {
        let deadline_ns = clock::monotonic_ns() + TERM_NS;
        let mut told = HashSet::new();
        while clock::monotonic_ns() < deadline_ns {
            self.terminate(&mut told);
            for _ in 0..REAPS_A_LOOK {
                if !self.reap() {
                    return Stopped { killed: 0 };
                }
                std::thread::sleep(REAP_PAUSE);
            }
        }
        let (killed, _) = end_children();
        Stopped { killed }
    }

    /// Sends SIGTERM to the group of the first process, and to every child outside of it, once to
    /// each: some take a second one for haste. When a process ends, those below it become children.
    fn terminate(&mut self, told: &mut HashSet<i32>) {
        self.reap();
        let has_group = self.ended.is_none();
        if has_group && told.insert(self.pid) {
            // SAFETY: the call takes numbers. The process is a child of ours that was not reaped,
            // so its number, which is also its group's, names nothing else.
            unsafe { libc::kill(-self.pid, libc::SIGTERM) };
        }
        for (child, _) in living_children() {
            let is_of_group = told.contains(&self.pid) && group_of(child) == Some(self.pid);
            if told.insert(child) && !is_of_group {
                // SAFETY: as above, as only this process reaps its children.
                unsafe { libc::kill(child, libc::SIGTERM) };
            }
        }
    }
}

/// Returns the group of a process.
fn group_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    stat_field(&String::from_utf8_lossy(&stat), 5)
}
