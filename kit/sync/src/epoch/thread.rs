//! The collector that everyone has, and a handle of it for each thread.

use super::collector::Collector;
use super::handle::Guard;
use super::record::Record;
use crate::published::Published;
use crate::registry::Slot;
use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

static COLLECTOR: Published<Collector> = Published::none();

std::thread_local! {
    /// The record of this thread, or null. It has no destructor, so finding it is one load.
    static SLOT: Cell<*mut Slot<Record>> = const { Cell::new(null_mut()) };
    /// Gives the record back when the thread ends.
    static OWNER: Owner = const { Owner };
}

struct Owner;

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(slot) = NonNull::new(SLOT.replace(null_mut())) {
            // SAFETY: the collector is never dropped, so its slots live for ever.
            Record::abandon(unsafe { slot.as_ref() });
        }
    }
}

/// The collector of [`pin`]. It uses the barrier of the process and is never dropped: what is still
/// retired when the process ends is not freed.
pub fn collector() -> &'static Collector {
    COLLECTOR.get_or_make(Collector::new)
}

/// Pins the collector of the process, by a handle that the thread registers at its first call and
/// gives back when it ends. A thread that ends, and pins once that has been done, registers for
/// that one pin.
///
/// What is freed while a thread gives its handle back may panic; as nobody is left whom that could
/// go on to, it ends there, after the panic hook has reported it.
///
/// ```
/// use tiebreak_sync::epoch;
///
/// let guard = epoch::pin();
/// guard.defer(|| ());
/// assert!(guard.is_of(epoch::collector()));
/// ```
#[inline(always)]
pub fn pin() -> Guard<'static> {
    let Some(slot) = NonNull::new(SLOT.get()) else { return pin_anew() };
    // SAFETY: the collector is never dropped, so its slots live for ever.
    unsafe { slot.as_ref() }.enter();
    // SAFETY: `enter` was called, by the thread whose slot it is.
    unsafe { Guard::new(slot) }
}

#[cold]
fn pin_anew() -> Guard<'static> {
    let slot = collector().shared().claim();
    slot.enter();
    // To touch the owner is to have it dropped when the thread ends.
    if OWNER.try_with(|_| ()).is_ok() {
        SLOT.set(core::ptr::from_ref(slot).cast_mut());
    } else {
        Record::abandon(slot);
    }
    // SAFETY: `enter` was called, by the thread that claimed the slot.
    unsafe { Guard::new(NonNull::from(slot)) }
}
