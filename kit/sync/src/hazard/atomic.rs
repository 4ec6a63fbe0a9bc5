//! A pointer that owns what it points to, and that readers follow under a hazard.

use super::domain::Domain;
use super::handle::{Handle, Hazard};
use crate::atomic::{AtomicPtr, Ordering};
use core::marker::PhantomData;
use core::ptr::null_mut;

/// A place for a box, or for none, that readers look into while writers replace it. What is
/// replaced is retired. No call of it is unsafe, because nobody else has a way to the boxes.
///
/// Threads share it as they share `&T` and hand over `T`:
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::hazard::{Atomic, Domain};
/// fn share<T: Sync>(_: T) {}
/// share(Atomic::new(&Domain::new(), Box::new(std::cell::Cell::new(1))));
/// ```
///
/// What it gives out ends when the slot is used again:
///
/// ```compile_fail,E0499
/// # use tiebreak_sync::hazard::{Atomic, Domain};
/// let domain = Domain::new();
/// let atomic = Atomic::new(&domain, Box::new(1));
/// let handle = domain.register();
/// let mut hazard = handle.hazard();
/// let seen = atomic.load(&mut hazard);
/// atomic.load(&mut hazard);
/// println!("{seen:?}");
/// ```
pub struct Atomic<T> {
    pointer: AtomicPtr<T>,
    domain: Domain,
    owned: PhantomData<Box<T>>,
}

// SAFETY: it owns a `T` and hands out `&T`, to whichever thread; an old `T` is dropped by any.
unsafe impl<T: Send + Sync> Send for Atomic<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Atomic<T> {}

impl<T: Send + Sync + 'static> Atomic<T> {
    /// With a value from the beginning.
    pub fn new(domain: &Domain, value: Box<T>) -> Atomic<T> {
        Atomic::of(domain, Box::into_raw(value))
    }

    /// Without one.
    pub fn empty(domain: &Domain) -> Atomic<T> {
        Atomic::of(domain, null_mut())
    }

    fn of(domain: &Domain, pointer: *mut T) -> Atomic<T> {
        let pointer = AtomicPtr::new(pointer);
        Atomic { pointer, domain: domain.clone(), owned: PhantomData }
    }

    /// What is there now, until the slot is used for something else.
    ///
    /// # Panics
    /// If the slot is of another domain.
    #[inline]
    pub fn load<'g>(&'g self, hazard: &'g mut Hazard<'_>) -> Option<&'g T> {
        assert!(hazard.is_of(&self.domain), "the slot is of another domain than this one's");
        // SAFETY: it holds null or boxes of ours, which are retired in this domain once they are
        // replaced, or freed with `self`, which is borrowed. They are stored with release.
        unsafe { hazard.protect(&self.pointer) }
    }

    /// Puts another in its place, and retires what was there.
    ///
    /// # Panics
    /// If the handle is of another domain.
    pub fn store(&self, value: Option<Box<T>>, handle: &Handle) {
        self.check(handle);
        // Acquire and release: this thread retires the old box and publishes the new one.
        let old = self.pointer.swap(into_raw(value), Ordering::AcqRel);
        // SAFETY: the swap gave it to us alone.
        unsafe { retire(old, handle) };
    }

    /// Puts another in the place of `current`, as [`load`](Self::load) gave it, and retires that.
    ///
    /// # Errors
    /// If it is another by now, the new one comes back.
    ///
    /// # Panics
    /// If the handle is of another domain.
    pub fn compare_exchange(
        &self,
        current: Option<&T>,
        value: Option<Box<T>>,
        handle: &Handle,
    ) -> Result<(), Option<Box<T>>> {
        self.check(handle);
        let current = current.map_or(null_mut(), |current| core::ptr::from_ref(current).cast_mut());
        let new = into_raw(value);
        // Acquire and release: as in `store`. Relaxed on failure: nothing that was read is used.
        match self.pointer.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(old) => {
                // SAFETY: the exchange gave it to us alone.
                unsafe { retire(old, handle) };
                Ok(())
            }
            Err(_) if new.is_null() => Err(None),
            // SAFETY: it came from a box just now, and was not published.
            Err(_) => Err(Some(unsafe { Box::from_raw(new) })),
        }
    }

    #[inline(always)]
    fn check(&self, handle: &Handle) {
        assert!(handle.domain() == &self.domain, "the handle is of another domain than this one's");
    }
}

fn into_raw<T>(value: Option<Box<T>>) -> *mut T {
    value.map_or(null_mut(), Box::into_raw)
}

/// # Safety
/// `old` is null, or a box of an [`Atomic`] of the handle's domain from which it was taken.
unsafe fn retire<T: Send + 'static>(old: *mut T, handle: &Handle) {
    if !old.is_null() {
        // SAFETY: the only way to it was the pointer from which it was taken.
        unsafe { handle.retire(old) };
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
