//! What one thread can see of epochs; several threads are in `tests/reclamation/`.

use super::{Atomic, Collector, Handle};
use crate::barrier::Barrier;
use crate::reclaim::tests::OnDrop;
use crate::reclaim::tests::{POLLS, WAITS};
use core::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A collector whose barrier is done when it returns, and a counter of what was freed.
fn begin() -> (Collector, Arc<AtomicUsize>) {
    (Collector::with_barrier(Barrier::seq_cst()), Arc::new(AtomicUsize::new(0)))
}

fn retire(handle: &Handle, freed: &Arc<AtomicUsize>) {
    let freed = freed.clone();
    handle.pin().defer(move || {
        freed.fetch_add(1, SeqCst);
    });
}

#[test]
fn what_is_retired_waits_for_older_pins_only() {
    let (collector, freed) = begin();
    let (reader, writer) = (collector.register(), collector.register());
    let older = reader.pin();
    retire(&writer, &freed);
    writer.flush();
    assert_eq!((freed.load(SeqCst), collector.pending()), (0, 1));
    let newer = writer.pin();
    drop(older);
    let _newest = reader.pin();
    writer.flush();
    assert_eq!((freed.load(SeqCst), collector.pending()), (1, 0));
    drop(newer);
}

#[test]
fn pins_nest_and_repin_only_alone() {
    let (collector, freed) = begin();
    let (reader, writer) = (collector.register(), collector.register());
    let mut outer = reader.pin();
    let inner = reader.pin();
    retire(&writer, &freed);
    writer.flush();
    outer.repin();
    writer.flush();
    assert_eq!(freed.load(SeqCst), 0, "the inner guard pins still");
    drop(inner);
    writer.flush();
    assert_eq!(freed.load(SeqCst), 0, "the outer guard pins still");
    outer.repin();
    writer.flush();
    assert_eq!(freed.load(SeqCst), 1);
}

#[test]
fn guards_may_go_in_any_order() {
    let (collector, freed) = begin();
    let (reader, writer) = (collector.register(), collector.register());
    let (first, second) = (reader.pin(), reader.pin());
    drop(first);
    retire(&writer, &freed);
    writer.flush();
    assert_eq!(freed.load(SeqCst), 0);
    drop(second);
    writer.flush();
    assert_eq!(freed.load(SeqCst), 1);
}

#[test]
fn a_forgotten_guard_ends_with_its_handle() {
    let (collector, freed) = begin();
    let (reader, writer) = (collector.register(), collector.register());
    core::mem::forget(reader.pin());
    retire(&writer, &freed);
    writer.flush();
    assert_eq!(freed.load(SeqCst), 0);
    drop(reader);
    writer.flush();
    assert_eq!(freed.load(SeqCst), 1);
}

#[test]
fn a_handle_hands_its_garbage_on_and_its_record_back() {
    let (collector, freed) = begin();
    let other = collector.register();
    for _ in 0..5 {
        let handle = collector.register();
        assert_eq!(handle.record(), 1);
        let pin = other.pin();
        retire(&handle, &freed);
        drop(handle);
        drop(pin);
    }
    other.flush();
    assert_eq!((freed.load(SeqCst), collector.pending()), (5, 0));
}

#[test]
fn bags_are_collected_without_being_asked() {
    let (collector, freed) = begin();
    let handle = collector.register();
    let count = if cfg!(miri) { 1_300 } else { 10_000 };
    for _ in 0..count {
        retire(&handle, &freed);
    }
    assert!(freed.load(SeqCst) >= count - 1024 - 3 * 64, "{freed:?}");
}

#[test]
fn nobody_waits_for_a_slow_barrier() {
    let (collector, freed) = begin();
    let handle = collector.register();
    POLLS.set(3);
    retire(&handle, &freed);
    handle.flush();
    for _ in 0..2 {
        retire(&handle, &freed);
        handle.flush();
        assert_eq!(freed.load(SeqCst), 0);
    }
    // What came meanwhile waits for the next one.
    handle.flush();
    assert_eq!((freed.load(SeqCst), collector.pending()), (1, 2));
    POLLS.set(0);
    (0..3).for_each(|_| handle.flush());
    assert_eq!((freed.load(SeqCst), collector.pending(), WAITS.get()), (3, 0, 0));
}

#[test]
fn large_objects_count_for_more() {
    let (collector, _) = begin();
    let handle = collector.register();
    let object = Box::into_raw(Box::new([0_u8; 64 * 1024]));
    let guard = handle.pin();
    // SAFETY: it came from a box and was never shared.
    unsafe { guard.retire(object) };
    assert_eq!(collector.pending(), 1, "the bag was handed on at once");
}

