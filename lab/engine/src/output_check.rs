//! Checks whether a contestant's output is right, by the rule of the plan.

use tiebreak_core::plan::Check;
use tiebreak_core::sampler::OutputDigest;
use tiebreak_core::verdict::Fault;

/// Compares outputs by their digests. The sampler runs a judge program (`--check CMD`).
#[derive(Clone, Debug)]
pub struct OutputCheck {
    rule: Check,
    /// The output that all contestants wrote in the first round.
    agreed: Option<OutputDigest>,
    /// Whether no round has yet had an output of every contestant.
    pub is_open: bool,
}

/// How the outputs of the first round that has all of them compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstRound {
    /// An output is missing (not captured, or timed out): the result is not known yet.
    Unknown,
    /// All agree, or nothing is compared.
    Fine,
    /// They differ, which the rule allows.
    Differ,
    /// They differ, which the rule forbids: this contestant's from that one's.
    Fault(usize, usize),
}

impl OutputCheck {
    /// Creates a check by this rule before the first round.
    pub fn new(rule: &Check) -> OutputCheck {
        OutputCheck { rule: rule.clone(), agreed: None, is_open: true }
    }

    /// Checks the outputs of a round, one entry for each contestant that took part, until one round
    /// had all of them.
    pub fn first_round(&mut self, outputs: &[(usize, Option<OutputDigest>)]) -> FirstRound {
        let written = outputs.iter().map(|(index, output)| Some((*index, output.as_ref()?)));
        let Some(mut written) = written.collect::<Option<Vec<_>>>() else {
            return FirstRound::Unknown;
        };
        written.sort_by_key(|(index, _)| *index);
        let Some(((first, expected), others)) = written.split_first() else {
            return FirstRound::Unknown;
        };
        self.is_open = false;
        if matches!(self.rule, Check::Exit | Check::Judge(_)) {
            return FirstRound::Fine;
        }
        match others.iter().find(|(_, output)| output != expected) {
            None => {
                self.agreed = Some((*expected).clone());
                FirstRound::Fine
            }
            Some((other, _)) if self.rule == Check::SameOutput => FirstRound::Fault(*other, *first),
            Some(_) => FirstRound::Differ,
        }
    }

    /// Returns the fault of a later output, if it differs from the agreed one.
    pub fn later(&self, output: Option<&OutputDigest>) -> Option<Fault> {
        let (agreed, output) = (self.agreed.as_ref()?, output?);
        let fault = Fault::OutputChanged { expected_bytes: agreed.bytes, got_bytes: output.bytes };
        (output != agreed).then_some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str) -> Option<OutputDigest> {
        Some(OutputDigest { bytes: text.len() as u64, digest: text.to_owned() })
    }

    fn check(rule: Check, outputs: [Option<OutputDigest>; 2], expected: FirstRound) -> OutputCheck {
        let mut check = OutputCheck::new(&rule);
        let outputs: Vec<_> = outputs.into_iter().enumerate().collect();
        assert_eq!(check.first_round(&outputs), expected, "{rule:?}");
        check
    }

    #[test]
    fn outputs_that_agree_must_go_on_agreeing() {
        for rule in [Check::Default, Check::SameOutput] {
            let check = check(rule, [print("x"), print("x")], FirstRound::Fine);
            assert_eq!(check.later(print("x").as_ref()), None);
            assert!(check.later(print("y").as_ref()).is_some());
            assert_eq!(check.later(None), None);
        }
    }

    #[test]
    fn outputs_that_differ_are_a_matter_of_the_rule() {
        let check_default = check(Check::Default, [print("x"), print("y")], FirstRound::Differ);
        assert_eq!(check_default.later(print("z").as_ref()), None);
        check(Check::SameOutput, [print("x"), print("y")], FirstRound::Fault(1, 0));
        check(Check::Exit, [print("x"), print("y")], FirstRound::Fine);
        let open = check(Check::Default, [None, print("y")], FirstRound::Unknown);
        assert!(open.is_open && open.later(print("z").as_ref()).is_none());
    }
}
