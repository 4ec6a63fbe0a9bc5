//! What a thread has in its hands: a place in the list, and slots of it.

use super::domain::Domain;
use super::record::{Record, SLOTS};
use super::retired::{BATCH_WEIGHT, Retired};
use crate::atomic::{AtomicPtr, Ordering};
use crate::barrier::Barrier;
use crate::garbage::{Garbage, free_all, is_freeing, weight};
use crate::mutation::{self, Mutation};
use crate::registry::{Identity, Slot};
use core::cell::{Cell, RefCell};
use core::ptr::{NonNull, null_mut};

/// A place among those who take part in a [`Domain`]. One thread uses it at a time: it can be sent,
/// and not shared.
///
/// Dropping it gives the place back and hands its garbage on. If 1024 objects were left so, the
/// handle that leaves the last of them reclaims them, and waits for the barrier.
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::hazard::Domain;
/// let handle = Domain::new().register();
/// std::thread::scope(|scope| drop(scope.spawn(|| handle.flush())));
/// ```
pub struct Handle {
    /// The first is there always, and says how much is retired.
    blocks: RefCell<Vec<Block>>,
    retired: RefCell<Retired>,
    /// How many objects are being freed.
    freeing: Cell<usize>,
    first: NonNull<Slot<Record>>,
    domain: Domain,
}

/// A record of the handle, and which of its slots are given out, a bit for each.
struct Block {
    record: NonNull<Slot<Record>>,
    used: u8,
}

const ALL_USED: u8 = u8::MAX >> (8 - SLOTS);

// SAFETY: it owns its records, and whoever has the handle is the only one that writes into them. No
// hazard borrows the handle while it is moved.
unsafe impl Send for Handle {}

impl Handle {
    pub(super) fn new(domain: Domain) -> Handle {
        let first = NonNull::from(domain.shared().records.claim(Record::new));
        domain.shared().handles.enter();
        Handle {
            blocks: RefCell::new(vec![Block { record: first, used: 0 }]),
            retired: RefCell::new(Retired::new()),
            freeing: Cell::new(0),
            first,
            domain,
        }
    }

