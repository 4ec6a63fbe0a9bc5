//! Threads that run at the same time, each pinned to a CPU of its own.

use crate::cpus;
use std::io;
use std::sync::Barrier;

/// Where one of the threads stands.
pub(crate) struct Place<'a> {
    /// Its index among the threads.
    pub index: usize,
    /// The CPU that it is pinned to.
    pub cpu: usize,
    barrier: &'a Barrier,
}

impl Place<'_> {
    /// Sleeps until all threads have come here: they then run at about the same time, as far as
    /// the machine lets them. What they do afterwards must prove that they did.
    pub fn meet(&self) {
        self.barrier.wait();
    }
}

/// Runs a job on a thread for each CPU, pinned to it, and gives the results in the order of the
/// CPUs. The job must not panic, and each thread must meet equally often.
///
/// # Errors
/// A thread cannot be started or pinned; no job has then run.
pub(crate) fn together<T: Send>(
    cpus: &[usize],
    job: impl Fn(&Place<'_>) -> T + Sync,
) -> io::Result<Vec<T>> {
    let barrier = Barrier::new(cpus.len());
    let (barrier, job) = (&barrier, &job);
    let pinned = Barrier::new(cpus.len());
    let failed = std::sync::atomic::AtomicBool::new(false);
    let (pinned, failed) = (&pinned, &failed);
    let run = move |index: usize, cpu: usize| -> io::Result<T> {
        let done = cpus::pin_this_thread(&[cpu]);
        failed.fetch_or(done.is_err(), std::sync::atomic::Ordering::SeqCst);
        pinned.wait();
        done?;
        if failed.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(io::Error::other("another thread could not be pinned"));
        }
        Ok(job(&Place { index, cpu, barrier }))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            cpus.iter().enumerate().map(|(i, cpu)| scope.spawn(move || run(i, *cpu))).collect();
        let lost = |_| Err(io::Error::other("a thread of a probe panicked"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(lost)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_cpu() {
        let cpus = cpus::allowed();
        let found = together(&cpus, |place| {
            place.meet();
            (place.index, place.cpu, cpus::allowed())
        });
        for (index, (at, cpu, allowed)) in found.unwrap().into_iter().enumerate() {
            assert_eq!((at, cpu, allowed), (index, cpus[index], vec![cpus[index]]));
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        assert!(together(&[cpus::allowed()[0], 8191], |_| ()).is_err());
    }
}
