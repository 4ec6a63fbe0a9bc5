//! Inputs, the correct answers to them, and the checks of runners in addition to the checksum of
//! each batch: their whole answers, the answer that a drawn batch has left, the work of a call on a
//! new input, and the time of their resets. None of it is timed.
//!
//! Times are those of the main thread on a CPU, and the shortest of several counts, so that other
//! load makes no honest runner void.

use super::Runners;
use super::process::quoted;
use super::runner::Runner;
use super::session::{Session, Taken, a_call_ns};
use crate::answers::{first_difference, trimmed};
use crate::files;
use crate::honesty::{Turn, misconduct, no_contestant, wrong_checksum};
use crate::oracle;
use std::fs::File;
use std::path::Path;
use tiebreak_abi::Random;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{Built, FunctionPlan, PUBLISHED, Verification, Workload};
use tiebreak_core::verdict::Fault;

/// The input of a contestant.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) seed: u64,
    pub(super) items: u64,
    pub(super) bytes: Vec<u8>,
    /// The same input in the oracle's form, if there is an oracle.
    made: Option<oracle::Input>,
}

impl Input {
    /// Returns how long an output is, by the oracle.
    pub(super) fn output_bytes(&self) -> u64 {
        self.made.as_ref().map_or(0, |made| made.output_bytes)
    }

    fn of_oracle(seed: u64, made: oracle::Input) -> Result<Input, UnitFailure> {
        let (items, bytes) = (made.items, whole(&made.file)?);
        Ok(Input { seed, items, bytes, made: Some(made) })
    }
}

/// The correct answer of a contestant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expected {
    text: Vec<u8>,
    /// `None` if the study gives only the text.
    checksum: Option<u64>,
}

impl Expected {
    fn of_oracle(answer: oracle::Answer) -> Result<Expected, UnitFailure> {
        Ok(Expected { text: whole(&answer.text)?, checksum: Some(answer.checksum) })
    }

    /// Returns the fault of an answer, if it is not this one.
    fn fault(&self, workload: &str, text: &[u8], checksum: u64) -> Option<Fault> {
        if trimmed(&self.text) != trimmed(text)
            && let Ok(Some(difference)) = first_difference(&self.text[..], text, quoted)
        {
            return Some(difference.fault(workload));
        }
        let right = self.checksum.filter(|right| *right != checksum)?;
        Some(wrong_checksum(workload, right, checksum))
    }
}

fn whole(file: &File) -> Result<Vec<u8>, UnitFailure> {
    files::content(file).map_err(|error| {
        UnitFailure::Broken(format!("what the oracle made cannot be read: {error}: free memory"))
    })
}

/// Returns the key of accepted answers: contestants of exact contracts give the same answer.
fn key(built: &Built) -> &str {
    if built.is_exact { PUBLISHED } else { &built.contract }
}

/// Returns how a contestant was built.
fn built(plan: &FunctionPlan, contestant: usize) -> Result<&Built, UnitFailure> {
    plan.built.get(contestant).ok_or_else(|| no_contestant(contestant))
}

/// Converts a verification to a workload, for the runner that loads it.
fn workload_of(verification: &Verification) -> Workload {
    let Verification { name, distribution, size, .. } = verification;
    Workload {
        name: name.split_whitespace().collect::<Vec<_>>().join("-"),
        distribution: distribution.clone(),
        size: *size,
        seed: 0,
        is_drawn: false,
        about: String::new(),
        file: None,
        answer: None,
        contestants: Vec::new(),
        is_on_request: false,
    }
}

impl Runners {
    /// Returns the input of a unit with this seed.
    pub(super) fn input(&mut self, input_seed: u64) -> Result<Input, UnitFailure> {
        let workload = &self.functions.workload;
        let seed = if workload.is_drawn { input_seed } else { workload.seed };
        if let Some(oracle) = &mut self.oracle {
            return Input::of_oracle(seed, oracle.input(workload, seed)?);
        }
        let mut bytes = Vec::new();
        if let Some(file) = &workload.file {
            let path = Path::new(&self.functions.folder).join(file);
            bytes = std::fs::read(&path).map_err(|error| {
                let path = path.display();
                UnitFailure::Broken(format!("the input '{path}' cannot be read: {error}"))
            })?;
        }
        Ok(Input { seed, items: self.functions.items, bytes, made: None })
    }

