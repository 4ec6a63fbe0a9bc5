//! Hazard pointers under a model checker: every interleaving that the memory model allows, with
//! both sides of the barrier a full fence. `RUSTFLAGS="--cfg loom" cargo test --release --test
//! loom_hazard`
//!
//! The models without a fault must pass, those with one must not: else they would prove nothing.

#![cfg(loom)]

use loom::sync::atomic::{AtomicPtr, Ordering::AcqRel};
use loom::thread;
use std::rc::Rc;
use std::sync::Arc;
use tiebreak_sync::barrier::Barrier;
use tiebreak_sync::hazard::{Domain, Handle, Hazard};
use tiebreak_sync::mutation::Mutation;

#[path = "common/loom_canary.rs"]
mod canary;
use canary::{Canary, Place, bury, explore, pointer};

fn read(place: &Place, hazard: &mut Hazard<'_>) {
    // SAFETY: the memory stays until the model ends.
    unsafe { hazard.protect(place) }.unwrap().check();
}

/// Replaces what is there and frees it as soon as that is allowed.
fn replace(place: &Place, new: &Rc<Canary>, handle: &Handle) {
    let old = place.swap(pointer(new), AcqRel);
    // SAFETY: the swap took away the only way to it.
    unsafe { handle.retire_with(old, bury) };
    handle.flush();
}

struct Scene {
    domain: Domain,
    place: Arc<Place>,
    canaries: Vec<Rc<Canary>>,
}

impl Scene {
    fn new(count: usize) -> Scene {
        let canaries: Vec<_> = (0..count).map(|_| Canary::new()).collect();
        let place = Arc::new(AtomicPtr::new(pointer(&canaries[0])));
        Scene { domain: Domain::with_barrier(Barrier::seq_cst()), place, canaries }
    }
}

/// A reader that was registered before, and a writer.
fn reader_and_writer() {
    let scene = Scene::new(2);
    let (reader, writer) = (scene.domain.register(), scene.domain.register());
    let place = scene.place.clone();
    let reading = thread::spawn(move || {
        read(&place, &mut reader.hazard());
        reader
    });
    replace(&scene.place, &scene.canaries[1], &writer);
    let _reader = reading.join().unwrap();
    writer.flush();
    assert_eq!(scene.domain.pending(), 0);
}

#[test]
fn a_reader_holds_what_it_reads() {
    explore(Mutation::None, reader_and_writer);
}

#[test]
fn a_reader_may_register_meanwhile() {
    explore(Mutation::None, || {
        let scene = Scene::new(2);
        let writer = scene.domain.register();
        let (place, domain) = (scene.place.clone(), scene.domain.clone());
        let reading = thread::spawn(move || read(&place, &mut domain.register().hazard()));
        replace(&scene.place, &scene.canaries[1], &writer);
        reading.join().unwrap();
    });
}

#[test]
fn a_slot_is_used_again() {
    explore(Mutation::None, || {
        let scene = Scene::new(3);
        let (reader, writer) = (scene.domain.register(), scene.domain.register());
        let place = scene.place.clone();
        let reading = thread::spawn(move || {
            let mut hazard = reader.hazard();
            read(&place, &mut hazard);
            read(&place, &mut hazard);
            drop(hazard);
            reader
        });
        replace(&scene.place, &scene.canaries[1], &writer);
        replace(&scene.place, &scene.canaries[2], &writer);
        let _reader = reading.join().unwrap();
    });
}

/// What one has retired and left, the other frees.
#[test]
fn a_handle_leaves_its_garbage() {
    explore(Mutation::None, || {
        let scene = Scene::new(2);
        let (one, other) = (scene.domain.register(), scene.domain.register());
        let (place, new) = (scene.place.clone(), scene.canaries[1].clone());
        let leaving = thread::spawn(move || {
            let old = place.swap(pointer(&new), AcqRel);
            // SAFETY: the swap took away the only way to it.
            unsafe { one.retire_with(old, bury) };
        });
        read(&scene.place, &mut other.hazard());
        other.flush();
        leaving.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_heavy_side_it_fails() {
    explore(Mutation::HazardWithoutHeavy, reader_and_writer);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_second_look_it_fails() {
    explore(Mutation::HazardWithoutReload, reader_and_writer);
}
