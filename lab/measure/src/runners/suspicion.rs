//! Decides whether a runner reports false times: proven, or not.
//!
//! **Assumption.** Each batch of an honest runner, whatever came before, is *false*
//! ([`Held::is_false`]) with probability at most [`HONEST`], 5%. A batch is false if its clocks
//! differ by half and 1 ms and no wait for a CPU can explain it. An honest runner would have to
//! take that much CPU time outside its clock (to read a line, to write one, sometimes to collect or
//! to compile). None of 665 batches of Python and Node did, on two CPUs at a load of 13 to 24: it
//! was 0.6 ms at most.
//!
//! **Theorem.** For a rate `p` above `q` = [`HONEST`], let the wealth be multiplied by `p/q` after
//! a false batch and by `(1-p)/(1-q)` after any other. If a batch is false with probability `r` at
//! most `q`, given the past, the wealth is multiplied by `1 + (r-q) (p-q) / (q (1-q))` on average,
//! at most 1: it is a non-negative supermartingale that begins at 1, and so is the mean of those of
//! several rates. By Ville's inequality (Ville 1939) it ever reaches `1/e` with probability at most
//! `e`, at any stopping time. So with `e` the run's error over the number of contestants, any
//! honest contestant of a session is accused with probability at most the run's error.
//!
//! Until then, a batch whose clocks differ counts as the interval between them ([`Held::time`]), so
//! that no verdict depends on the report of a runner that is not yet convicted. One that is always
//! false is convicted after 3 batches at 1% and two contestants.

use std::fmt;
use tiebreak_core::sample::BatchTime;

/// The largest share of an honest runner's batches that may be false: none of the machines and
/// loads that were tested came near it.
const HONEST: f64 = 0.05;
/// The rates of false batches that are bet on, with equal stakes.
const RATES: [f64; 4] = [0.15, 0.35, 0.65, 1.0];

/// Returns the least time that is far above this one.
fn far(ns: u64) -> u64 {
    ns.saturating_add(ns / 2).saturating_add(FAR_NS)
}

/// The bets against one contestant, over all of its processes in a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspicion {
    wealth: [f64; RATES.len()],
    batches: u32,
    unexplained: u32,
    /// A bound on the probability that an honest runner is accused of false times.
    error: f64,
}

impl Suspicion {
    /// Returns the bets before the first batch, for this error.
    pub(super) fn new(error: f64) -> Suspicion {
        Suspicion { wealth: [1.0; RATES.len()], batches: 0, unexplained: 0, error }
    }

    /// Counts a batch.
    fn take(&mut self, is_false: bool) {
        self.batches += 1;
        self.unexplained += u32::from(is_false);
        for (wealth, rate) in self.wealth.iter_mut().zip(RATES) {
            *wealth *= if is_false { rate / HONEST } else { (1.0 - rate) / (1.0 - HONEST) };
        }
    }

    /// Returns whether it is proven that the runner is not honest, wrong with at most the
    /// probability of the error.
    fn is_proven(&self) -> bool {
        let mean = self.wealth.iter().sum::<f64>() / self.wealth.len() as f64;
        mean * self.error >= 1.0
    }

    /// Counts a batch, and returns the sentence about a runner that reports false times, if that
    /// is now proven.
    pub(super) fn convict(&mut self, held: &Held) -> Option<String> {
        self.take(held.is_false());
        if !held.is_false() || !self.is_proven() {
            return None;
        }
        let Suspicion { unexplained, batches, error, .. } = self;
        Some(format!(
            "{held}; no wait explains {unexplained} of {batches} batches, and so many come of an \
             honest runner with probability at most {}%",
            100.0 * *error
        ))
    }
}

/// The most that an exchange of two lines costs in addition to the run, if nothing is wrong; caches
/// are cold after a wait.
const EXCHANGE_NS: u64 = 200_000;
/// The same as a share of the time.
const EXCHANGE_SHARE: f64 = 0.01;
/// The clocks are the same but may be read in another unit: this much more time inside is accepted.
const AHEAD_NS: u64 = 1000;
/// The same as a share of the time: clocks of one machine agree better than this.
const AHEAD_SHARE: f64 = 0.001;
/// Two times are far apart if they differ by half and by more than this.
const FAR_NS: u64 = 1_000_000;

