//! Whether a chance is at least so large, proven run by run.

use crate::rate;
use crate::share_test::{ShareTest, Trial};
use tiebreak_core::forecast::Chance;
use tiebreak_core::verdict::Verdict;

/// The probability that what is said of a chance is wrong: simulated runs are cheap, so it is small
/// beside every error that is simulated.
const OUTER_ERROR: f64 = 1e-4;

/// The chance that a simulated run ends in time, compared with a wanted one by the very evidence
/// that settles success rates: simulation can stop as soon as it is clear.
#[derive(Clone, Debug)]
pub struct ChanceTest {
    test: ShareTest,
    wanted: f64,
    runs: u64,
    ended: u64,
}

impl ChanceTest {
    /// Starts; the wanted chance lies between 0 and 1.
    pub fn new(wanted: f64) -> ChanceTest {
        let test = ShareTest::new(wanted, wanted, 1, OUTER_ERROR);
        ChanceTest { test, wanted, runs: 0, ended: 0 }
    }

    /// Takes a run; after the decision it only makes the limits narrower.
    pub fn observe(&mut self, has_ended: bool) {
        self.runs += 1;
        self.ended += u64::from(has_ended);
        self.test.observe(if has_ended { Trial::Success } else { Trial::Failure });
    }

    /// Whether the chance is proven to be at least the wanted one, or below it.
    pub fn is_enough(&self) -> Option<bool> {
        self.test.settled().map(|settled| settled.verdict == Verdict::Holds)
    }

    /// What is known of the chance: its limits hold at every moment (Robbins 1970), and so does the
    /// decision, each but for the outer error.
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
