//! Decides whether a runtime that compiles while it runs has finished.
//!
//! Batches are compared by the time that the runner's main thread was on a CPU, if the kernel
//! reports it: that excludes the time of other processes.

/// The number of batches that are compared with as many before them.
const WINDOW: usize = 5;
/// A runtime is warm once the fastest of a window is not faster by more than this.
const GAIN: f64 = 0.02;
/// Warm-up lasts at least this long: a runtime may observe before it compiles.
const WARM_UP_NS_MIN: u64 = 100_000_000;
/// Warm-up ends after this time, warm or not.
const LIMIT_NS: u64 = 2_000_000_000;
/// The least number of batches at that end, so that there is something to compare.
const BATCHES_MIN: usize = 3;
/// Timed batches whose second half is faster than the first by more than this were not warm.
const TIMED_GAIN: f64 = 0.03;
/// With fewer timed batches than this, their halves say nothing.
const TIMED_MIN: usize = 4;

/// The warm-up of one contestant.
#[derive(Debug, Default)]
pub(super) struct WarmUp {
    batches_ns: Vec<u64>,
}

/// What follows a batch of the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// One more batch.
    Again,
    /// The timed batches, and whether the contestant is warm.
    Timed { is_warm: bool },
}

impl WarmUp {
    /// Records the time of a batch; `elapsed_ns` is the time of the warm-up so far.
    pub(super) fn after(&mut self, batch_ns: u64, elapsed_ns: u64) -> Next {
        self.batches_ns.push(batch_ns);
        let count = self.batches_ns.len();
        let is_full = count >= 2 * WINDOW && elapsed_ns >= WARM_UP_NS_MIN;
        let is_late = elapsed_ns >= LIMIT_NS && count >= BATCHES_MIN;
        let is_warm = !self.still_gains();
        if (is_full && is_warm) || is_late { Next::Timed { is_warm } } else { Next::Again }
    }

    /// Returns whether the fastest of the last batches is faster than the fastest of those before:
    /// of five each, or of half of all.
    fn still_gains(&self) -> bool {
        let width = WINDOW.min(self.batches_ns.len() / 2);
        let (before, last) = self.batches_ns.split_at(self.batches_ns.len() - width);
        gains(&before[before.len().saturating_sub(width)..], last, GAIN)
    }
}

/// Returns whether timed batches, in order, still became faster: compares the fastest of the second
/// half with the fastest of the first.
pub(super) fn was_cold(timed_ns: &[u64]) -> bool {
    let (first, second) = timed_ns.split_at(timed_ns.len() / 2);
    timed_ns.len() >= TIMED_MIN && gains(first, second, TIMED_GAIN)
}

fn gains(before_ns: &[u64], after_ns: &[u64], gain: f64) -> bool {
    let fastest = |batches: &[u64]| batches.iter().min().map(|ns| *ns as f64);
    match (fastest(before_ns), fastest(after_ns)) {
        (Some(before), Some(after)) => after < before * (1.0 - gain),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the batches until the warm-up ended, and whether it was warm.
    fn warmed(batch_ns: impl Fn(usize) -> u64) -> (usize, bool) {
        let (mut warm_up, mut elapsed_ns) = (WarmUp::default(), 0);
        for batch in 0.. {
            elapsed_ns += batch_ns(batch);
            if let Next::Timed { is_warm } = warm_up.after(batch_ns(batch), elapsed_ns) {
                return (batch + 1, is_warm);
            }
        }
        unreachable!()
    }

    #[test]
    fn warm_up_lasts_until_nothing_is_gained() {
        let millisecond = 1_000_000;
        assert_eq!(warmed(|_| millisecond), (100, true));
        assert_eq!(warmed(|_| 20 * millisecond), (10, true));
        assert_eq!(warmed(|batch| (20 + batch as u64 % 3) * millisecond), (10, true));
        // Five of the fast batches, and one before them to compare with.
        assert_eq!(warmed(|batch| if batch < 7 { 50 } else { 40 } * millisecond), (13, true));
        // Always faster: 2 s end it.
        let faster =
            |batch: usize| (100.0 * millisecond as f64 * 0.98_f64.powi(batch as i32)) as u64;
        let (batches, is_warm) = warmed(faster);
        assert!(!is_warm && (20..40).contains(&batches), "{batches}");
        // Long batches: three are enough.
        assert_eq!(warmed(|_| 1_000 * millisecond), (3, true));
        assert_eq!(warmed(|batch| (1_500 - 100 * batch as u64) * millisecond), (3, false));
    }

    #[test]
    fn timed_batches_that_still_gain_were_cold() {
        let check =
            |batches: &[u64], cold: bool| assert_eq!(was_cold(batches), cold, "{batches:?}");
        check(&[], false);
        check(&[100, 50], false);
        check(&[100, 100, 50], false);
        check(&[100, 100, 98, 99], false);
        check(&[100, 101, 96, 99], true);
        check(&[90, 101, 96, 99], false);
    }
}
