//! A second waiter that takes a flag raised anew for the one of before its barrier.
//!
//! The second waiter finds the flag that an increment has seen and its producer is about to take
//! down, and runs its barrier. Then the flag goes down, the next increment begins, and the first
//! waiter raises the flag anew, only for that increment to overwrite it. The second waiter must not
//! go to sleep on what it finds then. One thread does what both waiters do, as there may be two
//! CPUs only. The control compares the number of wake-ups of after the barrier, which is what it
//! comes to if waiters sleep on the word itself.

use std::sync::Mutex;

use super::*;

/// A count with both waiters' steps of one round.
#[derive(Debug)]
struct Raced {
    count: Flagged<u32>,
    turn: AtomicU32,
    /// What the first waiter got when it raised the flag anew.
    anew: Mutex<Option<Armed>>,
    is_control: AtomicBool,
    was_answered: AtomicBool,
    overslept: AtomicBool,
}

/// How far a round is: the turn is five times the round, and these.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Step {
    /// The first waiter has raised its flag.
    Raised,
    /// The first increment has seen it, and has not taken it down.
    Incremented,
    /// The second waiter is past its barrier.
    Barred,
    /// The flag is down, and the second increment begins.
    Lowered,
    /// It is over.
    Over,
}

impl Raced {
    fn begins(&self, round: u32, step: Step) {
        self.turn.store(5 * round + step as u32, Ordering::Release);
    }

    fn comes(&self, round: u32, step: Step) -> bool {
        comes(&self.turn, 5 * round + step as u32)
    }

    /// The two increments of a round, the second with a store that is late.
    fn increment_twice(&self, round: u32, lines: &Lines) {
        self.count.word.increment_alone(|| {
            self.begins(round, Step::Incremented);
            self.comes(round, Step::Barred);
            self.count.wake();
        });
        lines.cool();
        self.begins(round, Step::Lowered);
        (0..round / 64 % 16).for_each(|_| core::hint::spin_loop());
        lines.store();
        self.count.word.increment_alone(|| self.wake());
        self.begins(round, Step::Over);
    }
}

impl Count for Raced {
    type Value = u32;

    const NEW: Self = Raced {
        count: Flagged::NEW,
        turn: AtomicU32::new(0),
        anew: Mutex::new(None),
        is_control: AtomicBool::new(false),
        was_answered: AtomicBool::new(false),
        overslept: AtomicBool::new(false),
    };

    fn value(&self) -> u32 {
        self.count.value()
    }

    fn arm(&self, seen: u32) -> Option<Armed> {
        self.count.arm(seen)
    }

    /// The second waiter is past its barrier: it is the first one's turn before it looks.
    fn is_armed(&self, seen: u32, armed: Armed) -> bool {
        let turn = self.turn.load(Ordering::Acquire);
        if turn % 5 == Step::Incremented as u32 {
            let round = turn / 5;
            self.begins(round, Step::Barred);
            self.comes(round, Step::Lowered);
            (0..round % 64).for_each(|_| core::hint::spin_loop());
            *self.anew.lock().unwrap() = self.count.arm(seen);
        }
        self.count.is_armed(seen, armed)
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        let anew = *self.anew.lock().unwrap();
        let armed = anew.filter(|_| self.is_control.load(Ordering::Relaxed)).unwrap_or(armed);
        let awake = self.count.sleep(armed, limit);
        // A limit that is over before the sleep ends it, too: but no waiter was left asleep if the
        // kernel would not have let it sleep.
        let is_unwoken = self.count.wakes.load(Ordering::Relaxed) == armed.expected;
        self.overslept.fetch_or(awake == Awake::TimedOut && is_unwoken, Ordering::Relaxed);
        awake
    }

    fn wake(&self) {
        self.was_answered.store(true, Ordering::Relaxed);
        self.count.wake();
    }
}

/// The waiters' side of one round; what became of the flag that was raised anew.
fn wait_once(raced: &Raced, round: u32, rule: &Rule<'_>, outcomes: &mut Outcomes) {
    *raced.anew.lock().unwrap() = None;
    raced.was_answered.store(false, Ordering::Relaxed);
    raced.overslept.store(false, Ordering::Relaxed);
    let seen = raced.value();
    let first = raced.arm(seen);
    raced.begins(round, Step::Raised);
    if first.is_some() && raced.comes(round, Step::Incremented) {
        // The limit wakes a waiter that no increment wakes.
        let limit = || Pause::Until(Instant::now() + Duration::from_millis(1));
        wait(raced, seen.wrapping_add(1), rule, limit);
        raced.comes(round, Step::Over);
    }
    let is_raised = raced.anew.lock().unwrap().is_some();
    let is_lost = is_raised && !raced.was_answered.load(Ordering::Relaxed);
    outcomes.rounds += 1;
    outcomes.lost += u32::from(is_lost);
    outcomes.left_asleep += u32::from(is_lost && raced.overslept.load(Ordering::Relaxed));
}

fn race(bound: Bound, is_control: bool, until: Until) -> Outcomes {
    let raced = Raced::NEW;
    let raced = &raced;
    raced.is_control.store(is_control, Ordering::Relaxed);
    let lines = Lines::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            let mut round = 1;
            while raced.comes(round, Step::Raised) {
                raced.increment_twice(round, &lines);
                round += 1;
            }
        });
        let waiters = scope.spawn(|| {
            pin(0);
            let rule = Rule { spins: 0, deadline: None, bound, rescues: &AtomicU64::new(0) };
            let mut outcomes = Outcomes::default();
            let end = Instant::now() + until.time;
            while Instant::now() < end && outcomes.left_asleep < until.left_asleep {
                wait_once(raced, outcomes.rounds + 1, &rule, &mut outcomes);
            }
            raced.turn.store(u32::MAX, Ordering::Release);
            outcomes
        });
        waiters.join().expect("they wait and count")
    })
}

#[test]
fn a_flag_raised_anew_leaves_no_second_waiter_asleep() {
    let bound = EventCount32::<Single>::new().bound();
    if bound == Bound::OneSecond {
        println!("skipped: no barrier has a heavy side here");
        return;
    }
    let (time, enough) = time_and_enough();
    let control = race(bound, true, Until { time, left_asleep: enough });
    println!("the number of after the barrier: {control:?}");
    if control.left_asleep < ENOUGH {
        println!("too few were left asleep: this run proves nothing");
    }
    let outcomes = race(bound, false, Until { time, left_asleep: u32::MAX });
    println!("{bound}: {outcomes:?}");
    assert_eq!(outcomes.left_asleep, 0, "asleep for good on a flag that was raised anew");
}