/// The times of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The time that the runner reported.
    pub(super) inside_ns: u64,
    /// The time from just before the request was sent until the answer arrived.
    pub(super) outside_ns: u64,
    /// How long the runner and tiebreak waited for a CPU in that time, as the scheduler counts it.
    pub(super) waited_ns: u64,
    /// How long the runner's main thread was on a CPU in that time; 0 if the kernel does not report
    /// it.
    pub(super) ran_ns: u64,
}

impl Held {
    /// Returns what is known about the time. It is at least what the runner reported. It is at most
    /// the longer of two times: that by the outside clock without waits for a CPU, and that of the
    /// runner's main thread on a CPU. The cost of the exchange is part of that: a dishonest runner
    /// may make it arbitrarily small.
    ///
    /// If the two differ by more than an exchange can cost, a wait may hide work, and the time may
    /// be as long as the outside clock says. A wait may also have been inside the runner's clock,
    /// so it hides a difference; time on a CPU does not.
    pub(super) fn time(&self) -> BatchTime {
        let least_ns = self.outside_ns.saturating_sub(self.waited_ns).max(self.ran_ns);
        let exchange_ns = EXCHANGE_NS.max((self.inside_ns as f64 * EXCHANGE_SHARE) as u64);
        let differs = self.is_ahead() || least_ns > self.inside_ns.saturating_add(exchange_ns);
        let other_ns = if differs { self.outside_ns } else { least_ns.max(self.inside_ns) };
        BatchTime::between(self.inside_ns, other_ns)
    }

    /// Returns whether the two differ by half and more, and no wait can explain it: the reported
    /// time exceeds the elapsed time by that much, or the runner's main thread was on a CPU that
    /// much longer than reported.
    ///
    /// The outside clock also counts how long a sleeping CPU took to wake up, which no file of the
    /// kernel reports, so that clock alone proves nothing. Small differences prove nothing either:
    /// a runtime may collect or compile outside of its clock, and other processes leave its caches
    /// cold.
    fn is_false(&self) -> bool {
        self.inside_ns > far(self.outside_ns)
            || self.ran_ns > far(self.inside_ns).saturating_add(EXCHANGE_NS)
    }

    /// Returns whether the runner reported more time than has passed.
    fn is_ahead(&self) -> bool {
        let ahead = AHEAD_NS.max((self.outside_ns as f64 * AHEAD_SHARE) as u64);
        self.inside_ns > self.outside_ns.saturating_add(ahead)
    }
}

