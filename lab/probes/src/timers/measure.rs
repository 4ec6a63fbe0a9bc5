//! Measures clocks: the cost of a reading, the steps, the agreement between CPUs, and whether the
//! kernel lets programs read them without a system call.

pub(crate) mod ticks;

use crate::tools::*;
use crate::{Clock, ClockOrder, Drift, HandOff, Steps, TickCounter, Timers, Vdso};

/// The shortest watch of a drift that is reported: a quarter of a second gives about a tenth of a
/// millionth.
const DRIFT_LEAST: Duration = Duration::from_millis(250);
/// The longest.
const DRIFT_MOST: Duration = Duration::from_millis(2000);
/// What the system call must cost over the library's call for the library to be without one.
const VDSO_RATIO_LEAST: f64 = 2.0;
/// A batch of readings is to take this long.
const BATCH_NS: u64 = 10_000;
/// Batches of each clock, if there is time.
const BATCHES: usize = 500;
/// The share of batches that are its fastest.
const LOW: f64 = 0.05;
/// Steps of each clock, if there is time.
const STEPS: usize = 4000;
/// A part of fewer batches has no fastest twentieth.
const LEAST_A_PART: usize = 10;
/// Readings of which the one with the shortest way around counts.
const TRIES: usize = 100;
/// Hand-offs in each direction, if there is time.
const HAND_OFFS: usize = 2000;
/// Looks at the other's stamp between two looks at the time.
const LOOKS: u32 = 256;

/// Probes the machine, for as long as the budget lasts. The results are medians and quantiles of
/// batches, and least values, of the probe's own. Stamps are handed between all CPUs.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Timers> {
    const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";
    let (begin, length, mut reasons) = (Instant::now(), budget.length(), Vec::new());
    let tree = Tree::at(Path::new("/"));
    let sources = tree.text(&format!("{SOURCES}/available_clocksource")).unwrap_or_default();
    let (there, missing): (Vec<KernelClock>, Vec<KernelClock>) =
        KERNEL_CLOCKS.into_iter().partition(|clock| clock.resolution_ns().is_some());
    let watched = DRIFTING.map(|clock| (clock, Sandwich::take(|| clock.now_ns())));
    let ticks = ticks::is_there().then(|| Sandwich::take(ticks::now_in_order));
    let ns_a_tick = ticks.as_ref().map(ns_a_tick);
    let mut found = Timers {
        clock_source: tree.text(&format!("{SOURCES}/current_clocksource")),
        clock_sources: sources.split_whitespace().map(str::to_owned).collect(),
        missing: missing.iter().map(|clock| clock.name.to_owned()).collect(),
        clocks: clocks(&there, ns_a_tick, budget),
        ..Timers::default()
    };
    found.vdso = vdso(&found.clocks, length.mul_f64(0.05));
    let mut handed = vec![("MONOTONIC", monotonic_ns as fn() -> u64, 1.0)];
    handed.extend(ns_a_tick.map(|ns| (ticks::NAME, ticks::now_in_order as fn() -> u64, ns)));
    let each = length.mul_f64(0.4) / handed.len() as u32;
    let compared = handed.into_iter().try_for_each(|clock| {
        found.order.extend(order(&options.cpus, clock, each, budget)?);
        io::Result::Ok(())
    });
    if let Err(error) = compared {
        reasons.push(format!("clocks of different CPUs are not compared: {error}"));
    }
    let backwards = found.order.iter().filter(|order| order.least_ns < 0.0);
    reasons.extend(backwards.map(|order| {
        format!("{} goes backwards from CPU to CPU by {} ns", order.clock, -order.least_ns)
    }));
    let watch = length.mul_f64(0.7).clamp(DRIFT_LEAST, DRIFT_MOST).min(length);
    while budget.nap(begin + watch) {}
    let drifts = watched.iter().filter_map(|(clock, first)| {
        Sandwich::take(|| clock.now_ns()).drift_since(first, clock.name)
    });
    found.drifts = drifts.collect();
    let raw = found.drifts.iter().find(|drift| drift.clock == "MONOTONIC_RAW");
    found.counter = ticks.zip(raw).and_then(|(first, raw)| counter(&tree, &first, raw));
    if budget.is_interrupted() {
        reasons.push("it was stopped before its end".to_owned());
    }
    if found.clocks.is_empty() {
        return Probed::inconclusive("there was no time to read a clock");
    }
    Probed::of(found, reasons)
}

