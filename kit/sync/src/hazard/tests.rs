//! What one thread can see of hazard pointers; several threads are in `tests/reclamation/`.

use super::{Atomic, BATCH_WEIGHT, Domain, Handle, SLOTS, SLOW_WEIGHT_MAX};
use crate::barrier::Barrier;
use crate::reclaim::tests::OnDrop;
use crate::reclaim::tests::{POLLS, WAITS};
use core::cell::Cell;
use core::ptr::null_mut;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

/// A domain whose barrier is done when it returns, and a counter of what was freed.
fn begin() -> (Domain, Arc<AtomicUsize>) {
    (Domain::with_barrier(Barrier::seq_cst()), Arc::new(AtomicUsize::new(0)))
}

fn new(freed: &Arc<AtomicUsize>) -> *mut OnDrop {
    Box::into_raw(Box::new(OnDrop(freed.clone())))
}

fn retire(handle: &Handle, object: *mut OnDrop) {
    // SAFETY: the tests retire boxes that no thread finds any more.
    unsafe { handle.retire(object) };
}

#[test]
fn what_is_protected_stays() {
    let (domain, freed) = begin();
    let (reader, writer) = (domain.register(), domain.register());
    let source = AtomicPtr::new(new(&freed));
    let mut hazard = reader.hazard();
    // SAFETY: the source holds boxes that are retired below.
    let seen = unsafe { hazard.protect(&source) }.unwrap();
    retire(&writer, source.swap(new(&freed), AcqRel));
    retire(&writer, source.swap(null_mut(), AcqRel));
    writer.flush();
    assert_eq!((freed.load(SeqCst), domain.pending()), (1, 1));
    assert_eq!(seen.0.load(SeqCst), 1);
    assert!(hazard.protect_pointer(&source).is_null());
    writer.flush();
    assert_eq!((freed.load(SeqCst), domain.pending()), (2, 0));
}

#[test]
fn each_slot_protects_its_own() {
    let (domain, freed) = begin();
    let (reader, writer) = (domain.register(), domain.register());
    // More than a record has.
    let count = 3 * SLOTS;
    let sources: Vec<_> = (0..count).map(|_| AtomicPtr::new(new(&freed))).collect();
    let mut hazards: Vec<_> = sources.iter().map(|_| reader.hazard()).collect();
    for (source, hazard) in sources.iter().zip(&mut hazards) {
        assert!(!hazard.protect_pointer(source).is_null());
        retire(&writer, source.swap(null_mut(), AcqRel));
    }
    for left in (0..count).rev() {
        hazards.swap_remove(left / 2);
        writer.flush();
        assert_eq!((freed.load(SeqCst), domain.pending()), (count - left, left));
    }
    let records = domain.shared.records.len();
    hazards.extend((0..count).map(|_| reader.hazard()));
    assert_eq!(domain.shared.records.len(), records, "slots were given back");
}

#[test]
fn a_forgotten_hazard_ends_with_its_handle() {
    let (domain, freed) = begin();
    let (reader, writer) = (domain.register(), domain.register());
    let source = AtomicPtr::new(new(&freed));
    let mut hazard = reader.hazard();
    hazard.protect_pointer(&source);
    core::mem::forget(hazard);
    retire(&writer, source.swap(null_mut(), AcqRel));
    writer.flush();
    assert_eq!(freed.load(SeqCst), 0);
    drop(reader);
    writer.flush();
    assert_eq!(freed.load(SeqCst), 1);
}

#[test]
fn a_handle_leaves_its_garbage_to_the_others() {
    let (domain, freed) = begin();
    let other = domain.register();
    for _ in 0..5 {
        retire(&domain.register(), new(&freed));
    }
    assert_eq!((freed.load(SeqCst), domain.pending()), (0, 5));
    assert_eq!(domain.shared.records.len(), 2, "records were given back");
    other.flush();
    assert_eq!((freed.load(SeqCst), domain.pending()), (5, 0));
}

