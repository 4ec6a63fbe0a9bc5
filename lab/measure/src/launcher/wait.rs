//! Waits for a program: its end, the time-out, too much output, or a message of the caller.

use super::message::{self, Heard, Reply, Request};
use super::process_descriptor;
use super::scheduled::{self, Waits};
use crate::resources::time_ns;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use tiebreak_machine::clock;

/// When the outputs are checked for the first time.
const FIRST_LOOK_NS: u64 = 20_000_000;
/// The longest sleep between two checks of the outputs.
const LONGEST_NS: u64 = 100_000_000;
/// The shortest sleep, when an output grows fast.
const SHORTEST_NS: u64 = 2_000_000;
/// Standard error beyond this is discarded, except its end.
const ERRORS_LIMIT_BYTES: u64 = 64 << 20;

/// What is monitored while a program runs.
pub(super) struct Watch<'a> {
    pub(super) request: &'a Request,
    pub(super) output: &'a OwnedFd,
    pub(super) errors: &'a OwnedFd,
    pub(super) socket: BorrowedFd<'a>,
}

impl Watch<'_> {
    /// Waits until the process has ended, ends it if necessary, reaps it, and fills in the reply.
    pub(super) fn until_reaped(&self, pid: i32, reply: &mut Reply, waits: &mut Waits<'_>) {
        reply.end = self.until_ended(pid, reply.start_ns, waits).unwrap_or_else(|error| {
            reply.errno = error.raw_os_error().unwrap_or(libc::EIO);
            Reply::BROKEN
        });
        if reply.end != Reply::ENDED {
            // SAFETY: the process is a child of ours that was not reaped, so its number, which is
            // also its group's, names nothing else.
            unsafe {
                libc::kill(-pid, libc::SIGKILL);
                libc::kill(pid, libc::SIGKILL);
            }
            wait_for_end(pid);
        }
        reap(pid, reply);
        waits.add_to(reply);
        if reply.end == Reply::ENDED && self.is_flooded() {
            reply.end = Reply::FLOODED;
        }
    }

    /// Waits until the process can be reaped or must be ended, and returns which.
    fn until_ended(&self, pid: i32, start_ns: u64, waits: &mut Waits<'_>) -> io::Result<i32> {
        let process = process_descriptor(pid)?;
        let deadline_ns = start_ns.saturating_add(self.request.timeout_ns);
        let mut next_look_ns = start_ns + FIRST_LOOK_NS;
        let mut last = (start_ns, 0);
        loop {
            let now_ns = clock::monotonic_ns();
            if now_ns >= deadline_ns {
                return Ok(Reply::TIMED_OUT);
            }
            if now_ns >= next_look_ns {
                self.shorten_errors();
                let bytes = self.output_bytes();
                if self.is_over(bytes) {
                    return Ok(Reply::FLOODED);
                }
                next_look_ns = now_ns + self.pause_ns(last, (now_ns, bytes));
                last = (now_ns, bytes);
            }
            let until_ns = deadline_ns.min(next_look_ns).saturating_sub(now_ns);
            waits.before_sleep();
            match sleep(&process, self.socket, until_ns)? {
                Woken::ProcessEnded => return Ok(Reply::ENDED),
                Woken::Spoken => match message::hear(self.socket)? {
                    // No request is valid now. Whatever it was, the caller wants the run to end.
                    Heard::Request(..) | Heard::Other | Heard::Closed => {
                        return Ok(Reply::CANCELLED);
                    }
                },
                Woken::Time => {}
            }
        }
    }

    /// Returns how long to sleep so that an output that grows as before does not exceed its limit
    /// by much.
    fn pause_ns(&self, (then_ns, then): (u64, u64), (now_ns, now): (u64, u64)) -> u64 {
        let grown = now.saturating_sub(then);
        if grown == 0 || self.request.output_limit_bytes == 0 {
            return LONGEST_NS;
        }
        let left = self.request.output_limit_bytes.saturating_sub(now);
        let left_ns = left as f64 / grown as f64 * now_ns.saturating_sub(then_ns) as f64;
        (left_ns as u64).clamp(SHORTEST_NS, LONGEST_NS)
    }

    fn output_bytes(&self) -> u64 {
        if self.request.output_limit_bytes == 0 { 0 } else { length(self.output) }
    }

    fn is_over(&self, bytes: u64) -> bool {
        self.request.output_limit_bytes > 0 && bytes > self.request.output_limit_bytes
    }

    fn is_flooded(&self) -> bool {
        self.is_over(self.output_bytes())
    }

    /// Frees the memory of a long standard error. The program's write position does not change.
    fn shorten_errors(&self) {
        if held_bytes(self.errors) > ERRORS_LIMIT_BYTES {
            // SAFETY: the descriptor is open; the call takes a number.
            unsafe { libc::ftruncate(self.errors.as_raw_fd(), 0) };
        }
    }
}

