//! Flags lost on purpose, on the machine itself: what the bounds of a single producer are for.
//!
//! Before its increment the producer stores to lines that are in no cache. The increment reads the
//! count at once, but its own store waits in the store buffer behind those, for a microsecond or
//! so. A flag that goes up in that time is overwritten. Without a bound the waiter looks in that
//! time, too, goes to sleep and stays so: the control, which has to happen now and then, or the run
//! proves nothing. With a bound, no waiter may be left asleep. The delays on both sides sweep over
//! what hits.

mod two_waiters;

use core::arch::x86_64::{_mm_clflush, _mm_mfence};
use core::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use crate::atomic::{AtomicU32, Ordering};
use crate::event_count::count::{Armed, Count, Flagged, Word};
use crate::event_count::waiting::{Rule, wait};
use crate::event_count::{Bound, EventCount32, Pause, Single};
use crate::futex::Awake;
use crate::test_affinity::{allowed_cpus, keep_to};
use crate::test_length::is_full;

/// A count that remembers what happened to its one waiter in this round.
#[derive(Debug)]
struct Observed {
    count: Flagged<u32>,
    seen: AtomicU32,
    was_raised: AtomicBool,
    was_answered: AtomicBool,
    /// The sleep ended by its limit and found the count changed.
    overslept: AtomicBool,
}

impl Count for Observed {
    type Value = u32;

    const NEW: Self = Observed {
        count: Flagged::NEW,
        seen: AtomicU32::new(0),
        was_raised: AtomicBool::new(false),
        was_answered: AtomicBool::new(false),
        overslept: AtomicBool::new(false),
    };

    fn value(&self) -> u32 {
        self.count.value()
    }

    fn arm(&self, seen: u32) -> Option<Armed> {
        let armed = self.count.arm(seen);
        self.seen.store(seen, Ordering::Relaxed);
        self.was_raised.fetch_or(armed.is_some(), Ordering::Relaxed);
        armed
    }

    fn is_armed(&self, seen: u32, armed: Armed) -> bool {
        self.count.is_armed(seen, armed)
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        let awake = self.count.sleep(armed, limit);
        let changed = self.value() != self.seen.load(Ordering::Relaxed);
        self.overslept.store(awake == Awake::TimedOut && changed, Ordering::Relaxed);
        awake
    }

    fn wake(&self) {
        self.was_answered.store(true, Ordering::Relaxed);
        self.count.wake();
    }
}

/// What became of the flags.
#[derive(Debug, Default)]
struct Outcomes {
    rounds: u32,
    /// Raised, and overwritten by the increment.
    lost: u32,
    /// Of these: the waiter was asleep, and no increment was going to wake it.
    left_asleep: u32,
    rescues: u64,
}

/// Cold lines for the producer's stores, each in a page of its own. The store buffers of today have
/// some 50 to 100 places; with more stores than that, the increment begins once its own has one.
struct Lines(Vec<AtomicU64>);

impl Lines {
    const COUNT: usize = 96;
    /// In words: a page and a line.
    const APART: usize = (4096 + 64) / 8;

    fn new() -> Lines {
        Lines((0..Lines::COUNT * Lines::APART).map(|_| AtomicU64::new(0)).collect())
    }

    fn cool(&self) {
        for line in self.0.iter().step_by(Lines::APART) {
            // SAFETY: the address is that of a live object; the instruction changes no value.
            unsafe { _mm_clflush(core::ptr::from_ref(line).cast()) };
        }
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_mfence() };
    }

    /// Stores to each line, one after the other without a pause, optimised or not.
    fn store(&self) {
        // SAFETY: as many words as the loop passes are there, in steps of the same size; words of
        // 64 bits that are atomic are stored to, which is a relaxed store; no stack is used.
        unsafe {
            core::arch::asm!(
                "2:",
                "mov qword ptr [{line}], {left}",
                "add {line}, {apart}",
                "dec {left}",
                "jnz 2b",
                line = inout(reg) self.0.as_ptr() => _,
                left = inout(reg) Lines::COUNT => _,
                apart = const Lines::APART * 8,
                options(nostack),
            );
        }
    }
}

/// Spins until `round` has come; steps aside, as there may be one CPU. False if time is over.
fn comes(at: &AtomicU32, round: u32) -> bool {
    let mut looks = 0u32;
    loop {
        match at.load(Ordering::Acquire) {
            u32::MAX => return false,
            now if now >= round => return true,
            _ => {}
        }
        looks += 1;
        if looks.is_multiple_of(1000) {
            std::thread::yield_now();
        }
        core::hint::spin_loop();
    }
}

