//! System calls that several modules make, with their errors as [`io::Error`].

use serde::{Deserialize, Serialize};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::process::ExitStatus;
use std::str::FromStr;
use tiebreak_core::sample::Sample;

/// Returns the result of a system call, or the error of the system if it is negative.
pub(crate) fn checked<T: PartialOrd + Default>(result: T) -> io::Result<T> {
    if result < T::default() { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Makes a system call until no signal interrupts it. Returns its result, or the error of the
/// system if it is negative.
pub(crate) fn retried<T: PartialOrd + Default>(mut call: impl FnMut() -> T) -> io::Result<T> {
    loop {
        match checked(call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Owns a descriptor, given as the result of the call that has made it.
///
/// # Safety
/// The call has just returned, and nothing else owns its descriptor.
pub(crate) unsafe fn owned(fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: the caller guarantees it.
    checked(fd).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Returns a descriptor of a process, which becomes readable when the process ends.
pub(crate) fn process_descriptor(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers and makes a descriptor.
    unsafe { owned(libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32) }
}

/// Sends a signal to a process.
///
/// # Errors
/// Fails if it has ended, or if the system does not allow it.
pub(crate) fn send_signal(process: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    let (number, nothing) = (process.as_raw_fd(), std::ptr::null::<libc::siginfo_t>());
    // SAFETY: the descriptor is open; without a `siginfo_t` the kernel makes one.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, number, signal, nothing, 0) };
    checked(sent).map(drop)
}

/// Waits until one of the descriptors can be read or is closed, and returns which. All are false
/// after the time-out or a signal.
pub(crate) fn poll<const N: usize>(
    descriptors: [BorrowedFd<'_>; N],
    at_most_ns: u64,
) -> io::Result<[bool; N]> {
    let mut polled = descriptors.map(|descriptor| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    let time = libc::timespec {
        tv_sec: (at_most_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (at_most_ns % 1_000_000_000) as libc::c_long,
    };
    let count = N as libc::nfds_t;
    // SAFETY: the array and the time are valid during the call; no signal mask is given.
    match checked(unsafe {
        libc::ppoll(polled.as_mut_ptr(), count, &raw const time, std::ptr::null())
    }) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok([false; N]),
        polled_now => polled_now.map(|_| polled.map(|entry| entry.revents != 0)),
    }
}

/// Waits until the descriptor can be read or is closed. Returns false after the time-out or a
/// signal.
pub(crate) fn wait_for(descriptor: BorrowedFd<'_>, at_most_ns: u64) -> io::Result<bool> {
    poll([descriptor], at_most_ns).map(|[is_ready]| is_ready)
}

/// Returns the exit status, or 128 + the signal, as shells do.
pub(crate) fn shell_status(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Returns what the kernel accounts for `RUSAGE_SELF`, `RUSAGE_CHILDREN` or `RUSAGE_THREAD`.
pub(crate) fn rusage(of: i32) -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is valid for the result, and all zero bytes are a valid value of it.
    unsafe {
        libc::getrusage(of, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// Times and events that the kernel accounts. It consists of plain numbers, so any bytes are valid.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
}

impl From<libc::rusage> for Usage {
    fn from(usage: libc::rusage) -> Usage {
        Usage {
            user_ns: time_ns(usage.ru_utime),
            system_ns: time_ns(usage.ru_stime),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}

impl Usage {
    /// Returns the CPU time in user mode and in the kernel.
    pub(crate) fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }

    /// Returns what was used since an earlier reading.
    pub(crate) fn since(&self, earlier: &Usage) -> Usage {
        self.with(earlier, u64::saturating_sub)
    }

    /// Adds what was used in another span.
    pub(crate) fn add(&mut self, other: &Usage) {
        *self = self.with(other, std::ops::Add::add);
    }

    fn with(&self, other: &Usage, of_both: impl Fn(u64, u64) -> u64) -> Usage {
        Usage {
            user_ns: of_both(self.user_ns, other.user_ns),
            system_ns: of_both(self.system_ns, other.system_ns),
            minor_faults: of_both(self.minor_faults, other.minor_faults),
            major_faults: of_both(self.major_faults, other.major_faults),
            voluntary_switches: of_both(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: of_both(self.involuntary_switches, other.involuntary_switches),
        }
    }

    /// Returns a finished sample with this usage and no memory.
    pub(crate) fn sample(&self, wall_ns: u64) -> Sample {
        Sample {
            user_ns: self.user_ns,
            system_ns: self.system_ns,
            peak_memory_bytes: 0,
            minor_faults: self.minor_faults,
            major_faults: self.major_faults,
            voluntary_switches: self.voluntary_switches,
            involuntary_switches: self.involuntary_switches,
            ..Sample::of_wall_ns(wall_ns)
        }
    }
}

fn time_ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

/// Parses the text `RUN DELAY SLICES` of a file `schedstat`: nanoseconds on a CPU, nanoseconds
/// ready and waiting for one, and the number of slices, which stays 0 if the kernel does not count.
pub(crate) fn parse_schedstat(text: &[u8]) -> Option<[u64; 3]> {
    let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace().map(str::parse);
    let mut numbers = std::iter::from_fn(|| numbers.next()?.ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// Returns the number after a name at the start of a line of `/proc/PID/status`.
pub(crate) fn status_number(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns a field of `/proc/PID/stat`, counted from 1 as in proc(5). The second, the program's
/// name, is in parentheses and may contain anything.
pub(crate) fn stat_field<T: FromStr>(stat: &str, index: usize) -> Option<T> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(index.checked_sub(3)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_taken_or_left() {
        let check = |text: &str, expected| {
            assert_eq!(parse_schedstat(text.as_bytes()), expected, "{text:?}");
        };
        check("369040 2902053 2\n", Some([369_040, 2_902_053, 2]));
        check("1 0 1 and what may come later", Some([1, 0, 1]));
        check("18446744073709551615 0 9", Some([u64::MAX, 0, 9]));
        check("0 0 0\n", Some([0; 3]));
        check("", None);
        check("369040 2902053", None);
        check("369040 -1 2", None);
        check("a b c", None);
    }

    #[test]
    fn numbers_of_a_status_are_found_by_name() {
        let status = "Name:\tx\nVmHWM:\t  1704 kB\nvoluntary_ctxt_switches:\t3\n";
        let check = |name: &str, expected| assert_eq!(status_number(status, name), expected);
        check("VmHWM:", Some(1704));
        check("voluntary_ctxt_switches:", Some(3));
        check("nonvoluntary_ctxt_switches:", None);
    }

    #[test]
    fn fields_of_a_stat_are_counted_after_the_name() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194304 10 11 12 13 14 15 16 17 20";
        let check =
            |index, expected| assert_eq!(stat_field::<u64>(stat, index), expected, "{index}");
        check(10, Some(10));
        check(12, Some(12));
        check(14, Some(14));
        check(15, Some(15));
        check(3, None);
        check(2, None);
        check(99, None);
        assert_eq!(stat_field::<u64>("", 10), None);
    }
}
