//! A reader that does not go on: hazard pointers stay within their bound, epochs say who it is.

use crate::canary::{Aviary, Canary, bury};
use crate::scale::{barriers, operations, with};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire};
use std::time::{Duration, Instant};
use tiebreak_sync::{epoch, hazard};

#[test]
fn hazards_stay_within_their_bound() {
    for barrier in barriers() {
        let aviary = Aviary::default();
        let domain = hazard::Domain::with_barrier(barrier);
        let place = AtomicPtr::new(aviary.hatch());
        let (stalled, writer) = (domain.register(), domain.register());
        let mut hazard = stalled.hazard();
        // SAFETY: what is in the place is retired in this domain only, once it was taken out.
        let seen = unsafe { hazard.protect(&place) }.unwrap();
        let mut most = 0;
        for _ in 0..with(barrier, operations(1_000_000, 10_000_000)) {
            let old = place.swap(aviary.hatch(), AcqRel);
            // SAFETY: the swap took away the only way to it.
            unsafe { writer.retire_with(old, bury) };
            most = most.max(aviary.alive() - 1);
            assert!(aviary.alive() - 1 <= domain.bound());
        }
        seen.check();
        println!("{}: at most {most} of {} were pending", barrier.strategy(), domain.bound());
        // SAFETY: as above.
        unsafe { writer.retire_with(place.swap(null_mut(), AcqRel), bury) };
        drop(hazard);
        drop((stalled, writer, domain));
        assert_eq!(aviary.alive(), 0);
    }
}

#[test]
fn leaving_handles_stay_within_the_bound() {
    let aviary = Aviary::default();
    let domain = hazard::Domain::new();
    for _ in 0..operations(20_000, 1_000_000) {
        let handle = domain.register();
        for _ in 0..5 {
            // SAFETY: it was never linked.
            unsafe { handle.retire_with(aviary.hatch(), bury) };
        }
        drop(handle);
        assert!(domain.pending() <= domain.bound() && aviary.alive() == domain.pending());
    }
    drop(domain);
    assert_eq!(aviary.alive(), 0);
}

/// How long until nothing is pending, with a limit.
fn drain(collector: &epoch::Collector, handle: &epoch::Handle) {
    let soon = Instant::now() + Duration::from_secs(20);
    while collector.pending() > 0 && Instant::now() < soon {
        handle.flush();
        std::thread::yield_now();
    }
    assert_eq!(collector.pending(), 0);
}

#[test]
fn epochs_say_who_is_in_the_way() {
    let count = operations(200_000, 10_000_000);
    for barrier in barriers() {
        let aviary = Aviary::default();
        let collector = epoch::Collector::with_barrier(barrier);
        let place = AtomicPtr::new(aviary.hatch());
        let (stalled, writer) = (collector.register(), collector.register());
        let guard = stalled.pin();
        // SAFETY: what is in the place was not retired before this pin.
        let seen: &Canary = unsafe { &*place.load(Acquire) };
        for _ in 0..count {
            // SAFETY: the swap took away the only way to it.
            unsafe { writer.pin().retire_with(place.swap(aviary.hatch(), AcqRel), bury) };
        }
        writer.flush();
        assert!(collector.pending() >= count - 64, "{} only", collector.pending());
        let first = collector.oldest_pin().unwrap();
        assert_eq!(first.record, stalled.record());
        std::thread::sleep(Duration::from_millis(5));
        let second = collector.oldest_pin().unwrap();
        assert_eq!(second.record, stalled.record());
        assert!(second.age >= first.age + Duration::from_millis(5));
        seen.check();
        println!("{}: {} pending, {:?} old", barrier.strategy(), collector.pending(), second.age);
        drop(guard);
        assert_eq!(collector.oldest_pin(), None);
        drain(&collector, &writer);
        assert_eq!(aviary.alive(), 1);
    }
}

#[test]
fn the_age_of_a_pin_is_known_without_garbage() {
    let collector = epoch::Collector::new();
    let handles: Vec<_> = (0..3).map(|_| collector.register()).collect();
    let mut guards = std::collections::VecDeque::new();
    let start = Instant::now();
    for handle in &handles {
        guards.push_back(handle.pin());
        // The first stays the oldest.
        assert_eq!(collector.oldest_pin().unwrap().record, handles[0].record());
        std::thread::sleep(Duration::from_millis(2));
    }
    let oldest = collector.oldest_pin().unwrap();
    assert!(oldest.age >= Duration::from_millis(6) && oldest.age <= start.elapsed());
    guards.pop_front();
    assert_ne!(collector.oldest_pin().unwrap().record, handles[0].record());
    guards.clear();
    assert_eq!(collector.oldest_pin(), None);
}
