//! Waits for a program: its end, the time-out, too much output, or a message of the caller. Then
//! reaps it, reads what the kernel has counted for it, and ends what it left behind.
//!
//! The launcher is a subreaper: when a process below it ends, the children of that process become
//! the launcher's. After a contestant has been reaped, every remaining child comes from it. When
//! the launcher has no child, nothing is left.

use super::message::{End, Reply, Run};
use crate::resources::Waits;
use crate::system::{poll, process_descriptor, retried, stat_field};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;
use tiebreak_machine::clock;

/// When the outputs are checked for the first time.
const FIRST_LOOK_NS: u64 = 20_000_000;
/// The longest sleep between two checks of the outputs.
pub(super) const LONGEST_NS: u64 = 100_000_000;
/// The shortest sleep, when an output grows fast.
const SHORTEST_NS: u64 = 2_000_000;
/// Standard error beyond this is discarded, except its end.
const ERRORS_LIMIT_BYTES: u64 = 64 << 20;

/// What is monitored while a program runs.
pub(super) struct Watch<'a> {
    pub(super) run: &'a Run,
    pub(super) output: &'a File,
    pub(super) errors: &'a File,
    pub(super) socket: BorrowedFd<'a>,
}

impl Watch<'_> {
    /// Waits until the process has ended, ends it if necessary, reaps it, and fills in the reply.
    pub(super) fn until_reaped(&self, pid: i32, reply: &mut Reply, waits: &mut OwnWaits<'_>) {
        reply.end = self
            .until_ended(pid, reply.start_ns, waits)
            .unwrap_or_else(|error| End::Broken(error.raw_os_error().unwrap_or(libc::EIO)));
        if reply.end != End::Ended {
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
        if reply.end == End::Ended && self.output_bytes() > self.run.output_limit_bytes {
            reply.end = End::Flooded;
        }
    }

    /// Waits until the process can be reaped or must be ended, and returns which.
    fn until_ended(&self, pid: i32, start_ns: u64, waits: &mut OwnWaits<'_>) -> io::Result<End> {
        let process = process_descriptor(pid)?;
        let deadline_ns = start_ns.saturating_add(self.run.timeout_ns);
        let mut next_look_ns = start_ns + FIRST_LOOK_NS;
        let mut last = (start_ns, 0);
        loop {
            let now_ns = clock::monotonic_ns();
            if now_ns >= deadline_ns {
                return Ok(End::TimedOut);
            }
            if now_ns >= next_look_ns {
                shorten_errors(self.errors);
                let bytes = self.output_bytes();
                if bytes > self.run.output_limit_bytes {
                    return Ok(End::Flooded);
                }
                next_look_ns = now_ns + self.pause_ns(last, (now_ns, bytes));
                last = (now_ns, bytes);
            }
            let until_ns = deadline_ns.min(next_look_ns).saturating_sub(now_ns);
            waits.before_sleep();
            match poll([process.as_fd(), self.socket], until_ns)? {
                [true, _] => return Ok(End::Ended),
                // No request is valid now. Whatever the message is, the caller wants the run to
                // end. It is received after the run.
                [_, true] => return Ok(End::Cancelled),
                _ => {}
            }
        }
    }

    /// Returns how long to sleep so that an output that grows as before does not exceed its limit
    /// by much.
    fn pause_ns(&self, (then_ns, then): (u64, u64), (now_ns, now): (u64, u64)) -> u64 {
        let grown = now.saturating_sub(then);
        if grown == 0 {
            return LONGEST_NS;
        }
        let left = self.run.output_limit_bytes.saturating_sub(now);
        let left_ns = left as f64 / grown as f64 * now_ns.saturating_sub(then_ns) as f64;
        (left_ns as u64).clamp(SHORTEST_NS, LONGEST_NS)
    }

    /// Returns the length of the output; 0 if it is not checked.
    fn output_bytes(&self) -> u64 {
        if self.run.output_limit_bytes == 0 {
            return 0;
        }
        self.output.metadata().map_or(0, |data| data.len())
    }
}

