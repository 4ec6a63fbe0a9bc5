//! A lock that a fork may come in between.

use core::cell::UnsafeCell;

/// A mutex of the C library: unlike the one of the language it may be locked before a fork and
/// unlocked in both processes after it.
#[derive(Debug)]
pub(super) struct Lock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: the mutex is touched by pthread_mutex_lock and _unlock only, which may be called by any
// thread at any time.
unsafe impl Sync for Lock {}

impl Lock {
    pub(super) const fn new() -> Lock {
        Lock(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
    }

    /// Calls `body` under the lock. It must not fork, and not take the same lock again.
    pub(super) fn hold<T>(&self, body: impl FnOnce() -> T) -> T {
        self.lock();
        let result = body();
        self.unlock();
        result
    }

    pub(super) fn lock(&self) {
        // SAFETY: the mutex was initialised by `new`, does not move once it was used (it is part of
        // a static, or borrowed), and is not held by this thread: `hold` does not nest, and no fork
        // happens inside of it.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
    }

    pub(super) fn unlock(&self) {
        // SAFETY: this thread holds the mutex: `hold` and the handlers of fork have locked it.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}
