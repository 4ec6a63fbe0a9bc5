//! What is known about one claim.

use super::Referee;
use crate::claim_test::ClaimTest;
use crate::referee::one_factor::Pairs;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::sample::Reading;

impl Referee {
    /// Returns the test of a claim.
    pub fn test(&self, claim: usize) -> &ClaimTest {
        &self.claims[claim].test
    }

    /// Returns the values in order of arrival, for a claim about a quantile.
    pub fn readings(&self, claim: usize) -> &[Reading] {
        &self.claims[claim].readings
    }

    /// Returns the two values of each round of the evidence, for a claim about the ratio of two
    /// programs.
    pub(crate) fn pairs(&self, claim: usize) -> &Pairs {
        &self.claims[claim].pairs
    }

    /// Returns everything about a claim's quantity. Costs as much as two limits.
    pub fn evidence(&self, claim: usize) -> Evidence {
        self.claims[claim].test.summary()
    }

    /// Returns the wealth of the better of a claim's bets, and the wealth that it needs.
    pub fn bets(&self, claim: usize) -> (f64, f64) {
        let test = &self.claims[claim].test;
        let (evidence_for, evidence_against) = test.evidence();
        (evidence_for.max(evidence_against), test.evidence_needed())
    }
}
