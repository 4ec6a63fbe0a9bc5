//! The threads of the process: whose they are, and how long they are on a CPU while others run.

use super::conduct::threads;
use crate::wire::area::{Record, UNKNOWN};
use libc::pid_t;
use tiebreak_machine::clock;

/// The threads of the process that are known so far.
pub(super) struct Tasks {
    known: Vec<pid_t>,
    /// What the kernel counted then.
    count: u64,
}

impl Tasks {
    /// Reads the threads that there are.
    pub(super) fn now() -> Tasks {
        Tasks { count: threads(), known: tasks() }
    }

    /// Returns the threads that were started since the last call. Allocates only if there are any.
    pub(super) fn started(&mut self) -> Vec<pid_t> {
        if threads() == self.count {
            return Vec::new();
        }
        let before = std::mem::replace(self, Tasks::now());
        let new = self.known.iter().filter(|task| !before.known.contains(task));
        new.copied().collect()
    }
}

/// Returns all threads of the process, none if the kernel does not list them.
fn tasks() -> Vec<pid_t> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The threads that a contestant has started before its first run, and what they do while others
/// are timed.
#[derive(Default)]
pub(super) struct OwnThreads {
    threads: Vec<pid_t>,
    /// When the batch of another one began, and their time on a CPU then.
    begun_ns: u64,
    before_ns: u64,
    /// Their time on a CPU in the batches of others since the contestant's last one.
    burnt_ns: u64,
    /// The time of these batches, resets included, without waits for a CPU.
    others_ns: u64,
}

impl OwnThreads {
    pub(super) fn new(threads: Vec<pid_t>) -> OwnThreads {
        OwnThreads { threads, ..OwnThreads::default() }
    }

    /// Call it before another contestant is timed.
    pub(super) fn begin(&mut self) {
        if !self.threads.is_empty() {
            (self.begun_ns, self.before_ns) = (clock::monotonic_ns(), self.cpu_ns());
        }
    }

    /// Call it with the record of the other contestant, after it was timed.
    pub(super) fn end(&mut self, other: &Record) {
        if !self.threads.is_empty() {
            let waited_ns = if other.delay_ns == UNKNOWN { 0 } else { other.delay_ns };
            let took_ns = clock::monotonic_ns().saturating_sub(self.begun_ns);
            self.burnt_ns += self.cpu_ns().saturating_sub(self.before_ns);
            self.others_ns += took_ns.saturating_sub(waited_ns);
        }
    }

    /// Moves what was seen to the contestant's own record.
    pub(super) fn report(&mut self, record: &mut Record) {
        record.burnt_ns = std::mem::take(&mut self.burnt_ns);
        record.others_ns = std::mem::take(&mut self.others_ns);
    }

    /// Returns how long the threads were on a CPU so far; one that has ended counts nothing.
    fn cpu_ns(&self) -> u64 {
        self.threads.iter().map(|thread| cpu_ns(*thread)).sum()
    }
}

/// Returns how long a thread of this process was on a CPU, 0 if there is none. Its clock has the
/// number that the kernel gives to clocks of threads: `~tid << 3`, 4 for a thread, 2 for its time
/// on a CPU.
fn cpu_ns(thread: pid_t) -> u64 {
    let clock = !thread << 3 | 4 | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes no more than one time.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if status == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_thread_that_burns_a_cpu_is_seen_with_its_time() {
        let mut tasks = Tasks::now();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let mut own = OwnThreads::new(tasks.started());
            assert_eq!(own.threads.len(), 1);
            assert!(tasks.started().is_empty());
            own.begin();
            while own.cpu_ns() < own.before_ns + 3_000_000 {
                std::thread::yield_now();
            }
            own.end(&Record::default());
            stop.store(true, Ordering::Relaxed);
            let mut record = Record::default();
            own.report(&mut record);
            assert!(record.burnt_ns >= 3_000_000 && record.others_ns > 0, "{record:?}");
            assert_eq!([own.burnt_ns, own.others_ns], [0, 0]);
        });
        // The largest number that Linux gives to a thread.
        assert_eq!(cpu_ns(4_194_303), 0);
    }
}
