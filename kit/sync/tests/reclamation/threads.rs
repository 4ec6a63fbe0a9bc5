//! The thread-local handles: threads that come and go, and that pin while they end.

use crate::canary::{Aviary, bury};
use crate::scale::operations;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tiebreak_sync::{epoch, hazard};

/// Waits until a condition holds, with a limit.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let soon = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < soon, "{what} took too long");
        std::thread::yield_now();
    }
}

#[test]
fn short_threads_leave_nothing() {
    let aviary = Aviary::default();
    for _ in 0..operations(200, 20_000) {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // SAFETY: it was never linked.
                    unsafe { epoch::pin().retire_with(aviary.hatch(), bury) };
                    // SAFETY: as above.
                    hazard::with(|handle| unsafe { handle.retire_with(aviary.hatch(), bury) });
                });
            }
        });
    }
    wait_for("freeing", || {
        epoch::pin().flush();
        hazard::with(hazard::Handle::flush);
        aviary.alive() == 0
    });
}

/// Uses the thread-local handles when it is dropped.
struct Late(Arc<AtomicUsize>);

impl Drop for Late {
    fn drop(&mut self) {
        let (one, two) = (self.0.clone(), self.0.clone());
        let guard = epoch::pin();
        guard.defer(move || {
            one.fetch_add(1, SeqCst);
        });
        let object = Box::into_raw(Box::new(OnDrop(two)));
        // SAFETY: it came from a box and was never shared.
        hazard::with(|handle| unsafe { handle.retire(object) });
    }
}

struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

std::thread_local! {
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    static KEPT: RefCell<Option<epoch::Guard<'static>>> = const { RefCell::new(None) };
}

/// Whether the destructor of `LATE` and `KEPT` is registered before that of the handles, or after.
fn end_late(before: bool) {
    let count = Arc::new(AtomicUsize::new(0));
    let late = Late(count.clone());
    let ended = std::thread::spawn(move || {
        if !before {
            drop(epoch::pin());
            hazard::with(|_| ());
        }
        LATE.set(Some(late));
        KEPT.with_borrow_mut(|kept| *kept = Some(epoch::pin()));
        hazard::with(|_| ());
    });
    ended.join().unwrap();
    wait_for("what an ending thread retired", || {
        epoch::pin().flush();
        hazard::with(hazard::Handle::flush);
        count.load(SeqCst) == 2
    });
}

#[test]
fn a_thread_may_pin_while_it_ends() {
    [true, false].into_iter().for_each(end_late);
}
