//! The store-buffering litmus: two threads each store to one word and load the other's. That both
//! miss is the outcome that a barrier forbids and that a CPU without one shows.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, compiler_fence, fence};
use std::time::{Duration, Instant};

/// A control with fewer forbidden outcomes than this has shown nothing, and nor has the run.
pub const CONTROL_MIN: u64 = 100;

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
        let is_long = std::env::var_os("TIEBREAK_FULL").is_some_and(|value| value == "1");
        let (rounds, ms) = if is_long { (20_000_000, 5_000) } else { (200_000, 120) };
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
    // SAFETY: a set of CPUs is an array of numbers, for which zero is valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes no more than the given length.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Err("the allowed CPUs cannot be read");
    }
    // SAFETY: every index is below the number of bits.
    let mut cpus =
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) });
    match (cpus.next(), cpus.next_back()) {
        (Some(first), Some(last)) => Ok([first, last]),
        _ => Err("only one CPU is allowed: no two threads run at once"),
    }
}

/// This thread stays on that CPU, if the kernel lets it.
pub fn pin(cpu: usize) {
    // SAFETY: as in `two_cpus`.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// A word with its cache line and the next to itself.
#[repr(align(256))]
#[derive(Default)]
struct Word(AtomicU64);

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

/// The positive controls: without any barrier, and with a heavy side that fences nobody but its
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
    println!("as sharp as this, not needed: a system call that interrupts nobody: {idle}");
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
            pin(cpus[1]);
            light_thread(&shared, &light);
        });
        pin_and_back(cpus, || heavy_thread(&shared, &heavy, limit))
    })
}

/// Runs the body on the first CPU, and lets this thread use both afterwards.
fn pin_and_back<T>(cpus: [usize; 2], body: impl FnOnce() -> T) -> T {
    // SAFETY: as in `two_cpus`.
    let mut before: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: as in `two_cpus`.
    unsafe { libc::sched_getaffinity(0, size_of_val(&before), &raw mut before) };
    pin(cpus[0]);
    let result = body();
    // SAFETY: the kernel reads no more than the given length.
    unsafe { libc::sched_setaffinity(0, size_of_val(&before), &raw const before) };
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
        // Release: the result is there for whoever sees the round ended.
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
        // Release: the words are zero for whoever sees the round begun.
        shared.begun.0.store(outcomes.rounds, Release);
        wait_steps(head_start + random.below(DELAY_MAX));
        shared.y.0.store(1, Relaxed);
        heavy();
        let heavy_saw = shared.x.0.load(Relaxed) == 1;
        wait_for(shared, &shared.ended.0, outcomes.rounds);
        let light_saw = shared.light_saw.0.load(Relaxed) == 1;
        head_start = match light_saw {
            true => (head_start + 1).min(HEAD_START_MAX),
            false => head_start.saturating_sub(1),
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
    let mut spins = 0u32;
    // Acquire: what was stored before the word's value is seen.
    while word.load(Acquire) != value {
        if shared.is_over.load(Relaxed) {
            return false;
        }
        spins += 1;
        if spins.is_multiple_of(2000) {
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
    true
}

/// Marsaglia's xorshift (2003), enough for delays.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A step is some tenths of a nanosecond.
fn wait_steps(steps: u64) {
    for step in 0..steps {
        std::hint::black_box(step);
    }
}