/// Returns a first estimate of how long a tick is, good to a thousandth.
fn ns_a_tick(first: &Sandwich) -> f64 {
    std::thread::sleep(Duration::from_millis(5));
    let drift = Sandwich::take(ticks::now_in_order).drift_since(first, ticks::NAME);
    drift.map(|drift| units_a_ns(&drift)).filter(|units| *units > 0.0).map_or(1.0, f64::recip)
}

/// Returns how many units of a clock passed in a nanosecond.
fn units_a_ns(drift: &Drift) -> f64 {
    1.0 + drift.ppm / 1e6
}

/// Compares the counter of ticks with the raw clock, which is never adjusted.
fn counter(tree: &Tree, first: &Sandwich, raw: &Drift) -> Option<TickCounter> {
    let ticks = Sandwich::take(ticks::now_in_order).drift_since(first, ticks::NAME)?;
    let flags = tick_flags(tree);
    (units_a_ns(raw) > 0.0).then(|| TickCounter {
        name: ticks.clock.clone(),
        hertz: units_a_ns(&ticks) / units_a_ns(raw) * 1e9,
        uncertainty_ppm: ticks.uncertainty_ppm + raw.uncertainty_ppm,
        is_invariant: is_invariant(&flags),
        flags,
    })
}

/// Cost and steps of each clock, for two fifths of the budget.
fn clocks(there: &[KernelClock], ns_a_tick: Option<f64>, budget: &mut Budget<'_>) -> Vec<Clock> {
    let each = budget.length().mul_f64(0.2) / (KERNEL_CLOCKS.len() as u32 + 2);
    let mut clocks = Vec::new();
    for clock in there {
        let found = one(clock.name, || clock.now_ns(), 1.0, each, budget);
        let told_resolution_ns = clock.resolution_ns();
        clocks.extend(found.map(|found| Clock { told_resolution_ns, ..found }));
    }
    if let Some(ns_a_tick) = ns_a_tick {
        clocks.extend(one(ticks::INSTRUCTION, ticks::now, ns_a_tick, each, budget));
        let waiting = ticks::waiting();
        clocks.extend(waiting.and_then(|read| one("rdtscp", read, ns_a_tick, each, budget)));
    }
    clocks
}

/// Cost and steps of one clock; nothing once the budget is spent.
fn one(
    name: &str,
    read: impl Fn() -> u64,
    ns_a_unit: f64,
    each: Duration,
    budget: &mut Budget<'_>,
) -> Option<Clock> {
    if budget.is_spent() {
        return None;
    }
    let found = cost(&read, each)?;
    let steps = steps(&read, ns_a_unit, each);
    budget.tell(0.0);
    Some(Clock { name: name.to_owned(), steps, ..found })
}

/// Returns the monotonic clock by a system call, against what the library's call was found to cost.
fn vdso(clocks: &[Clock], at_most: Duration) -> Option<Vdso> {
    // A clock of coarse steps gives no cost, and so no ratio.
    let monotonic = clocks.iter().find(|one| one.name == "MONOTONIC" && one.cost_ns > 0.0)?;
    let call = cost(|| KERNEL_CLOCKS[0].now_by_system_call_ns(), at_most)?;
    let (vdso_ns, system_call_ns) = (monotonic.cost_ns, call.cost_ns);
    let ratio = system_call_ns / vdso_ns;
    let (parts_ns, works) = (call.parts_ns, ratio >= VDSO_RATIO_LEAST);
    Some(Vdso { vdso_ns, system_call_ns, parts_ns, ratio, works })
}

/// Returns what `/proc/cpuinfo` says of the counter of ticks.
fn tick_flags(tree: &Tree) -> Vec<String> {
    let flags = cpuinfo(tree, "flags");
    let wanted = ["constant_tsc", "nonstop_tsc", "tsc_known_freq", "tsc_reliable", "rdtscp"];
    flags.split_whitespace().filter(|flag| wanted.contains(flag)).map(str::to_owned).collect()
}

