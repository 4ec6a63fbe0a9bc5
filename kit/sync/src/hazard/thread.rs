//! The domain that everyone has, and a handle of it for each thread.

use super::domain::Domain;
use super::handle::Handle;
use std::sync::LazyLock;

static DOMAIN: LazyLock<Domain> = LazyLock::new(Domain::new);

std::thread_local! {
    static HANDLE: Handle = DOMAIN.register();
}

/// The domain of [`with`]. It uses the barrier of the process and is never dropped: what is still
/// retired when the process ends is not freed.
pub fn domain() -> &'static Domain {
    &DOMAIN
}

/// Calls a function with the thread's handle of the domain of the process. The thread registers at
/// its first call and gives the handle back when it ends; if it calls this once that has been done,
/// it registers for that one call.
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
    let mut run = |handle: &Handle| call.take().map(|call| call(handle));
    match HANDLE.try_with(&mut run) {
        Ok(Some(result)) => result,
        _ => match run(&DOMAIN.register()) {
            Some(result) => result,
            None => unreachable!("the function was called twice"),
        },
    }
}
