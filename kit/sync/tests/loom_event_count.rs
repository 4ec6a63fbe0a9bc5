//! Event counts under the model checker: every interleaving, and every value that a load may give.
//!
//! A lost wake-up is a thread that sleeps for ever, which the checker reports as a deadlock. The
//! copies in `mutants` have one mistake each, and for each the checker has to find one.
#![cfg(loom)]

#[path = "common/length.rs"]
mod length;
#[path = "loom_event_count/mutants.rs"]
mod mutants;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use tiebreak_sync::event_count::{
    EventCount, EventCount32, EventCount64, Multi, Producers, TwoWord, Value,
};

/// Explores all runs with up to `preemptions` forced switches of threads; nothing is all of them.
/// The long form allows two more.
fn explore(preemptions: Option<usize>, run: impl Fn() + Sync + Send + 'static) {
    let more = if length::is_full() { 2 } else { 0 };
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions.map(|bound| bound + more);
    builder.check(run);
}

/// Waits, from zero on, until the count is `last`; never sees the count go back.
fn follow<V: Value + Ord, P: Producers>(count: &EventCount<V, P>, zero: V, last: V) {
    let mut seen = zero;
    while seen != last {
        let now = count.wait(seen);
        assert!(now > seen && now <= last, "{now:?} after {seen:?}, on the way to {last:?}");
        seen = now;
    }
}

macro_rules! many_producers {
    ($name:ident, $count:ty) => {
        mod $name {
            use super::*;

            #[test]
            fn one_increment_wakes_and_brings_its_data() {
                explore(None, || {
                    let shared = Arc::new((<$count>::new(), AtomicU32::new(0)));
                    let waiter = {
                        let shared = Arc::clone(&shared);
                        thread::spawn(move || {
                            assert_eq!(shared.0.wait(0), 1);
                            assert_eq!(shared.1.load(Ordering::Relaxed), 7);
                        })
                    };
                    shared.1.store(7, Ordering::Relaxed);
                    shared.0.increment();
                    waiter.join().unwrap();
                });
            }

            #[test]
            fn two_increments_are_followed() {
                explore(Some(3), || {
                    let count = Arc::new(<$count>::new());
                    let waiter = {
                        let count = Arc::clone(&count);
                        thread::spawn(move || follow(&*count, 0, 2))
                    };
                    count.increment();
                    count.increment();
                    waiter.join().unwrap();
                });
            }

            #[test]
            fn two_producers_wake_one_waiter() {
                explore(Some(2), || {
                    let count = Arc::new(<$count>::new());
                    let producers: [_; 2] = std::array::from_fn(|_| {
                        let count = Arc::clone(&count);
                        thread::spawn(move || count.increment())
                    });
                    follow(&*count, 0, 2);
                    producers.into_iter().for_each(|producer| producer.join().unwrap());
                });
            }

            #[test]
            fn one_producer_wakes_two_waiters() {
                explore(Some(2), || {
                    let count = Arc::new(<$count>::new());
                    let waiters: [_; 2] = std::array::from_fn(|_| {
                        let count = Arc::clone(&count);
                        thread::spawn(move || assert_eq!(count.wait(0), 1))
                    });
                    count.increment();
                    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
                });
            }
        }
    };
}
many_producers!(multi_32, EventCount32<Multi>);
many_producers!(multi_64, EventCount64<Multi>);

macro_rules! two_words {
    ($name:ident, $count:ty) => {
        mod $name {
            use super::*;

            #[test]
            fn one_increment_wakes_and_brings_its_data() {
                explore(None, || {
                    let shared = Arc::new((<$count>::new(), AtomicU32::new(0)));
                    let waiter = {
                        let shared = Arc::clone(&shared);
                        thread::spawn(move || {
                            assert_eq!(shared.0.wait(0), 1);
                            assert_eq!(shared.1.load(Ordering::Relaxed), 7);
                        })
                    };
                    shared.1.store(7, Ordering::Relaxed);
                    shared.0.producer().unwrap().increment();
                    waiter.join().unwrap();
                });
            }

            #[test]
            fn two_increments_are_followed_by_two_waiters() {
                explore(Some(2), || {
                    let count = Arc::new(<$count>::new());
                    let waiters: [_; 2] = std::array::from_fn(|_| {
                        let count = Arc::clone(&count);
                        thread::spawn(move || follow(&*count, 0, 2))
                    });
                    let mut producer = count.producer().unwrap();
                    producer.increment();
                    producer.increment();
                    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
                });
            }

            #[test]
            fn the_token_hands_the_count_over() {
                explore(None, || {
                    let count = Arc::new(<$count>::new());
                    let other = {
                        let count = Arc::clone(&count);
                        thread::spawn(move || match count.producer() {
                            Some(mut producer) => {
                                producer.increment();
                                1
                            }
                            None => 0,
                        })
                    };
                    let mine = match count.producer() {
                        Some(mut producer) => {
                            producer.increment();
                            1
                        }
                        None => 0,
                    };
                    let done = mine + other.join().unwrap();
                    assert!(done >= 1 && count.value() == done, "{} of {done}", count.value());
                });
            }
        }
    };
}
two_words!(two_word_32, EventCount32<TwoWord>);
two_words!(two_word_64, EventCount64<TwoWord>);
