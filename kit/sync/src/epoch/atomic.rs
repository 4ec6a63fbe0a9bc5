//! A pointer that owns what it points to, and that readers follow under a pin.

use super::collector::Collector;
use super::handle::Guard;
use crate::atomic::{AtomicPtr, Ordering};
use core::marker::PhantomData;
use core::ptr::null_mut;

/// A place for a box, or for none, that readers look into while writers replace it. What is
/// replaced is retired. No call of it is unsafe, because nobody else has a way to the boxes.
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
pub struct Atomic<T> {
    pointer: AtomicPtr<T>,
    collector: Collector,
    owned: PhantomData<Box<T>>,
}

// SAFETY: it owns a `T` and hands out `&T`, to whichever thread; an old `T` is dropped by any.
unsafe impl<T: Send + Sync> Send for Atomic<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Atomic<T> {}

impl<T: Send + Sync + 'static> Atomic<T> {
    /// With a value from the beginning.
    pub fn new(collector: &Collector, value: Box<T>) -> Atomic<T> {
        Atomic::of(collector, Box::into_raw(value))
    }

    /// Without one.
    pub fn empty(collector: &Collector) -> Atomic<T> {
        Atomic::of(collector, null_mut())
    }

    fn of(collector: &Collector, pointer: *mut T) -> Atomic<T> {
        let pointer = AtomicPtr::new(pointer);
        Atomic { pointer, collector: collector.clone(), owned: PhantomData }
    }

    /// What is there now.
    ///
    /// # Panics
    /// If the guard pins another collector; as do the others.
    #[inline]
    pub fn load<'g>(&'g self, guard: &'g Guard<'_>) -> Option<&'g T> {
        self.check(guard);
        // Acquire: who stored the box had filled it.
        let pointer = self.pointer.load(Ordering::Acquire);
        // SAFETY: null or a box of ours. It is freed once it is replaced and this guard is gone, or
        // with `self`, which is borrowed.
        unsafe { pointer.as_ref() }
    }

    /// Puts another in its place, and retires what was there.
    pub fn store(&self, value: Option<Box<T>>, guard: &Guard<'_>) {
        self.check(guard);
        // Acquire and release: this thread retires the old box and publishes the new one.
        let old = self.pointer.swap(into_raw(value), Ordering::AcqRel);
        // SAFETY: the swap gave it to us alone.
        unsafe { retire(old, guard) };
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
        let current = current.map_or(null_mut(), |current| core::ptr::from_ref(current).cast_mut());
        let new = into_raw(value);
        // Acquire and release: as in `store`. Relaxed on failure: nothing that was read is used.
        match self.pointer.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(old) => {
                // SAFETY: the exchange gave it to us alone.
                unsafe { retire(old, guard) };
                Ok(())
            }
            Err(_) if new.is_null() => Err(None),
            // SAFETY: it came from a box just now, and was not published.
            Err(_) => Err(Some(unsafe { Box::from_raw(new) })),
        }
    }

    #[inline(always)]
    fn check(&self, guard: &Guard<'_>) {
        assert!(guard.is_of(&self.collector), "the guard pins another collector than this one's");
    }
}

fn into_raw<T>(value: Option<Box<T>>) -> *mut T {
    value.map_or(null_mut(), Box::into_raw)
}

/// # Safety
/// `old` is null, or a box of an [`Atomic`] of the guard's collector from which it was taken.
unsafe fn retire<T: Send + 'static>(old: *mut T, guard: &Guard<'_>) {
    if !old.is_null() {
        // SAFETY: the only way to it was the pointer from which it was taken.
        unsafe { guard.retire(old) };
    }
}

impl<T> Drop for Atomic<T> {
    fn drop(&mut self) {
        // Relaxed: it is ours alone. References that `load` gave out borrowed it.
        let pointer = self.pointer.load(Ordering::Relaxed);
        if !pointer.is_null() {
            // SAFETY: a box of ours that was not retired, because it is still here.
            drop(unsafe { Box::from_raw(pointer) });
        }
    }
}

impl<T> core::fmt::Debug for Atomic<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Relaxed: the address is only shown.
        formatter.debug_tuple("Atomic").field(&self.pointer.load(Ordering::Relaxed)).finish()
    }
}
