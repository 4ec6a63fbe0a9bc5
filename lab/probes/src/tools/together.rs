//! Threads that run at the same time, each pinned to a CPU of its own.

use super::*;
use std::sync::mpsc;
use std::sync::{Barrier, Mutex, PoisonError};

/// Where one of the threads stands.
pub(crate) struct Place<'a> {
    /// Its index among the threads.
    pub index: usize,
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
    // Whether the threads may begin: they wait for the lock until all of them are there and pinned.
    let (barrier, gate, job) = (&Barrier::new(cpus.len()), &Mutex::new(false), &job);
    let (sender, pinned) = mpsc::channel::<io::Result<()>>();
    std::thread::scope(|scope| {
        let mut may_begin = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let mut threads = Vec::new();
        let mut failure = None;
        for (index, &cpu) in cpus.iter().enumerate() {
            let sender = sender.clone();
            let run = move || {
                // Whoever started this thread waits for the word, or has given up.
                let _ = sender.send(cpus::pin_this_thread(&[cpu]));
                let may_begin = *gate.lock().unwrap_or_else(PoisonError::into_inner);
                may_begin.then(|| job(&Place { index, barrier }))
            };
            match std::thread::Builder::new().spawn_scoped(scope, run) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        let words = threads.iter().filter_map(|_| pinned.recv().ok());
        let failure = words.filter_map(Result::err).next_back().or(failure);
        *may_begin = failure.is_none();
        drop(may_begin);
        let lost = || io::Error::other("a thread of a probe panicked");
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        match failure {
            Some(error) => Err(error),
            None => results.into_iter().map(|done| done.ok().flatten().ok_or_else(lost)).collect(),
        }
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
            (place.index, cpus::allowed())
        });
        for (index, (at, allowed)) in found.unwrap().into_iter().enumerate() {
            assert_eq!((at, allowed), (index, vec![cpus[index]]));
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        assert!(together(&[cpus::allowed()[0], 8191], |_| ()).is_err());
    }
}