#[test]
fn the_bound_is_the_formula() {
    let (domain, freed) = begin();
    assert_eq!(domain.bound(), 2048);
    let handles: Vec<_> = (0..3).map(|_| domain.register()).collect();
    assert_eq!(domain.bound(), 4 * 2048 + 3 * SLOTS);
    let each = if cfg!(miri) { 1030 } else { 5000 };
    for _ in 0..each {
        handles.iter().for_each(|handle| retire(handle, new(&freed)));
        assert!(domain.pending() <= 3 * 1024);
    }
    assert_eq!(freed.load(SeqCst) + domain.pending(), 3 * each);
}

/// Handles count, and not their records: one that holds many slots has many of these.
#[test]
fn the_bound_counts_handles_and_their_slots() {
    let (domain, _) = begin();
    let handle = domain.register();
    let hazards: Vec<_> = (0..10 * SLOTS).map(|_| handle.hazard()).collect();
    assert_eq!(domain.bound(), 2 * 2048 + 10 * SLOTS);
    drop(hazards);
    drop(handle);
    // Now each of the records is the first one of a handle, and one after the other counts once.
    (0..20).for_each(|_| drop(domain.register()));
    assert_eq!(domain.bound(), 2 * 2048 + 10 * SLOTS);
    let handles: Vec<_> = (0..10).map(|_| domain.register()).collect();
    assert_eq!(domain.bound(), 11 * 2048 + 10 * SLOTS);
    drop(handles);
    assert_eq!(domain.bound(), 11 * 2048 + 10 * SLOTS, "it is that of the most at once");
}

#[test]
#[cfg_attr(miri, ignore = "long")]
fn a_slow_barrier_is_waited_for_at_the_bound_only() {
    let (domain, freed) = begin();
    let handle = domain.register();
    POLLS.set(usize::MAX);
    let mut most = 0;
    for count in 1..=3 * SLOW_WEIGHT_MAX {
        retire(&handle, new(&freed));
        most = most.max(domain.pending());
        assert_eq!(count, freed.load(SeqCst) + domain.pending());
        assert!(WAITS.get() <= 2 * count / SLOW_WEIGHT_MAX);
    }
    assert!(most <= SLOW_WEIGHT_MAX && most > SLOW_WEIGHT_MAX / 2, "{most}");
    assert!(WAITS.get() > 0);
    drop(domain);
    drop(handle);
    assert_eq!(freed.load(SeqCst), 3 * SLOW_WEIGHT_MAX);
    POLLS.set(0);
}

#[test]
#[cfg_attr(miri, ignore = "long")]
fn a_barrier_that_is_soon_done_is_not_waited_for() {
    let (domain, freed) = begin();
    let handle = domain.register();
    POLLS.set(5);
    for _ in 0..4 * BATCH_WEIGHT {
        retire(&handle, new(&freed));
        assert!(domain.pending() <= 2 * BATCH_WEIGHT);
    }
    assert!(freed.load(SeqCst) >= 2 * BATCH_WEIGHT);
    assert_eq!(WAITS.get(), 0);
    POLLS.set(0);
}

#[test]
fn a_panic_leaves_everything_in_order() {
    struct Panics(usize);
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("panic {}", self.0);
        }
    }
    let (domain, freed) = begin();
    let handle = domain.register();
    for i in 0..10 {
        retire(&handle, new(&freed));
        if i % 3 == 0 {
            // SAFETY: nothing else has the box.
            unsafe { handle.retire(Box::into_raw(Box::new(Panics(i)))) };
        }
    }
    let panic = catch_unwind(AssertUnwindSafe(|| handle.flush())).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "panic 0");
    assert_eq!((freed.load(SeqCst), domain.pending()), (10, 0));
    retire(&handle, new(&freed));
    handle.flush();
    assert_eq!(freed.load(SeqCst), 11);
}

#[test]
fn a_long_chain_is_no_deep_recursion() {
    struct Link(Option<Box<Link>>, Arc<AtomicUsize>);
    impl Drop for Link {
        fn drop(&mut self) {
            self.1.fetch_add(1, SeqCst);
            if let Some(next) = self.0.take() {
                // SAFETY: it came from a box, and this was the only way to it.
                super::with(|handle| unsafe { handle.retire(Box::into_raw(next)) });
            }
        }
    }
    let freed = Arc::new(AtomicUsize::new(0));
    let length = if cfg!(miri) { 50 } else { 20_000 };
    let mut chain = None;
    for _ in 0..length {
        chain = Some(Box::new(Link(chain, freed.clone())));
    }
    drop(chain);
    while freed.load(SeqCst) < length {
        super::with(Handle::flush);
    }
}

