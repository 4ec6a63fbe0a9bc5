//! How fast clocks run against each other.

use tiebreak_machine::clock;

/// Readings of which the one with the shortest way around counts.
const TRIES: usize = 100;

/// A clock read between two readings of `MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sandwich {
    /// The middle of the two readings of `MONOTONIC`.
    base_ns: f64,
    /// How far they are apart.
    width_ns: f64,
    /// The clock.
    value: u64,
}

impl Sandwich {
    /// The narrowest of some.
    pub(super) fn take(mut read: impl FnMut() -> u64) -> Sandwich {
        let mut best = Sandwich { base_ns: 0.0, width_ns: f64::INFINITY, value: 0 };
        for _ in 0..TRIES {
            let before = clock::monotonic_ns();
            let value = read();
            let after = clock::monotonic_ns();
            let width_ns = (after - before) as f64;
            if width_ns < best.width_ns {
                best = Sandwich { base_ns: before as f64 + width_ns / 2.0, width_ns, value };
            }
        }
        best
    }

    /// How many units of the clock passed in a nanosecond of `MONOTONIC` since an earlier one, by
    /// how much that may be off, and the seconds between; `None` if no time has passed.
    ///
    /// `rate = (x1 - x0) / (m1 - m0)`, off by at most half of both widths over `m1 - m0`.
    pub(super) fn rate_since(&self, earlier: &Sandwich) -> Option<Rate> {
        let elapsed_ns = self.base_ns - earlier.base_ns;
        if elapsed_ns <= 0.0 {
            return None;
        }
        let passed = self.value.wrapping_sub(earlier.value) as i64 as f64;
        Some(Rate {
            units_a_ns: passed / elapsed_ns,
            uncertainty: (self.width_ns + earlier.width_ns) / 2.0 / elapsed_ns,
            seconds: elapsed_ns / 1e9,
        })
    }
}

/// How fast a clock ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// Units of the clock a nanosecond of `MONOTONIC`.
    pub units_a_ns: f64,
    /// By how much that may be off, as a share of it.
    pub uncertainty: f64,
    /// For how long it was watched.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_differences_over_differences() {
        let at = |base_ns: f64, value: u64| Sandwich { base_ns, width_ns: 100.0, value };
        let check = |later: Sandwich, expected: Option<(f64, f64)>| {
            let rate = later.rate_since(&at(1000.0, 500));
            assert_eq!(rate.map(|rate| (rate.units_a_ns, rate.uncertainty)), expected);
        };
        check(at(2000.0, 3000), Some((2.5, 0.1)));
        check(at(2000.0, 400), Some((-0.1, 0.1)));
        check(at(1000.0, 600), None);
    }

    #[test]
    fn the_monotonic_clock_does_not_drift_from_itself() {
        let begin = Sandwich::take(clock::monotonic_ns);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let rate = Sandwich::take(clock::monotonic_ns).rate_since(&begin).unwrap();
        assert!((rate.units_a_ns - 1.0).abs() <= rate.uncertainty, "{rate:?}");
    }
}