/// Returns whether the counter ticks at one rate; that of AArch64 does by its architecture.
fn is_invariant(flags: &[String]) -> Option<bool> {
    if cfg!(target_arch = "aarch64") {
        return Some(true);
    }
    let wanted = ["constant_tsc", "nonstop_tsc"];
    (!flags.is_empty()).then(|| wanted.iter().all(|name| flags.iter().any(|flag| flag == name)))
}

/// Returns what a reading of a clock costs, and nothing else of it; `None` if there is no time for
/// a batch.
fn cost(mut read: impl FnMut() -> u64, at_most: Duration) -> Option<Clock> {
    let end_ns = monotonic_ns() + at_most.as_nanos() as u64;
    // The fastest of some short tries decides how many readings make a batch.
    let least_ns = (0..8).map(|_| batch_ns(&mut read, 16)).min()?;
    let calls = (16 * BATCH_NS / least_ns.max(1)).clamp(4, 100_000);
    let mut batches = Vec::with_capacity(BATCHES);
    while batches.is_empty() || (batches.len() < BATCHES && monotonic_ns() < end_ns) {
        batches.push(batch_ns(&mut read, calls));
    }
    let parts = parts(&batches, LOW, LEAST_A_PART).into_iter();
    Some(Clock {
        parts_ns: parts.map(|ns| ns as f64 / calls as f64).collect(),
        cost_ns: quantile(&mut batches, 0.5)? as f64 / calls as f64,
        cost_low_ns: quantile(&mut batches, LOW)? as f64 / calls as f64,
        ..Clock::default()
    })
}

/// Returns how long so many readings take.
#[inline(always)]
fn batch_ns(mut read: impl FnMut() -> u64, calls: u64) -> u64 {
    let begin_ns = monotonic_ns();
    for _ in 0..calls {
        std::hint::black_box(read());
    }
    monotonic_ns() - begin_ns
}

/// Returns the steps between readings, one right after the other; `tick_ns` is 1 of a clock in
/// nanoseconds. `None` if no step was seen in time.
fn steps(mut read: impl FnMut() -> u64, tick_ns: f64, most: Duration) -> Option<Steps> {
    let end_ns = monotonic_ns() + most.as_nanos() as u64;
    let mut seen = Vec::with_capacity(STEPS);
    let (mut equal, mut backwards, mut readings) = (0_u64, 0_u64, 0_u64);
    let mut last = read();
    while seen.len() < STEPS {
        let now = read();
        match now.cmp(&last) {
            std::cmp::Ordering::Greater => seen.push(now - last),
            std::cmp::Ordering::Equal => equal += 1,
            std::cmp::Ordering::Less => backwards += 1,
        }
        readings += 1;
        last = now;
        if readings.is_multiple_of(64) {
            if monotonic_ns() > end_ns {
                break;
            }
            // Looking at the time took a while, which is not a step.
            last = read();
        }
    }
    let [least_ns, median_ns, p99_ns] =
        [0.0, 0.5, 0.99].map(|share| Some(quantile(&mut seen, share)? as f64 * tick_ns));
    let equal_share = equal as f64 / readings as f64;
    let (least_ns, median_ns, p99_ns) = (least_ns?, median_ns?, p99_ns?);
    Some(Steps { least_ns, median_ns, p99_ns, equal_share, backwards })
}

/// A clock read between two readings of `MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sandwich {
    /// The middle of the two readings of `MONOTONIC`.
    base_ns: f64,
    /// How far they are apart.
    width_ns: f64,
    /// The clock.
    value: u64,
}

impl Sandwich {
    /// Returns the narrowest of some.
    fn take(mut read: impl FnMut() -> u64) -> Sandwich {
        let mut best = Sandwich { base_ns: 0.0, width_ns: f64::INFINITY, value: 0 };
        for _ in 0..TRIES {
            let before = monotonic_ns();
            let value = read();
            let width_ns = (monotonic_ns() - before) as f64;
            if width_ns < best.width_ns {
                best = Sandwich { base_ns: before as f64 + width_ns / 2.0, width_ns, value };
            }
        }
        best
    }

