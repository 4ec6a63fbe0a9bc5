//! A pointer that owns what it points to, and that readers follow under a pin.

use super::collector::Collector;
use super::handle::Guard;
use crate::atomic::Ordering;
use crate::owning::Owning;

/// A place for a box, or for none, that readers look into while writers replace it. What is
/// replaced is retired. No call of it is unsafe, because nobody else has a way to the boxes.
///
/// It does not keep its collector: what is retired may have such places in itself. A collector that
/// goes frees what was retired; what an `Atomic` still holds goes with the `Atomic`. So a long
/// chain through such places is dropped by a deep recursion, as one of boxes is: take it apart in a
/// loop.
///
/// Threads share it as they share `&T` and hand over `T`:
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::epoch::{Atomic, Collector};
/// fn share<T: Sync>(_: T) {}
/// share(Atomic::new(&Collector::new(), Box::new(std::cell::Cell::new(1))));
/// ```
///
/// What it gives out ends with the guard:
///
/// ```compile_fail,E0505
/// # use tiebreak_sync::epoch::{Atomic, Collector};
/// let collector = Collector::new();
/// let atomic = Atomic::new(&collector, Box::new(1));
/// let handle = collector.register();
/// let guard = handle.pin();
/// let seen = atomic.load(&guard);
/// drop(guard);
/// println!("{seen:?}");
/// ```
///
/// It tells boxes by their addresses, and all boxes of no size have the same one:
///
/// ```compile_fail,E0080
/// # use tiebreak_sync::epoch::{Atomic, Collector};
/// Atomic::new(&Collector::new(), Box::new(()));
/// ```
pub struct Atomic<T> {
    place: Owning<T>,
}

impl<T: Send + Sync + 'static> Atomic<T> {
    /// With a value from the beginning.
    pub fn new(collector: &Collector, value: Box<T>) -> Atomic<T> {
        Atomic { place: Owning::new(collector.identity(), Some(value)) }
    }

    /// Without one.
    pub fn empty(collector: &Collector) -> Atomic<T> {
        Atomic { place: Owning::new(collector.identity(), None) }
    }

    /// What is there now.
    ///
    /// # Panics
    /// If the guard pins another collector; as do the others.
    #[inline]
    pub fn load<'g>(&'g self, guard: &'g Guard<'_>) -> Option<&'g T> {
        self.check(guard);
        // Acquire: who stored the box had filled it.
        let pointer = self.place.source().load(Ordering::Acquire);
        // SAFETY: null or a box of ours. It is freed once it is replaced and this guard is gone, or
        // with `self`, which is borrowed.
        unsafe { pointer.as_ref() }
    }

    /// Puts another in its place, and retires what was there.
    pub fn store(&self, value: Option<Box<T>>, guard: &Guard<'_>) {
        self.check(guard);
        // SAFETY: it is ours to retire, and the guard is of its collector.
        unsafe { retire(self.place.replace(value), guard) };
    }

    /// Puts another in the place of `current`, as [`load`](Self::load) gave it under this guard,
    /// and retires that.
    ///
    /// # Errors
    /// If it is another by now, the new one comes back.
    pub fn compare_exchange(
        &self,
        current: Option<&T>,
        value: Option<Box<T>>,
        guard: &Guard<'_>,
    ) -> Result<(), Option<Box<T>>> {
        self.check(guard);
        let old = self.place.replace_if(current, value)?;
        // SAFETY: as in `store`.
        unsafe { retire(old, guard) };
        Ok(())
    }

    #[inline(always)]
    fn check(&self, guard: &Guard<'_>) {
        assert!(
            self.place.is_of(guard.identity()),
            "the guard pins another collector than this one's"
        );
    }
}

/// # Safety
/// `old` is null, or a box of an [`Atomic`] of the guard's collector from which it was taken.
unsafe fn retire<T: Send + 'static>(old: *mut T, guard: &Guard<'_>) {
    if !old.is_null() {
        // SAFETY: the only way to it was the pointer from which it was taken.
        unsafe { guard.retire(old) };
    }
}

impl<T> core::fmt::Debug for Atomic<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.place.fmt(formatter)
    }
}
