//! A test of whether a chance is at least a wanted one, run by run.

use crate::rate;
use crate::share_test::{ShareTest, Trial};
use tiebreak_core::forecast::Chance;
use tiebreak_core::verdict::Verdict;

/// The probability that a statement about a chance is wrong. Simulated runs are cheap, so it is
/// small compared with every simulated error.
const OUTER_ERROR: f64 = 1e-4;

/// A comparison of the chance that a simulated run ends in time with a wanted chance. It uses the
/// evidence that settles success rates, so that simulation can stop as soon as the result is clear.
#[derive(Clone, Debug)]
pub struct ChanceTest {
    test: ShareTest,
    wanted: f64,
    runs: u64,
    ended: u64,
}

impl ChanceTest {
    /// Starts a test; the wanted chance lies between 0 and 1.
    pub fn new(wanted: f64) -> ChanceTest {
        let test = ShareTest::new(wanted, wanted, 1, OUTER_ERROR);
        ChanceTest { test, wanted, runs: 0, ended: 0 }
    }

    /// Takes a run; after the decision, it only narrows the limits.
    pub fn observe(&mut self, has_ended: bool) {
        self.runs += 1;
        self.ended += u64::from(has_ended);
        self.test.observe(if has_ended { Trial::Success } else { Trial::Failure });
    }

    /// Returns whether the chance is proven to be at least the wanted one, or below it.
    pub fn is_enough(&self) -> Option<bool> {
        self.test.settled().map(|settled| settled.verdict == Verdict::Holds)
    }

    /// Returns the estimate and limits of the chance. The limits hold at every moment (Robbins
    /// 1970), and so does the decision, each except for the outer error.
    pub fn chance(&self) -> Chance {
        let (low, high) = rate::limits(self.runs, self.ended, OUTER_ERROR);
        let is_enough = self.is_enough();
        Chance {
            runs: self.runs,
            ended: self.ended,
            estimate: self.ended as f64 / self.runs.max(1) as f64,
            low: if is_enough == Some(true) { low.max(self.wanted) } else { low },
            high: if is_enough == Some(false) { high.min(self.wanted) } else { high },
            confidence: 1.0 - 2.0 * OUTER_ERROR,
            is_enough,
            proven_after: is_enough.map(|_| self.test.trials()),
        }
    }
}