#[test]
fn a_panic_leaves_everything_in_order() {
    let (collector, freed) = begin();
    let handle = collector.register();
    for i in 0..10 {
        retire(&handle, &freed);
        if i % 3 == 0 {
            handle.pin().defer(move || panic!("panic {i}"));
        }
    }
    let panic = catch_unwind(AssertUnwindSafe(|| handle.flush())).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "panic 0");
    assert_eq!((freed.load(SeqCst), collector.pending()), (10, 0));
    retire(&handle, &freed);
    handle.flush();
    assert_eq!(freed.load(SeqCst), 11);
    handle.pin().defer(|| panic!("the last"));
    drop(collector);
    let panic = catch_unwind(AssertUnwindSafe(|| drop(handle))).unwrap_err();
    assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "the last");
}

/// A chain whose links retire each other, one by one.
struct Link {
    next: Option<Box<Link>>,
    freed: Arc<AtomicUsize>,
}

std::thread_local! {
    static CHAIN: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

impl Drop for Link {
    fn drop(&mut self) {
        self.freed.fetch_add(1, SeqCst);
        if let Some(next) = self.next.take() {
            CHAIN.with_borrow(|handle| {
                // SAFETY: it came from a box, and this was the only way to it.
                unsafe { handle.as_ref().unwrap().pin().retire(Box::into_raw(next)) };
            });
        }
    }
}

#[test]
fn a_long_chain_is_no_deep_recursion() {
    let (collector, freed) = begin();
    let length = if cfg!(miri) { 50 } else { 100_000 };
    let mut chain = None;
    for _ in 0..length {
        chain = Some(Box::new(Link { next: chain, freed: freed.clone() }));
    }
    CHAIN.set(Some(collector.register()));
    drop(chain);
    while freed.load(SeqCst) < length {
        CHAIN.with_borrow(|handle| handle.as_ref().unwrap().flush());
    }
    CHAIN.take();
}

/// A chain whose links retire each other by handles that they register for it.
struct Stranger {
    next: Option<Box<Stranger>>,
    collector: Collector,
    freed: Arc<AtomicUsize>,
}

std::thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

impl Drop for Stranger {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() + 1);
        assert_eq!(DEPTH.get(), 1, "freed inside of what is freed");
        self.freed.fetch_add(1, SeqCst);
        if let Some(next) = self.next.take() {
            let handle = self.collector.register();
            // SAFETY: it came from a box, and this was the only way to it.
            unsafe { handle.pin().retire(Box::into_raw(next)) };
            for _ in 0..3 {
                handle.flush();
            }
        }
        DEPTH.set(DEPTH.get() - 1);
    }
}

#[test]
fn nor_is_one_that_goes_through_other_handles() {
    let (collector, freed) = begin();
    let length = if cfg!(miri) { 20 } else { 1000 };
    let mut chain = None;
    for _ in 0..length {
        let (collector, freed) = (collector.clone(), freed.clone());
        chain = Some(Box::new(Stranger { next: chain, collector, freed }));
    }
    let handle = collector.register();
    handle.pin().defer(move || drop(chain));
    while freed.load(SeqCst) < length {
        handle.flush();
    }
}

#[test]
fn an_atomic_owns_what_it_holds() {
    let (collector, freed) = begin();
    let handle = collector.register();
    let value = || OnDrop(freed.clone());
    let atomic = Atomic::empty(&collector);
    let guard = handle.pin();
    assert!(atomic.load(&guard).is_none());
    assert!(atomic.compare_exchange(None, Some(Box::new(value())), &guard).is_ok());
    let refused = atomic.compare_exchange(None, Some(Box::new(value())), &guard);
    assert!(refused.unwrap_err().is_some());
    assert_eq!(freed.load(SeqCst), 1, "the refused one came back and went");
    let seen = atomic.load(&guard);
    assert!(atomic.compare_exchange(seen, Some(Box::new(value())), &guard).is_ok());
    assert_eq!(freed.load(SeqCst), 1, "the old one is pinned");
    atomic.store(None, &guard);
    drop(guard);
    handle.flush();
    assert_eq!(freed.load(SeqCst), 3);
    drop(Atomic::new(&collector, Box::new(value())));
    assert_eq!(freed.load(SeqCst), 4);
}

#[test]
#[should_panic(expected = "the guard pins another collector")]
fn a_guard_of_another_collector_is_refused() {
    let (ours, theirs) = (Collector::default(), Collector::default());
    Atomic::new(&ours, Box::new(1)).load(&theirs.register().pin());
}

#[test]
fn what_is_retired_may_have_atomics_of_its_collector() {
    struct Node {
        _counted: OnDrop,
        next: Atomic<Node>,
    }
    let (collector, freed) = begin();
    let node =
        || Box::new(Node { _counted: OnDrop(freed.clone()), next: Atomic::empty(&collector) });
    let atomic = Atomic::empty(&collector);
    let handle = collector.register();
    let guard = handle.pin();
    for _ in 0..99 {
        atomic.store(Some(node()), &guard);
    }
    atomic.load(&guard).unwrap().next.store(Some(node()), &guard);
    drop(guard);
    drop((handle, collector));
    assert_eq!(freed.load(SeqCst), 98, "the collector went with its handle");
    drop(atomic);
    assert_eq!(freed.load(SeqCst), 100);
}
