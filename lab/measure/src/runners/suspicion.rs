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

use super::held::Held;
use std::cell::Cell;

/// The largest share of an honest runner's batches that may be false: none of the machines and
/// loads that were tested came near it.
pub(super) const HONEST: f64 = 0.05;
/// The rates of false batches that are bet on, with equal stakes.
const RATES: [f64; 4] = [0.15, 0.35, 0.65, 1.0];

/// The bets against one contestant, over all of its processes in a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspicion {
    wealth: [f64; RATES.len()],
    batches: u32,
    odd: u32,
}

impl Default for Suspicion {
    fn default() -> Suspicion {
        Suspicion { wealth: [1.0; RATES.len()], batches: 0, odd: 0 }
    }
}

impl Suspicion {
    /// Counts a batch.
    pub(super) fn take(&mut self, is_false: bool) {
        self.batches += 1;
        self.odd += u32::from(is_false);
        for (wealth, rate) in self.wealth.iter_mut().zip(RATES) {
            *wealth *= if is_false { rate / HONEST } else { (1.0 - rate) / (1.0 - HONEST) };
        }
    }

    /// Returns whether it is proven that the runner is not honest, wrong with at most this
    /// probability.
    pub(super) fn is_proven(&self, error: f64) -> bool {
        let mean = self.wealth.iter().sum::<f64>() / self.wealth.len() as f64;
        mean * error >= 1.0
    }

    /// Returns the end of the sentence about a runner that reports false times.
    pub(super) fn describe(&self, error: f64) -> String {
        let Suspicion { odd, batches, .. } = self;
        format!(
            "; no wait explains {odd} of {batches} batches, and so many come of an honest runner \
             with probability at most {}%",
            100.0 * error
        )
    }
}

/// Compares the batches of one contestant with the outside clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Witness<'a> {
    pub(super) suspicion: &'a Cell<Suspicion>,
    /// A bound on the probability that an honest runner is accused of false times.
    pub(super) error: f64,
}

impl Witness<'_> {
    /// Counts a batch, and returns whether it is now proven that the runner reports false times.
    pub(super) fn convicts(&self, held: &Held) -> bool {
        let mut suspicion = self.suspicion.get();
        suspicion.take(held.is_false());
        self.suspicion.set(suspicion);
        held.is_false() && suspicion.is_proven(self.error)
    }

    /// Returns the sentence about a runner that reports false times, after this last batch.
    pub(super) fn describe(&self, held: &Held) -> String {
        held.describe() + &self.suspicion.get().describe(self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first batch after which it is proven, if `is_false` says which batches are
    /// false.
    fn proven_after(error: f64, is_false: impl Fn(u32) -> bool) -> Option<u32> {
        let mut suspicion = Suspicion::default();
        (1..=20_000).find(|batch| {
            suspicion.take(is_false(*batch));
            suspicion.is_proven(error)
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
            let mut suspicion = Suspicion::default();
            (0..2000).any(|batch| {
                suspicion.take(is_false(batch));
                suspicion.is_proven(0.05)
            })
        });
        let share = accused.count() as f64 / 4000.0;
        assert!((0.005..0.05).contains(&share), "{share}");
    }
}
