//! The signals that ask the daemon to end, as a descriptor that `poll` can wait for.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::checked;

/// SIGTERM, SIGINT and SIGHUP: blocked, and readable instead.
#[derive(Debug)]
pub struct Signals {
    file: OwnedFd,
}

impl Signals {
    /// Blocks the signals in this thread and those that it starts later.
    ///
    /// # Errors
    ///
    /// The kernel has no more descriptors.
    pub fn block() -> io::Result<Signals> {
        // SAFETY: the set is made empty before it is used; the descriptor is new and ours.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            let file = checked(libc::signalfd(-1, &set, flags))?;
            Ok(Signals { file: OwnedFd::from_raw_fd(file) })
        }
    }

    /// Waits until one comes, or the time has passed; whether one came.
    pub fn came_within(&self, timeout_ms: i32) -> bool {
        let mut poll = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure, which outlives the call.
        unsafe { libc::poll(&mut poll, 1, timeout_ms) > 0 }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
