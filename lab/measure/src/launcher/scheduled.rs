//! What the scheduler has counted for a process: its time on a CPU, and its time waiting for one.

use super::message::Reply;
use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use tiebreak_machine::clock;

/// A buffer length for three numbers of 64 bits.
const TEXT_BYTES: usize = 80;

/// Reads `/proc/PID/schedstat` of a process that has ended and was not reaped, and records the
/// times of the main thread. The kernel keeps no such count for threads that ended earlier, and
/// none for children.
///
/// Returns the time that this took, which the caller subtracts from what is being timed. Cost: one
/// open file, one read, nothing allocated.
pub(super) fn read(pid: i32, reply: &mut Reply) -> u64 {
    let start_ns = clock::monotonic_ns();
    let mut text = [0; TEXT_BYTES];
    if let Some((run_ns, run_delay_ns)) = read_text(pid, &mut text).and_then(parse) {
        reply.run_ns = run_ns;
        reply.run_delay_ns = run_delay_ns;
    }
    clock::monotonic_ns() - start_ns
}

fn read_text(pid: i32, text: &mut [u8; TEXT_BYTES]) -> Option<&str> {
    let mut path = [0; 32];
    write!(path.as_mut_slice(), "/proc/{pid}/schedstat\0").ok()?;
    // SAFETY: the path ends with a zero byte and is only read.
    let fd = unsafe { libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    // SAFETY: the kernel has just made this descriptor and nothing else owns it.
    let _closed_at_the_end = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the buffer is valid for as many bytes as are asked for.
    let length = unsafe { libc::read(fd, text.as_mut_ptr().cast(), TEXT_BYTES) };
    std::str::from_utf8(text.get(..usize::try_from(length).ok()?)?).ok()
}

/// Parses time on a CPU and time waiting for one, in nanoseconds, from `RUN DELAY SLICES`. A
/// process that has ended had a slice: without one, the kernel does not count.
fn parse(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    let (run_ns, delay_ns, slices): (u64, u64, u64) = (next()?, next()?, next()?);
    (slices > 0).then_some((run_ns, delay_ns))
}

/// The launcher's own `schedstat` file, which stays open.
pub(super) struct Own(Option<File>);

impl Own {
    pub(super) fn open() -> Own {
        Own(File::open("/proc/self/schedstat").ok())
    }

    /// Returns how long the launcher has waited for a CPU so far; 0 if the kernel does not report
    /// it.
    fn delay_ns(&self) -> u64 {
        let mut text = [0; TEXT_BYTES];
        let length = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let text = length.and_then(|length| std::str::from_utf8(&text[..length]).ok());
        text.and_then(parse).map_or(0, |(_, delay_ns)| delay_ns)
    }
}

/// How long the launcher waits for a CPU around a run.
///
/// The run lasts until the launcher has seen its end, so the launcher's own waits after the end are
/// part of the run's time, as the contestant's waits are. While the contestant lives, a wait of the
/// launcher costs it nothing.
pub(super) struct Waits<'a> {
    own: &'a Own,
    at_start_ns: u64,
    /// The wait so far when the launcher began to sleep.
    at_first_sleep_ns: Option<u64>,
    at_last_sleep_ns: u64,
}

impl Waits<'_> {
    /// Starts the count; call it just before a start.
    pub(super) fn new(own: &Own) -> Waits<'_> {
        let at_start_ns = own.delay_ns();
        Waits { own, at_start_ns, at_first_sleep_ns: None, at_last_sleep_ns: at_start_ns }
    }

    /// Reads the count; call it just before each sleep that the end may interrupt.
    pub(super) fn before_sleep(&mut self) {
        self.at_last_sleep_ns = self.own.delay_ns();
        self.at_first_sleep_ns.get_or_insert(self.at_last_sleep_ns);
    }

    /// Adds the launcher's wait after the end to the contestant's wait before it. Call it once the
    /// process is reaped and the clock has been read.
    pub(super) fn add_to(&self, reply: &mut Reply) {
        if reply.run_delay_ns == Reply::UNKNOWN {
            return;
        }
        let before_ns = self.at_first_sleep_ns.unwrap_or(self.at_start_ns) - self.at_start_ns;
        let after_ns = self.own.delay_ns().saturating_sub(self.at_last_sleep_ns);
        reply.run_delay_ns += lost_ns(before_ns, after_ns, reply.run_ns + reply.run_delay_ns);
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
    fn what_the_kernel_says_is_taken_or_left() {
        let check = |text: &str, expected| assert_eq!(parse(text), expected, "{text:?}");
        check("369040 2902053 2\n", Some((369_040, 2_902_053)));
        check("1 0 1 and what may come later", Some((1, 0)));
        check("18446744073709551615 0 9", Some((u64::MAX, 0)));
        check("0 0 0\n", None);
        check("", None);
        check("369040 2902053", None);
        check("369040 -1 2", None);
        check("a b c", None);
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
        let own = Own::open();
        let mut waits = Waits::new(&own);
        waits.before_sleep();
        let mut reply = Reply::new();
        waits.add_to(&mut reply);
        assert_eq!(reply.run_delay_ns, Reply::UNKNOWN, "what is unknown stays so");
        (reply.run_ns, reply.run_delay_ns) = (1000, 10);
        waits.add_to(&mut reply);
        assert!(reply.run_delay_ns >= 10);
        assert_eq!(Own(None).delay_ns(), 0);
    }

    #[test]
    fn a_process_that_is_there_is_read_and_one_that_is_not_is_not() {
        let mut text = [0; TEXT_BYTES];
        let own = std::process::id() as i32;
        // Not every kernel counts; if it does, the numbers are those of its text.
        let shown = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        assert_eq!(read_text(own, &mut text).is_some(), shown.is_some());
        let mut reply = Reply::new();
        read(i32::MAX, &mut reply);
        assert_eq!((reply.run_ns, reply.run_delay_ns), (Reply::UNKNOWN, Reply::UNKNOWN));
    }
}
