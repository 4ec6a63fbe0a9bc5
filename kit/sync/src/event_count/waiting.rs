//! The loop of a waiter, the same for every representation and every bound.

use core::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use crate::atomic::Ordering;
use crate::futex::Awake;

use super::Pause;
use super::bound::Bound;
use super::count::{Armed, Count};

/// How one call waits.
#[derive(Debug)]
pub struct Rule<'a> {
    /// Looks before the flag goes up.
    pub spins: u32,
    /// What has to happen between the flag and a sleep for good.
    pub bound: Bound,
    /// Where rescues are counted.
    pub rescues: &'a AtomicU64,
}

/// Waits until the count is not `seen`: its new value, or nothing if `ask` has ended the wait.
pub fn wait<C: Count>(
    count: &C,
    seen: C::Value,
    rule: &Rule<'_>,
    mut ask: impl FnMut() -> Pause,
) -> Option<C::Value> {
    if let Some(value) = spin(rule.spins, || changed(count, seen)) {
        return Some(value);
    }
    let mut slices = Slices::new();
    loop {
        let asked = match ask() {
            Pause::End => return changed(count, seen),
            Pause::UntilWoken => None,
            Pause::Until(limit) => Some(limit),
        };
        // A refusal means that the count has changed, as a rule: the look below decides.
        if let Some(armed) = count.arm(seen) {
            sleep(count, seen, armed, asked, rule, &mut slices);
        }
        if let Some(value) = changed(count, seen) {
            return Some(value);
        }
    }
}

/// From a flag that is up to the end of a sleep.
fn sleep<C: Count>(
    count: &C,
    seen: C::Value,
    armed: Armed,
    asked: Option<Instant>,
    rule: &Rule<'_>,
    slices: &mut Slices,
) {
    match rule.bound {
        Bound::Atomic => {
            count.sleep(armed, asked);
        }
        Bound::Barrier(barrier) => {
            barrier.heavy();
            if count.is_armed(seen, armed) {
                count.sleep(armed, asked);
            }
        }
        Bound::OneSecond => {
            // An increment in flight mostly shows within these looks.
            let gone = || (!count.is_armed(seen, armed)).then_some(());
            if armed.is_new && spin(rule.spins, gone).is_some() {
                return;
            }
            sleep_a_slice(count, seen, armed, asked, rule.rescues, slices);
        }
    }
}

/// Sleeps by the published rule: for a time, or for good once a second has passed.
fn sleep_a_slice<C: Count>(
    count: &C,
    seen: C::Value,
    armed: Armed,
    asked: Option<Instant>,
    rescues: &AtomicU64,
    slices: &mut Slices,
) {
    let slice = slices.next(armed.is_new, Instant::now());
    let limit = [slice, asked].into_iter().flatten().min();
    let awake = count.sleep(armed, limit);
    let by_slice = awake == Awake::TimedOut && limit == slice;
    if by_slice && changed(count, seen).is_some() {
        // Relaxed: a statistic.
        rescues.fetch_add(1, Ordering::Relaxed);
    }
}

/// The count, if it is not `seen`.
#[inline(always)]
pub fn changed<C: Count>(count: &C, seen: C::Value) -> Option<C::Value> {
    let value = count.value();
    (value != seen).then_some(value)
}

/// Looks once, and `spins` times more.
#[inline]
fn spin<T>(spins: u32, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..spins {
        if let Some(found) = look() {
            return Some(found);
        }
        core::hint::spin_loop();
    }
    look()
}

/// The growing sleeps of the published rule.
#[derive(Debug)]
struct Slices {
    flag_up_at: Option<Instant>,
    next_ms: u64,
}

/// After that long with the flag up, every increment sees it: the assumption.
const ASSUMED: Duration = Duration::from_secs(1);

impl Slices {
    const FIRST_MS: u64 = 2;
    const LAST_MS: u64 = 1024;

    const fn new() -> Slices {
        Slices { flag_up_at: None, next_ms: Slices::FIRST_MS }
    }

    /// Until when to sleep now; nothing is for good. The second begins anew with each flag.
    fn next(&mut self, is_new: bool, now: Instant) -> Option<Instant> {
        let up_at = match self.flag_up_at {
            Some(up_at) if !is_new => up_at,
            _ => {
                *self = Slices { flag_up_at: Some(now), next_ms: Slices::FIRST_MS };
                now
            }
        };
        if now.saturating_duration_since(up_at) >= ASSUMED {
            return None;
        }
        let slice = jittered(Duration::from_millis(self.next_ms), self.seed(now));
        self.next_ms = (self.next_ms * 8).min(Slices::LAST_MS);
        Some(now + slice)
    }

    /// Two waiters differ in where their stack lies, two sleeps of one waiter in the time.
    fn seed(&self, now: Instant) -> u64 {
        let passed = self.flag_up_at.map_or(Duration::ZERO, |up_at| now - up_at);
        (core::ptr::from_ref(self).addr() as u64) ^ (passed.as_nanos() as u64).rotate_left(32)
    }
}

/// Between half of `slice` and one and a half, so that waiters of one event do not stay in step.
fn jittered(slice: Duration, seed: u64) -> Duration {
    // The multiplication spreads the bits of the seed upwards (2^64 over the golden ratio).
    let spread = (seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    slice / 2 + slice.mul_f64(spread as f64 / (1u64 << 32) as f64)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_within_half_and_one_and_a_half() {
        let slice = Duration::from_millis(16);
        for seed in (0..10_000).map(|i: u64| i.wrapping_mul(0x1234_5678_9abc_def1)) {
            let got = jittered(slice, seed);
            assert!(got >= slice / 2 && got <= slice * 3 / 2, "{got:?} of seed {seed}");
        }
    }

    #[test]
    fn slices_grow_until_a_second_has_passed_since_the_flag() {
        let start = Instant::now();
        let mut slices = Slices::new();
        let mut now = start;
        for mean_ms in [2, 16, 128] {
            let until = slices.next(false, now).expect("a second has not passed");
            let slice = until - now;
            let mean = Duration::from_millis(mean_ms);
            assert!(slice >= mean / 2 && slice <= mean * 3 / 2, "{slice:?} about {mean:?}");
            now = until;
        }
        assert!(slices.next(false, start + ASSUMED - Duration::from_nanos(1)).is_some());
        assert_eq!(slices.next(false, start + ASSUMED), None);
        // A flag that went up anew begins a second of its own.
        assert!(slices.next(true, start + ASSUMED).is_some());
        assert!(slices.next(false, start + ASSUMED).is_some());
    }
}
