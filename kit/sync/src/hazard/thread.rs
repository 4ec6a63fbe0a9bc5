//! The domain that everyone has, and a handle of it for each thread.

use super::domain::Domain;
use super::handle::Handle;
use crate::garbage::end_quietly;
use crate::published::Published;
use core::mem::ManuallyDrop;

static DOMAIN: Published<Domain> = Published::none();

std::thread_local! {
    static OWNER: Owner = Owner::new();
}

/// A handle that goes when its thread ends: nothing is there that a panic could go on to.
struct Owner(ManuallyDrop<Handle>);

impl Owner {
    fn new() -> Owner {
        Owner(ManuallyDrop::new(domain().register()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: it is taken once, here, and not used any more.
        let handle = unsafe { ManuallyDrop::take(&mut self.0) };
        end_quietly(|| drop(handle));
    }
}

/// The domain of [`with`]. It uses the barrier of the process and is never dropped: what is still
/// retired when the process ends is not freed.
pub fn domain() -> &'static Domain {
    DOMAIN.get_or_make(Domain::new)
}

/// Calls a function with the thread's handle of the domain of the process. The thread registers at
/// its first call and gives the handle back when it ends; if it calls this once that has been done,
/// it registers for that one call.
///
/// What is freed while a thread gives its handle back may panic; as nobody is left whom that could
/// go on to, it ends there, after the panic hook has reported it.
///
/// ```
/// use tiebreak_sync::hazard::{self, Atomic};
///
/// let name = Atomic::new(hazard::domain(), Box::new("first"));
/// hazard::with(|handle| name.store(Some(Box::new("second")), handle));
/// let length = hazard::with(|handle| name.load(&mut handle.hazard()).map(|name| name.len()));
/// assert_eq!(length, Some(6));
/// ```
pub fn with<R>(call: impl FnOnce(&Handle) -> R) -> R {
    let mut call = Some(call);
    let mut run = |owner: &Owner| call.take().map(|call| call(&owner.0));
    match OWNER.try_with(&mut run) {
        Ok(Some(result)) => result,
        _ => match run(&Owner::new()) {
            Some(result) => result,
            None => unreachable!("the function was called twice"),
        },
    }
}
