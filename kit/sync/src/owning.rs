//! What the two `Atomic`s have in common: a pointer that owns a box, or nothing, until the box is
//! taken out to be retired.

use crate::atomic::{AtomicPtr, Ordering};
use crate::registry::Identity;
use core::marker::PhantomData;
use core::ptr::null_mut;

/// The pointer, and the collector or domain in which the boxes are retired.
pub(crate) struct Owning<T> {
    pointer: AtomicPtr<T>,
    reclaim: Identity,
    owned: PhantomData<Box<T>>,
}

// SAFETY: it owns a `T`, and its users hand out `&T`, to whichever thread; an old `T` is dropped by
// any.
unsafe impl<T: Send + Sync> Send for Owning<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Owning<T> {}

impl<T> Owning<T> {
    pub(crate) fn new(reclaim: Identity, value: Option<Box<T>>) -> Owning<T> {
        const { assert!(size_of::<T>() > 0, "boxes of no size have one address: see the type") };
        let pointer = AtomicPtr::new(into_raw(value));
        Owning { pointer, reclaim, owned: PhantomData }
    }

    /// The pointer, to be read: null or a box, which was stored with release.
    #[inline(always)]
    pub(crate) fn source(&self) -> &AtomicPtr<T> {
        &self.pointer
    }

    /// Whether the boxes are retired there.
    #[inline(always)]
    pub(crate) fn is_of(&self, reclaim: Identity) -> bool {
        self.reclaim == reclaim
    }

    /// Puts another in its place. What was there, null or a box, is the caller's to retire.
    pub(crate) fn replace(&self, value: Option<Box<T>>) -> *mut T {
        // Acquire and release: this thread retires the old box and publishes the new one.
        self.pointer.swap(into_raw(value), Ordering::AcqRel)
    }

    /// Puts another in the place of `current`, which is the caller's to retire then, as for
    /// `replace`. If it is another by now, the new one comes back.
    pub(crate) fn replace_if(
        &self,
        current: Option<&T>,
        value: Option<Box<T>>,
    ) -> Result<*mut T, Option<Box<T>>> {
        let current = current.map_or(null_mut(), |current| core::ptr::from_ref(current).cast_mut());
        let new = into_raw(value);
        // Acquire and release: as in `replace`. Relaxed on failure: nothing that was read is used.
        match self.pointer.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(old) => Ok(old),
            Err(_) if new.is_null() => Err(None),
            // SAFETY: it came from a box just now, and was not published.
            Err(_) => Err(Some(unsafe { Box::from_raw(new) })),
        }
    }
}

fn into_raw<T>(value: Option<Box<T>>) -> *mut T {
    value.map_or(null_mut(), Box::into_raw)
}

impl<T> Drop for Owning<T> {
    fn drop(&mut self) {
        // Relaxed: it is ours alone. References that its users gave out borrowed it.
        let pointer = self.pointer.load(Ordering::Relaxed);
        if !pointer.is_null() {
            // SAFETY: a box of ours that was not retired, because it is still here.
            drop(unsafe { Box::from_raw(pointer) });
        }
    }
}

impl<T> core::fmt::Debug for Owning<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Relaxed: the address is only shown.
        formatter.debug_tuple("Atomic").field(&self.pointer.load(Ordering::Relaxed)).finish()
    }
}