    /// Returns by how much the clock was faster than `MONOTONIC` since an earlier reading, in units
    /// a nanosecond; `None` if no time has passed.
    ///
    /// `rate = (x1 - x0) / (m1 - m0)`, off by at most half of both widths over `m1 - m0`.
    fn drift_since(&self, earlier: &Sandwich, name: &str) -> Option<Drift> {
        let elapsed_ns = self.base_ns - earlier.base_ns;
        let passed = self.value.wrapping_sub(earlier.value) as i64 as f64;
        (elapsed_ns > 0.0).then(|| Drift {
            clock: name.to_owned(),
            against: "MONOTONIC".to_owned(),
            ppm: (passed / elapsed_ns - 1.0) * 1e6,
            uncertainty_ppm: (self.width_ns + earlier.width_ns) / 2.0 / elapsed_ns * 1e6,
            seconds: elapsed_ns / 1e9,
        })
    }
}

/// A clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KernelClock {
    /// Its name without `CLOCK_`.
    name: &'static str,
    id: libc::clockid_t,
}

/// All that are looked at, in the order in which they are shown.
const KERNEL_CLOCKS: [KernelClock; 8] = [
    KernelClock { name: "MONOTONIC", id: libc::CLOCK_MONOTONIC },
    KernelClock { name: "REALTIME", id: libc::CLOCK_REALTIME },
    KernelClock { name: "MONOTONIC_RAW", id: libc::CLOCK_MONOTONIC_RAW },
    KernelClock { name: "BOOTTIME", id: libc::CLOCK_BOOTTIME },
    KernelClock { name: "MONOTONIC_COARSE", id: libc::CLOCK_MONOTONIC_COARSE },
    KernelClock { name: "REALTIME_COARSE", id: libc::CLOCK_REALTIME_COARSE },
    KernelClock { name: "THREAD_CPUTIME", id: libc::CLOCK_THREAD_CPUTIME_ID },
    KernelClock { name: "PROCESS_CPUTIME", id: libc::CLOCK_PROCESS_CPUTIME_ID },
];

/// Those whose rate is watched.
const DRIFTING: [KernelClock; 3] = [KERNEL_CLOCKS[1], KERNEL_CLOCKS[2], KERNEL_CLOCKS[3]];

const ZERO: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

impl KernelClock {
    /// Returns the clock in nanoseconds, by the C library.
    #[inline(always)]
    fn now_ns(self) -> u64 {
        let mut time = ZERO;
        // SAFETY: `time` is a valid place for the result; a failing call leaves it at zero.
        unsafe { libc::clock_gettime(self.id, &raw mut time) };
        nanoseconds(time)
    }

    /// Returns the same by a system call, whatever the library would do.
    #[inline(always)]
    fn now_by_system_call_ns(self) -> u64 {
        let mut time = ZERO;
        // SAFETY: the call takes a clock's number and a valid place for the result.
        unsafe { libc::syscall(libc::SYS_clock_gettime, self.id, &raw mut time) };
        nanoseconds(time)
    }

    /// Returns the resolution that the kernel reports; `None` of a clock that it does not have.
    fn resolution_ns(self) -> Option<u64> {
        let mut time = ZERO;
        // SAFETY: `time` is a valid place for the result.
        let error = unsafe { libc::clock_getres(self.id, &raw mut time) };
        (error == 0).then(|| nanoseconds(time))
    }
}

