//! Holds what several probes measure with.

pub(crate) mod chain;
pub(crate) mod chase;
pub(crate) mod held;
pub(crate) mod mapped;
pub(crate) mod wakeups;
pub(crate) mod wide;

use crate::PARTS;
pub(crate) use crate::Probed;
pub(crate) use crate::finding::{Options, lacks, probed};
pub(crate) use mapped::{HUGE_PAGE, Mapped, Pages, SMALL_PAGE, memory_share_bytes};
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::io;
pub(crate) use std::path::Path;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};
pub(crate) use std::time::{Duration, Instant};
pub(crate) use tiebreak_machine::cgroup;
pub(crate) use tiebreak_machine::clock::{self, monotonic_ns, thread_cpu_ns};
pub(crate) use tiebreak_machine::cpus::{self, parse_list};
pub(crate) use tiebreak_machine::meters::Unavailable;
pub(crate) use tiebreak_machine::tree::Tree;

/// A look that is shorter than this sees one of the placements of a virtual machine's CPUs.
pub(crate) const LONG_LOOK: Duration = Duration::from_secs(30);

/// Returns what `/proc/cpuinfo` says first of something; empty if it says nothing.
pub(crate) fn cpuinfo(tree: &Tree, key: &str) -> String {
    let text = tree.text("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key));
    line.and_then(|line| line.split_once(':')).map_or("", |(_, said)| said.trim()).to_owned()
}

/// Returns the pairs of some CPUs, the first ones first.
pub(crate) fn all_pairs(cpus: &[usize]) -> Vec<[usize; 2]> {
    let firsts = cpus.iter().enumerate();
    firsts.flat_map(|(at, a)| cpus[at + 1..].iter().map(move |b| [*a, *b])).collect()
}

/// The time that a probe has, the flag that stops it early, and who is shown how far it is.
pub struct Budget<'a> {
    begin: Instant,
    length: Duration,
    interrupted: &'a AtomicBool,
    progress: &'a mut dyn FnMut(f64),
}

impl<'a> Budget<'a> {
    /// Returns a budget that begins now. `progress` gets shares from 0 to 1, never while something
    /// is being timed.
    pub fn new(
        length: Duration,
        interrupted: &'a AtomicBool,
        progress: &'a mut dyn FnMut(f64),
    ) -> Budget<'a> {
        Budget { begin: Instant::now(), length, interrupted, progress }
    }

    /// Returns all of it, spent or not.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// Returns what is left; zero once it is spent or the user wants to stop.
    pub fn left(&self) -> Duration {
        if self.is_interrupted() {
            return Duration::ZERO;
        }
        self.length.saturating_sub(self.begin.elapsed())
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left().is_zero()
    }

    /// Whether the user wants to stop: what there is is kept.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Returns the flag, for threads that run for long.
    pub fn interrupted(&self) -> &'a AtomicBool {
        self.interrupted
    }

    /// Sleeps a little towards a moment; `false` if it is there, or nothing is left.
    pub fn nap(&self, until: Instant) -> bool {
        let wait = until.saturating_duration_since(Instant::now()).min(self.left());
        std::thread::sleep(wait.min(Duration::from_millis(50)));
        !wait.is_zero()
    }

    /// Tells how far the probe is, as a share of its work, or of its time if that is further.
    pub fn tell(&mut self, done: f64) {
        let spent = self.begin.elapsed().as_secs_f64() / self.length.as_secs_f64().max(1e-9);
        (self.progress)(done.max(spent).clamp(0.0, 1.0));
    }
}

/// Returns the value below which a share of the values lies, by the nearest rank; `None` of
/// nothing. Reorders the values. Cost: linear.
pub(crate) fn quantile(values: &mut [u64], share: f64) -> Option<u64> {
    let last = values.len().checked_sub(1)?;
    let rank = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
    Some(*values.select_nth_unstable(rank).1)
}

/// Returns the three quartiles of the values; `None` of nothing. Reorders the values.
pub(crate) fn quartiles(values: &mut [u64]) -> Option<[u64; 3]> {
    let [low, median, high] = [0.25, 0.5, 0.75].map(|share| quantile(values, share));
    Some([low?, median?, high?])
}

/// That value of each of [`PARTS`] consecutive parts of the values, the earlier first, each of at
/// least `least`; nothing if there are too few. Leaves the values as they are. Cost: linear.
pub(crate) fn parts(values: &[u64], share: f64, least: usize) -> Vec<u64> {
    let length = values.len() / PARTS;
    if length < least.max(1) {
        return Vec::new();
    }
    let parts = values.chunks_exact(length).take(PARTS);
    parts.filter_map(|part| quantile(&mut part.to_vec(), share)).collect()
}