enum Woken {
    ProcessEnded,
    Spoken,
    Time,
}

fn sleep(process: &OwnedFd, socket: BorrowedFd<'_>, at_most_ns: u64) -> io::Result<Woken> {
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut polled = [entry(process.as_raw_fd()), entry(socket.as_raw_fd())];
    let time = libc::timespec {
        tv_sec: (at_most_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (at_most_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the array and the time are valid during the call; no signal mask is given.
    let ready = unsafe { libc::ppoll(polled.as_mut_ptr(), 2, &raw const time, std::ptr::null()) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted {
            Ok(Woken::Time)
        } else {
            Err(error)
        };
    }
    Ok(match polled {
        [process, _] if process.revents != 0 => Woken::ProcessEnded,
        [_, socket] if socket.revents != 0 => Woken::Spoken,
        _ => Woken::Time,
    })
}

/// Waits until a killed process can be reaped, without reaping it.
fn wait_for_end(pid: i32) {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: the place is valid for the result.
    while unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), options) } == -1
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Reaps the process, reads the clock at once, and records what the kernel accounts.
fn reap(pid: i32, reply: &mut Reply) {
    // The scheduler's count disappears with the process, so it is read first. That time is not the
    // contestant's: it is subtracted.
    let reading_ns = scheduled::read(pid, reply);
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let mut status = 0;
    // SAFETY: both places are valid for their results.
    while unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) } == -1 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            reply.end = Reply::BROKEN;
            reply.errno = libc::ECHILD;
            break;
        }
    }
    reply.end_ns = clock::monotonic_ns() - reading_ns;
    // SAFETY: all zero bytes are a valid value, which the kernel has overwritten.
    let usage = unsafe { usage.assume_init() };
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    reply.status = status;
    reply.user_ns = time_ns(usage.ru_utime);
    reply.system_ns = time_ns(usage.ru_stime);
    reply.peak_kib = count(usage.ru_maxrss);
    reply.minor_faults = count(usage.ru_minflt);
    reply.major_faults = count(usage.ru_majflt);
    reply.voluntary_switches = count(usage.ru_nvcsw);
    reply.involuntary_switches = count(usage.ru_nivcsw);
}

fn length(file: &OwnedFd) -> u64 {
    status_of(file).map_or(0, |status| u64::try_from(status.st_size).unwrap_or(0))
}

/// Returns the memory that a file holds. A hole at its start holds none.
fn held_bytes(file: &OwnedFd) -> u64 {
    status_of(file).map_or(0, |status| u64::try_from(status.st_blocks).unwrap_or(0) * 512)
}

fn status_of(file: &OwnedFd) -> Option<libc::stat> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the place is valid for the result; all zero bytes are a valid value of it.
    unsafe {
        (libc::fstat(file.as_raw_fd(), status.as_mut_ptr()) == 0).then(|| status.assume_init())
    }
}
