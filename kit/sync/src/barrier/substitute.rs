//! What is done when a heavy side fails that used to work: a filter of system calls was installed
//! since, the daemon is gone, or a child lost what its parent had registered.
//!
//! The light sides have no fence and cannot get one, so the barrier must be had in another way, or
//! the program must not go on.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::os::unix::fs::MetadataExt;

use super::{Reason, Strategy};
use crate::interrupts::CpuSet;
use crate::per_cpu::current_cpu;

/// How the last heavy side that needed it was done: a place in [`Strategy::ALL`], or [`WALK`].
static LAST: AtomicU8 = AtomicU8::new(0);
static COUNT: AtomicU64 = AtomicU64::new(0);

const WALK: u8 = Strategy::ALL.len() as u8;

/// That heavy sides had to be done in another way than by their own strategy, because that failed
/// after it had been chosen. An operator should hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Substituted {
    /// How the last of them was done; nothing for running on each CPU in turn.
    pub by: Option<Strategy>,
    /// How many there were in this process, so far.
    pub count: u64,
}

impl Substituted {
    /// Of this process; nothing while every heavy side did what was chosen.
    pub fn so_far() -> Option<Substituted> {
        // Relaxed: the two are for people, and each is true of some moment.
        let count = COUNT.load(Ordering::Relaxed);
        let by = Strategy::ALL.get(usize::from(LAST.load(Ordering::Relaxed))).copied();
        (count != 0).then_some(Substituted { by, count })
    }
}

impl core::fmt::Display for Substituted {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let by = self.by.map_or("running on each CPU in turn", Strategy::name);
        write!(formatter, "heavy sides by a substitute: {}, the last by {by}", self.count)
    }
}

/// A whole heavy side, by whatever works. To make a strategy ready ends with one trial of it, and
/// that is a heavy side; it begins after the caller's fence.
pub(super) fn heavy(failed: Strategy, reason: Reason) {
    let mut strategies = Strategy::ALL.into_iter().filter(|strategy| strategy.light_is_free());
    let place = match strategies.find(|strategy| super::prepare(*strategy).is_ok()) {
        Some(strategy) => strategy as u8,
        None if walk() => WALK,
        None => give_up(failed, reason),
    };
    LAST.store(place, Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// To return would be to promise an order that was not made.
fn give_up(failed: Strategy, reason: Reason) -> ! {
    let text = format!(
        "tiebreak-sync: the barrier {failed} worked before and fails now ({reason}), and so does \
         every other that needs no fence on its light side. Going on could corrupt memory. \
         Allow membarrier(2) in the filter that was installed.\n"
    );
    // SAFETY: the pointer and the length are those of a string that lives until after the call.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    std::process::abort()
}

/// How often the threads are listed again because one ended meanwhile.
const LISTINGS_MAX: usize = 100;

/// How often one CPU is tried while someone else keeps moving this thread.
const VISITS_MAX: usize = 10;

/// A barrier of last resort: the calling thread runs on every CPU, once.
///
/// When it runs on a CPU, whatever ran there at the beginning was switched out, and a switch is a
/// full fence. A thread that began to run later was switched in later, which is one as well. So the
/// walk is a barrier if it reaches every CPU where a thread of this process may be running. A CPU
/// that cannot be reached (outside of the caller's cpuset, or offline) must not be among those that
/// any thread of this process may use.
///
/// It takes as long as the scheduler needs to run the thread everywhere: microseconds on an idle
/// machine, milliseconds on a busy one, and longer with real-time threads that never sleep.
///
/// Gives whether the walk was a barrier.
fn walk() -> bool {
    let Some(before) = CpuSet::of_thread() else { return false };
    let mut unreached = CpuSet::new();
    let mut is_whole = true;
    for cpu in 0..before.room() {
        match visit(cpu) {
            Visit::Done => {}
            Visit::Unreachable => _ = unreached.insert(cpu),
            Visit::Failed => is_whole = false,
        }
    }
    // The kernel may refuse only if the cpuset changed meanwhile; it has then chosen itself.
    let _ = before.bind_thread();
    is_whole && nobody_runs_on(&unreached)
}

enum Visit {
    Done,
    /// The kernel does not let this thread run there.
    Unreachable,
    Failed,
}

fn visit(cpu: usize) -> Visit {
    let only = CpuSet::from_iter([cpu]);
    for _ in 0..VISITS_MAX {
        match only.bind_thread().map_err(|error| error.raw_os_error()) {
            // The call returns on that CPU, unless someone else moved the thread in that moment.
            Ok(()) if current_cpu() == cpu => return Visit::Done,
            Ok(()) => {}
            Err(Some(libc::EINVAL)) => return Visit::Unreachable,
            Err(_) => return Visit::Failed,
        }
    }
    Visit::Failed
}

/// Whether no thread of this process is allowed on any of these CPUs (offline ones do not count).
fn nobody_runs_on(cpus: &CpuSet) -> bool {
    let Some(threads) = threads() else { return false };
    // A thread of which the kernel says nothing has ended since.
    let mut allowed = threads.into_iter().filter_map(CpuSet::of);
    allowed.all(|allowed| cpus.iter().all(|cpu| !allowed.contains(cpu)))
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

#[cfg(test)]
#[cfg(not(any(miri, loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_is_reached_and_the_affinity_is_put_back() {
        let before = CpuSet::of_thread();
        assert!(walk());
        assert_eq!(CpuSet::of_thread(), before);
    }

    #[test]
    fn a_cpu_that_a_thread_may_use_must_be_reached() {
        assert!(!nobody_runs_on(&CpuSet::of_thread().unwrap()));
        assert!(nobody_runs_on(&CpuSet::new()));
    }

    #[test]
    fn the_list_of_threads_has_those_that_live() {
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let (end, ended) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || {
                // SAFETY: gettid has no precondition.
                sender.send(unsafe { libc::gettid() }).unwrap();
                let _ = ended.recv();
            });
            let thread = receiver.recv().unwrap();
            assert!(threads().unwrap().contains(&thread));
            drop(end);
        });
    }
}
