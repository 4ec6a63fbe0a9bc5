//! Wrapping, deadlines, tokens, predicates, and which bound is in force.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use tiebreak_sync::barrier::{Barrier, Strategy};
use tiebreak_sync::event_count::{
    Bound, EventCount32, EventCount64, Multi, Pause, Single, TwoWord, Waiting,
};

use super::subject::{Hand, Subject, hopeless, watched};

super::for_every_kind! {
    it_wraps_with_a_waiter_asleep,
    a_deadline_in_the_past_looks_and_goes,
    a_deadline_ends_the_wait_and_not_before,
    a_deadline_ends_the_spins,
    a_value_that_never_was_differs,
    nothing_added_changes_nothing,
    a_producer_may_go_while_others_sleep,
}

/// Waits for `seen` to change on another thread while `body` runs, which begins once that thread
/// has had the time to sleep, as a rule.
fn beside_a_sleeper<S: Subject>(count: &S, seen: u64, body: impl FnOnce()) -> u64 {
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| count.wait_until(seen, hopeless()).expect("it is woken"));
        std::thread::sleep(Duration::from_millis(3));
        body();
        sleeper.join().unwrap()
    })
}

/// From the last values over the top, by one and by more, each with a waiter whose flag is up.
fn it_wraps_with_a_waiter_asleep<S: Subject>() {
    for n in [1, 2, 7, S::LAST] {
        let count = S::new(Waiting::new().spins(0));
        let mut hand = count.hand().unwrap();
        hand.add(S::LAST);
        assert_eq!(count.value(), S::LAST);
        let expected = S::LAST.wrapping_add(n) & S::LAST;
        let seen = beside_a_sleeper(&count, S::LAST, || hand.add(n));
        assert_eq!((seen, count.value()), (expected, expected), "{n} added at the top");
        // Without a waiter it wraps as well, and wakes no thread for good.
        let next = expected.wrapping_add(1) & S::LAST;
        let seen = beside_a_sleeper(&count, expected, || hand.increment());
        assert_eq!((seen, count.value()), (next, next));
    }
    let count = S::new(Waiting::new());
    let mut hand = count.hand().unwrap();
    hand.add(S::LAST);
    hand.increment();
    assert_eq!(count.value(), 0);
    let seen = beside_a_sleeper(&count, 0, || hand.increment());
    assert_eq!((seen, count.value()), (1, 1));
}

fn a_deadline_in_the_past_looks_and_goes<S: Subject>() {
    let count = S::new(Waiting::new());
    let past = Instant::now();
    assert_eq!(count.wait_until(0, past), None);
    count.hand().unwrap().increment();
    assert_eq!(count.wait_until(0, past), Some(1));
}

fn a_deadline_ends_the_wait_and_not_before<S: Subject>() {
    let count = S::new(Waiting::new());
    for milliseconds in [1, 20] {
        let deadline = Instant::now() + Duration::from_millis(milliseconds);
        assert_eq!(count.wait_until(0, deadline), None);
        assert!(Instant::now() >= deadline);
    }
    assert_eq!(count.rescues(), 0, "nothing has changed, so no waiter was rescued");
}

/// So many looks would take minutes.
fn a_deadline_ends_the_spins<S: Subject>() {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let count = S::new(Waiting::new().spins(u32::MAX));
        let _ = done.send(count.wait_until(0, Instant::now() + Duration::from_millis(10)));
    });
    assert_eq!(is_done.recv_timeout(Duration::from_secs(20)), Ok(None));
}

fn a_value_that_never_was_differs<S: Subject>() {
    let count = S::new(Waiting::new());
    for seen in [1, S::LAST, S::LAST + 1] {
        assert_eq!(count.wait(seen), 0);
        assert_eq!(count.wait_until(seen, Instant::now()), Some(0));
    }
}

fn nothing_added_changes_nothing<S: Subject>() {
    let count = S::new(Waiting::new());
    let mut hand = count.hand().unwrap();
    hand.add(0);
    assert_eq!(count.value(), 0);
    let seen = beside_a_sleeper(&count, 0, || {
        // A multiple of a whole turn is nothing, too.
        (0..3).for_each(|_| hand.add(S::LAST + 1));
        hand.increment();
    });
    assert_eq!(seen, 1);
}

