//! The loop of a waiter, the same for every representation and every bound.

use core::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use crate::atomic::Ordering;
use crate::barrier::Ticket;
use crate::futex::Awake;

use super::count::{Armed, Count};
use super::{Bound, Pause};

/// How one call waits.
#[derive(Debug)]
pub struct Rule<'a> {
    /// Looks before the flag goes up.
    pub spins: u32,
    /// When to look no longer, even if there are spins left.
    pub deadline: Option<Instant>,
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
    if let Some(value) = spin(rule, || changed(count, seen)) {
        return Some(value);
    }
    let mut flag = None;
    loop {
        let asked = match ask() {
            Pause::End => return changed(count, seen),
            Pause::UntilWoken => None,
            Pause::Until(limit) => Some(limit),
        };
        flag = flag
            .or_else(|| Flag::raise(count, seen, rule))
            .and_then(|flag| flag.sleep(count, seen, asked, rule));
        if let Some(value) = changed(count, seen) {
            return Some(value);
        }
    }
}

/// A flag that is up, and what a waiter has done for it.
///
/// What was done holds for this flag alone. If it was answered, and another waiter has raised it
/// anew, the number that the kernel compares tells: so it is read once, before the bound begins,
/// and serves all the sleeps.
#[derive(Debug)]
struct Flag {
    armed: Armed,
    bound: Begun,
}

/// A bound that was begun.
#[derive(Debug)]
enum Begun {
    /// There is nothing to wait for.
    Atomic,
    Barrier(Ticket),
    OneSecond(Second),
}

impl Flag {
    /// Raises it or finds it up, and begins the bound. Nothing means that the count has changed, as
    /// a rule: the caller looks.
    fn raise<C: Count>(count: &C, seen: C::Value, rule: &Rule<'_>) -> Option<Flag> {
        let armed = count.arm(seen)?;
        let bound = match rule.bound {
            Bound::Atomic => Begun::Atomic,
            Bound::Barrier(barrier) => Begun::Barrier(barrier.begin()),
            Bound::OneSecond => {
                let second = Second::since(Instant::now());
                // An increment in flight mostly shows within these looks.
                spin(rule, || (!count.is_armed(seen, armed)).then_some(()));
                Begun::OneSecond(second)
            }
        };
        Some(Flag { armed, bound })
    }

    /// Sleeps once, unless the flag is down. Gives it back if it may still be up.
    fn sleep<C: Count>(
        mut self,
        count: &C,
        seen: C::Value,
        asked: Option<Instant>,
        rule: &Rule<'_>,
    ) -> Option<Flag> {
        let slice = self.bound.slice();
        // After the bound is known to hold: a flag that was lost until then shows here.
        if !count.is_armed(seen, self.armed) {
            return None;
        }
        let limit = [slice, asked].into_iter().flatten().min();
        let awake = count.sleep(self.armed, limit);
        let by_slice = awake == Awake::TimedOut && limit == slice;
        let is_timed = matches!(self.bound, Begun::OneSecond(_));
        if is_timed && by_slice && changed(count, seen).is_some() {
            // Relaxed: a statistic.
            rule.rescues.fetch_add(1, Ordering::Relaxed);
        }
        (awake != Awake::Changed).then_some(self)
    }
}

impl Begun {
    /// Until when to sleep now; nothing is for good.
    ///
    /// Most barriers are complete when they are begun. One that waits for interrupts is not, and an
    /// increment that sees the flag need not wait for it: the sleeps until then are short.
    fn slice(&mut self) -> Option<Instant> {
        match self {
            Begun::Atomic => None,
            Begun::Barrier(ticket) => (!ticket.poll()).then(|| Instant::now() + UNTIL_POLLED),
            Begun::OneSecond(second) => second.slice(Instant::now()),
        }
    }
}

/// The count, if it is not `seen`.
#[inline(always)]
pub fn changed<C: Count>(count: &C, seen: C::Value) -> Option<C::Value> {
    let value = count.value();
    (value != seen).then_some(value)
}

/// So many looks pass between two looks at the clock: some 10 to 100 us.
const SPINS_PER_CLOCK: u32 = 1000;

/// Looks once, and `spins` times more, unless the deadline has passed meanwhile.
#[inline]
fn spin<T>(rule: &Rule<'_>, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let mut left = rule.spins;
    loop {
        let now = left.min(SPINS_PER_CLOCK);
        for _ in 0..now {
            if let Some(found) = look() {
                return Some(found);
            }
            core::hint::spin_loop();
        }
        left -= now;
        // Few spins end here without a look at the clock.
        if left == 0 || rule.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return look();
        }
    }
}

/// How long to sleep between two looks at a heavy side that is not complete.
const UNTIL_POLLED: Duration = Duration::from_millis(1);

/// The growing sleeps of the published rule, for one flag.
#[derive(Debug)]
struct Second {
    flag_up_at: Instant,
    next_ms: u64,
}

/// After that long with the flag up, every increment sees it: the assumption.
const ASSUMED: Duration = Duration::from_secs(1);

impl Second {
    const FIRST_MS: u64 = 2;
    const LAST_MS: u64 = 1024;

