//! Many wake-ups, each watched: short by default, ten million with `TIEBREAK_FULL=1`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tiebreak_sync::event_count::{Bound, EventCount, EventCount32, EventCount64, Single, Waiting};

use super::subject::{Hand, Numbers, Subject};

super::for_every_kind! {
    no_wake_up_is_lost,
    bursts_reach_every_waiter,
}

/// How long one wait may last. Nothing here lasts that long but a lost wake-up.
const LONGEST: Duration = Duration::from_secs(30);

/// Waits with the watchdog; `longest_ns` remembers the longest wait.
fn wait<S: Subject>(count: &S, seen: u64, longest_ns: &AtomicU64) -> u64 {
    let start = Instant::now();
    let value = count.wait_until(seen, start + LONGEST);
    let waited = start.elapsed();
    let value = value.unwrap_or_else(|| panic!("nothing came for {waited:?} at {seen}"));
    assert!(waited < LONGEST, "woken by the watchdog: the wake-up after {seen} was lost");
    longest_ns.fetch_max(waited.as_nanos() as u64, Ordering::Relaxed);
    value
}

/// How often this thread has gone to sleep, as the kernel counts it.
fn sleeps() -> libc::c_long {
    // SAFETY: the structure is plain numbers, for which zero is a value, and the call fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        // Miri has no such call.
        if !cfg!(miri) {
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        }
        usage.ru_nvcsw
    }
}

/// Two threads hand a turn to each other by two counts, with pauses drawn by chance.
fn no_wake_up_is_lost<S: Subject>() {
    let turns = match (cfg!(miri), super::length::is_full()) {
        (true, _) => 20,
        (_, false) => 5_000,
        // Two waits a turn, six kinds: of 18 million, more than ten million sleep.
        (_, true) => 1_500_000,
    };
    let waiting = Waiting::new().spins(0);
    check_turns(S::new(waiting), S::new(waiting), turns);
}

fn check_turns<S: Subject>(there: S, back: S, turns: u64) {
    let longest_ns = AtomicU64::new(0);
    let before = sleeps();
    let asleep = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let before = sleeps();
            let mut numbers = Numbers(4);
            let mut hand = back.hand().unwrap();
            for turn in 0..turns {
                assert_eq!(wait(&there, turn, &longest_ns), turn + 1);
                pause(&mut numbers);
                hand.increment();
            }
            sleeps() - before
        });
        let mut numbers = Numbers(5);
        let mut hand = there.hand().unwrap();
        for turn in 0..turns {
            pause(&mut numbers);
            hand.increment();
            assert_eq!(wait(&back, turn, &longest_ns), turn + 1);
        }
        sleeps() - before + other.join().unwrap()
    });
    println!(
        "{} waits by {}, {asleep} times asleep: longest {:.3} ms, rescues {}",
        2 * turns,
        there.bound(),
        longest_ns.into_inner() as f64 / 1e6,
        there.rescues() + back.rescues(),
    );
    if there.bound() != Bound::OneSecond {
        assert_eq!(there.rescues() + back.rescues(), 0, "only slices of the one-second rule count");
    }
}

/// Rarely long, so that ten million take minutes.
fn pause(numbers: &mut Numbers) {
    if numbers.below(8) == 0 {
        (0..numbers.below(500)).for_each(|_| std::hint::spin_loop());
    }
    if numbers.below(1024) == 0 {
        std::thread::sleep(Duration::from_micros(numbers.below(100)));
    }
}

/// The same by the published rule, whatever else there is.
#[test]
fn no_wake_up_is_lost_by_the_one_second_rule() {
    let turns = match (cfg!(miri), super::length::is_full()) {
        (true, _) => 20,
        (_, false) => 5_000,
        (_, true) => 300_000,
    };
    let waiting = Waiting::new().spins(0).bound(Bound::OneSecond);
    check_turns::<EventCount32<Single>>(
        EventCount::with_waiting(waiting),
        EventCount::with_waiting(waiting),
        turns,
    );
    check_turns::<EventCount64<Single>>(
        EventCount::with_waiting(waiting),
        EventCount::with_waiting(waiting),
        turns,
    );
}

/// A tight loop of increments against many waiters that raise the flag all the time, so that flags
/// are lost; after each burst everybody has to have seen its end.
fn bursts_reach_every_waiter<S: Subject>() {
    const WAITERS: u64 = 6;
    let bursts = match (cfg!(miri), super::length::is_full()) {
        (true, _) => 3,
        (_, false) => 150,
        (_, true) => 20_000,
    };
    let count = S::new(Waiting::new().spins(0));
    let arrived = EventCount64::<tiebreak_sync::event_count::Multi>::new();
    let longest_ns = AtomicU64::new(0);
    let ends = ends_of_bursts(bursts);
    std::thread::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| {
                let mut seen = 0;
                for end in &ends {
                    while seen < *end {
                        seen = wait(&count, seen, &longest_ns);
                    }
                    arrived.increment();
                }
            });
        }
        let mut hand = count.hand().unwrap();
        let mut sent = 0;
        for (burst, end) in ends.iter().enumerate() {
            while sent < *end {
                hand.increment();
                sent += 1;
            }
            let all = (burst as u64 + 1) * WAITERS;
            let mut there = arrived.value();
            while there < all {
                there = wait(&arrived, there, &longest_ns);
            }
        }
    });
    println!("{bursts} bursts by {}, rescues {}", count.bound(), count.rescues());
}

/// The count after each burst.
fn ends_of_bursts(bursts: usize) -> Vec<u64> {
    let mut numbers = Numbers(6);
    let longest = if cfg!(miri) { 5 } else { 3000 };
    (0..bursts)
        .scan(0, |end, _| {
            *end += 1 + numbers.below(longest);
            Some(*end)
        })
        .collect()
}
