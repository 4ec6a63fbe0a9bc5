//! What the collections need of epochs and of hazard pointers, and nothing else.

use crate::atomic::{AtomicPtr, Ordering};
use crate::registry::Identity;
use crate::{epoch, hazard};
use protect::{Hold, Protect};

/// A way to reclaim that a collection can use: [`epoch::Collector`] or [`hazard::Domain`].
pub trait Reclaim: Protect {}

impl Reclaim for epoch::Collector {}
impl Reclaim for hazard::Domain {}

pub(super) mod protect {
    use super::{AtomicPtr, Identity};

    /// The part of [`Reclaim`](super::Reclaim) that is not for others.
    pub trait Protect {
        /// What a thread registers.
        type Handle;

        /// What keeps objects, with as many places as are used at once.
        type Hold<'h, const PLACES: usize>: Hold;

        /// What the collection knows it by.
        fn identity(&self) -> Identity;

        /// Where a handle is registered.
        fn of(handle: &Self::Handle) -> Identity;

        /// Begins to hold, after it has freed what may be freed if that is much. What is freed may
        /// panic.
        fn hold<const PLACES: usize>(handle: &Self::Handle) -> Self::Hold<'_, PLACES>;
    }

    /// Keeps what it has protected.
    pub trait Hold {
        /// The pointer that the source holds. What it points to stays, if it was linked in the
        /// source, until the place is used again or `self` is gone.
        fn protect<T>(&mut self, place: usize, source: &AtomicPtr<T>) -> *mut T;

        /// Lets everything go, and has `object` freed once nobody holds it: not now, because what
        /// is freed may panic, and whoever retires has taken something that would be lost then.
        ///
        /// # Safety
        /// As for `retire_with` of a guard or of a handle.
        unsafe fn retire<T>(self, object: *mut T, free: unsafe fn(*mut T));
    }
}

impl Protect for epoch::Collector {
    type Handle = epoch::Handle;
    type Hold<'h, const PLACES: usize> = epoch::Guard<'h>;

    fn identity(&self) -> Identity {
        self.identity()
    }

    fn of(handle: &epoch::Handle) -> Identity {
        handle.collector().identity()
    }

    #[inline]
    fn hold<const PLACES: usize>(handle: &epoch::Handle) -> epoch::Guard<'_> {
        handle.flush_if_full();
        handle.pin()
    }
}

impl Hold for epoch::Guard<'_> {
    #[inline]
    fn protect<T>(&mut self, _place: usize, source: &AtomicPtr<T>) -> *mut T {
        // Acquire: who stored the pointer had filled what it points to.
        source.load(Ordering::Acquire)
    }

    #[inline]
    unsafe fn retire<T>(self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        unsafe { self.keep_with(object, free) };
    }
}

/// Hazards, and the handle that they are of.
pub struct Hazards<'h, const PLACES: usize> {
    places: [hazard::Hazard<'h>; PLACES],
    handle: &'h hazard::Handle,
}

impl Protect for hazard::Domain {
    type Handle = hazard::Handle;
    type Hold<'h, const PLACES: usize> = Hazards<'h, PLACES>;

    fn identity(&self) -> Identity {
        self.identity()
    }

    fn of(handle: &hazard::Handle) -> Identity {
        handle.domain().identity()
    }

    #[inline]
    fn hold<const PLACES: usize>(handle: &hazard::Handle) -> Hazards<'_, PLACES> {
        handle.flush_if_full();
        Hazards { places: core::array::from_fn(|_| handle.hazard()), handle }
    }
}

impl<const PLACES: usize> Hold for Hazards<'_, PLACES> {
    #[inline]
    fn protect<T>(&mut self, place: usize, source: &AtomicPtr<T>) -> *mut T {
        self.places[place].protect_pointer(source)
    }

    #[inline]
    unsafe fn retire<T>(self, object: *mut T, free: unsafe fn(*mut T)) {
        let Hazards { places, handle } = self;
        drop(places);
        // SAFETY: handed on to the caller.
        unsafe { handle.keep_with(object, free) };
    }
}
