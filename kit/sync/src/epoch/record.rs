//! What a registered thread has in the list: the word that others read, and what is its own.

use super::collector::Shared;
use crate::atomic::{AtomicU64, Ordering};
use crate::barrier::Barrier;
use crate::garbage::{Garbage, is_freeing, weight};
use crate::registry::{Identity, Slot};
use core::cell::{Cell, RefCell};
use core::ptr::NonNull;

/// A bag of this weight is handed on.
const BAG_WEIGHT: usize = 64;

/// Set in `depth` once the handle is gone: the last guard gives the record back.
const IS_ORPHAN: u64 = 1 << 63;

/// One of the list. Its owner is whoever claimed its slot; all but `pin` is the owner's.
pub(super) struct Record {
    /// 0 if not pinned, else the epoch, which is odd. Written by the owner only.
    pin: AtomicU64,
    barrier: Barrier,
    /// That of the collector, here because each use of an `Atomic` asks for it.
    identity: Identity,
    shared: NonNull<Shared>,
    /// How many guards there are, and `IS_ORPHAN`.
    depth: Cell<u64>,
    bag: RefCell<Vec<Garbage>>,
    bag_weight: Cell<usize>,
}

// SAFETY: `pin` is an atomic, and `barrier`, `identity` and `shared` do not
// change. The rest is touched by the
// owner only: claiming and giving back a slot hand it from one owner to the next with acquire and
// release. `Handle` and `Guard`, through which owners act, are not `Sync`, and a `Handle` cannot be
// sent while it is borrowed by a `Guard`, which is not `Send`.
unsafe impl Sync for Record {}
// SAFETY: as above; what is in the bag is `Send`, and `shared` outlives the record: it owns it.
unsafe impl Send for Record {}

impl Record {
    pub(super) fn new(shared: &Shared) -> Record {
        Record {
            pin: AtomicU64::new(0),
            barrier: shared.barrier(),
            identity: shared.identity(),
            shared: NonNull::from(shared),
            depth: Cell::new(0),
            bag: RefCell::new(Vec::new()),
            bag_weight: Cell::new(0),
        }
    }

    /// The collector whose list this record is in.
    #[inline(always)]
    pub(super) fn shared(&self) -> &Shared {
        // SAFETY: the collector owns its records, so it is there as long as this one is.
        unsafe { self.shared.as_ref() }
    }

    /// Of which collector it is.
    #[inline(always)]
    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    /// What others see: 0, or the epoch of the pin.
    pub(super) fn pinned_epoch(&self) -> u64 {
        // Acquire: what the owner read before it stored this is over.
        self.pin.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn publish(&self, epoch: u64) {
        // Release: what was read under an earlier pin of this record is over for who reads this.
        self.pin.store(epoch, Ordering::Release);
        self.barrier.light();
    }

    /// One more guard.
    #[inline(always)]
    pub(super) fn enter(&self) {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        if depth == 0 {
            self.publish(self.shared().epoch());
        }
    }

    /// One guard less.
    #[inline(always)]
    pub(super) fn leave(slot: &Slot<Record>) {
        let depth = slot.depth.get();
        slot.depth.set(depth - 1);
        if depth == 1 {
            // Release: what was read under this pin is over for who reads this.
            slot.pin.store(0, Ordering::Release);
        } else if depth == IS_ORPHAN + 1 {
            Record::retreat_at_the_end(slot);
        }
    }

    /// Begins the pin anew if there is one guard only.
    #[inline]
    pub(super) fn renew(&self) {
        let epoch = self.shared().epoch();
        // Relaxed: the owner reads its own store. With the same epoch, the pin that is there will
        // do.
        if self.depth.get() & !IS_ORPHAN == 1 && self.pin.load(Ordering::Relaxed) != epoch {
            self.publish(epoch);
        }
    }

    /// Puts an object of a size into the bag, and hands the bag on if it is full.
    #[inline]
    pub(super) fn retire(&self, garbage: Garbage, size_bytes: usize) {
        self.keep(garbage, size_bytes);
        self.flush_if_full();
    }

    /// Puts an object of a size into the bag. Nothing is freed now.
    #[inline]
    pub(super) fn keep(&self, garbage: Garbage, size_bytes: usize) {
        self.bag_weight.set(self.bag_weight.get() + weight(size_bytes));
        let mut bag = self.bag.borrow_mut();
        if bag.capacity() == 0 {
            bag.reserve_exact(BAG_WEIGHT);
        }
        bag.push(garbage);
    }

    /// Hands the bag on if it is full, and collects if it is time to.
    #[inline]
    pub(super) fn flush_if_full(&self) {
        if self.bag_weight.get() >= BAG_WEIGHT {
            self.flush(false);
        }
    }

    /// Hands the bag on, and collects: if it is time to, or in any case. A thread that is in the
    /// middle of freeing does not.
    #[cold]
    pub(super) fn flush(&self, is_forced: bool) {
        let bag = self.bag.take();
        if !bag.is_empty() {
            self.shared().hand_on(bag, self.bag_weight.replace(0));
        }
        if !is_freeing() {
            self.shared().collect(is_forced);
        }
    }

    /// The handle goes: unpins, whatever guards were forgotten, and gives the record back.
    pub(super) fn retreat(slot: &Slot<Record>) {
        // Release: as in `leave`.
        slot.pin.store(0, Ordering::Release);
        slot.depth.set(0);
        let _released = Released(slot);
        slot.flush(false);
    }

    /// As `retreat`, at the end of the thread: nothing is there that a panic could go on to.
    #[cold]
    fn retreat_at_the_end(slot: &Slot<Record>) {
        #[cfg(not(loom))]
        crate::garbage::end_quietly(|| Record::retreat(slot));
        // A model has no thread-local handles.
        #[cfg(loom)]
        Record::retreat(slot);
    }

    /// The thread-local handle goes: guards may be alive, then the last one gives the record back.
    #[cfg(not(loom))]
    pub(super) fn abandon(slot: &Slot<Record>) {
        if slot.depth.get() == 0 {
            Record::retreat_at_the_end(slot);
        } else {
            slot.depth.set(slot.depth.get() | IS_ORPHAN);
        }
    }
}

/// Gives the record back, also if freeing panicked.
struct Released<'r>(&'r Slot<Record>);

impl Drop for Released<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}
