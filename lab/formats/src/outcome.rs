//! What a verdict is to a CI system.

use tiebreak_core::result::{ClaimResult, Upshot};

/// What a CI system makes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was claimed is proven; of a question, any answer.
    Passed,
    /// The opposite is proven; or nothing is, and no gate lets that pass, so that the exit code is
    /// not 0.
    Failed,
    /// Nothing could be measured.
    Broken,
    /// Nothing is proven, and a gate lets that pass.
    Open,
}

impl Outcome {
    /// What becomes of a claim.
    pub fn of(claim: &ClaimResult) -> Outcome {
        match claim.upshot() {
            Upshot::Passed => Outcome::Passed,
            Upshot::PassedUnproven => Outcome::Open,
            Upshot::Unproven | Upshot::Failed => Outcome::Failed,
            Upshot::Void => Outcome::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::claim;
    use tiebreak_core::plan::Gate;
    use tiebreak_core::verdict::Verdict;

    #[test]
    fn only_a_gate_lets_pass_what_is_not_proven() {
        use Outcome::{Broken, Failed, Open, Passed};
        let verdicts = [
            Verdict::Holds,
            Verdict::Refuted,
            Verdict::TooClose,
            Verdict::Undecided,
            Verdict::Void,
        ];
        for (gate, expected) in [
            (Gate::None, [Passed, Failed, Failed, Failed, Broken]),
            (Gate::OpenUnlessRefuted, [Passed, Failed, Open, Open, Broken]),
            (Gate::ClosedUnlessHolds, [Passed, Failed, Failed, Failed, Broken]),
        ] {
            assert_eq!(verdicts.map(|verdict| Outcome::of(&claim("A", verdict, gate))), expected);
        }
        let mut question = claim("which is faster?", Verdict::TooClose, Gate::None);
        question.is_question = true;
        assert_eq!(Outcome::of(&question), Passed);
        question.verdict = Verdict::Undecided;
        assert_eq!(Outcome::of(&question), Failed);
    }
}