    /// It begins once the flag was seen up.
    const fn since(flag_up_at: Instant) -> Second {
        Second { flag_up_at, next_ms: Second::FIRST_MS }
    }

    /// Until when to sleep now; nothing is for good.
    fn slice(&mut self, now: Instant) -> Option<Instant> {
        let passed = now.saturating_duration_since(self.flag_up_at);
        if passed >= ASSUMED {
            return None;
        }
        let slice = jittered(Duration::from_millis(self.next_ms), self.seed(passed));
        self.next_ms = (self.next_ms * 8).min(Second::LAST_MS);
        Some(now + slice)
    }

    /// Two waiters differ in where their stack lies, two sleeps of one waiter in the time.
    fn seed(&self, passed: Duration) -> u64 {
        (core::ptr::from_ref(self).addr() as u64) ^ (passed.as_nanos() as u64).rotate_left(32)
    }
}

/// Between half of `slice` and one and a half, so that waiters of one event do not stay in step.
fn jittered(slice: Duration, seed: u64) -> Duration {
    // The multiplication spreads the bits of the seed upwards (2^64 over the golden ratio).
    let spread = (seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    slice / 2 + slice.mul_f64(spread as f64 / (1u64 << 32) as f64)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::barrier::Barrier;
    use crate::event_count::count::{Flagged, Word};

    #[test]
    fn jitter_stays_within_half_and_one_and_a_half() {
        let slice = Duration::from_millis(16);
        let seeds = if cfg!(miri) { 200 } else { 10_000 };
        for seed in (0..seeds).map(|i: u64| i.wrapping_mul(0x1234_5678_9abc_def1)) {
            let got = jittered(slice, seed);
            assert!(got >= slice / 2 && got <= slice * 3 / 2, "{got:?} of seed {seed}");
        }
    }

    #[test]
    fn slices_grow_until_a_second_has_passed_since_the_flag() {
        let start = Instant::now();
        let mut second = Second::since(start);
        let mut now = start;
        for mean_ms in [2, 16, 128] {
            let until = second.slice(now).expect("a second has not passed");
            let slice = until - now;
            let mean = Duration::from_millis(mean_ms);
            assert!(slice >= mean / 2 && slice <= mean * 3 / 2, "{slice:?} about {mean:?}");
            now = until;
        }
        assert!(second.slice(start + ASSUMED - Duration::from_nanos(1)).is_some());
        assert_eq!(second.slice(start + ASSUMED), None);
    }

    /// What happens to a flag after its bound was begun.
    #[derive(Clone, Copy, Debug)]
    enum Fate {
        Lost,
        /// Answered, and raised anew by another waiter.
        RaisedAnew,
    }

    /// Once the bound holds, the sleep is for good: only for a flag that is up since before it.
    #[test]
    fn no_sleep_for_good_on_a_flag_that_was_lost_or_raised_anew() {
        for bound in [Bound::Atomic, Bound::Barrier(Barrier::process()), Bound::OneSecond] {
            for fate in [Fate::Lost, Fate::RaisedAnew] {
                let count = Flagged::<u32>::NEW;
                let rule = Rule { spins: 0, deadline: None, bound, rescues: &AtomicU64::new(0) };
                let mut flag = Flag::raise(&count, 0, &rule).expect("the count is zero");
                match fate {
                    Fate::Lost => count.word.lower(),
                    Fate::RaisedAnew => {
                        count.wake();
                        count.arm(0).expect("the count is zero");
                    }
                }
                if let Begun::OneSecond(second) = &mut flag.bound {
                    second.flag_up_at = Instant::now().checked_sub(ASSUMED).expect("it was up");
                }
                // Far away, so that a wrong sleep ends by it, and the flag is given back.
                let asked = Some(Instant::now() + Duration::from_secs(10));
                let kept = flag.sleep(&count, 0, asked, &rule);
                assert!(kept.is_none(), "{bound}, {fate:?}: it slept");
            }
        }
    }

    /// The second goes on from slice to slice, so that it ends.
    #[test]
    fn a_flag_is_kept_from_sleep_to_sleep() {
        let count = Flagged::<u32>::NEW;
        let rescues = &AtomicU64::new(0);
        let rule = Rule { spins: 0, deadline: None, bound: Bound::OneSecond, rescues };
        let flag = Flag::raise(&count, 0, &rule).expect("the count is zero");
        let kept = flag.sleep(&count, 0, Some(Instant::now()), &rule).expect("nothing happened");
        let Begun::OneSecond(second) = kept.bound else { panic!("another bound") };
        assert_eq!(second.next_ms, 16);
    }

    /// So many looks would take minutes.
    #[test]
    fn the_looks_with_the_flag_up_end_with_the_deadline_too() {
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let count = Flagged::<u32>::NEW;
            let rescues = &AtomicU64::new(0);
            let deadline = Some(Instant::now());
            let rule = Rule { spins: u32::MAX, deadline, bound: Bound::OneSecond, rescues };
            let _ = done.send(Flag::raise(&count, 0, &rule).is_some());
        });
        assert_eq!(is_done.recv_timeout(Duration::from_secs(20)), Ok(true));
    }
}
