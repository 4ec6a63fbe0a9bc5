//! The store-buffering litmus: two threads each store to one word and load the other's. That both
//! miss is the outcome that a barrier forbids and that a CPU without one shows.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, compiler_fence, fence};
use std::time::{Duration, Instant};

use crate::affinity::{allowed_cpus, keep_to};
use crate::length::is_full;
use crate::pace::{CONTROL_MIN, Random, Word, spin_until, wait_steps};

/// How often the light side's store waits behind others in the store buffer, and behind how many.
const PRESSURE_MAX: usize = 24;

/// The longest random delay of either side, in steps.
const DELAY_MAX: u64 = 16;

const HEAD_START_MAX: u64 = 5000;

/// How long a run may be.
#[derive(Clone, Copy)]
pub struct Limit {
    pub rounds: u64,
    pub time: Duration,
    /// Enough forbidden outcomes to stop: for controls.
    pub forbidden: u64,
}

impl Limit {
    /// A few tenths of a second; in the long form (`TIEBREAK_FULL=1`) several seconds.
    pub fn of_a_run() -> Limit {
        let (rounds, ms) = if is_full() { (20_000_000, 5_000) } else { (200_000, 120) };
        Limit { rounds, time: Duration::from_millis(ms), forbidden: u64::MAX }
    }

    fn of_a_control() -> Limit {
        let time = Duration::from_millis(400);
        Limit { rounds: 10_000_000, time, forbidden: 2 * CONTROL_MIN }
    }
}

/// What was seen: of the light side's load and the heavy side's.
#[derive(Debug, Default, Clone, Copy)]
pub struct Outcomes {
    pub rounds: u64,
    /// Neither saw the other's store.
    pub forbidden: u64,
    pub light_saw: u64,
    pub heavy_saw: u64,
    pub both_saw: u64,
}

impl std::fmt::Display for Outcomes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} rounds: neither {}, light only {}, heavy only {}, both {}",
            self.rounds, self.forbidden, self.light_saw, self.heavy_saw, self.both_saw
        )
    }
}

/// Two CPUs that this thread may use, or why there are none.
pub fn two_cpus() -> Result<[usize; 2], &'static str> {
    match allowed_cpus()[..] {
        [] => Err("the allowed CPUs cannot be read"),
        [_] => Err("only one CPU is allowed: no two threads run at once"),
        [first, .., last] => Ok([first, last]),
    }
}

#[derive(Default)]
struct Shared {
    x: Word,
    y: Word,
    /// The round that may begin, and the last that the light side ended.
    begun: Word,
    ended: Word,
    light_saw: Word,
    pressure: [Word; PRESSURE_MAX],
    is_over: AtomicBool,
}

/// The positive controls: without any barrier, and with a heavy side that fences only its
/// caller. Both must show the forbidden outcome, or no run on these CPUs proves anything.
pub fn controls(cpus: [usize; 2]) -> Result<(), String> {
    let none = || compiler_fence(SeqCst);
    let own_fence = || fence(SeqCst);
    let bare = store_buffering(cpus, none, none, Limit::of_a_control());
    println!("control without barriers: {bare}");
    let lame = store_buffering(cpus, none, own_fence, Limit::of_a_control());
    println!("control with a heavy side that fences its caller only: {lame}");
    // SAFETY: getppid has no precondition.
    let call = || _ = unsafe { libc::getppid() };
    let idle = store_buffering(cpus, none, call, Limit::of_a_control());
    println!("as sharp as this, not needed: a system call that interrupts no thread: {idle}");
    let least = bare.forbidden.min(lame.forbidden);
    if least >= CONTROL_MIN {
        return Ok(());
    }
    Err(format!(
        "a control showed only {least} forbidden outcomes of the {CONTROL_MIN} that it needs: \
         this run proves nothing"
    ))
}

/// Runs it on the two CPUs.
pub fn store_buffering(
    cpus: [usize; 2],
    light: impl Fn() + Sync,
    heavy: impl Fn(),
    limit: Limit,
) -> Outcomes {
    let shared = Shared::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            keep_to(&[cpus[1]]);
            light_thread(&shared, &light);
        });
        pin_and_back(cpus[0], || heavy_thread(&shared, &heavy, limit))
    })
}

/// Runs the body on one CPU, and lets this thread use all of its own afterwards.
fn pin_and_back<T>(cpu: usize, body: impl FnOnce() -> T) -> T {
    let before = allowed_cpus();
    keep_to(&[cpu]);
    let result = body();
    keep_to(&before);
    result
}

fn light_thread(shared: &Shared, light: &impl Fn()) {
    let mut random = Random(0x9e37_79b9);
    for round in 1.. {
        if !wait_for(shared, &shared.begun.0, round) {
            return;
        }
        let waiting = random.below(PRESSURE_MAX as u64 + 1) as usize;
        wait_steps(random.below(DELAY_MAX));
        for word in &shared.pressure[..waiting] {
            word.0.store(round, Relaxed);
        }
        shared.x.0.store(1, Relaxed);
        light();
        let saw = shared.y.0.load(Relaxed);
        shared.light_saw.0.store(saw, Relaxed);
        // Release: the result is there for a thread that sees the round ended.
        shared.ended.0.store(round, Release);
    }
}

fn heavy_thread(shared: &Shared, heavy: &impl Fn(), limit: Limit) -> Outcomes {
    let mut random = Random(0x1234_5678);
    let mut outcomes = Outcomes::default();
    // The light side hears of a round late. Its head start follows the outcomes, so that it
    // sees the heavy side's store in every second round: then the two are as close as can be.
    let mut head_start = 0;
    let end = Instant::now() + limit.time;
    let _over = OverOnDrop(&shared.is_over);
    while outcomes.rounds < limit.rounds
        && outcomes.forbidden < limit.forbidden
        && Instant::now() < end
    {
        outcomes.rounds += 1;
        shared.x.0.store(0, Relaxed);
        shared.y.0.store(0, Relaxed);
        for word in &shared.pressure {
            word.0.store(0, Relaxed);
        }
        // Release: the words are zero for a thread that sees the round begun.
        shared.begun.0.store(outcomes.rounds, Release);
        wait_steps(head_start + random.below(DELAY_MAX));
        shared.y.0.store(1, Relaxed);
        heavy();
        let heavy_saw = shared.x.0.load(Relaxed) == 1;
        wait_for(shared, &shared.ended.0, outcomes.rounds);
        let light_saw = shared.light_saw.0.load(Relaxed) == 1;
        head_start = if light_saw {
            (head_start + 1).min(HEAD_START_MAX)
        } else {
            head_start.saturating_sub(1)
        };
        match (light_saw, heavy_saw) {
            (false, false) => outcomes.forbidden += 1,
            (true, false) => outcomes.light_saw += 1,
            (false, true) => outcomes.heavy_saw += 1,
            (true, true) => outcomes.both_saw += 1,
        }
    }
    outcomes
}

/// Lets the light thread go, whatever happens on the heavy side.
struct OverOnDrop<'a>(&'a AtomicBool);

impl Drop for OverOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Whether the word came to have the value, before the end of the run.
fn wait_for(shared: &Shared, word: &AtomicU64, value: u64) -> bool {
    let mut has_come = false;
    spin_until(|| {
        // Acquire: what was stored before the word's value is seen.
        has_come = word.load(Acquire) == value;
        has_come || shared.is_over.load(Relaxed)
    });
    has_come
}
