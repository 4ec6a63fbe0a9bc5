//! What the system is asked for.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Moves this thread to another CPU than the given one, the first that may be used; it stays where
/// it is if there is none.
pub fn leave_cpu(cpu: usize) {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let others = cpus(online.trim()).into_iter().filter(|other| *other != cpu);
    for other in others.filter(|other| *other < 8 * size_of::<libc::cpu_set_t>()) {
        // SAFETY: a set of CPUs is plain bits; the number fits into it.
        let is_done = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(other, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
        };
        if is_done {
            return;
        }
    }
}

/// The numbers of a list like `0-3,8`.
fn cpus(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

/// The CPU on which this thread runs.
pub fn current_cpu() -> usize {
    // SAFETY: nothing is asked of the caller.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

/// The number of this thread.
pub fn thread_id() -> i32 {
    // SAFETY: nothing is asked of the caller.
    unsafe { libc::gettid() }
}

/// A thread's line of what it does.
pub struct Status(File);

impl Status {
    pub fn of(thread_id: i32) -> Option<Status> {
        File::open(format!("/proc/self/task/{thread_id}/stat")).ok().map(Status)
    }

    /// Whether the thread sleeps and waits to be woken.
    pub fn is_asleep(&self) -> bool {
        let mut line = [0; 128];
        let bytes = self.0.read_at(&mut line, 0).unwrap_or(0);
        // The name in brackets may have brackets and blanks of its own.
        let name_end = line[..bytes].iter().rposition(|byte| *byte == b')');
        name_end.is_some_and(|at| line.get(at + 2) == Some(&b'S'))
    }
}