/// Frees the memory of a long standard error. The program's write position does not change.
pub(super) fn shorten_errors(errors: &File) {
    // A hole at its start takes no memory: blocks of 512 bytes count, not the length.
    if errors.metadata().is_ok_and(|data| data.blocks() * 512 > ERRORS_LIMIT_BYTES) {
        // A file that cannot be shortened only costs memory.
        let _ = errors.set_len(0);
    }
}

/// Waits until a killed process can be reaped, without reaping it.
fn wait_for_end(pid: i32) {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: the place is valid for the result.
    let _ = retried(|| unsafe {
        libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), options)
    });
}

/// Reaps the process, reads the clock at once, and records what the kernel accounts.
fn reap(pid: i32, reply: &mut Reply) {
    // The scheduler's count disappears with the process, so it is read first: that of the main
    // thread. The kernel keeps none for threads that ended earlier, and none for children. The time
    // of the reading is not the contestant's: it is subtracted. Nothing is allocated.
    let read_ns = clock::monotonic_ns();
    reply.scheduled_ns = Waits::open(pid).counted_ns();
    let reading_ns = clock::monotonic_ns() - read_ns;
    // SAFETY: all zero bytes are a valid value.
    let (mut usage, mut status): (libc::rusage, _) = (unsafe { std::mem::zeroed() }, 0);
    // SAFETY: both places are valid for their results.
    if retried(|| unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) }).is_err() {
        reply.end = End::Broken(libc::ECHILD);
    }
    reply.end_ns = clock::monotonic_ns() - reading_ns;
    reply.status = status;
    reply.usage = usage.into();
    reply.peak_kib = usage.ru_maxrss as u64;
}

/// How long the launcher tries. A process that cannot be ended by then waits in the kernel for a
/// device.
const PATIENCE_NS: u64 = 2_000_000_000;
const PAUSE: Duration = Duration::from_micros(200);

/// Ends and reaps all children, and counts them in the reply.
///
/// Cost if there is none: one system call.
pub(super) fn end_left_behind(reply: &mut Reply) {
    (reply.left_behind, reply.left_name) = end_children();
}

/// Ends and reaps all children. Returns how many had to be ended, and the name of one.
pub(super) fn end_children() -> (u32, String) {
    let (mut ended, mut name_of_one) = (0, String::new());
    let mut deadline_ns = None;
    loop {
        // SAFETY: no place for a result is given. All our children are to be reaped.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            -1 => return (ended, name_of_one),
            // The end of a child makes its own children ours: check again.
            pid if pid > 0 => continue,
            _ => {}
        }
        let now_ns = clock::monotonic_ns();
        if now_ns > *deadline_ns.get_or_insert(now_ns + PATIENCE_NS) {
            return (ended, name_of_one);
        }
        for (child, name) in living_children() {
            if ended == 0 {
                name_of_one = name;
            }
            // SAFETY: the process is a child of ours that was not reaped, so the number names
            // nothing else.
            if unsafe { libc::kill(child, libc::SIGKILL) } == 0 {
                ended += 1;
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns the numbers and names of the launcher's children that still run.
///
/// It reads the whole process list, because not every kernel lists the children of a process.
pub(super) fn living_children() -> Vec<(i32, String)> {
    let own = std::process::id();
    let children = processes().filter_map(|(pid, stat)| match parse_stat(&stat) {
        Some((name, state, parent)) if parent == own && state != 'Z' => Some((pid, name)),
        _ => None,
    });
    children.collect()
}

/// Iterates over the machine's processes: the number of each, and its `/proc/PID/stat`.
pub(super) fn processes() -> impl Iterator<Item = (i32, String)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<i32>().ok()?;
        let stat = std::fs::read(entry.path().join("stat")).ok()?;
        Some((pid, String::from_utf8_lossy(&stat).into_owned()))
    })
}

/// Parses name, state and parent from the text of `/proc/PID/stat`.
pub(super) fn parse_stat(stat: &str) -> Option<(String, char, u32)> {
    let (start, _) = stat.rsplit_once(") ")?;
    let name = start.split_once(" (")?.1.to_owned();
    Some((name, stat_field(stat, 3)?, stat_field(stat, 4)?))
}

