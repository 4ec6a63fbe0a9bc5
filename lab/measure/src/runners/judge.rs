//! Inputs, the correct answers to them, and the checks of runners in addition to the checksum of
//! each batch: their whole answers, the answer that a drawn batch has left, the work of a call on a
//! new input, and the time of their resets. None of it is timed.
//!
//! Times are those of the main thread on a CPU, and the shortest of several counts, so that other
//! load makes no honest runner void.

use super::process::{Patience, quoted};
use super::runner::{Load, Runner};
use super::session::{Session, Taken};
use super::{Runners, blamed};
use crate::answers::{first_difference, trimmed};
use crate::files;
use crate::honesty::{Turn, hidden_in_reset, misconduct, no_contestant, wrong_checksum};
use crate::oracle::{self, Oracle};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::PathBuf;
use tiebreak_abi::Random;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{UnitFailure, UnitRequest};
use tiebreak_core::study::{Built, FunctionPlan, PUBLISHED, Verification, Workload};
use tiebreak_core::verdict::Fault;

/// Knows the inputs of a workload and judges answers.
#[derive(Debug)]
pub(super) struct Judge {
    workload: Workload,
    /// The number of items of an input that no oracle has counted.
    items: u64,
    /// The input, if it is a file of the study and no oracle measures it.
    file: Option<PathBuf>,
    oracle: Option<Oracle>,
    /// Without an oracle: the answer that was accepted first, by contract.
    accepted: HashMap<String, Expected>,
}

/// The input of a contestant.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) seed: u64,
    pub(super) items: u64,
    pub(super) bytes: Vec<u8>,
    /// The same input in the oracle's form, if there is an oracle.
    made: Option<oracle::Input>,
}

/// The correct answer of a contestant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expected {
    pub(super) text: Vec<u8>,
    /// `None` if the study gives only the text.
    pub(super) checksum: Option<u64>,
}

impl Input {
    fn of_oracle(seed: u64, made: oracle::Input) -> Result<Input, UnitFailure> {
        let (items, bytes) = (made.items, whole(&made.file)?);
        Ok(Input { seed, items, bytes, made: Some(made) })
    }
}

impl Judge {
    pub(super) fn new(plan: &FunctionPlan, oracle: Option<Oracle>) -> Judge {
        let file = plan.workload.file.as_ref().map(|file| PathBuf::from(&plan.folder).join(file));
        Judge {
            workload: plan.workload.clone(),
            items: plan.items,
            file,
            oracle,
            accepted: HashMap::new(),
        }
    }

    /// Returns whether an oracle knows the answers.
    pub(super) fn has_oracle(&self) -> bool {
        self.oracle.is_some()
    }

    /// Returns the input of a unit with this seed.
    pub(super) fn input(&mut self, input_seed: u64) -> Result<Input, UnitFailure> {
        let seed = if self.workload.is_drawn { input_seed } else { self.workload.seed };
        if let Some(oracle) = &mut self.oracle {
            return Input::of_oracle(seed, oracle.input(&self.workload, seed)?);
        }
        let mut bytes = Vec::new();
        if let Some(path) = &self.file {
            bytes = std::fs::read(path).map_err(|error| {
                let path = path.display();
                UnitFailure::Broken(format!("the input '{path}' cannot be read: {error}"))
            })?;
        }
        Ok(Input { seed, items: self.items, bytes, made: None })
    }

    /// Returns the correct answer of this contestant; `None` if it is not known yet.
    pub(super) fn expected(
        &mut self,
        input: &Input,
        built: &Built,
    ) -> Result<Option<Expected>, UnitFailure> {
        if let (Some(oracle), Some(made)) = (&mut self.oracle, &input.made) {
            return expected_of(oracle.answer(made, &built.contract)?).map(Some);
        }
        if let Some(accepted) = self.accepted.get(key(built)) {
            return Ok(Some(accepted.clone()));
        }
        let published = self.workload.answer.as_ref().filter(|_| built.is_exact);
        Ok(published.map(|text| Expected { text: text.clone().into_bytes(), checksum: None }))
    }

