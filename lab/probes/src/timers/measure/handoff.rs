//! Stamps that are handed from one CPU to another: does a clock ever go backwards on the way?
//!
//! Each of two threads waits for the other's stamp, reads the clock as soon as it sees it, and
//! hands that reading over. A difference holds the way of a cache line and the distance of the two
//! CPUs' clocks; the way cannot take less than nothing, so a negative one proves that the clocks
//! are apart, and half the sum of the smallest ones of both directions bounds how far they can be.

use crate::HandOff;
use crate::tools::*;

/// Hand-offs in each direction, if there is time.
const HAND_OFFS: usize = 2000;
/// Looks at the other's stamp between two looks at the time.
const LOOKS: u32 = 256;

/// A stamp on a cache line of its own.
#[repr(align(256))]
#[derive(Default)]
struct Line {
    /// Which stamp it is, counted from 1.
    number: AtomicU64,
    stamp: AtomicU64,
}

/// Hands stamps to and fro between two CPUs, for at most `at_most_ns` or until `stop`. Differences
/// are in ticks of the clock, of which each is `ns_a_tick` nanoseconds; first those of `first` to
/// `second`. A direction in which nothing arrived in time is left out.
///
/// # Errors
/// A thread cannot be started or pinned.
pub(super) fn between(
    [first, second]: [usize; 2],
    read: impl Fn() -> u64 + Sync,
    ns_a_tick: f64,
    at_most_ns: u64,
    stop: &AtomicBool,
) -> std::io::Result<Vec<HandOff>> {
    let lines = [Line::default(), Line::default()];
    let end_ns = clock::monotonic_ns() + at_most_ns;
    let job = |place: &Place<'_>| {
        place.meet();
        hand(&lines, place.index, &read, end_ns, stop)
    };
    let mut seen = together(&[first, second], job)?;
    let mut found = Vec::new();
    // A thread's differences are those of the stamps that came to it.
    for (to, from) in [(1, 0), (0, 1)] {
        let differences: &mut [i64] = &mut seen[to];
        // Quantiles are of unsigned numbers; the order is kept by moving zero to the middle.
        let mut moved: Vec<u64> =
            differences.iter().map(|d| (*d as u64).wrapping_add(1 << 63)).collect();
        let mut at = |share| {
            let value = quantile(&mut moved, share)?;
            Some(value.wrapping_sub(1 << 63) as i64 as f64 * ns_a_tick)
        };
        let (Some(least_ns), Some(median_ns)) = (at(0.0), at(0.5)) else { continue };
        let cpus = [first, second];
        let count = differences.len() as u64;
        let (from_cpu, to_cpu) = (cpus[from], cpus[to]);
        found.push(HandOff { from_cpu, to_cpu, least_ns, median_ns, count });
    }
    Ok(found)
}

/// One thread's part: what came later than it was stamped, by how much.
fn hand(
    lines: &[Line; 2],
    index: usize,
    read: &impl Fn() -> u64,
    end_ns: u64,
    stop: &AtomicBool,
) -> Vec<i64> {
    let (mine, theirs) = (&lines[index], &lines[1 - index]);
    let hand_over = |number: u64, stamp: u64| {
        mine.stamp.store(stamp, Ordering::Relaxed);
        mine.number.store(number, Ordering::Release);
    };
    let mut differences = Vec::with_capacity(HAND_OFFS);
    if index == 0 {
        hand_over(1, read());
    }
    while differences.len() < HAND_OFFS {
        let number = differences.len() as u64 + 1;
        let mut looks = 0;
        while theirs.number.load(Ordering::Acquire) < number {
            std::hint::spin_loop();
            looks += 1;
            let is_time = looks % LOOKS == 0;
            if is_time && (clock::monotonic_ns() > end_ns || stop.load(Ordering::Relaxed)) {
                return differences;
            }
        }
        let now = read();
        let stamp = theirs.stamp.load(Ordering::Relaxed);
        differences.push(now.wrapping_sub(stamp) as i64);
        // The first thread is a stamp ahead.
        hand_over(number + u64::from(index == 0), now);
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_arrive_after_they_were_made() {
        let cpus = tiebreak_machine::cpus::allowed();
        let [first, .., last] = cpus[..] else { return };
        let go_on = AtomicBool::new(false);
        let found = between([first, last], clock::monotonic_ns, 1.0, 500_000_000, &go_on).unwrap();
        for hand_off in &found {
            assert!(hand_off.least_ns <= hand_off.median_ns && hand_off.count > 0);
            assert_ne!(hand_off.from_cpu, hand_off.to_cpu);
        }
    }

    #[test]
    fn a_clock_that_is_apart_is_seen() {
        let cpus = tiebreak_machine::cpus::allowed();
        let [first, .., last] = cpus[..] else { return };
        // Behind by a second on the last CPU.
        let skewed = || {
            let here = tiebreak_machine::cpus::allowed() == [last];
            clock::monotonic_ns() - u64::from(here) * 1_000_000_000
        };
        let go_on = AtomicBool::new(false);
        let found = between([first, last], skewed, 1.0, 300_000_000, &go_on).unwrap();
        let least = |from: usize| {
            found.iter().find(|hand_off| hand_off.from_cpu == from).map(|one| one.least_ns)
        };
        assert!(least(first).is_none_or(|ns| ns < 0.0), "{found:?}");
        assert!(least(last).is_none_or(|ns| ns > 0.0), "{found:?}");
    }

    #[test]
    fn nobody_waits_for_longer_than_it_may() {
        let cpu = tiebreak_machine::cpus::allowed()[0];
        let stop = AtomicBool::new(true);
        // Both on one CPU: nearly nothing arrives, and the flag ends it.
        let found = between([cpu, cpu], clock::monotonic_ns, 1.0, u64::MAX / 4, &stop).unwrap();
        assert!(found.len() <= 2);
    }
}