/// How long the launcher waits for a CPU around a run.
///
/// The run lasts until the launcher has seen its end, so the launcher's own waits after the end are
/// part of the run's time, as the contestant's waits are. While the contestant lives, a wait of the
/// launcher costs it nothing.
pub(super) struct OwnWaits<'a> {
    own: &'a Waits,
    at_start_ns: u64,
    /// The wait so far when the launcher began to sleep.
    at_first_sleep_ns: Option<u64>,
    at_last_sleep_ns: u64,
}

impl OwnWaits<'_> {
    /// Starts the count; call it just before a start.
    pub(super) fn new(own: &Waits) -> OwnWaits<'_> {
        let at_start_ns = own.waited_ns();
        OwnWaits { own, at_start_ns, at_first_sleep_ns: None, at_last_sleep_ns: at_start_ns }
    }

    /// Reads the count; call it just before each sleep that the end may interrupt.
    fn before_sleep(&mut self) {
        self.at_last_sleep_ns = self.own.waited_ns();
        self.at_first_sleep_ns.get_or_insert(self.at_last_sleep_ns);
    }

    /// Adds the launcher's wait after the end to the contestant's wait before it. Call it once the
    /// process is reaped and the clock has been read.
    fn add_to(&self, reply: &mut Reply) {
        let Some((run_ns, delay_ns)) = &mut reply.scheduled_ns else { return };
        let before_ns = self.at_first_sleep_ns.unwrap_or(self.at_start_ns) - self.at_start_ns;
        let after_ns = self.own.waited_ns().saturating_sub(self.at_last_sleep_ns);
        *delay_ns += lost_ns(before_ns, after_ns, *run_ns + *delay_ns);
    }
}

/// Returns the time that a launcher lost. It waited `before_ns` before it slept and `after_ns`
/// after it was woken; the contestant ran and waited for `lived_ns`. If the launcher slept only
/// after the end, a part of the first wait counts too.
fn lost_ns(before_ns: u64, after_ns: u64, lived_ns: u64) -> u64 {
    after_ns + before_ns.saturating_sub(lived_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_process_is_read_whatever_its_name() {
        let check = |stat: &str, name: &str, state: char, parent: u32| {
            assert_eq!(parse_stat(stat), Some((name.to_owned(), state, parent)));
        };
        check("7 (sleep) S 3 7 7 0", "sleep", 'S', 3);
        check("7 (a) R 1 (b) Z 12 7", "a) R 1 (b", 'Z', 12);
        assert_eq!(parse_stat("7 (cut"), None);
    }

    #[test]
    fn a_wait_counts_that_made_the_run_longer() {
        // The contestant ran for 3 ms and waited for 1 ms.
        assert_eq!(lost_ns(0, 0, 4_000_000), 0);
        assert_eq!(lost_ns(3_500_000, 0, 4_000_000), 0);
        assert_eq!(lost_ns(9_000_000, 0, 4_000_000), 5_000_000);
        assert_eq!(lost_ns(20_000, 2_000_000, 4_000_000), 2_000_000);
    }

    #[test]
    fn our_own_waits_only_grow() {
        let own = Waits::open("self");
        let mut waits = OwnWaits::new(&own);
        waits.before_sleep();
        let mut reply = Reply::default();
        waits.add_to(&mut reply);
        assert_eq!(reply.scheduled_ns, None, "what is unknown stays so");
        reply.scheduled_ns = Some((1000, 10));
        waits.add_to(&mut reply);
        assert!(reply.scheduled_ns.unwrap().1 >= 10);
    }

    #[test]
    fn a_process_that_is_there_is_read_and_one_that_is_not_is_not() {
        let own = std::process::id() as i32;
        // Not every kernel counts; if it does, the numbers are those of its text.
        let shown = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        assert_eq!(Waits::open(own).scheduled_ns().is_some(), shown.is_some());
        assert_eq!(Waits::open(i32::MAX).counted_ns(), None);
    }
}
