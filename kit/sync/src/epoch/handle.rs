//! The two things that a thread has in its hands: a place in the list, and a pin.

use super::collector::Collector;
use super::record::Record;
use crate::garbage::Garbage;
use crate::registry::{Identity, Slot};
use core::marker::PhantomData;
use core::ptr::NonNull;

/// A place among those who take part in a [`Collector`]. One thread uses it at a time: it can be
/// sent, and not shared.
///
/// Dropping it gives the place back and hands its garbage on.
///
/// ```
/// # use tiebreak_sync::epoch::Collector;
/// let handle = Collector::new().register();
/// std::thread::spawn(move || drop(handle.pin())).join().unwrap();
/// ```
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::epoch::Collector;
/// let handle = Collector::new().register();
/// std::thread::scope(|scope| drop(scope.spawn(|| handle.pin().flush())));
/// ```
pub struct Handle {
    slot: NonNull<Slot<Record>>,
    collector: Collector,
}

// SAFETY: it owns its record, and whoever has the handle is the only one that touches the owner's
// part of it. No guard borrows the handle while it is moved.
unsafe impl Send for Handle {}

impl Handle {
    pub(super) fn new(collector: Collector) -> Handle {
        Handle { slot: NonNull::from(collector.shared().claim()), collector }
    }

    #[inline(always)]
    fn slot(&self) -> &Slot<Record> {
        // SAFETY: the collector owns the slot, and the handle keeps the collector.
        unsafe { self.slot.as_ref() }
    }

    /// Pins: what is reachable from now on stays, until the guard is dropped. Pins nest, and inner
    /// ones cost a count only; the outermost decides.
    #[inline(always)]
    pub fn pin(&self) -> Guard<'_> {
        self.slot().enter();
        // SAFETY: `enter` was called, and the handle, which is borrowed, keeps the collector.
        unsafe { Guard::new(self.slot) }
    }

    /// Hands on what this handle has retired, and does one step of collecting, unless another
    /// thread is at it. It does not wait for readers: what they hold is freed by a later call. It
    /// may do a heavy side of the barrier. Inside of what is freed it only hands on: what is freed
    /// there would make a long chain of objects a deep recursion.
    pub fn flush(&self) {
        self.slot().flush(true);
    }

    /// Frees what may be freed, if much was kept.
    #[inline]
    pub(crate) fn flush_if_full(&self) {
        self.slot().flush_if_full();
    }

    /// Its number in the collector, as [`OldestPin`](super::OldestPin) tells it.
    pub fn record(&self) -> usize {
        self.slot().number()
    }

    /// Its collector.
    pub fn collector(&self) -> &Collector {
        &self.collector
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Guards that are alive would borrow the handle. References that a forgotten guard gave out
        // borrowed it too, so nobody has one any more.
        Record::retreat(self.slot());
    }
}

impl core::fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Handle").field("record", &self.record()).finish_non_exhaustive()
    }
}

/// A pin: as long as it is there, what its thread can reach is not freed. It belongs to its thread.
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::epoch;
/// let guard = epoch::pin();
/// std::thread::scope(|scope| drop(scope.spawn(move || drop(guard))));
/// ```
pub struct Guard<'h> {
    slot: NonNull<Slot<Record>>,
    handle: PhantomData<&'h Handle>,
}

impl<'h> Guard<'h> {
    /// # Safety
    /// `Record::enter` was called on this slot for it, by the slot's owner, and the collector lives
    /// as long as `'h`.
    #[inline(always)]
    pub(super) unsafe fn new(slot: NonNull<Slot<Record>>) -> Guard<'h> {
        Guard { slot, handle: PhantomData }
    }

    #[inline(always)]
    fn slot(&self) -> &Slot<Record> {
        // SAFETY: the slot lives as long as its collector, which lives as long as `'h`.
        unsafe { self.slot.as_ref() }
    }

    /// Calls a function once everyone who is pinned now has unpinned. Which thread calls it, and
    /// whether in the middle of a `retire` of its own, is open. It allocates if the function has
    /// captured something.
    ///
    /// ```
    /// use tiebreak_sync::epoch;
    ///
    /// let file = tempfile::NamedTempFile::new()?;
    /// epoch::pin().defer(move || drop(file));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn defer<F: FnOnce() + Send + 'static>(&self, call: F) {
        self.slot().retire(Garbage::closure(call), size_of::<F>());
    }

    /// Drops a box once everyone who is pinned now has unpinned.
    ///
    /// # Safety
    /// - `object` came from `Box::into_raw`, is retired once, and nobody else frees it.
    /// - It is unlinked: a thread that pins this collector from now on finds no way to it. Whoever
    ///   reads it was pinned before, and read it under that pin.
    /// - If `T` borrows something, that lives longer than the collector.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicPtr, Ordering};
    /// use tiebreak_sync::epoch;
    ///
    /// let shared = AtomicPtr::new(Box::into_raw(Box::new(1)));
    /// let guard = epoch::pin();
    /// let old = shared.swap(Box::into_raw(Box::new(2)), Ordering::AcqRel);
    /// // SAFETY: it came from a box, and the swap took away the only way to it.
    /// unsafe { guard.retire(old) };
    /// # drop(unsafe { Box::from_raw(shared.into_inner()) });
    /// ```
    #[inline]
    pub unsafe fn retire<T: Send>(&self, object: *mut T) {
        // SAFETY: the caller promises what is needed; `T` is `Send`, so any thread may drop it.
        self.slot().retire(unsafe { Garbage::boxed(object) }, size_of::<T>());
    }

    /// Like [`retire`](Self::retire), for objects that are no boxes, or whose parts have gone
    /// elsewhere: `free` is called instead of dropping.
    ///
    /// # Safety
    /// As for [`retire`](Self::retire), but that `free(object)` may be called once, by any thread,
    /// once everyone who is pinned now has unpinned.
    #[inline]
    pub unsafe fn retire_with<T>(&self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        self.slot().retire(unsafe { Garbage::new(object, free) }, size_of::<T>());
    }

    /// As [`retire_with`](Self::retire_with), but nothing is freed now.
    ///
    /// # Safety
    /// The same.
    #[inline]
    pub(crate) unsafe fn keep_with<T>(&self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        self.slot().keep(unsafe { Garbage::new(object, free) }, size_of::<T>());
    }

    /// As [`Handle::flush`].
    pub fn flush(&self) {
        self.slot().flush(true);
    }

    /// As if it were dropped and pinned anew, in place; what was read under it is given up. With
    /// other guards of the same handle alive it does nothing. It costs a load if the epoch is still
    /// the same.
    #[inline]
    pub fn repin(&mut self) {
        self.slot().renew();
    }

    /// What belongs to the collector knows it by this.
    #[inline(always)]
    pub(super) fn identity(&self) -> Identity {
        self.slot().identity()
    }

    /// Whether it pins this collector.
    #[inline(always)]
    pub fn is_of(&self, collector: &Collector) -> bool {
        self.identity() == collector.identity()
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        Record::leave(self.slot());
    }
}

impl core::fmt::Debug for Guard<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Guard").field("record", &self.slot().number()).finish()
    }
}