/// Keeps the calling thread on one CPU; the CPUs that it had come back when this is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins the calling thread.
    ///
    /// # Errors
    /// The kernel's: this CPU is not one that this process may use.
    pub(crate) fn to(cpu: usize) -> io::Result<Pinned> {
        let before = cpus::allowed();
        cpus::pin_this_thread(&[cpu])?;
        Ok(Pinned { before })
    }
}

/// Returns how often this thread has lost its CPU so far, and how often it has given it up; 0 where
/// the kernel does not say.
pub(crate) fn switches() -> (u64, u64) {
    // SAFETY: all zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the result.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    (usage.ru_nivcsw as u64, usage.ru_nvcsw as u64)
}

/// Pins the calling thread, or adds a reason why it is not.
pub(crate) fn pinned(cpu: usize, reasons: &mut Vec<String>) -> Option<Pinned> {
    let pinned = Pinned::to(cpu);
    pinned.map_err(|error| reasons.push(format!("could not stay on CPU {cpu}: {error}"))).ok()
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Nothing can be done about a CPU that went away meanwhile.
        let _ = cpus::pin_this_thread(&self.before);
    }
}

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
    let (barrier, job) = (&Barrier::new(cpus.len()), &job);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, &cpu) in cpus.iter().enumerate() {
            let (sender, pinned) = mpsc::channel::<io::Result<()>>();
            let (begin, may_begin) = mpsc::channel::<()>();
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
                // The starter waits for this message, or has given up: then this thread ends.
                let _ = sender.send(cpus::pin_this_thread(&[cpu]));
                may_begin.recv().ok().map(|()| job(&Place { index, barrier }))
            })?;
            threads.push((thread, pinned, begin));
        }
        for (_, pinned, _) in &threads {
            pinned.recv().map_err(io::Error::other)??;
        }
        threads.iter().try_for_each(|(.., begin)| begin.send(())).map_err(io::Error::other)?;
        let results = threads.into_iter().map(|(thread, ..)| thread.join().ok().flatten());
        results
            .map(|done| done.ok_or_else(|| io::Error::other("a thread of a probe panicked")))
            .collect()
    })
}

/// A generator of 64-bit numbers: `splitmix64` (Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    /// Returns the generator of a stream.
    pub(crate) fn new(stream: u64) -> Random {
        Random(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    /// Returns a number below `bound`, which is above 0; biased by no more than `bound` in 2^64.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % bound as u64) as usize
    }

    /// Puts things into a random order.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_leaves_nothing() {
        let flag = AtomicBool::new(false);
        let mut shares = Vec::new();
        let mut progress = |share| shares.push(share);
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut progress);
        assert!(!budget.is_spent());
        budget.tell(0.5);
        budget.tell(7.0);
        flag.store(true, Ordering::Relaxed);
        assert!(budget.is_spent() && budget.is_interrupted());
        assert_eq!(shares, [0.5, 1.0]);
    }

    #[test]
    fn quantiles_are_values() {
        assert_eq!(quantile(&mut [], 0.5), None);
        assert_eq!(quantile(&mut [7], 0.25), Some(7));
        let mut values = [50, 10, 40, 20, 30];
        assert_eq!(
            [0.0, 0.25, 0.5, 1.0].map(|q| quantile(&mut values, q).unwrap()),
            [10, 20, 30, 50]
        );
    }

    #[test]
    fn parts_are_consecutive() {
        let values: Vec<u64> = (0..5 * PARTS as u64 + 3).collect();
        let medians: Vec<u64> = (0..PARTS as u64).map(|part| 5 * part + 2).collect();
        assert_eq!(parts(&values, 0.5, 5), medians);
        assert_eq!(parts(&values, 0.5, 6), [0; 0]);
        assert_eq!(parts(&[1; PARTS - 1], 0.5, 0), [0; 0]);
    }

    #[test]
    fn the_cpus_come_back() {
        let before = cpus::allowed();
        let first = before[0];
        let pinned = Pinned::to(first).unwrap();
        assert_eq!(cpus::allowed(), [first]);
        drop(pinned);
        assert_eq!(cpus::allowed(), before);
        assert!(Pinned::to(8191).is_err());
    }

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

    #[test]
    fn orders_are_permutations_and_differ_by_stream() {
        let order = |stream| {
            let mut order: Vec<usize> = (0..50).collect();
            Random::new(stream).shuffle(&mut order);
            order
        };
        let mut sorted = order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        assert_eq!(order(3), order(3));
        assert_ne!(order(3), order(4));
    }

    #[test]
    fn each_number_is_about_as_likely() {
        let mut random = Random::new(7);
        let mut counts = [0; 5];
        (0..50_000).for_each(|_| counts[random.below(5)] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
