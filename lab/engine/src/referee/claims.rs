//! What is known of one claim.

use super::Referee;
use crate::claim_test::ClaimTest;
use crate::referee::one_factor::Pairs;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::sample::Reading;

impl Referee {
    /// The test of a claim.
    pub fn test(&self, claim: usize) -> &ClaimTest {
        &self.claims[claim].test
    }

    /// Of a claim about a quantile, the values in the order in which they came.
    pub fn readings(&self, claim: usize) -> &[Reading] {
        &self.claims[claim].readings
    }

    /// Of a claim about the ratio of two programs, the two values of each round of its evidence.
    pub(crate) fn pairs(&self, claim: usize) -> &Pairs {
        &self.claims[claim].pairs
    }

    /// Everything about a claim's quantity. Costs as much as two limits do.
    pub fn evidence(&self, claim: usize) -> Evidence {
        self.claims[claim].test.summary()
    }

    /// What the better of a claim's bets has won, and what it must win.
    pub fn bets(&self, claim: usize) -> (f64, f64) {
        let test = &self.claims[claim].test;
        let (evidence_for, evidence_against) = test.evidence();
        (evidence_for.max(evidence_against), test.evidence_needed())
    }
}
