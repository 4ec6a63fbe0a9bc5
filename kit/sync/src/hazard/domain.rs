//! What the threads of one domain share.

use super::handle::Handle;
use super::record::{Record, SLOTS};
use super::retired::{BATCH_WEIGHT, SLOW_WEIGHT_MAX};
use crate::atomic::Ordering;
use crate::barrier::Barrier;
use crate::garbage::List;
use crate::registry::{Identity, Registry};
use core::sync::atomic::AtomicUsize;
use std::sync::Arc;

/// Those who share objects, and what they have retired. A clone is the same domain.
///
/// It lives as long as a clone of it or a [`Handle`] does. What is retired and not freed yet is
/// freed when it goes; so what is retired in it must own neither, or both stay for ever.
#[derive(Clone)]
pub struct Domain {
    /// Here and not in what is shared, because each use of an `Atomic` asks for it.
    identity: Identity,
    shared: Arc<Shared>,
}

impl Domain {
    /// One with the barrier of the process, [`Barrier::process`].
    pub fn new() -> Domain {
        Domain::with_barrier(Barrier::process())
    }

    /// One with this barrier.
    pub fn with_barrier(barrier: Barrier) -> Domain {
        let (records, left) = (Registry::new(), List::new());
        let shared = Shared { barrier, records, left, handles: Handles::default() };
        Domain { identity: Identity::new(), shared: Arc::new(shared) }
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

    /// How many objects were retired and are not freed yet. Exact if nobody retires meanwhile.
    pub fn pending(&self) -> usize {
        // Relaxed: it says about how much there is.
        let retired = |record: &Record| record.retired.load(Ordering::Relaxed);
        let of_handles: usize = self.shared.records.iter().map(|slot| retired(slot)).sum();
        of_handles + self.shared.left.count()
    }

    /// How many objects can be retired and not freed at most, with as many handles and slots as
    /// there were at once so far: `(N + 1) * (R + 1024) + H`, see the module.
    ///
    /// ```
    /// use tiebreak_sync::barrier::Barrier;
    /// use tiebreak_sync::hazard::Domain;
    ///
    /// let domain = Domain::with_barrier(Barrier::seq_cst());
    /// let handle = domain.register();
    /// let hazards: Vec<_> = (0..1000).map(|_| handle.hazard()).collect();
    /// assert_eq!(domain.bound(), (1 + 1) * (1024 + 1024) + hazards.len());
    /// ```
    pub fn bound(&self) -> usize {
        let handles = self.shared.handles.most();
        let slots = self.shared.records.len() * SLOTS;
        let has_tickets = self.shared.barrier.strategy().is_asynchronous();
        let unseen = if has_tickets { SLOW_WEIGHT_MAX } else { BATCH_WEIGHT };
        (handles + 1) * (unseen + BATCH_WEIGHT) + slots
    }

    /// What those who belong to it know it by.
    #[inline(always)]
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Default for Domain {
    fn default() -> Domain {
        Domain::new()
    }
}

/// Whether they are the same one.
impl PartialEq for Domain {
    fn eq(&self, other: &Domain) -> bool {
        self.identity == other.identity
    }
}

impl Eq for Domain {}

impl core::fmt::Debug for Domain {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("Domain")
            .field("barrier", &self.shared.barrier)
            .field("records", &self.shared.records.len())
            .field("pending", &self.pending())
            .finish()
    }
}

/// What handles and clones refer to. What is left when it goes, the list frees.
pub(super) struct Shared {
    pub(super) barrier: Barrier,
    pub(super) records: Registry<Record>,
    /// What handles that are gone had retired.
    pub(super) left: List,
    pub(super) handles: Handles,
}

/// How many handles there are. Not watched by a model checker: nothing but figures comes of it.
#[derive(Default)]
pub(super) struct Handles {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Handles {
    /// One more.
    pub(super) fn enter(&self) {
        // Relaxed, here and below: who sees what a handle retired has seen it come.
        let before = self.now.fetch_add(1, Ordering::Relaxed);
        self.most.fetch_max(before + 1, Ordering::Relaxed);
    }

    /// One less, when this is dropped.
    pub(super) fn leave(&self) -> Leaving<'_> {
        Leaving(self)
    }

    /// How many there were at once.
    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

/// A handle that goes, and stays one until it has freed what it frees, also if that panics.
pub(super) struct Leaving<'h>(&'h Handles);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    /// What anyone protects, sorted.
    pub(super) fn protected(&self) -> Vec<*mut ()> {
        let mut protected: Vec<_> =
            self.records.iter().flat_map(|record| record.protected()).collect();
        protected.sort_unstable();
        protected
    }
}