/// Binds this thread to the `index`-th CPU that it may use. If that fails, it runs where it runs.
fn pin(index: usize) {
    if let Some(cpu) = allowed_cpus().get(index) {
        keep_to(&[*cpu]);
    }
}

/// When a run ends.
#[derive(Clone, Copy)]
struct Until {
    time: Duration,
    left_asleep: u32,
}

/// Rounds of one increment against one waiter.
fn run(bound: Bound, until: Until) -> Outcomes {
    let count = Observed::NEW;
    let count = &count;
    let turns = &Turns { begun: AtomicU32::new(0), incremented: AtomicU32::new(0) };
    let lines = Lines::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            let mut round = 1;
            while comes(&turns.begun, round) {
                lines.cool();
                turns.incremented.store(2 * round - 1, Ordering::Release);
                (0..round / 64 % 16).for_each(|_| core::hint::spin_loop());
                lines.store();
                count.count.word.increment_alone(|| count.wake());
                turns.incremented.store(2 * round, Ordering::Release);
                round += 1;
            }
        });
        // A thread of its own, so that the harness's stays where it was.
        let waiter = scope.spawn(|| {
            pin(0);
            let outcomes = wait_in_rounds(count, bound, until, turns);
            turns.begun.store(u32::MAX, Ordering::Release);
            outcomes
        });
        waiter.join().expect("it waits and counts")
    })
}

/// Who has come how far. The second counts in halves: before the increment, and after it.
struct Turns {
    begun: AtomicU32,
    incremented: AtomicU32,
}

/// The waiter's side of `run`.
fn wait_in_rounds(count: &Observed, bound: Bound, until: Until, turns: &Turns) -> Outcomes {
    let rescues = AtomicU64::new(0);
    let rule = Rule { spins: 0, deadline: None, bound, rescues: &rescues };
    let mut outcomes = Outcomes::default();
    let end = Instant::now() + until.time;
    while Instant::now() < end && outcomes.left_asleep < until.left_asleep {
        outcomes.rounds += 1;
        let seen = count.value();
        for flag in [&count.was_raised, &count.was_answered, &count.overslept] {
            flag.store(false, Ordering::Relaxed);
        }
        turns.begun.store(outcomes.rounds, Ordering::Release);
        comes(&turns.incremented, 2 * outcomes.rounds - 1);
        (0..outcomes.rounds % 64).for_each(|_| core::hint::spin_loop());
        // The limit wakes a waiter that no increment wakes; the one-second rule does so by itself.
        wait(count, seen, &rule, || match bound {
            Bound::OneSecond => Pause::UntilWoken,
            _ => Pause::Until(Instant::now() + Duration::from_millis(1)),
        });
        comes(&turns.incremented, 2 * outcomes.rounds);
        let is_lost =
            count.was_raised.load(Ordering::Relaxed) && !count.was_answered.load(Ordering::Relaxed);
        outcomes.lost += u32::from(is_lost);
        outcomes.left_asleep += u32::from(is_lost && count.overslept.load(Ordering::Relaxed));
    }
    outcomes.rescues = rescues.into_inner();
    outcomes
}

/// Fewer than that in the control, and the run proves nothing.
const ENOUGH: u32 = 5;

/// How long a run takes, and after how many left asleep the control may end before.
fn time_and_enough() -> (Duration, u32) {
    if is_full() {
        (Duration::from_secs(20), u32::MAX)
    } else {
        (Duration::from_millis(500), ENOUGH)
    }
}

#[test]
fn a_lost_flag_leaves_nobody_asleep() {
    let (time, enough) = time_and_enough();
    let control = run(Bound::Atomic, Until { time, left_asleep: enough });
    println!("without a bound: {control:?}");
    if control.left_asleep < ENOUGH {
        println!("too few were left asleep: this run proves nothing about the bounds");
    }
    let rest = Until { time, left_asleep: u32::MAX };
    let timed = run(Bound::OneSecond, rest);
    println!("{}: {timed:?}", Bound::OneSecond);
    assert!(timed.rescues >= timed.left_asleep.into(), "a slice rescues each that is left");
    let bound = EventCount32::<Single>::new().bound();
    if bound == Bound::OneSecond {
        println!("skipped: no barrier has a heavy side here");
        return;
    }
    let bounded = run(bound, rest);
    println!("{bound}: {bounded:?}");
    assert_eq!(bounded.left_asleep, 0, "asleep for good after the bound");
}