/// The end of the sentence about a runner whose times are false.
impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times_ns = [self.inside_ns, self.outside_ns, self.waited_ns, self.ran_ns];
        let [inside, outside, waited, ran] = times_ns.map(|ns| ns / 1000);
        write!(
            f,
            "said that a batch took {inside} us, and the clock outside says {outside} us \
             ({waited} us of them waiting for a CPU, {ran} us on one): a runner must say how long \
             its work took"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first batch after which it is proven, if `is_false` says which batches are
    /// false.
    fn proven_after(error: f64, is_false: impl Fn(u32) -> bool) -> Option<u32> {
        let mut suspicion = Suspicion::new(error);
        (1..=20_000).find(|batch| {
            suspicion.take(is_false(*batch));
            suspicion.is_proven()
        })
    }

    #[test]
    fn a_liar_is_found_and_one_batch_never_suffices() {
        assert_eq!(proven_after(0.005, |_| true), Some(3));
        assert_eq!(proven_after(0.05, |_| true), Some(2));
        assert_eq!(proven_after(0.0, |_| true), None);
        assert!(proven_after(0.005, |batch| batch % 3 == 0).is_some_and(|batch| batch < 40));
        assert_eq!(proven_after(0.005, |batch| batch % 20 == 0), None);
    }

    /// 4000 runners that are false as often as an honest one may be, each for 2000 batches.
    #[test]
    fn honest_runners_are_accused_no_more_often_than_is_said() {
        let mut state = 1_u64;
        let mut is_false = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 11) as f64) < HONEST * (1_u64 << 53) as f64
        };
        let accused = (0..4000).filter(|_| {
            let mut suspicion = Suspicion::new(0.05);
            (0..2000).any(|batch| {
                suspicion.take(is_false(batch));
                suspicion.is_proven()
            })
        });
        let share = accused.count() as f64 / 4000.0;
        assert!((0.005..0.05).contains(&share), "{share}");
    }

    fn held([inside_us, outside_us, waited_us, ran_us]: [u64; 4]) -> Held {
        let [inside_ns, outside_ns] = [inside_us, outside_us].map(|us| us * 1000);
        Held { inside_ns, outside_ns, waited_ns: waited_us * 1000, ran_ns: ran_us * 1000 }
    }

    #[test]
    fn what_waits_do_not_explain_is_not_known() {
        let check = |times_us: [u64; 4], expected_us: [u64; 2]| {
            let [low, high] = expected_us.map(|us| us * 1000);
            assert_eq!(held(times_us).time(), BatchTime::between(low, high), "{times_us:?}");
        };
        // The outside clock, without waits.
        check([1000, 1000, 0, 0], [1000, 1000]);
        check([1000, 1050, 0, 0], [1000, 1050]);
        check([1000, 1050, 30, 0], [1000, 1020]);
        check([1000, 1050, 50, 0], [1000, 1000]);
        check([1000, 9000, 7950, 1000], [1000, 1050]);
        check([1000, 1050, 1050, 900], [1000, 1000]);
        // No wait hides time on a CPU.
        check([1000, 1050, 1050, 1020], [1000, 1020]);
        // More than an exchange costs: a wait may be the reason.
        check([1000, 1200, 0, 0], [1000, 1200]);
        check([1000, 1300, 100, 0], [1000, 1200]);
        check([1000, 1300, 99, 0], [1000, 1300]);
        check([1000, 9000, 9000, 1201], [1000, 9000]);
        check([100_000, 102_000, 1000, 0], [100_000, 101_000]);
        check([100_000, 102_000, 999, 0], [100_000, 102_000]);
        // A runner that reports more time than has passed.
        check([1000, 999, 0, 0], [1000, 1000]);
        check([1000, 998, 0, 0], [998, 1000]);
        check([1_000_000, 999_001, 0, 0], [1_000_000, 1_000_000]);
        check([1_000_000, 998_000, 5000, 0], [998_000, 1_000_000]);
    }

    /// Work of 5 ms, whatever the exchange costs and however long the runner waits.
    #[test]
    fn a_runner_that_says_less_than_it_worked_is_not_believed() {
        for exchange_us in [1, 10, 50, 170, 900] {
            for waited_us in [0, 40, 3000] {
                for hidden_us in [1, 20, 200, 2500, 5000] {
                    let outside_us = 5000 + exchange_us + waited_us;
                    let time = held([5000 - hidden_us, outside_us, waited_us, 5000]).time();
                    let contains = (time.low_ns..=time.high_ns).contains(&5_000_000);
                    assert!(contains, "{exchange_us} {waited_us} {hidden_us}: {time:?}");
                }
            }
        }
    }

    #[test]
    fn only_what_no_wait_explains_by_far_is_false() {
        let check = |[inside_us, outside_us, ran_us]: [u64; 3], is_false: bool| {
            let held = held([inside_us, outside_us, 0, ran_us]);
            assert_eq!(held.is_false(), is_false, "{held:?}");
        };
        check([5000, 5000, 5000], false);
        check([5000, 90_000, 5000], false);
        check([5000, 90_000, 0], false);
        check([5000, 9000, 8700], false);
        check([5000, 9000, 8701], true);
        check([0, 5000, 1201], true);
        check([0, 5000, 1200], false);
        check([8500, 5000, 5000], false);
        check([8501, 5000, 5000], true);
        check([u64::MAX / 1000, 5, 5], true);
        // Python next to sixteen other processes in bursts, waiting nearly all of the time: two of
        // sixteen comparisons of honest runners were void because of such a batch.
        check([281, 15_959, 365], false);
        check([306, 11_405, 368], false);
    }
}
