//! Readers and writers at once, that register and leave all the time.

use crate::canary::{Aviary, Canary, bury};
use crate::scale::{barriers, operations, with, with_heavy};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use tiebreak_sync::barrier::Barrier;
use tiebreak_sync::{epoch, hazard};

const PLACES: usize = 4;
/// After how many operations a thread leaves and registers anew.
const STAY: usize = 96;

type Places = [AtomicPtr<Canary>; PLACES];

/// What the test does, over one way to reclaim.
trait Scheme: Sync {
    type Handle;
    fn of(barrier: Barrier) -> Self;
    fn register(&self) -> Self::Handle;
    fn read(handle: &Self::Handle, place: &AtomicPtr<Canary>);
    /// # Safety
    /// The old one was unlinked and came from an aviary.
    unsafe fn retire(handle: &Self::Handle, old: *mut Canary);
    fn pending(&self) -> usize;
    fn flush(handle: &Self::Handle);
}

impl Scheme for epoch::Collector {
    type Handle = epoch::Handle;

    fn of(barrier: Barrier) -> epoch::Collector {
        epoch::Collector::with_barrier(barrier)
    }

    fn register(&self) -> epoch::Handle {
        self.register()
    }

    fn read(handle: &epoch::Handle, place: &AtomicPtr<Canary>) {
        let mut guard = handle.pin();
        for _ in 0..2 {
            // SAFETY: what is in a place was not retired before this pin.
            if let Some(canary) = unsafe { place.load(Acquire).as_ref() } {
                let inner = handle.pin();
                canary.check();
                drop(inner);
                canary.check();
            }
            guard.repin();
        }
    }

    unsafe fn retire(handle: &epoch::Handle, old: *mut Canary) {
        // SAFETY: handed on to the caller.
        unsafe { handle.pin().retire_with(old, bury) };
    }

    fn pending(&self) -> usize {
        self.pending()
    }

    fn flush(handle: &epoch::Handle) {
        handle.flush();
    }
}

impl Scheme for hazard::Domain {
    type Handle = hazard::Handle;

    fn of(barrier: Barrier) -> hazard::Domain {
        hazard::Domain::with_barrier(barrier)
    }

    fn register(&self) -> hazard::Handle {
        self.register()
    }

    fn read(handle: &hazard::Handle, place: &AtomicPtr<Canary>) {
        let (mut first, mut second) = (handle.hazard(), handle.hazard());
        // SAFETY: what is in a place is retired in this domain only, once it was taken out.
        let one = unsafe { first.protect(place) };
        // SAFETY: as above.
        let two = unsafe { second.protect(place) };
        one.into_iter().chain(two).for_each(Canary::check);
    }

    unsafe fn retire(handle: &hazard::Handle, old: *mut Canary) {
        // SAFETY: handed on to the caller.
        unsafe { handle.retire_with(old, bury) };
    }

    fn pending(&self) -> usize {
        self.pending()
    }

    fn flush(handle: &hazard::Handle) {
        handle.flush();
    }
}

fn work<S: Scheme>(scheme: &S, aviary: &Aviary, places: &Places, seed: usize, count: usize) {
    let mut handle = scheme.register();
    let mut random = seed as u64 * 2 + 1;
    for i in 0..count {
        // Marsaglia's xorshift.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let place = &places[random as usize % PLACES];
        if random >> 32 & 3 == 0 {
            let old = place.swap(aviary.hatch(), AcqRel);
            // SAFETY: the swap took away the only way to it.
            unsafe { S::retire(&handle, old) };
        } else {
            S::read(&handle, place);
        }
        if i % STAY == STAY - 1 {
            handle = scheme.register();
        }
    }
}

fn churn<S: Scheme>(barrier: Barrier, count: usize) {
    let aviary = Aviary::default();
    let scheme = S::of(barrier);
    let places: Places = std::array::from_fn(|_| AtomicPtr::new(aviary.hatch()));
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (scheme, aviary, places) = (&scheme, &aviary, &places);
            scope.spawn(move || work(scheme, aviary, places, seed, count / 4));
        }
    });
    assert!(aviary.alive() >= PLACES);
    let handle = scheme.register();
    for place in &places {
        let old = place.swap(null_mut(), AcqRel);
        // SAFETY: the swap took away the only way to it.
        unsafe { S::retire(&handle, old) };
    }
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while aviary.alive() > 0 && std::time::Instant::now() < soon {
        S::flush(&handle);
        std::thread::yield_now();
    }
    assert_eq!((aviary.alive(), scheme.pending()), (0, 0), "with {}", barrier.strategy());
}

/// One reads without pause, and another replaces and frees at once: as close as they can come. It
/// needs luck to find a barrier that does nothing (one long run in two did, for hazard
/// pointers); the models in `loom_epoch.rs` and `loom_hazard.rs` find it surely.
fn race<S: Scheme>(barrier: Barrier, count: usize) {
    let (aviary, scheme) = (Aviary::default(), S::of(barrier));
    let place = AtomicPtr::new(aviary.hatch());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let handle = scheme.register();
            while !is_over.load(Relaxed) {
                (0..1000).for_each(|_| S::read(&handle, &place));
                std::thread::yield_now();
            }
        });
        let handle = scheme.register();
        for _ in 0..count {
            let old = place.swap(aviary.hatch(), AcqRel);
            // SAFETY: the swap took away the only way to it.
            unsafe { S::retire(&handle, old) };
            S::flush(&handle);
        }
        is_over.store(true, Relaxed);
    });
    drop(scheme);
    assert_eq!(aviary.alive(), 1);
}

/// What is left at the end goes with the scheme.
fn leave<S: Scheme>(barrier: Barrier) {
    let aviary = Aviary::default();
    let scheme = S::of(barrier);
    let handles = [scheme.register(), scheme.register()];
    for i in 0..1000 {
        // SAFETY: it was never linked.
        unsafe { S::retire(&handles[i % 2], aviary.hatch()) };
    }
    drop(scheme);
    drop(handles);
    assert_eq!(aviary.alive(), 0);
}

#[test]
fn epochs_under_churn() {
    for barrier in barriers() {
        churn::<epoch::Collector>(barrier, with(barrier, operations(100_000, 100_000_000)));
    }
}

#[test]
fn hazards_under_churn() {
    for barrier in barriers() {
        churn::<hazard::Domain>(barrier, with(barrier, operations(100_000, 100_000_000)));
    }
}

#[test]
fn epochs_in_a_race() {
    for barrier in barriers() {
        race::<epoch::Collector>(barrier, with_heavy(barrier, operations(10_000, 10_000_000)));
    }
}

#[test]
fn hazards_in_a_race() {
    for barrier in barriers() {
        race::<hazard::Domain>(barrier, with_heavy(barrier, operations(10_000, 10_000_000)));
    }
}

#[test]
fn epochs_leave_nothing() {
    barriers().into_iter().for_each(leave::<epoch::Collector>);
}

#[test]
fn hazards_leave_nothing() {
    barriers().into_iter().for_each(leave::<hazard::Domain>);
}
