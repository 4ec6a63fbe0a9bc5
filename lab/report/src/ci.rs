//! Formats of CI systems for a file of claims: GitHub's workflow commands, JUnit, and Markdown for
//! comments and summaries.

pub mod github;
pub mod junit;
pub mod markdown;

#[cfg(test)]
mod tests {
    use crate::tests::fixture::claim;
    use tiebreak_core::claim::Relation;
    use tiebreak_core::plan::Gate;
    use tiebreak_core::result::ClaimOutcome::{Failed, Passed, PassedUnproven, Unproven, Void};
    use tiebreak_core::result::ClaimResult;
    use tiebreak_core::verdict::Verdict;

    #[test]
    fn only_a_gate_lets_pass_what_is_not_proven() {
        let verdicts = [
            Verdict::Holds,
            Verdict::Refuted,
            Verdict::TooClose,
            Verdict::Undecided,
            Verdict::Void,
        ];
        let of = |verdict, gate| ClaimResult {
            gate,
            ..claim("A is faster", Relation::AtLeast { factor: 1.0 }, verdict, [None; 3])
        };
        for (gate, expected) in [
            (Gate::None, [Passed, Failed, Unproven, Unproven, Void]),
            (Gate::OpenUnlessRefuted, [Passed, Failed, PassedUnproven, PassedUnproven, Void]),
            (Gate::ClosedUnlessHolds, [Passed, Failed, Failed, Failed, Void]),
        ] {
            assert_eq!(verdicts.map(|verdict| of(verdict, gate).outcome()), expected);
        }
        let mut question = of(Verdict::TooClose, Gate::None);
        question.is_question = true;
        assert_eq!(question.outcome(), Passed);
        question.verdict = Verdict::Undecided;
        assert_eq!(question.outcome(), Unproven);
    }
}