fn a_producer_may_go_while_others_sleep<S: Subject>() {
    watched(|| {
        let count = S::new(Waiting::new().spins(0));
        let seen = beside_a_sleeper(&count, 0, || {
            drop(count.hand().expect("it is free"));
            std::thread::scope(|scope| {
                scope.spawn(|| count.hand().expect("it was given back").increment());
            });
        });
        assert_eq!(seen, 1);
    });
}

#[test]
fn there_is_one_token_at_a_time() {
    let count = EventCount64::<Single>::new();
    let producer = count.producer().unwrap();
    assert!(count.producer().is_none());
    std::thread::scope(|scope| {
        // It may be used and given back elsewhere.
        scope.spawn(move || {
            let mut producer = producer;
            producer.increment();
            assert_eq!(producer.value(), 1);
            assert_eq!(producer.event_count().value(), 1);
        });
    });
    assert_eq!(count.producer().unwrap().value(), 1);
}

#[test]
fn a_predicate_is_asked_before_each_sleep_and_ends_the_wait() {
    let count = EventCount64::<Multi>::new();
    assert_eq!(count.wait_with(0, || Pause::End), None);
    let mut asked = 0;
    let soon = || Instant::now() + Duration::from_millis(1);
    let value = count.wait_with(0, || {
        asked += 1;
        if asked < 4 { Pause::Until(soon()) } else { Pause::End }
    });
    assert_eq!((value, asked), (None, 4));
    // What it does itself counts as well.
    let value = count.wait_with(0, || {
        count.increment();
        Pause::UntilWoken
    });
    assert_eq!(value, Some(1));
    let value = count.wait_with(1, || {
        count.increment();
        Pause::End
    });
    assert_eq!(value, Some(2));
    // Nothing to wait for, nothing to ask.
    assert_eq!(count.wait_with(0, || unreachable!()), Some(2));
}

#[test]
fn the_bound_in_force_is_the_one_asked_for_as_far_as_it_exists() {
    let process = Bound::Barrier(Barrier::process());
    let fences = Bound::Barrier(Barrier::seq_cst());
    let best = match Barrier::process().strategy() {
        Strategy::SeqCst => Bound::OneSecond,
        _ => process,
    };
    let single = cfg!(target_arch = "x86_64");
    for (asked, of_single, of_two_word) in [
        (None, best, process),
        (Some(Bound::Atomic), best, process),
        (Some(Bound::OneSecond), Bound::OneSecond, process),
        (Some(process), best, process),
        (Some(fences), Bound::OneSecond, fences),
    ] {
        let waiting = asked.map_or(Waiting::new(), |asked| Waiting::new().bound(asked));
        let of_single = if single { of_single } else { of_two_word };
        assert_eq!(EventCount32::<Single>::with_waiting(waiting).bound(), of_single, "{asked:?}");
        assert_eq!(EventCount64::<Single>::with_waiting(waiting).bound(), of_single, "{asked:?}");
        let count = EventCount64::<TwoWord>::with_waiting(waiting);
        assert_eq!(count.bound(), of_two_word, "{asked:?}");
        let count = EventCount64::<Multi>::with_waiting(waiting);
        assert_eq!(count.bound(), Bound::Atomic, "{asked:?}");
    }
    println!("bound of a single producer here: {best}");
}

#[test]
fn bounds_print_their_names() {
    for (bound, name) in [
        (Bound::Atomic, "atomic"),
        (Bound::OneSecond, "one-second"),
        (Bound::Barrier(Barrier::seq_cst()), "barrier seq-cst"),
    ] {
        assert_eq!(bound.to_string(), name);
    }
}

#[test]
fn the_one_second_rule_wakes_as_well() {
    for spins in [0, 100] {
        let waiting = Waiting::new().spins(spins).bound(Bound::OneSecond);
        let count = EventCount32::<Single>::with_waiting(waiting);
        let mut producer = count.producer().unwrap();
        for seen in 0..20 {
            let now = beside_a_sleeper(&count, seen, || producer.increment());
            assert_eq!(now, seen + 1);
        }
    }
}
