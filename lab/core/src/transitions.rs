//! The transitions in a stream of successes and failures.

use serde::{Deserialize, Serialize};

/// The number of times that each outcome came right after each outcome.
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
    /// Counts a line and the line before it.
    pub fn count(&mut self, has_failed_before: bool, has_failed: bool) {
        *match (has_failed_before, has_failed) {
            (false, false) => &mut self.stayed_good,
            (false, true) => &mut self.broke,
            (true, false) => &mut self.recovered,
            (true, true) => &mut self.stayed_bad,
        } += 1;
    }

    /// Adds other transitions.
    pub fn add(&mut self, more: &Transitions) {
        self.stayed_good += more.stayed_good;
        self.broke += more.broke;
        self.recovered += more.recovered;
        self.stayed_bad += more.stayed_bad;
    }

    /// Returns the number of transitions; `None` on overflow.
    pub fn total(&self) -> Option<u64> {
        let of_good = self.stayed_good.checked_add(self.broke)?;
        of_good.checked_add(self.recovered)?.checked_add(self.stayed_bad)
    }

    /// Returns whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Transitions::default()
    }

    /// Returns the transitions with successes and failures exchanged.
    pub fn swapped(&self) -> Transitions {
        Transitions {
            stayed_good: self.stayed_bad,
            broke: self.recovered,
            recovered: self.broke,
            stayed_bad: self.stayed_good,
        }
    }
}

/// The maximum number of lines of a run, including its last one, in each class of [`ByAge`] but the
/// last.
const AGES: [u64; 5] = [1, 8, 64, 512, 4096];

/// The transitions, by how many lines of a kind had come in a row: 1, up to 8, 64, 512, 4096, or
/// more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByAge(pub [Transitions; AGES.len() + 1]);

impl ByAge {
    /// Adds other transitions.
    pub fn add(&mut self, more: &ByAge) {
        self.0.iter_mut().zip(&more.0).for_each(|(mine, more)| mine.add(more));
    }

    /// Returns the number of transitions; `None` on overflow.
    pub fn total(&self) -> Option<u64> {
        self.0.iter().try_fold(0u64, |sum, class| sum.checked_add(class.total()?))
    }

    /// Returns the transitions of all ages together. [`ByAge::total`] must not be `None`.
    pub fn sum(&self) -> Transitions {
        let mut sum = Transitions::default();
        self.0.iter().for_each(|class| sum.add(class));
        sum
    }

    /// Returns whether there are none.
    pub fn is_none(&self) -> bool {
        *self == ByAge::default()
    }
}

/// A walk along the lines of one input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walk {
    /// Whether the last line failed; `None` before the first.
    pub last_failed: Option<bool>,
    /// The age of the run that the last line is in.
    age: u64,
}

impl Walk {
    /// Takes the next line, and counts its transition if a line came before it. For the run that an
    /// input begins in, lines before the input do not count.
    pub fn step(&mut self, has_failed: bool, counts: &mut ByAge) {
        if let Some(before) = self.last_failed.replace(has_failed) {
            let class = AGES.iter().filter(|most| self.age > **most).count();
            counts.0[class].count(before, has_failed);
            self.age = if before == has_failed { self.age.saturating_add(1) } else { 1 };
        } else {
            self.age = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_those_of_the_run_that_ends_or_goes_on() {
        let (mut walk, mut counts) = (Walk::default(), ByAge::default());
        let mut lines = vec![false; 10];
        lines.extend([true, true, false]);
        lines.into_iter().for_each(|has_failed| walk.step(has_failed, &mut counts));
        let of = |stayed_good, broke, recovered, stayed_bad| Transitions {
            stayed_good,
            broke,
            recovered,
            stayed_bad,
        };
        assert_eq!(counts.0[..3], [of(1, 0, 0, 1), of(7, 0, 1, 0), of(1, 1, 0, 0)]);
        assert_eq!((counts.sum(), counts.total()), (of(9, 1, 1, 1), Some(12)));
    }
}