fn nanoseconds(time: libc::timespec) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Hands stamps of one clock (its name, how it is read, how many nanoseconds 1 of it is) from CPU
/// to CPU: between CPUs near each other in the list first, as far as time allows.
///
/// # Errors
/// A thread cannot be started or pinned.
fn order(
    cpus: &[usize],
    (name, read, ns_a_unit): (&str, fn() -> u64, f64),
    length: Duration,
    budget: &Budget<'_>,
) -> io::Result<Option<ClockOrder>> {
    let (pairs, end) = (pairs(cpus), Instant::now() + length);
    let each_ns = (length.as_nanos() as u64 / pairs.len().max(1) as u64).max(2_000_000);
    let mut order = ClockOrder { clock: name.to_owned(), ..ClockOrder::default() };
    for pair in &pairs {
        if Instant::now() >= end || budget.is_spent() {
            break;
        }
        let at_most_ns = each_ns.min(budget.left().as_nanos() as u64);
        let found = between(*pair, read, ns_a_unit, at_most_ns, budget.interrupted())?;
        if let [there, back] = found[..] {
            let bound = (there.least_ns + back.least_ns) / 2.0;
            let apart = ((there.least_ns - back.least_ns) / 2.0).abs() + bound.max(0.0);
            order.offset_bound_ns = order.offset_bound_ns.max(apart);
        }
        order.pairs.extend(found);
    }
    order.pairs_left_out = (2 * pairs.len() - order.pairs.len()) as u64;
    order.hand_offs = order.pairs.iter().map(|pair| pair.count).sum();
    let least_ns = order.pairs.iter().map(|pair| pair.least_ns).min_by(f64::total_cmp);
    Ok(least_ns.map(|least_ns| ClockOrder { least_ns, ..order }))
}

/// Returns all pairs of CPUs, those first whose places in the list are near each other.
fn pairs(cpus: &[usize]) -> Vec<[usize; 2]> {
    let distances = 1..cpus.len();
    distances.flat_map(|far| cpus.iter().zip(&cpus[far..]).map(|(a, b)| [*a, *b])).collect()
}

/// A stamp on a cache line of its own.
#[repr(align(256))]
#[derive(Default)]
struct Line {
    /// Which stamp it is, counted from 1.
    number: AtomicU64,
    stamp: AtomicU64,
}

impl Line {
    fn hand_over(&self, number: u64, stamp: u64) {
        self.stamp.store(stamp, Ordering::Relaxed);
        self.number.store(number, Ordering::Release);
    }
}

/// Hands stamps of a clock, of which 1 is `ns_a_unit` nanoseconds, to and fro between two CPUs, for
/// at most `at_most_ns` or until `stop`; first those of `first` to `second`. A direction in which
/// nothing arrived in time is left out.
///
/// # Errors
/// A thread cannot be started or pinned.
fn between(
    [first, second]: [usize; 2],
    read: impl Fn() -> u64 + Sync,
    ns_a_unit: f64,
    at_most_ns: u64,
    stop: &AtomicBool,
) -> io::Result<Vec<HandOff>> {
    let lines = [Line::default(), Line::default()];
    let end_ns = monotonic_ns() + at_most_ns;
    let seen = together(&[first, second], |place| {
        place.meet();
        let mut differences = hand(&lines, place.index, &read, || {
            monotonic_ns() > end_ns || stop.load(Ordering::Relaxed)
        });
        differences.sort_unstable();
        differences
    })?;
    // A thread's differences are those of the stamps that came to it.
    let directions = [(first, second, &seen[1]), (second, first, &seen[0])].into_iter();
    let hand_offs = directions.filter_map(|(from_cpu, to_cpu, differences)| {
        let count = differences.len();
        Some(HandOff {
            from_cpu,
            to_cpu,
            least_ns: *differences.first()? as f64 * ns_a_unit,
            median_ns: differences[count / 2] as f64 * ns_a_unit,
            count: count as u64,
        })
    });
    Ok(hand_offs.collect())
}

/// One thread's part: what came later than it was stamped, by how much.
fn hand(
    lines: &[Line; 2],
    index: usize,
    read: impl Fn() -> u64,
    is_over: impl Fn() -> bool,
) -> Vec<i64> {
    let (mine, theirs) = (&lines[index], &lines[1 - index]);
    let mut differences = Vec::with_capacity(HAND_OFFS);
    if index == 0 {
        mine.hand_over(1, read());
    }
    for number in 1..=HAND_OFFS as u64 {
        let mut looks = 0_u32;
        while theirs.number.load(Ordering::Acquire) < number {
            std::hint::spin_loop();
            looks += 1;
            if looks.is_multiple_of(LOOKS) && is_over() {
                return differences;
            }
        }
        let now = read();
        differences.push(now.wrapping_sub(theirs.stamp.load(Ordering::Relaxed)) as i64);
        // The first thread is a stamp ahead.
        mine.hand_over(number + u64::from(index == 0), now);
    }
    differences
}

#[cfg(test)]
mod tests;