    /// A slot, to protect one object after the other with. It is worth keeping: to take one and to
    /// give it back costs more than to use it.
    pub fn hazard(&self) -> Hazard<'_> {
        let mut blocks = self.blocks.borrow_mut();
        let block = blocks.iter().position(|block| block.used != ALL_USED).unwrap_or_else(|| {
            let record = NonNull::from(self.domain.shared().records.claim(Record::new));
            blocks.push(Block { record, used: 0 });
            blocks.len() - 1
        });
        let index = blocks[block].used.trailing_ones() as usize;
        blocks[block].used |= 1 << index;
        // SAFETY: the record is in the domain's list, and the handle keeps the domain.
        let record = unsafe { blocks[block].record.as_ref() };
        let slot = &record.slots[index];
        Hazard { slot, barrier: self.domain.barrier(), handle: self, block, index }
    }

    /// Drops a box once nobody protects it.
    ///
    /// # Safety
    /// - `object` came from `Box::into_raw`, is retired once, and nobody else frees it.
    /// - It is unlinked: whoever looks into the sources from now on does not find it. Whoever reads
    ///   it has protected it in this domain, by this address.
    /// - If `T` borrows something, that lives longer than the domain.
    ///
    /// A `T` of no size does not compile: its boxes have one address, so to protect one would be to
    /// keep all of them, without a bound.
    ///
    /// ```compile_fail,E0080
    /// # use tiebreak_sync::hazard::Domain;
    /// // SAFETY: it came from a box and was never shared.
    /// unsafe { Domain::new().register().retire(Box::into_raw(Box::new(()))) };
    /// ```
    ///
    /// ```
    /// use std::sync::atomic::{AtomicPtr, Ordering};
    /// use tiebreak_sync::hazard::Domain;
    ///
    /// let handle = Domain::new().register();
    /// let source = AtomicPtr::new(Box::into_raw(Box::new(1)));
    /// let mut hazard = handle.hazard();
    /// // SAFETY: the source holds a box until it is retired below.
    /// let one = unsafe { hazard.protect(&source) }.unwrap();
    /// let old = source.swap(std::ptr::null_mut(), Ordering::AcqRel);
    /// // SAFETY: it came from a box, and the swap took away the only way to it.
    /// unsafe { handle.retire(old) };
    /// handle.flush();
    /// assert_eq!((*one, handle.domain().pending()), (1, 1));
    /// hazard.clear();
    /// handle.flush();
    /// # while handle.domain().pending() > 0 { handle.flush() }
    /// assert_eq!(handle.domain().pending(), 0);
    /// ```
    #[inline]
    pub unsafe fn retire<T: Send>(&self, object: *mut T) {
        const { assert!(size_of::<T>() > 0, "boxes of no size cannot be told apart") };
        // SAFETY: the caller promises what is needed; `T` is `Send`, so any thread may drop it.
        self.push(unsafe { Garbage::boxed(object) }, weight(size_of::<T>()));
    }

    /// Like [`retire`](Self::retire), for objects that are no boxes, or whose parts have gone
    /// elsewhere: `free` is called instead of dropping.
    ///
    /// # Safety
    /// As for [`retire`](Self::retire), but that `free(object)` may be called once, by any thread,
    /// once nobody protects it.
    #[inline]
    pub unsafe fn retire_with<T>(&self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        self.push(unsafe { Garbage::new(object, free) }, weight(size_of::<T>()));
    }

    /// As [`retire_with`](Self::retire_with), but nothing is freed now.
    ///
    /// # Safety
    /// The same.
    #[inline]
    pub(crate) unsafe fn keep_with<T>(&self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        self.keep(unsafe { Garbage::new(object, free) }, weight(size_of::<T>()));
    }

    /// Frees what may be freed, if much was kept.
    #[inline]
    pub(crate) fn flush_if_full(&self) {
        if self.retired.borrow().is_due() {
            self.reclaim();
        }
    }

    #[inline]
    fn push(&self, garbage: Garbage, weight: usize) {
        self.keep(garbage, weight);
        self.flush_if_full();
    }

    #[inline]
    fn keep(&self, garbage: Garbage, weight: usize) {
        self.retired.borrow_mut().push(garbage, weight);
        self.count();
    }

    /// Frees what this handle has retired and nobody protects. It does not wait for a barrier that
    /// is done by others ([`Ticket`](crate::barrier::Ticket)): a later call goes on. Every other
    /// barrier it does itself. Inside of what is freed it does nothing.
    pub fn flush(&self) {
        self.reclaim();
    }

    /// A thread that is in the middle of freeing does not come here.
    #[cold]
    fn reclaim(&self) {
        if is_freeing() {
            return;
        }
        let _done = Reclaiming(self);
        loop {
            let free = self.retired.borrow_mut().reclaim(self.domain.shared(), false);
            self.freeing.set(free.len());
            free_all(free);
            self.freeing.set(0);
            if !self.retired.borrow().is_due() {
                return;
            }
        }
    }

    /// Tells the others how much there is.
    #[inline]
    fn count(&self) {
        let count = self.retired.borrow().count() + self.freeing.get();
        // SAFETY: as in `hazard`. Relaxed: see `Domain::pending`.
        unsafe { self.first.as_ref() }.retired.store(count, Ordering::Relaxed);
    }

    /// What belongs to the domain knows it by this.
    #[inline(always)]
    pub(super) fn identity(&self) -> Identity {
        self.domain.identity()
    }

    /// Its domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }
}

/// Ends the reclaiming, also if freeing panicked.
struct Reclaiming<'h>(&'h Handle);