    /// Returns the correct answer of this contestant; `None` if it is not known yet.
    fn expected(
        &mut self,
        input: &Input,
        contestant: usize,
    ) -> Result<Option<Expected>, UnitFailure> {
        let built = built(&self.functions, contestant)?;
        if let (Some(oracle), Some(made)) = (&mut self.oracle, &input.made) {
            return Expected::of_oracle(oracle.answer(made, &built.contract)?).map(Some);
        }
        if let Some(accepted) = self.accepted.get(key(built)) {
            return Ok(Some(accepted.clone()));
        }
        let published = self.functions.workload.answer.as_ref().filter(|_| built.is_exact);
        Ok(published.map(|text| Expected { text: text.clone().into_bytes(), checksum: None }))
    }

    /// Returns only the checksum of that answer.
    pub(super) fn checksum(
        &mut self,
        input: &mut Input,
        contestant: usize,
    ) -> Result<Option<u64>, UnitFailure> {
        let built = built(&self.functions, contestant)?;
        match (&mut self.oracle, &mut input.made) {
            (Some(oracle), Some(made)) => Ok(Some(oracle.checksum(made, &built.contract)?)),
            _ => Ok(self.accepted.get(key(built)).and_then(|accepted| accepted.checksum)),
        }
    }

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
        let input = self.input(input_seed)?;
        let expected = self.expected(&input, contestant)?;
        let (launch, workload) = (self.launch(contestant)?, &self.functions.workload);
        let mut runner = Runner::start(launch, 0, self.check_timeout_ns, workload, &input)?;
        let (text, checksum) = runner.answer()?;
        runner.process.bye();
        let fault = expected.and_then(|right| right.fault(&workload.name, &text, checksum));
        if let Some(fault) = fault {
            return Err(UnitFailure::Fault(contestant, fault));
        }
        if self.oracle.is_none() {
            // It becomes the correct answer of the others.
            let answer = Expected { text, checksum: Some(checksum) };
            let key = key(built(&self.functions, contestant)?).to_owned();
            self.accepted.entry(key).or_insert(answer);
        }
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
        let built = built(&self.functions, contestant)?;
        let Some(oracle) = &mut self.oracle else {
            let what = "the study has no oracle, so it has no inputs to verify";
            return Err(UnitFailure::Broken(what.to_owned()));
        };
        let made = oracle.verification(verification, part)?;
        let expected = Expected::of_oracle(oracle.answer(&made, &built.contract)?)?;
        let (input, workload) = (Input::of_oracle(0, made)?, workload_of(verification));
        let mut runner = match self.verified.take().filter(|(who, _)| *who == contestant) {
            Some((_, mut runner)) => runner.load(&workload, &input).map(|()| runner)?,
            None => {
                let launch = self.launch(contestant)?;
                Runner::start(launch, 0, self.check_timeout_ns, &workload, &input)?
            }
        };
        let (text, checksum) = runner.answer()?;
        self.verified = Some((contestant, runner));
        match expected.fault(&verification.part_name(part), &text, checksum) {
            Some(fault) => Err(UnitFailure::Fault(contestant, fault)),
            None => Ok(input.items),
        }
    }
}

/// The cost of an empty reset: one line is read, and one written.
const RESET_NS: u64 = 200_000;

/// A call on an input that was just loaded may take this many times as long as one of a timed
/// batch, plus a constant, before it shows that timed batches do not do the work. A compiler may
/// discard its code when another input comes.
const KEPT_TIMES: u64 = 100;
const KEPT_NS: u64 = 1_000_000;

/// The number of inputs that are loaded in turn: a collector or a compiler may disturb one.
const FRESH_INPUTS: usize = 3;

/// What the batch on trial has left.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) turn: Turn,
    pub(super) answer: Vec<u8>,
    pub(super) dump_ns: u64,
}

impl Runners {
    /// Records untimed work, and checks how long the resets of a unit took.
    pub(super) fn check_untimed(
        &mut self,
        session: &mut Session,
        taken: &Taken,
        left: Option<&Left>,
    ) -> Result<(), UnitFailure> {
        let company: Vec<usize> = taken.keys().copied().collect();
        let calls = |one| self.functions.calls_a_batch.of(one, &company);
        let resets_ns = taken.iter().map(|(one, batches)| a_call_ns(batches, calls(*one)).1);
        let least_ns = resets_ns.min().unwrap_or(0);
        for (&contestant, batches) in taken {
            let (run_ns, reset_ns) = a_call_ns(batches, calls(contestant));
            let load_ns = session.runner(contestant)?.load_ns;
            let dumped = left.filter(|left| left.turn.contestant == contestant);
            let dump_ns = dumped.map_or(0, |left| left.dump_ns);
            let untimed = self.untimed.entry(contestant).or_default();
            untimed.take(std::iter::once((load_ns, dump_ns)), reset_ns);
            let resets = self.resets.entry(contestant).or_default();
            if let Some(what) = resets.of_resets([reset_ns, run_ns, least_ns], RESET_NS) {
                return Err(misconduct(contestant, &self.functions.workload.name, what));
            }
        }
        Ok(())
    }