    /// Returns only the checksum of that answer.
    pub(super) fn checksum(
        &mut self,
        input: &mut Input,
        built: &Built,
    ) -> Result<Option<u64>, UnitFailure> {
        match (&mut self.oracle, &mut input.made) {
            (Some(oracle), Some(made)) => Ok(Some(oracle.checksum(made, &built.contract)?)),
            _ => Ok(self.accepted.get(key(built)).and_then(|accepted| accepted.checksum)),
        }
    }

    /// Keeps the answer of a contestant without a fault as the correct answer of the others.
    fn accept(&mut self, built: &Built, text: Vec<u8>, checksum: u64) {
        if self.oracle.is_none() {
            let answer = Expected { text, checksum: Some(checksum) };
            self.accepted.entry(key(built).to_owned()).or_insert(answer);
        }
    }

    /// Returns the fault of an answer, if it is not the expected one.
    pub(super) fn compare(&self, expected: &Expected, text: &[u8], checksum: u64) -> Option<Fault> {
        compare(&self.workload.name, expected, text, checksum)
    }

    /// Returns one part of an input of `study verify`, and its answer.
    pub(super) fn verification(
        &mut self,
        verification: &Verification,
        part: u64,
        contract: &str,
    ) -> Result<(Input, Expected), UnitFailure> {
        let Some(oracle) = &mut self.oracle else {
            let what = "the study has no oracle, so it has no inputs to verify";
            return Err(UnitFailure::Broken(what.to_owned()));
        };
        let made = oracle.verification(verification, part)?;
        let answer = oracle.answer(&made, contract)?;
        Ok((Input::of_oracle(0, made)?, expected_of(answer)?))
    }
}

fn expected_of(answer: oracle::Answer) -> Result<Expected, UnitFailure> {
    Ok(Expected { text: whole(&answer.text)?, checksum: Some(answer.checksum) })
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
    }
}

/// Returns the fault of an answer, if it is not the expected one.
pub(super) fn compare(
    workload: &str,
    expected: &Expected,
    text: &[u8],
    checksum: u64,
) -> Option<Fault> {
    if trimmed(&expected.text) != trimmed(text)
        && let Ok(Some(difference)) = first_difference(&expected.text[..], text, quoted)
    {
        return Some(difference.fault(workload));
    }
    let right = expected.checksum.filter(|right| *right != checksum)?;
    Some(wrong_checksum(workload, right, checksum))
}

/// Returns the key of accepted answers: contestants of exact contracts give the same answer.
fn key(built: &Built) -> &str {
    if built.is_exact { PUBLISHED } else { &built.contract }
}

