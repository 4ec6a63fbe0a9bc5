//! What a child of `fork(2)` needs before its first heavy side.
//!
//! Linux copies the registration for `membarrier(2)` with the address space, but its manual page
//! does not promise that: the child registers again. The page of `mprotect` was copied, but its
//! lock in memory was not. No lock of this module may be held by a thread that the child lacks.
//! Children of a bare `clone(2)`, which runs no handler, have what Linux copies.

use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::page::{self, Page};
use super::{Reason, Strategy, interrupts, membarrier};

/// A bit for each strategy that this process has registered for.
static REGISTERED: AtomicU8 = AtomicU8::new(0);

static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many of the handlers' first halves this thread has entered. Two threads may both have
    /// installed them, and then each fork runs them twice; the locks are taken once.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Before any strategy is made ready: a child must not find the page half way.
pub(super) fn install() -> Result<(), Reason> {
    // Acquire and Release: who sees it set has the handlers.
    if IS_INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // SAFETY: the handlers are functions that live as long as the process, and call only what may
    // be called between fork and exec: system calls, and mutexes that the forking thread holds.
    let errno = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    if errno != 0 {
        return Err(Reason::Errno { call: "pthread_atfork", errno });
    }
    IS_INSTALLED.store(true, Ordering::Release);
    Ok(())
}

/// A strategy has become ready: children shall have it, too.
pub(super) fn remember(strategy: Strategy) {
    // Relaxed: a child reads what its parent's memory held at the fork.
    REGISTERED.fetch_or(1 << strategy as u8, Ordering::Relaxed);
}

extern "C" fn prepare() {
    if DEPTH.replace(DEPTH.get() + 1) == 0 {
        page::PAGE.lock();
        interrupts::CONNECTED.lock();
    }
}

extern "C" fn parent() {
    DEPTH.set(DEPTH.get() - 1);
    if DEPTH.get() == 0 {
        interrupts::CONNECTED.unlock_after(|_| ());
        page::PAGE.unlock_after(|_| ());
    }
}

extern "C" fn child() {
    DEPTH.set(DEPTH.get() - 1);
    if DEPTH.get() != 0 {
        return;
    }
    let registered = REGISTERED.load(Ordering::Relaxed);
    for strategy in Strategy::ALL {
        if registered & (1 << strategy as u8) != 0 {
            // A refusal here shows at the first heavy side, which then finds a substitute.
            let _ = membarrier::register(strategy);
        }
    }
    interrupts::CONNECTED.unlock_after(|_| ());
    page::PAGE.unlock_after(Page::after_fork);
}

/// A value under a mutex of the C library: unlike the one of the language it may be locked before a
/// fork and unlocked in both processes after it.
pub(super) struct Lock<T> {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: the mutex is touched by pthread_mutex_lock and _unlock only, which may be called by any
// thread at any time, and the value by the thread that holds it.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(super) const fn new(value: T) -> Lock<T> {
        let mutex = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
        Lock { mutex, value: UnsafeCell::new(value) }
    }

    /// Calls `body` under the lock. It must not fork, and not take the same lock again.
    pub(super) fn hold<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        self.lock();
        self.unlock_after(body)
    }

    fn lock(&self) {
        // SAFETY: the mutex was initialised by `new`, does not move once it was used (it is part of
        // a static, or borrowed), and is not held by this thread: `hold` does not nest, and no fork
        // happens inside of it.
        unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
    }

    /// Calls `body` and unlocks. This thread has locked: in `hold`, or before a fork.
    fn unlock_after<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: this thread holds the mutex, and nothing else refers to the value meanwhile.
        let result = body(unsafe { &mut *self.value.get() });
        // SAFETY: as above.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
        result
    }
}
