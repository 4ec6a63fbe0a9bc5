//! A counter that is spread over the CPUs.

use super::Mode;
use super::rseq::Area;
use super::section::{self, Ended, Form, Plain, Slots};
use super::slots::PerCpu;
use crate::atomic::{AtomicU64, Ordering};

/// A number that many threads add to and somebody reads now and then.
///
/// The theorem: [`sum`](Self::sum) has every [`add`](Self::add) that happened before it, none
/// twice, and of those that run beside it some. It is no snapshot: of `add(1)` followed by
/// `add(-1)` beside it, it may have the second alone. Once nobody adds, it is exact. The
/// assumptions are those of the [module](super#why-it-is-right).
///
/// Representation: a 64-bit number for each CPU on 128 bytes of its own, and one for threads
/// without a section; all wrap.
///
/// Cost: `add` is one section of about a dozen instructions, none of them atomic; in the mode of
/// atomics a call of `sched_getcpu` and one atomic addition. `sum` reads all numbers.
///
/// ```
/// use tiebreak_sync::per_cpu::Counter;
///
/// let requests = Counter::new();
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| (0..1000).for_each(|_| requests.add(1)));
///     }
/// });
/// requests.add(-50);
/// assert_eq!(requests.sum(), 3950);
/// ```
#[derive(Debug)]
pub struct Counter {
    numbers: PerCpu<AtomicU64>,
}

impl Counter {
    /// Zero, in the [mode](super::mode()) of this process.
    pub fn new() -> Counter {
        Counter { numbers: PerCpu::new(|| AtomicU64::new(0)) }
    }

    /// Zero, by atomic instructions.
    pub fn with_atomics() -> Counter {
        Counter { numbers: PerCpu::with_atomics(|| AtomicU64::new(0)) }
    }

    /// By what it is changed.
    pub fn mode(&self) -> Mode {
        self.numbers.mode()
    }

    /// Adds, and wraps at the ends of 64 bits. It may be called in a signal handler, [with one
    /// exception](super#in-the-handler-of-a-signal).
    #[inline]
    pub fn add(&self, delta: i64) {
        self.add_as::<Plain>(delta);
    }

    /// The sum of what was added.
    pub fn sum(&self) -> i64 {
        // Relaxed: a number that happened before is seen whatever the order, and of the others
        // nothing is promised.
        let numbers = self.numbers.iter().map(|number| number.load(Ordering::Relaxed));
        numbers.fold(0, u64::wrapping_add) as i64
    }

    /// Gives how often the section was interrupted.
    #[inline(always)]
    pub(super) fn add_as<F: Form>(&self, delta: i64) -> u64 {
        let area = self.numbers.area_of_libc();
        match area.and_then(|area| self.add_by_section::<F>(area, delta)) {
            Some(aborts) => aborts,
            None => self.add_otherwise::<F>(delta),
        }
    }

    /// `None` if the thread is not registered.
    #[inline(always)]
    fn add_by_section<F: Form>(&self, area: Area, delta: i64) -> Option<u64> {
        let slots = Slots::of(&self.numbers);
        // SAFETY: the slots live as long as `self`, and those of CPUs are only changed here where
        // there are areas.
        let Ended { outcome, aborts } = unsafe { section::add::<F>(area, slots, delta as u64) };
        outcome.map(|()| aborts)
    }

    /// Out of the way: where nobody but this crate has registered, and by atomics.
    #[cold]
    fn add_otherwise<F: Form>(&self, delta: i64) -> u64 {
        let area = self.numbers.area();
        area.and_then(|area| self.add_by_section::<F>(area, delta)).unwrap_or_else(|| {
            // Relaxed: an addition says nothing of other memory.
            self.numbers.for_atomics().fetch_add(delta as u64, Ordering::Relaxed);
            0
        })
    }
}

impl Default for Counter {
    fn default() -> Counter {
        Counter::new()
    }
}
