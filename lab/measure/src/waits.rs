//! How long a thread has waited for a CPU, as the kernel counts it.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The open `schedstat` of a thread, which says how long it has waited for a CPU so far.
#[derive(Debug)]
pub(crate) struct Waits(Option<File>);

impl Waits {
    /// Opens that of the calling thread.
    pub(crate) fn own() -> Waits {
        Waits(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Opens that of the main thread of a process.
    pub(crate) fn of(pid: u32) -> Waits {
        Waits(File::open(format!("/proc/{pid}/schedstat")).ok())
    }

    /// Returns the wait so far in nanoseconds; 0 if the kernel does not report it.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.0.as_ref().and_then(scheduled).map_or(0, |(_, waited_ns)| waited_ns)
    }
}

/// Reads time on a CPU and time waiting for one, in nanoseconds, from a file `schedstat`.
pub(crate) fn scheduled(file: &File) -> Option<(u64, u64)> {
    let mut text = [0; 80];
    let length = file.read_at(&mut text, 0).ok()?;
    let mut numbers = std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_only_grow() {
        for waits in [Waits::own(), Waits::of(std::process::id())] {
            let before = waits.waited_ns();
            std::thread::yield_now();
            assert!(waits.waited_ns() >= before);
        }
        assert_eq!(Waits(None).waited_ns(), 0);
    }
}
