//! What holds of every kind, and of the naive counter next to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tiebreak_sync::event_count::Waiting;

use super::subject::{Hand, Numbers, Oracle, Subject, hopeless, watched};

super::for_every_kind! {
    alone_it_does_what_the_oracle_does,
    waiters_see_it_grow_up_to_its_end,
    what_was_written_before_is_seen,
}

#[test]
fn the_oracle_passes_what_it_judges() {
    alone_it_does_what_the_oracle_does::<Oracle>();
    waiters_see_it_grow_up_to_its_end::<Oracle>();
    what_was_written_before_is_seen::<Oracle>();
}

/// One thread adds and asks, at random. Some additions are large, so that the count wraps often.
fn alone_it_does_what_the_oracle_does<S: Subject>() {
    let mut numbers = Numbers(1);
    let (subject, oracle) = (S::new(Waiting::new().spins(0)), Oracle::new(Waiting::new()));
    let (mut hand, mut other) = (subject.hand().unwrap(), oracle.hand().unwrap());
    let past = Instant::now();
    for step in 0..if cfg!(miri) { 100 } else { 5000 } {
        let n = match numbers.below(5) {
            0 => 0,
            1 => 1,
            2 => numbers.below(10),
            3 => numbers.next(),
            _ => S::LAST - numbers.below(3),
        };
        match n {
            1 => hand.increment(),
            _ => hand.add(n & S::LAST),
        }
        other.add(n & S::LAST);
        let expected = oracle.value() & S::LAST;
        assert_eq!(subject.value(), expected, "step {step}, {n} added");
        assert_eq!(subject.wait_until(expected, past), None, "step {step}");
        let seen = expected.wrapping_sub(1 + numbers.below(3)) & S::LAST;
        assert_eq!(subject.wait_until(seen, past), Some(expected), "step {step}");
        assert_eq!(subject.wait(seen), expected, "step {step}");
    }
}

/// One producer with pauses, three waiters: each sees the count grow only, and sees its end.
fn waiters_see_it_grow_up_to_its_end<S: Subject>() {
    let last = if cfg!(miri) { 10 } else { 2000 };
    watched(move || {
        let subject = S::new(Waiting::new().spins(10));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut seen = 0;
                    while seen < last {
                        let now = subject.wait(seen);
                        assert!(now > seen && now <= last, "{now} after {seen}");
                        seen = now;
                    }
                });
            }
            let mut numbers = Numbers(2);
            let mut hand = subject.hand().unwrap();
            for _ in 0..last {
                numbers.dawdle();
                hand.increment();
            }
        });
        assert_eq!(subject.value(), last);
    });
}

/// What a producer wrote before the increment, a waiter finds after the wait, without a fence.
fn what_was_written_before_is_seen<S: Subject>() {
    let last = if cfg!(miri) { 10 } else { 2000 };
    let shared = Arc::new((S::new(Waiting::new().spins(0)), AtomicU64::new(0)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = 0;
            while seen < last {
                seen = shared.0.wait_until(seen, hopeless()).expect("no wake-up is lost");
                assert!(shared.1.load(Ordering::Relaxed) >= seen);
            }
        });
        let mut numbers = Numbers(3);
        let mut hand = shared.0.hand().unwrap();
        for number in 1..=last {
            shared.1.store(number, Ordering::Relaxed);
            hand.increment();
            numbers.dawdle();
        }
    });
}

#[test]
fn many_producers_lose_no_increment() {
    use tiebreak_sync::event_count::{EventCount, EventCount32, EventCount64, Multi};
    const PRODUCERS: u64 = 4;
    fn check<S: Subject>(count: S) {
        let each = if cfg!(miri) { 10 } else { 20_000 };
        std::thread::scope(|scope| {
            for seed in 0..PRODUCERS {
                let mut hand = count.hand().unwrap();
                scope.spawn(move || {
                    let mut numbers = Numbers(seed);
                    for _ in 0..each {
                        hand.increment();
                        if numbers.below(64) == 0 {
                            numbers.dawdle();
                        }
                    }
                });
            }
            let mut seen = 0;
            while seen < PRODUCERS * each {
                seen = count.wait_until(seen, hopeless()).expect("no wake-up is lost");
            }
        });
        assert_eq!(count.value(), PRODUCERS * each);
    }
    check::<EventCount32<Multi>>(EventCount::new());
    check::<EventCount64<Multi>>(EventCount::new());
}
