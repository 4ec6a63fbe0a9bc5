//! A pointer that owns what it points to, and that readers follow under a hazard.

use super::domain::Domain;
use super::handle::{Handle, Hazard};
use crate::owning::Owning;

/// A place for a box, or for none, that readers look into while writers replace it. What is
/// replaced is retired. No call of it is unsafe, because nobody else has a way to the boxes.
///
/// It does not keep its domain: what is retired may have such places in itself. A domain that goes
/// frees what was retired; what an `Atomic` still holds goes with the `Atomic`.
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
///
/// It tells boxes by their addresses, and all boxes of no size have the same one:
///
/// ```compile_fail,E0080
/// # use tiebreak_sync::hazard::{Atomic, Domain};
/// Atomic::new(&Domain::new(), Box::new(()));
/// ```
pub struct Atomic<T> {
    place: Owning<T>,
}

impl<T: Send + Sync + 'static> Atomic<T> {
    /// With a value from the beginning.
    pub fn new(domain: &Domain, value: Box<T>) -> Atomic<T> {
        Atomic { place: Owning::new(domain.identity(), Some(value)) }
    }

    /// Without one.
    pub fn empty(domain: &Domain) -> Atomic<T> {
        Atomic { place: Owning::new(domain.identity(), None) }
    }

    /// What is there now, until the slot is used for something else.
    ///
    /// # Panics
    /// If the slot is of another domain.
    #[inline]
    pub fn load<'g>(&'g self, hazard: &'g mut Hazard<'_>) -> Option<&'g T> {
        let is_ours = self.place.is_of(hazard.identity());
        assert!(is_ours, "the slot is of another domain than this one's");
        // SAFETY: it holds null or boxes of ours, which are retired in this domain once they are
        // replaced, or freed with `self`, which is borrowed. They are stored with release.
        unsafe { hazard.protect(self.place.source()) }
    }

    /// Puts another in its place, and retires what was there.
    ///
    /// # Panics
    /// If the handle is of another domain.
    pub fn store(&self, value: Option<Box<T>>, handle: &Handle) {
        self.check(handle);
        // SAFETY: it is ours to retire, and the handle is of its domain.
        unsafe { retire(self.place.replace(value), handle) };
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
        let old = self.place.replace_if(current, value)?;
        // SAFETY: as in `store`.
        unsafe { retire(old, handle) };
        Ok(())
    }

    #[inline(always)]
    fn check(&self, handle: &Handle) {
        let is_ours = self.place.is_of(handle.identity());
        assert!(is_ours, "the handle is of another domain than this one's");
    }
}

/// # Safety
/// `old` is null, or a box of an [`Atomic`] of the handle's domain from which it was taken.
unsafe fn retire<T: Send + 'static>(old: *mut T, handle: &Handle) {
    if !old.is_null() {
        // SAFETY: the only way to it was the pointer from which it was taken.
        unsafe { handle.retire(old) };
    }
}

impl<T> core::fmt::Debug for Atomic<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.place.fmt(formatter)
    }
}
