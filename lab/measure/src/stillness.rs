//! Stops those of our own processes that work ahead, while something is timed.
//!
//! Inputs of coming units are made, and their processes start, in the background. A process that
//! does so, and one that is ending, is enrolled here. While anything is timed, every enrolled
//! process is stopped by the kernel, in the middle of its work if need be, or has ended, and none
//! is enrolled.

use crate::system::{retried, send_signal};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

static ROOM: Mutex<Room> = Mutex::new(Room { timed: 0, next: 0, enrolled: BTreeMap::new() });
static NOTHING_IS_TIMED: Condvar = Condvar::new();

struct Room {
    /// How many spans are being timed.
    timed: usize,
    next: u64,
    /// The process descriptors of children that may be at work.
    enrolled: BTreeMap<u64, OwnedFd>,
}

impl Room {
    fn enrol(&mut self, process: BorrowedFd<'_>) -> io::Result<Enrolled> {
        let process = process.try_clone_to_owned()?;
        self.next += 1;
        self.enrolled.insert(self.next, process);
        Ok(Enrolled(self.next))
    }
}

fn room() -> MutexGuard<'static, Room> {
    // Each change is one step, so a panic elsewhere leaves nothing half done.
    ROOM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until nothing is timed.
fn quiet_room() -> MutexGuard<'static, Room> {
    let room = NOTHING_IS_TIMED.wait_while(room(), |room| room.timed > 0);
    room.unwrap_or_else(PoisonError::into_inner)
}

/// A process that is stopped while something is timed. Dropping it ends that.
#[derive(Debug)]
pub(crate) struct Enrolled(u64);

/// Starts a child of this process and enrols it, once nothing is timed. `of` returns the child's
/// descriptor.
///
/// # Errors
/// Fails if it cannot be started, or if there is no descriptor left.
pub(crate) fn start<T>(
    start: impl FnOnce() -> io::Result<T>,
    of: fn(&T) -> BorrowedFd<'_>,
) -> io::Result<(T, Enrolled)> {
    let mut room = quiet_room();
    let started = start()?;
    let enrolled = room.enrol(of(&started))?;
    Ok((started, enrolled))
}

/// Enrols a child of this process, once nothing is timed.
///
/// # Errors
/// Fails if there is no descriptor left.
pub(crate) fn enrol(process: BorrowedFd<'_>) -> io::Result<Enrolled> {
    quiet_room().enrol(process)
}

impl Drop for Enrolled {
    fn drop(&mut self) {
        let mut room = room();
        let process = room.enrolled.remove(&self.0);
        if let Some(process) = process.filter(|_| room.timed > 0) {
            // It may have ended.
            let _ = send_signal(process.as_fd(), libc::SIGCONT);
        }
    }
}

/// A span in which something is timed, or in which the machine is looked at as it will be then.
/// When the last one is dropped, what was stopped goes on.
#[derive(Debug)]
pub(crate) struct Timed(());

/// Stops every enrolled process, and returns when each has stopped or ended. Costs some 20 us for
/// each.
pub(crate) fn timed() -> Timed {
    let mut room = room();
    room.timed += 1;
    if room.timed == 1 {
        let enrolled = room.enrolled.values();
        // A process that has ended, but was not waited for, gets the signal too.
        let stopping: Vec<_> = enrolled
            .filter(|process| send_signal(process.as_fd(), libc::SIGSTOP).is_ok())
            .collect();
        stopping.into_iter().for_each(wait_until_stopped);
    }
    Timed(())
}

impl Drop for Timed {
    fn drop(&mut self) {
        let mut room = room();
        room.timed -= 1;
        if room.timed == 0 {
            for process in room.enrolled.values() {
                // It may have ended.
                let _ = send_signal(process.as_fd(), libc::SIGCONT);
            }
            NOTHING_IS_TIMED.notify_all();
        }
    }
}

/// Waits until a child has stopped or ended, without taking note of it for others.
fn wait_until_stopped(process: &OwnedFd) {
    let what = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT;
    let number = process.as_raw_fd() as libc::id_t;
    // A child that cannot be waited for has been reaped.
    let _ = retried(|| {
        // SAFETY: all zero bytes are valid, and the call fills it.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and there is room for the answer.
        unsafe { libc::waitid(libc::P_PIDFD, number, &raw mut info, what) }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::process_descriptor;
    use std::process::{Child, Command};

    fn state(child: &Child) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        stat.rsplit(") ").next().unwrap()[..1].to_owned()
    }

    #[test]
    fn who_works_ahead_stands_still_while_something_is_timed() {
        let mut child = None;
        let busy = || {
            child = Some(Command::new("sh").args(["-c", "while :; do :; done"]).spawn()?);
            process_descriptor(child.as_ref().map_or(0, Child::id) as i32)
        };
        let (_, enrolled) = start(busy, |process| process.as_fd()).unwrap();
        let mut child = child.unwrap();
        for _ in 0..20 {
            let outer = timed();
            assert_eq!(state(&child), "T");
            drop(timed());
            assert_eq!(state(&child), "T", "the outer span goes on");
            drop(outer);
        }
        // Other tests of this process may time something now.
        let span = timed();
        drop(enrolled);
        assert_ne!(state(&child), "T");
        child.kill().unwrap();
        child.wait().unwrap();
        drop(span);
    }
}
