//! What came after what in a stream of successes and failures.

use serde::{Deserialize, Serialize};

/// How often each outcome came right after each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transitions {
    /// Successes after a success.
    pub stayed_good: u64,
    /// Failures after a success.
    pub broke: u64,
    /// Successes after a failure.
    pub recovered: u64,
    /// Failures after a failure.
    pub stayed_bad: u64,
}

impl Transitions {
    /// Counts a line that came after another.
    pub fn count(&mut self, has_failed_before: bool, has_failed: bool) {
        *match (has_failed_before, has_failed) {
            (false, false) => &mut self.stayed_good,
            (false, true) => &mut self.broke,
            (true, false) => &mut self.recovered,
            (true, true) => &mut self.stayed_bad,
        } += 1;
    }

    /// Adds others.
    pub fn add(&mut self, more: &Transitions) {
        self.stayed_good += more.stayed_good;
        self.broke += more.broke;
        self.recovered += more.recovered;
        self.stayed_bad += more.stayed_bad;
    }

    /// How many there are; `None` beyond the range of numbers.
    pub fn total(&self) -> Option<u64> {
        let of_good = self.stayed_good.checked_add(self.broke)?;
        of_good.checked_add(self.recovered)?.checked_add(self.stayed_bad)
    }

    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Transitions::default()
    }

    /// The same with successes and failures exchanged.
    pub fn swapped(&self) -> Transitions {
        Transitions {
            stayed_good: self.stayed_bad,
            broke: self.recovered,
            recovered: self.broke,
            stayed_bad: self.stayed_good,
        }
    }
}
