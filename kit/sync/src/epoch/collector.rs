//! What the threads of one collector share.

use super::cycle::Cycle;
use super::handle::Handle;
use super::record::Record;
use crate::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::barrier::Barrier;
use crate::garbage::{self, Garbage, List};
use crate::registry::{Identity, Padded, Registry, Slot};
use std::sync::Arc;
use std::time::Duration;

#[cfg(loom)]
use loom::sync::Mutex;
#[cfg(not(loom))]
use std::sync::Mutex;

/// Those who share objects, and what they have retired. A clone is the same collector.
///
/// It lives as long as a clone of it or a [`Handle`] does. What is retired and not freed yet is
/// freed when it goes; so what is retired in it must own neither, or both stay for ever.
///
/// ```
/// use tiebreak_sync::{barrier::Barrier, epoch::Collector};
///
/// let collector = Collector::with_barrier(Barrier::seq_cst());
/// let handle = collector.register();
/// handle.pin().defer(|| println!("nobody holds it any more"));
/// handle.flush();
/// assert_eq!(collector.pending(), 0);
/// ```
#[derive(Clone)]
pub struct Collector {
    shared: Arc<Shared>,
}

/// The pin that has stood longest; see [`Collector::oldest_pin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldestPin {
    /// For how long it has been there, at least.
    pub age: Duration,
    /// Whose it is: the [`Handle::record`] of the handle.
    pub record: usize,
}

impl Collector {
    /// One with the barrier of the process, [`Barrier::process`].
    pub fn new() -> Collector {
        Collector::with_barrier(Barrier::process())
    }

    /// One with this barrier.
    pub fn with_barrier(barrier: Barrier) -> Collector {
        let shared = Shared {
            epoch: Padded(AtomicU64::new(1)),
            identity: Identity::new(),
            barrier,
            records: Registry::new(),
            waiting: List::new(),
            pending: AtomicUsize::new(0),
            cycle: Mutex::new(Cycle::new()),
        };
        Collector { shared: Arc::new(shared) }
    }

    /// Takes part from now on, until the handle is dropped. It looks for a record that is free, in
    /// a list of as many as there ever were at once, and allocates one if there is none.
    pub fn register(&self) -> Handle {
        Handle::new(self.clone())
    }

    /// Its barrier.
    pub fn barrier(&self) -> Barrier {
        self.shared.barrier
    }

    /// How many objects were retired and are not freed yet, up to the bags of the handles: each
    /// keeps back at most 64 before it hands them on.
    pub fn pending(&self) -> usize {
        // Relaxed: it says about how much there is.
        self.shared.pending.load(Ordering::Relaxed)
    }

    /// The pin that has stood longest, if any is pinned.
    ///
    /// A pin reads no clock, so its age is counted from the first advance of the epoch that came
    /// after it: the true one is greater, by the time from the pin to that advance. The epoch
    /// advances when a collection begins, and when this is called while the oldest pin is of the
    /// current epoch: then the age is 0, and later calls count from there. So who asks once a
    /// second knows ages to a second, also if nothing is retired.
    ///
    /// It waits for a thread that is collecting, but not for what that one frees; so it may take as
    /// long as one heavy side.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tiebreak_sync::epoch::Collector;
    ///
    /// let collector = Collector::new();
    /// let handle = collector.register();
    /// assert_eq!(collector.oldest_pin(), None);
    /// let guard = handle.pin();
    /// assert_eq!(collector.oldest_pin().unwrap().record, handle.record());
    /// std::thread::sleep(Duration::from_millis(5));
    /// assert!(collector.oldest_pin().unwrap().age >= Duration::from_millis(5));
    /// # drop(guard);
    /// ```
    pub fn oldest_pin(&self) -> Option<OldestPin> {
        let mut cycle = self.shared.cycle.lock().unwrap_or_else(|broken| broken.into_inner());
        let (record, since) = cycle.oldest_pin(&self.shared)?;
        Some(OldestPin { age: since.elapsed(), record })
    }

    /// What those who belong to it know it by.
    pub(crate) fn identity(&self) -> Identity {
        self.shared.identity
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Default for Collector {
    fn default() -> Collector {
        Collector::new()
    }
}

/// Whether they are the same one.
impl PartialEq for Collector {
    fn eq(&self, other: &Collector) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Collector {}

impl core::fmt::Debug for Collector {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("Collector")
            .field("barrier", &self.shared.barrier)
            .field("records", &self.shared.records.len())
            .field("pending", &self.pending())
            .finish()
    }
}

/// What handles and clones refer to.
pub(super) struct Shared {
    /// Odd; it only grows. Read at each pin, while what stands beside it changes often. Written
    /// under the lock of `cycle` only.
    epoch: Padded<AtomicU64>,
    identity: Identity,
    barrier: Barrier,
    records: Registry<Record>,
    waiting: List,
    pending: AtomicUsize,
    cycle: Mutex<Cycle>,
}

impl Shared {
    pub(super) fn barrier(&self) -> Barrier {
        self.barrier
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    pub(super) fn claim(&self) -> &Slot<Record> {
        self.records.claim(|| Record::new(self))
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &Slot<Record>> {
        self.records.iter()
    }

    #[inline(always)]
    pub(super) fn epoch(&self) -> u64 {
        // Acquire: who pins at this epoch sees all that was unlinked before it began.
        self.epoch.0.load(Ordering::Acquire)
    }

    pub(super) fn set_epoch(&self, epoch: u64) {
        // Release: see `epoch`.
        self.epoch.0.store(epoch, Ordering::Release);
    }

    /// Adds a bag to what waits.
    pub(super) fn hand_on(&self, bag: Vec<Garbage>, weight: usize) {
        // Relaxed: see `Collector::pending`.
        self.pending.fetch_add(bag.len(), Ordering::Relaxed);
        self.waiting.push(bag, weight);
    }

    pub(super) fn waiting_weight(&self) -> usize {
        self.waiting.weight()
    }

    pub(super) fn take_waiting(&self) -> Vec<Vec<Garbage>> {
        self.waiting.take()
    }

    /// One step of collecting, unless another thread is at it. Freeing is done outside the lock.
    pub(super) fn collect(&self, is_forced: bool) {
        // A lock that a panic broke is left alone: what is retired leaks.
        let Ok(mut cycle) = self.cycle.try_lock() else { return };
        let ready = cycle.step(self, is_forced);
        drop(cycle);
        let count = ready.iter().map(Vec::len).sum();
        // Relaxed: see `Collector::pending`.
        self.pending.fetch_sub(count, Ordering::Relaxed);
        garbage::free_all(ready.into_iter().flatten());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let cycle = core::mem::replace(&mut self.cycle, Mutex::new(Cycle::new()));
        let cycle = cycle.into_inner().unwrap_or_else(|broken| broken.into_inner());
        let rest = cycle.into_garbage().into_iter().chain(self.waiting.take());
        garbage::free_all(rest.flatten());
    }
}