    /// Judges a trial: the answer that the batch has left and, if the processes end with the unit,
    /// calls on other inputs.
    pub(super) fn judge_trial(
        &mut self,
        session: &mut Session,
        taken: &Taken,
        left: &Left,
    ) -> Result<(), UnitFailure> {
        let contestant = left.turn.contestant;
        let expected = self.expected(&session.input, contestant)?;
        let expected = expected.map(|expected| Expected { checksum: None, ..expected });
        let workload = &self.functions.workload;
        if let Some(fault) = expected.and_then(|right| right.fault(&workload.name, &left.answer, 0))
        {
            return Err(UnitFailure::Fault(contestant, fault));
        }
        if self.scope == Scope::Layout || self.oracle.is_none() || !workload.is_drawn {
            return Ok(());
        }
        let batches = taken.get(&contestant).ok_or_else(|| no_contestant(contestant))?;
        let company: Vec<usize> = taken.keys().copied().collect();
        let calls = self.functions.calls_a_batch.of(contestant, &company);
        // A runtime may move its work between threads: of a batch that another thread than the main
        // one has run, only the elapsed time is known.
        let batches_ns: u64 =
            batches.iter().map(|batch| batch.worked_ns().max(batch.time.low_ns)).sum();
        let call_ns = batches_ns / (calls.max(1) * batches.len().max(1) as u64);
        let first_ns = self.first_call_ns(session, left.turn)?;
        if first_ns <= KEPT_TIMES * call_ns + KEPT_NS {
            return Ok(());
        }
        let times = first_ns / call_ns.max(1);
        let what = format!(
            "did its work once for all runs on one input: a run on an input that had just been \
             loaded took {times} times as long as those of a timed batch"
        );
        Err(misconduct(contestant, &self.functions.workload.name, what))
    }

    /// Loads other inputs, each for one run, whose checksums must be right, and returns the
    /// shortest time of these runs.
    fn first_call_ns(&mut self, session: &mut Session, turn: Turn) -> Result<u64, UnitFailure> {
        let runner = session.runner(turn.contestant)?;
        let mut random = Random::new(turn.seed);
        let mut shortest_ns = u64::MAX;
        for _ in 0..FRESH_INPUTS {
            let mut input = self.input(random.next_u64())?;
            let right = self.checksum(&mut input, turn.contestant)?;
            let workload = &self.functions.workload;
            runner.load(workload, &input)?;
            let (checksum, ran_ns) = runner.once()?;
            if let Some(right) = right.filter(|right| *right != checksum) {
                let fault = wrong_checksum(&workload.name, right, checksum);
                return Err(UnitFailure::Fault(turn.contestant, fault));
            }
            shortest_ns = shortest_ns.min(ran_ns);
        }
        Ok(shortest_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        let check = |expected: &str, got: &str, wrong: Option<(u64, &str, &str)>| {
            let right = Expected { text: expected.into(), checksum: None };
            let fault = right.fault("w", got.as_bytes(), 0);
            let wrong = wrong.map(|(item, expected, got)| Fault::WrongAnswer {
                workload: "w".to_owned(),
                item: Some(item),
                expected: expected.to_owned(),
                got: got.to_owned(),
            });
            assert_eq!(fault, wrong, "{expected:?} {got:?}");
        };
        check("a\nb", "a\nb\n", None);
        check("", "\n", None);
        check("a\nb\n", "a\nc\n", Some((2, "b", "c")));
        check("a\nb\n", "a\n", Some((2, "b", "no more lines")));
        check("a\n", "a\nb", Some((2, "no more lines", "b")));
        check("a\n", "a\n\n", Some((2, "no more lines", "")));
    }

    #[test]
    fn a_checksum_is_compared_where_it_is_known() {
        let check = |checksum, got, is_wrong: bool| {
            let right = Expected { text: b"a".to_vec(), checksum };
            assert_eq!(right.fault("w", b"a", got).is_some(), is_wrong);
        };
        check(None, 5, false);
        check(Some(5), 5, false);
        check(Some(6), 5, true);
    }
}