impl Drop for Reclaiming<'_> {
    fn drop(&mut self) {
        self.0.freeing.set(0);
        self.0.count();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let shared = self.domain.shared();
        let _leaving = shared.handles.leave();
        for block in self.blocks.get_mut() {
            // SAFETY: as in `hazard`.
            let record = unsafe { block.record.as_ref() };
            // Hazards that are alive would borrow the handle; those that were forgotten end here.
            record.clear();
            record.retired.store(0, Ordering::Relaxed);
            record.release();
        }
        let items = self.retired.replace(Retired::new()).into_items();
        let count = items.len();
        if count > 0 && shared.left.push(items, count) >= BATCH_WEIGHT && !is_freeing() {
            let mut all = Retired::new();
            let free = all.reclaim(shared, true);
            let stay = all.into_items();
            if !stay.is_empty() {
                let count = stay.len();
                shared.left.push(stay, count);
            }
            free_all(free);
        }
    }
}

impl core::fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Handle").field("domain", &self.domain).finish_non_exhaustive()
    }
}

/// A slot: it protects one object at a time, for the thread that has the handle.
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::hazard::Domain;
/// let handle = Domain::new().register();
/// let hazard = handle.hazard();
/// std::thread::scope(|scope| drop(scope.spawn(move || drop(hazard))));
/// ```
pub struct Hazard<'h> {
    slot: &'h AtomicPtr<()>,
    barrier: Barrier,
    handle: &'h Handle,
    block: usize,
    index: usize,
}

impl Hazard<'_> {
    /// Protects what the source holds, and gives a reference to it, until this slot is used for
    /// something else or dropped. It looks again until the source has not changed meanwhile.
    ///
    /// # Safety
    /// The source holds null or pointers to objects that are valid, and stay so until, after they
    /// were unlinked from it, they are retired in this domain and nobody protects them. Who stored
    /// them did so with release.
    #[inline(always)]
    pub unsafe fn protect<T>(&mut self, source: &AtomicPtr<T>) -> Option<&T> {
        // SAFETY: the source held it after it was published, so it is not freed while it is.
        unsafe { self.protect_pointer(source).as_ref() }
    }

    /// As [`protect`](Self::protect); the caller decides what to do with the pointer.
    #[inline(always)]
    pub fn protect_pointer<T>(&mut self, source: &AtomicPtr<T>) -> *mut T {
        // Relaxed: a guess, which is checked below.
        let mut pointer = source.load(Ordering::Relaxed);
        loop {
            self.publish(pointer);
            // Acquire: who stored the pointer had filled what it points to.
            let again = source.load(Ordering::Acquire);
            if again == pointer || mutation::is(Mutation::HazardWithoutReload) {
                return pointer;
            }
            pointer = again;
        }
    }

    /// Publishes a pointer and takes the light side. The object is protected if the caller finds,
    /// after this, that it is still linked.
    #[inline(always)]
    pub fn publish<T>(&mut self, pointer: *mut T) {
        // Release: what was read under the old pointer is over for who reads the new one.
        self.slot.store(pointer.cast(), Ordering::Release);
        self.barrier.light();
    }

    /// Protects nothing any more.
    #[inline(always)]
    pub fn clear(&mut self) {
        // Release: as in `publish`.
        self.slot.store(null_mut(), Ordering::Release);
    }

    /// As [`Handle::identity`].
    #[inline(always)]
    pub(super) fn identity(&self) -> Identity {
        self.handle.identity()
    }

    /// Whether it is a slot of this domain.
    #[inline(always)]
    pub fn is_of(&self, domain: &Domain) -> bool {
        self.identity() == domain.identity()
    }
}

impl Drop for Hazard<'_> {
    fn drop(&mut self) {
        self.clear();
        self.handle.blocks.borrow_mut()[self.block].used &= !(1 << self.index);
    }
}

impl core::fmt::Debug for Hazard<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Relaxed: the address is only shown.
        formatter.debug_tuple("Hazard").field(&self.slot.load(Ordering::Relaxed)).finish()
    }
}
