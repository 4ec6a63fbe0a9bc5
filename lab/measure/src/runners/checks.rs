//! Checks the whole answers of contestants; none of it is timed.

use super::judge;
use super::process::{Patience, Trouble};
use super::runner::{Load, Runner};
use super::{Runners, blamed};
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::Verification;

impl Runners {
    /// Runs the workload once in a new process of the contestant and checks its whole answer.
    ///
    /// Without an oracle and without an `answer` in the study, the first contestant that is checked
    /// is right, and the others of exact contracts must agree with it:
    /// [`judged_order`](tiebreak_core::study::FunctionPlan::judged_order) says which is first.
    ///
    /// # Errors
    /// Returns the contestant's fault, with the first item that differs; an interruption; or an
    /// error that no contestant caused.
    pub fn check(&mut self, contestant: usize, input_seed: u64) -> Result<(), UnitFailure> {
        let built = self.built(contestant)?.clone();
        let input = self.judge.input(input_seed)?;
        let expected = self.judge.expected(&input, &built)?;
        let launch = self.launch(contestant)?;
        let load = self.load(&input);
        let patience = self.patience(self.check_timeout_ns);
        let answer = || -> Result<(Vec<u8>, u64), Trouble> {
            let mut runner = Runner::start(launch, 0, &load, &patience)?;
            let (checksum, _) = runner.once(&patience)?;
            let (text, _) = runner.dump(&patience)?;
            runner.bye();
            Ok((text, checksum))
        };
        let (text, checksum) = answer().map_err(blamed(contestant))?;
        let fault = expected.and_then(|right| self.judge.compare(&right, &text, checksum));
        if let Some(fault) = fault {
            return Err(UnitFailure::Fault(contestant, fault));
        }
        self.judge.accept(&built, text, checksum);
        self.checked.insert(contestant);
        Ok(())
    }

    /// Runs one part of an input of `study verify` and checks the contestant's whole answer.
    /// Returns the number of items. The contestant's process stays for the next part.
    ///
    /// # Errors
    /// As [`Runners::check`].
    pub fn verify(
        &mut self,
        contestant: usize,
        verification: &Verification,
        part: u64,
    ) -> Result<u64, UnitFailure> {
        let contract = self.built(contestant)?.contract.clone();
        let (input, expected) = self.judge.verification(verification, part, &contract)?;
        let before = self.verified.take().filter(|(who, _)| *who == contestant);
        let workload = judge::workload_of(verification);
        let load = Load { workload: &workload, ..self.load(&input) };
        let launch = self.launch(contestant)?;
        let patience =
            Patience { workload: &workload.name, ..self.patience(self.check_timeout_ns) };
        let answer = || -> Result<(Vec<u8>, u64, Runner), Trouble> {
            let mut runner = match before {
                Some((_, mut runner)) => {
                    runner.load(&load, &patience)?;
                    runner
                }
                None => Runner::start(launch, 0, &load, &patience)?,
            };
            let (checksum, _) = runner.once(&patience)?;
            let (text, _) = runner.dump(&patience)?;
            Ok((text, checksum, runner))
        };
        let (text, checksum, runner) = answer().map_err(blamed(contestant))?;
        self.verified = Some((contestant, runner));
        match judge::compare(&workload.name, &expected, &text, checksum) {
            Some(fault) => Err(UnitFailure::Fault(contestant, fault)),
            None => Ok(input.items),
        }
    }
}