std::thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn nor_is_one_that_goes_through_other_handles() {
    struct Stranger(Option<Box<Stranger>>, Domain, Arc<AtomicUsize>);
    impl Drop for Stranger {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() + 1);
            assert_eq!(DEPTH.get(), 1, "freed inside of what is freed");
            self.2.fetch_add(1, SeqCst);
            if let Some(next) = self.0.take() {
                let handle = self.1.register();
                // SAFETY: it came from a box, and this was the only way to it.
                unsafe { handle.retire(Box::into_raw(next)) };
                handle.flush();
            }
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    let (domain, freed) = begin();
    let length = if cfg!(miri) { 20 } else { 1000 };
    let mut chain = None;
    for _ in 0..length {
        chain = Some(Box::new(Stranger(chain, domain.clone(), freed.clone())));
    }
    let handle = domain.register();
    // SAFETY: it came from a box, and nothing else has it.
    unsafe { handle.retire(Box::into_raw(chain.unwrap())) };
    handle.flush();
    let mut rounds = 0;
    while freed.load(SeqCst) < length {
        // What a handle leaves behind is reclaimed by a handle that leaves much.
        let leaving = domain.register();
        for _ in 0..BATCH_WEIGHT {
            // SAFETY: nothing else has the box.
            unsafe { leaving.retire(Box::into_raw(Box::new(1_u8))) };
        }
        drop(leaving);
        rounds += 1;
        assert!(rounds <= 4 * length, "freed {}", freed.load(SeqCst));
    }
}

#[test]
fn an_atomic_owns_what_it_holds() {
    let (domain, freed) = begin();
    let handle = domain.register();
    let value = || OnDrop(freed.clone());
    let atomic = Atomic::empty(&domain);
    let mut hazard = handle.hazard();
    assert!(atomic.load(&mut hazard).is_none());
    assert!(atomic.compare_exchange(None, Some(Box::new(value())), &handle).is_ok());
    let refused = atomic.compare_exchange(None, Some(Box::new(value())), &handle);
    assert!(refused.unwrap_err().is_some());
    assert_eq!(freed.load(SeqCst), 1, "the refused one came back and went");
    let seen = atomic.load(&mut hazard);
    assert!(atomic.compare_exchange(seen, Some(Box::new(value())), &handle).is_ok());
    handle.flush();
    assert_eq!(freed.load(SeqCst), 1, "the old one is protected");
    atomic.store(None, &handle);
    hazard.clear();
    handle.flush();
    assert_eq!(freed.load(SeqCst), 3);
    drop(Atomic::new(&domain, Box::new(value())));
    assert_eq!(freed.load(SeqCst), 4);
}

#[test]
#[should_panic(expected = "the slot is of another domain")]
fn a_slot_of_another_domain_is_refused() {
    let (ours, theirs) = (Domain::default(), Domain::default());
    Atomic::new(&ours, Box::new(1)).load(&mut theirs.register().hazard());
}

#[test]
fn what_is_retired_may_have_atomics_of_its_domain() {
    struct Node {
        _counted: OnDrop,
        next: Atomic<Node>,
    }
    let (domain, freed) = begin();
    let node = || Box::new(Node { _counted: OnDrop(freed.clone()), next: Atomic::empty(&domain) });
    let atomic = Atomic::empty(&domain);
    let handle = domain.register();
    for _ in 0..99 {
        atomic.store(Some(node()), &handle);
    }
    let mut hazard = handle.hazard();
    atomic.load(&mut hazard).unwrap().next.store(Some(node()), &handle);
    drop(hazard);
    drop((handle, domain));
    assert_eq!(freed.load(SeqCst), 98, "the domain went with its handle");
    drop(atomic);
    assert_eq!(freed.load(SeqCst), 100);
}
