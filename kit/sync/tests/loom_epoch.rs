//! Epochs under a model checker: every interleaving that the memory model allows, with both sides
//! of the barrier a full fence. `RUSTFLAGS="--cfg loom" cargo test --release --test loom_epoch`
//!
//! The models without a fault must pass, those with one must not: else they would prove nothing.

#![cfg(loom)]

use loom::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire};
use loom::thread;
use std::rc::Rc;
use std::sync::Arc;
use tiebreak_sync::barrier::Barrier;
use tiebreak_sync::epoch::{Collector, Guard, Handle};
use tiebreak_sync::mutation::Mutation;

#[path = "common/loom_canary.rs"]
mod canary;
use canary::{Canary, Place, bury, explore, explore_to, pointer};

fn read(place: &Place, _guard: &Guard<'_>) {
    // SAFETY: the memory stays until the model ends.
    unsafe { &*place.load(Acquire) }.check();
}

/// Replaces what is there and frees it as soon as that is allowed.
fn replace(place: &Place, new: &Rc<Canary>, handle: &Handle) {
    let guard = handle.pin();
    let old = place.swap(pointer(new), AcqRel);
    // SAFETY: the swap took away the only way to it.
    unsafe { guard.retire_with(old, bury) };
    drop(guard);
    handle.flush();
}

struct Scene {
    collector: Collector,
    place: Arc<Place>,
    canaries: Vec<Rc<Canary>>,
}

impl Scene {
    fn new(count: usize) -> Scene {
        let canaries: Vec<_> = (0..count).map(|_| Canary::new()).collect();
        let place = Arc::new(AtomicPtr::new(pointer(&canaries[0])));
        Scene { collector: Collector::with_barrier(Barrier::seq_cst()), place, canaries }
    }
}

/// A reader that was registered before, and a writer.
fn reader_and_writer() {
    let scene = Scene::new(2);
    let (reader, writer) = (scene.collector.register(), scene.collector.register());
    let place = scene.place.clone();
    let reading = thread::spawn(move || {
        read(&place, &reader.pin());
        reader
    });
    replace(&scene.place, &scene.canaries[1], &writer);
    let _reader = reading.join().unwrap();
    writer.flush();
    assert_eq!(scene.collector.pending(), 0);
}

#[test]
fn a_reader_holds_what_it_reads() {
    explore(Mutation::None, reader_and_writer);
}

#[test]
fn a_reader_may_register_meanwhile() {
    explore(Mutation::None, || {
        let scene = Scene::new(2);
        let writer = scene.collector.register();
        let (place, collector) = (scene.place.clone(), scene.collector.clone());
        let reading = thread::spawn(move || read(&place, &collector.register().pin()));
        replace(&scene.place, &scene.canaries[1], &writer);
        reading.join().unwrap();
    });
}

/// The second pin may have the old epoch, and the second grace period must wait for it.
#[test]
fn pins_with_old_epochs_are_waited_for() {
    explore(Mutation::None, || {
        let scene = Scene::new(3);
        let (reader, writer) = (scene.collector.register(), scene.collector.register());
        let place = scene.place.clone();
        let reading = thread::spawn(move || {
            let mut guard = reader.pin();
            read(&place, &guard);
            guard.repin();
            read(&place, &guard);
            drop(guard);
            reader
        });
        replace(&scene.place, &scene.canaries[1], &writer);
        replace(&scene.place, &scene.canaries[2], &writer);
        let _reader = reading.join().unwrap();
    });
}

/// One collects what the other has retired.
#[test]
fn two_may_collect() {
    explore(Mutation::None, || {
        let scene = Scene::new(2);
        let (one, other) = (scene.collector.register(), scene.collector.register());
        let place = scene.place.clone();
        let collecting = thread::spawn(move || {
            read(&place, &one.pin());
            one.flush();
            one
        });
        replace(&scene.place, &scene.canaries[1], &other);
        let _one = collecting.join().unwrap();
    });
}

/// Something waits already; one collects it while another retires more and a third reads.
fn retiring_while_another_collects() {
    let scene = Scene::new(2);
    let handles = [(); 3].map(|()| scene.collector.register());
    let [collecting, writer, reader] = handles;
    // The pin keeps the first in its grace period, so the second waits for the next one.
    let (guard, extra) = (reader.pin(), [Canary::new(), Canary::new()]);
    for extra in &extra {
        // SAFETY: it was never linked.
        unsafe { collecting.pin().retire_with(pointer(extra), bury) };
        collecting.flush();
    }
    drop(guard);
    let place = scene.place.clone();
    let reading = thread::spawn(move || {
        read(&place, &reader.pin());
        reader
    });
    let (place, new) = (scene.place.clone(), scene.canaries[1].clone());
    let writing = thread::spawn(move || {
        replace(&place, &new, &writer);
        writer
    });
    collecting.flush();
    let _handles = (reading.join().unwrap(), writing.join().unwrap());
}

#[test]
fn what_is_retired_meanwhile_waits_for_the_next() {
    explore_to(2, Mutation::None, retiring_while_another_collects);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn with_an_advance_too_early_it_fails() {
    explore_to(2, Mutation::EpochAdvanceFirst, retiring_while_another_collects);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_heavy_side_it_fails() {
    explore(Mutation::EpochWithoutHeavy, reader_and_writer);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn with_an_epoch_too_few_it_fails() {
    explore(Mutation::EpochOneTooFew, reader_and_writer);
}
