//! What is freed at the end of a thread may panic: the thread ends nevertheless, and the process
//! goes on. A program of its own, because its panics would go on to the thread that frees next.

#![cfg(not(loom))]

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use tiebreak_sync::barrier::Barrier;
use tiebreak_sync::{epoch, hazard};

/// How many have panicked.
static PANICS: AtomicUsize = AtomicUsize::new(0);
/// What a hazard handle leaves is reclaimed when this much was left.
const LEFT_MAX: usize = 1024;
/// The thread that ends collects if the last collection began longer ago than 1 ms.
const A_WHILE: Duration = Duration::from_millis(5);

/// Of some size, as hazard pointers refuse what has none.
struct Panics {
    _size: u8,
}

impl Drop for Panics {
    fn drop(&mut self) {
        PANICS.fetch_add(1, SeqCst);
        panic!("this panic is part of the test");
    }
}

fn defer_panic() {
    let object = Panics { _size: 0 };
    thread::sleep(A_WHILE);
    epoch::pin().defer(move || drop(object));
}

/// The last one is reclaimed by the thread that leaves it.
fn retire_panic() {
    let retire = || {
        for _ in 0..LEFT_MAX / 2 {
            let plain = Box::into_raw(Box::new(1));
            // SAFETY: it came from a box and was never shared.
            hazard::with(|handle| unsafe { handle.retire(plain) });
        }
    };
    thread::spawn(retire).join().unwrap();
    retire();
    let object = Box::into_raw(Box::new(Panics { _size: 0 }));
    // SAFETY: as above.
    hazard::with(|handle| unsafe { handle.retire(object) });
}

/// Does something when it is dropped.
struct Late(fn());

impl Drop for Late {
    fn drop(&mut self) {
        self.0();
    }
}

std::thread_local! {
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    static KEPT: RefCell<Option<epoch::Guard<'static>>> = const { RefCell::new(None) };
}

/// A guard that outlives the handle gives the record back.
fn keep_guard() {
    KEPT.with_borrow_mut(|kept| *kept = Some(epoch::pin()));
    defer_panic();
}

fn pin_late() {
    LATE.set(Some(Late(defer_panic)));
    drop(epoch::pin());
}

/// In both orders of the destructors: whichever is registered first.
fn pin_later() {
    drop(epoch::pin());
    LATE.set(Some(Late(defer_panic)));
}

#[test]
fn a_thread_ends_though_its_garbage_panics() {
    let strategy = Barrier::process().strategy();
    if strategy.is_asynchronous() {
        eprintln!("not tested: with {strategy}, a thread that ends frees nothing yet");
        return;
    }
    let cases: [fn(); 5] = [defer_panic, keep_guard, pin_late, pin_later, retire_panic];
    for (count, case) in cases.into_iter().enumerate() {
        thread::spawn(case).join().unwrap();
        assert_eq!(PANICS.load(SeqCst), count + 1, "case {count} was to free at its end");
    }
}
