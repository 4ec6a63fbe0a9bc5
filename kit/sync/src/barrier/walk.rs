//! A barrier of last resort: the calling thread runs on every CPU, once.
//!
//! When it runs on a CPU, whatever ran there at the beginning was switched out, and a switch is a
//! full fence. A thread that began to run later was switched in later, which is one as well. So the
//! walk is a barrier if it reaches every CPU where a thread of this process may be running. A CPU
//! that cannot be reached (outside of the caller's cpuset, or offline) must not be among those that
//! any thread of this process may use.
//!
//! It takes as long as the scheduler needs to run the thread everywhere: microseconds on an idle
//! machine, milliseconds on a busy one, and longer beside real-time threads that never sleep.

use std::os::unix::fs::MetadataExt;

use crate::interrupts::allowed as affinity;

/// A set of CPUs as the kernel has it: bit i of word i / 64.
type Mask = Vec<u64>;

/// How often the threads are listed again because one ended meanwhile.
const LISTINGS_MAX: usize = 100;

/// How often one CPU is tried while someone else keeps moving this thread.
const VISITS_MAX: usize = 10;

/// Whether the walk was a barrier.
pub(super) fn walk() -> bool {
    let Some(before) = affinity(0) else { return false };
    let cpus = before.len() * 64;
    let mut unreached = vec![0u64; before.len()];
    let mut is_whole = true;
    for cpu in 0..cpus {
        match visit(cpu, before.len()) {
            Visit::Done => {}
            Visit::Unreachable => unreached[cpu / 64] |= 1 << (cpu % 64),
            Visit::Failed => is_whole = false,
        }
    }
    // The kernel may refuse only if the cpuset changed meanwhile; it has then chosen itself.
    let _ = set_affinity(&before);
    is_whole && nobody_runs_on(&unreached)
}

enum Visit {
    Done,
    /// The kernel does not let this thread run there.
    Unreachable,
    Failed,
}

fn visit(cpu: usize, words: usize) -> Visit {
    let mut only = vec![0u64; words];
    only[cpu / 64] = 1 << (cpu % 64);
    for _ in 0..VISITS_MAX {
        match set_affinity(&only) {
            // The call returns on that CPU, unless someone else moved the thread in that moment.
            Ok(()) if current_cpu() == Some(cpu) => return Visit::Done,
            Ok(()) => {}
            Err(libc::EINVAL) => return Visit::Unreachable,
            Err(_) => return Visit::Failed,
        }
    }
    Visit::Failed
}

/// Whether no thread of this process is allowed on any of these CPUs (offline ones do not count).
fn nobody_runs_on(cpus: &Mask) -> bool {
    let Some(threads) = threads() else { return false };
    threads.into_iter().all(|thread| match affinity(thread) {
        Some(allowed) => allowed.iter().zip(cpus).all(|(allowed, cpus)| allowed & cpus == 0),
        // It has ended since.
        None => true,
    })
}

/// All threads of this process that have lived since before the call.
///
/// A thread that ends during the listing may cut it short. The number of threads, read before it,
/// tells: new threads are listed last, so a list that lacks an older one is shorter than that.
fn threads() -> Option<Vec<libc::pid_t>> {
    const FOLDER: &str = "/proc/self/task";
    for _ in 0..LISTINGS_MAX {
        let count = std::fs::metadata(FOLDER).ok()?.nlink().checked_sub(2)?;
        let entries = std::fs::read_dir(FOLDER).ok()?;
        let threads: Vec<libc::pid_t> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        if threads.len() as u64 >= count {
            return Some(threads);
        }
    }
    None
}

fn set_affinity(mask: &Mask) -> Result<(), i32> {
    // SAFETY: the kernel reads the given length, which is that of the vector.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&mask[..]), mask.as_ptr())
    };
    match result {
        0.. => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
    }
}

fn current_cpu() -> Option<usize> {
    let mut cpu: u32 = 0;
    let null = core::ptr::null_mut::<u32>();
    // SAFETY: the kernel writes one u32 to the first pointer and nothing to those that are null.
    let result = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, null, null) };
    (result == 0).then_some(cpu as usize)
}

#[cfg(all(test, not(any(miri, loom))))]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_is_reached_and_the_affinity_is_put_back() {
        let before = affinity(0);
        assert!(walk());
        assert_eq!(affinity(0), before);
    }

    #[test]
    fn a_cpu_that_a_thread_may_use_must_be_reached() {
        let own = affinity(0).unwrap();
        assert!(!nobody_runs_on(&own));
        assert!(nobody_runs_on(&vec![0; own.len()]));
    }

    #[test]
    fn the_list_of_threads_has_those_that_live() {
        std::thread::scope(|scope| {
            let (tell, told) = std::sync::mpsc::channel();
            let (end, ended) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || {
                // SAFETY: gettid has no precondition.
                tell.send(unsafe { libc::gettid() }).unwrap();
                let _ = ended.recv();
            });
            let thread = told.recv().unwrap();
            assert!(threads().unwrap().contains(&thread));
            drop(end);
        });
    }
}