fn whole(file: &File) -> Result<Vec<u8>, UnitFailure> {
    files::content(file).map_err(|error| {
        UnitFailure::Broken(format!("what the oracle made cannot be read: {error}: free memory"))
    })
}

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
        let blamed = blamed(contestant);
        let mut runner = Runner::start(launch, 0, &load, &patience).map_err(&blamed)?;
        let (text, checksum) = runner.answer(&patience).map_err(&blamed)?;
        runner.process.bye();
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
        let workload = workload_of(verification);
        let load = Load { workload: &workload, ..self.load(&input) };
        let launch = self.launch(contestant)?;
        let patience =
            Patience { workload: &workload.name, ..self.patience(self.check_timeout_ns) };
        let started = match before {
            Some((_, mut runner)) => runner.load(&load, &patience).map(|()| runner),
            None => Runner::start(launch, 0, &load, &patience),
        };
        let mut runner = started.map_err(blamed(contestant))?;
        let (text, checksum) = runner.answer(&patience).map_err(blamed(contestant))?;
        self.verified = Some((contestant, runner));
        match compare(&workload.name, &expected, &text, checksum) {
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
        taken: &BTreeMap<usize, Taken>,
        left: Option<&Left>,
    ) -> Result<(), UnitFailure> {
        let calls = self.functions.calls_a_batch.clone();
        let resets_ns = taken.iter().map(|(one, taken)| taken.a_call_ns(calls.of(*one)).1);
        let least_ns = resets_ns.min().unwrap_or(0);
        for (contestant, taken) in taken {
            let (run_ns, reset_ns) = taken.a_call_ns(calls.of(*contestant));
            let load_ns = session.runner(*contestant)?.load_ns;
            let dumped = left.filter(|left| left.turn.contestant == *contestant);
            let dump_ns = dumped.map_or(0, |left| left.dump_ns);
            let untimed = self.untimed.entry(*contestant).or_default();
            untimed.take(std::iter::once((load_ns, dump_ns)), reset_ns);
            if let Some(what) = hidden_in_reset([reset_ns, run_ns, least_ns], RESET_NS) {
                return Err(misconduct(*contestant, &self.functions.workload.name, what));
            }
        }
        Ok(())
    }

    /// Judges a trial: the answer that the batch has left and, if the processes end with the unit,
    /// calls on other inputs.
    pub(super) fn judge_trial(
        &mut self,
        session: &mut Session,
        taken: &BTreeMap<usize, Taken>,
        left: &Left,
        request: &UnitRequest<'_>,
    ) -> Result<(), UnitFailure> {
        let contestant = left.turn.contestant;
        let built = self.built(contestant)?.clone();
        let expected = self.judge.expected(&session.input, &built)?;
        let expected = expected.map(|expected| Expected { checksum: None, ..expected });
        let workload = &self.functions.workload.name;
        if let Some(fault) = expected.and_then(|right| compare(workload, &right, &left.answer, 0)) {
            return Err(UnitFailure::Fault(contestant, fault));
        }
        let is_drawn = self.judge.has_oracle() && self.functions.workload.is_drawn;
        if self.scope == Scope::Layout || !is_drawn {
            return Ok(());
        }
        let taken = taken.get(&contestant).ok_or_else(|| no_contestant(contestant))?;
        let (call_ns, _) = taken.a_call_ns(self.functions.calls_a_batch.of(contestant));
        let first_ns = self.first_call_ns(session, left.turn, request)?;
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
    fn first_call_ns(
        &mut self,
        session: &mut Session,
        turn: Turn,
        request: &UnitRequest<'_>,
    ) -> Result<u64, UnitFailure> {
        let contestant = turn.contestant;
        let built = self.built(contestant)?.clone();
        let mut random = Random::new(turn.seed);
        let mut shortest_ns = u64::MAX;
        for _ in 0..FRESH_INPUTS {
            let mut input = self.judge.input(random.next_u64())?;
            let right = self.judge.checksum(&mut input, &built)?;
            let patience = self.patience(request.timeout_ns);
            let runner = session.runner(contestant)?;
            let loaded = runner.load(&self.load(&input), &patience);
            let ran = loaded.and_then(|()| runner.once(&patience));
            let (checksum, ran_ns) = ran.map_err(blamed(contestant))?;
            if let Some(right) = right.filter(|right| *right != checksum) {
                let fault = wrong_checksum(&self.functions.workload.name, right, checksum);
                return Err(UnitFailure::Fault(contestant, fault));
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
        let check = |expected: &str, got: &str, told: Option<(u64, &str, &str)>| {
            let right = Expected { text: expected.into(), checksum: None };
            let fault = compare("w", &right, got.as_bytes(), 0);
            let told = told.map(|(item, expected, got)| Fault::WrongAnswer {
                workload: "w".to_owned(),
                item: Some(item),
                expected: expected.to_owned(),
                got: got.to_owned(),
            });
            assert_eq!(fault, told, "{expected:?} {got:?}");
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
            assert_eq!(compare("w", &right, b"a", got).is_some(), is_wrong);
        };
        check(None, 5, false);
        check(Some(5), 5, false);
        check(Some(6), 5, true);
    }
}
