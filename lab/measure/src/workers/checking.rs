//! The checking pass: runs a contestant between guard pages and compares its whole answer with the
//! oracle's; one that runs on several threads also on all of these at once.

use super::blame::{Crew, foreign_signal, no_worker, without_suspect};
use super::{Workers, contract};
use crate::answers::{self, Difference};
use crate::files::memory_file;
use crate::honesty::{misconduct, wrong_checksum};
use crate::oracle::{Answer, Input};
use crate::wire::area::{TOUCHED, Touch};
use crate::wire::message::{
    Check, Checked, Load, ONES, Profile, Profiled, Request, Side, Sizes, Together, ZEROS,
};
use crate::worker_process::Launch;
use std::fs::File;
use std::path::Path;
use tiebreak_abi::Random;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{Built, FunctionPlan, Verification};
use tiebreak_core::verdict::Fault;
use tiebreak_machine::cpus;

/// How long a contestant may take in a checking pass, if the plan does not say.
pub(super) const TIMEOUT_NS: u64 = 60_000_000_000;
/// How long it may take with noise in its output, after which nothing that it does is its fault.
const NOISE_TIMEOUT_NS: u64 = 5_000_000_000;
/// A shorter answer may be right by chance, or consist only of a count.
const LEAST_ANSWER_BYTES: u64 = 64;

/// One contestant in a checking pass: its object, its input, and the expected answer.
struct Case<'a> {
    launch: &'a Launch,
    contestant: usize,
    object: &'a Path,
    workload: &'a str,
    input: &'a Input,
    answer: Option<&'a Answer>,
    timeout_ns: u64,
}

/// What a completed pass dumped and found; `None` if it would have been the same as another one.
type Passed = Option<(File, Checked)>;

impl Workers {
    /// Makes the checking pass of a contestant on the input of this seed, in new processes. The
    /// contestant is as it was built, with its input and its output between inaccessible pages:
    /// first with both ends at the guards behind them, then with both starts at the guards before
    /// them. Compares its whole answer with the oracle's under its contract.
    ///
    /// # Errors
    /// Returns the contestant's fault, an interruption, or an error that no contestant caused.
    pub fn check(&mut self, contestant: usize, input_seed: u64) -> Result<(), UnitFailure> {
        let object = &self.as_built(contestant)?;
        let member = self.member(contestant, object.into(), 0);
        let mut load = self.load(vec![member], Sizes::default());
        let contract = contract(&self.functions, contestant)?;
        let (input, answer) = self.inputs.answered(input_seed, contract)?;
        load.input = input.sizes();
        let (launch, workload) = (&self.launch, &self.functions.workload.name);
        let timeout_ns = self.check_timeout_ns;
        let case = Case { launch, contestant, object, workload, input, answer, timeout_ns };
        // Buffers are aligned, so their ends are usually not at a guard. Without the alignment they
        // are. A contestant need not work then, but if it touches the guard it would have gone too
        // far in any case.
        let flush = case.pass(Side::Flush);
        if let Err(UnitFailure::Fault(_, Fault::OutOfBounds { .. })) = flush {
            return flush.map(drop);
        }
        for side in [Side::End, Side::Front] {
            let why = case.judge(case.pass(side)?)?;
            self.unstarved.remove(&contestant);
            self.unstarved.extend(why.map(|why| (contestant, why)));
        }
        case.judge_dump(input_seed)?;
        if load.contestants[0].beside > 0 { case.judge_together(load) } else { Ok(()) }
    }

    /// Returns why the latest check did not call a contestant without memory, so that it is unknown
    /// whether it allocates; `None` if it did, or if the contestant says that it allocates.
    pub fn unstarved(&self, contestant: usize) -> Option<&str> {
        self.unstarved.get(&contestant).map(String::as_str)
    }

    /// Looks where a contestant, as it was built, spends its time on the input of this seed, in a
    /// process of its own, which takes about two seconds.
    ///
    /// # Errors
    /// As [`Workers::check`].
    pub fn profile(&mut self, contestant: usize, seed: u64) -> Result<Profiled, UnitFailure> {
        let object = self.as_built(contestant)?.into();
        let contract = contract(&self.functions, contestant)?;
        let (input, _) = self.inputs.answered(seed, contract)?;
        let request = Request::Profile(Profile { object, input: input.sizes() });
        let workload = &self.functions.workload.name;
        let mut crew = Crew::start(&self.launch, 0, 0, &[contestant], workload)?;
        crew.ask(&request, &[&input.file], self.check_timeout_ns)
    }

    /// Runs a contestant, as it was built, on one part of an input of `study verify`, and compares
    /// its whole answer with the oracle's. Returns the number of items.
    ///
    /// # Errors
    /// As [`Workers::check`].
    pub fn verify(
        &mut self,
        contestant: usize,
        verification: &Verification,
        part: u64,
    ) -> Result<u64, UnitFailure> {
        let object = &self.as_built(contestant)?;
        let contract = contract(&self.functions, contestant)?;
        let (input, answer) = self.inputs.verified(verification, part, contract)?;
        let (launch, workload) = (&self.launch, &verification.part_name(part));
        let (answer, timeout_ns) = (Some(&answer), self.check_timeout_ns);
        let case = Case { launch, contestant, object, workload, input, answer, timeout_ns };
        case.judge(case.pass(Side::End)?)?;
        Ok(input.items)
    }
}

impl Case<'_> {
    fn fault<T>(&self, fault: Fault) -> Result<T, UnitFailure> {
        Err(UnitFailure::Fault(self.contestant, fault))
    }

    /// Judges a completed pass. Returns why the contestant was not called without memory, if it was
    /// not.
    fn judge(&self, passed: Passed) -> Result<Option<String>, UnitFailure> {
        let Some((dump, Checked { checksums, unstarved })) = passed else { return Ok(None) };
        self.compare(&dump, checksums)?;
        Ok(unstarved)
    }

    /// Lets a contestant dump an output that was overwritten after its runs. If the dump is right
    /// whatever the output contained, the contestant did not read the output, and its work may be
    /// done in `dump`. A crash or a hang proves nothing, because the output contained noise. Nor
    /// does a short answer: it may depend on one byte that is not 0, or on a count in the state.
    fn judge_dump(&self, seed: u64) -> Result<(), UnitFailure> {
        let Some(answer) = self.answer.filter(|_| self.input.output_bytes > 0) else {
            return Ok(());
        };
        if answer.text.metadata().map_err(no_worker)?.len() < LEAST_ANSWER_BYTES {
            return Ok(());
        }
        let case = Case { timeout_ns: self.timeout_ns.min(NOISE_TIMEOUT_NS), ..*self };
        let drawn = Random::new(seed).next_u64();
        for noise in [drawn.clamp(1, ZEROS - 1), ZEROS, ONES] {
            match case.single_pass(Side::End, noise) {
                Err(UnitFailure::Interrupted) => return Err(UnitFailure::Interrupted),
                Ok(Some((dump, _))) if difference(&answer.text, &dump)?.is_none() => {}
                _ => return Ok(()),
            }
        }
        let what = "dumped the right answer although its output had been overwritten after the \
                    run: its 'dump' does not read what 'run' left there";
        Err(misconduct(self.contestant, self.workload, what))
    }

    /// Compares an answer and two checksums with the oracle's.
    fn compare(&self, dump: &File, checksums: [u64; 2]) -> Result<(), UnitFailure> {
        let workload = self.workload;
        let mut expected = checksums[0];
        if let Some(answer) = self.answer {
            if let Some(difference) = difference(&answer.text, dump)? {
                return self.fault(difference.fault(workload));
            }
            expected = answer.checksum;
        }
        match checksums.into_iter().find(|checksum| *checksum != expected) {
            Some(got) => self.fault(wrong_checksum(workload, expected, got)),
            None => Ok(()),
        }
    }

    /// Makes one pass in a new process. A contestant that is killed while it is alone there, and
    /// again in a second attempt, causes it itself: no other process is so exact, and one that
    /// needs more memory than there is would be killed each time.
    fn pass(&self, side: Side) -> Result<Passed, UnitFailure> {
        match self.single_pass(side, 0) {
            Err(failure) if foreign_signal(&failure).is_some() => self.single_pass(side, 0),
            passed => passed,
        }
    }

    fn single_pass(&self, side: Side, noise: u64) -> Result<Passed, UnitFailure> {
        let (object, input) = (self.object.into(), self.input.sizes());
        let request = Request::Check(Check { object, input, side, noise });
        let dump = memory_file().map_err(no_worker)?;
        let mut crew = Crew::start(self.launch, 0, 0, &[self.contestant], self.workload)?;
        let files = [&self.input.file, &dump];
        let settled: Result<Option<Checked>, _> = crew.ask(&request, &files, self.timeout_ns);
        // A worker that has not ended has answered.
        let ended = crew.process.ended();
        let is_recorded = ended.is_none_or(|status| status.code() == Some(TOUCHED));
        let touch = crew.process.area.header().touch();
        let is_starved = touch.is_some_and(|touch| touch.place == Touch::HEAP);
        if let Some(touch) = touch.filter(|_| !is_starved && is_recorded) {
            let (workload, what) = (self.workload.to_owned(), sentence(&touch));
            return match side {
                // Without an alignment only what is past the end is the contestant's fault.
                Side::Flush if touch.side != Touch::PAST_END => Ok(None),
                _ => self.fault(Fault::OutOfBounds { workload, what }),
            };
        }
        match settled {
            Ok(_) if is_starved => self.starved("gave another checksum".to_owned()),
            Err(failure) if foreign_signal(&failure).is_some() => Err(failure),
            Err(UnitFailure::Fault(_, fault)) if is_starved => self.starved(fault.to_string()),
            settled => Ok(settled?.map(|checked| (dump, checked))),
        }
    }

    /// Returns the fault of a contestant that failed without memory of the allocator; `how` it
    /// ended.
    fn starved(&self, how: String) -> Result<Passed, UnitFailure> {
        let what = format!(
            "asks for memory in 'run', although its table has no flag TIEBREAK_ALLOCATES: where \
             there was none it {how}"
        );
        Err(misconduct(self.contestant, self.workload, what))
    }

    /// Runs the contestant on all of its threads at once in a new process, and compares the answers
    /// of all with the oracle's.
    fn judge_together(&self, load: Load) -> Result<(), UnitFailure> {
        let threads = load.contestants[0].beside + 1;
        let dump = memory_file().map_err(no_worker)?;
        let other = memory_file().map_err(no_worker)?;
        let mut crew = Crew::start(self.launch, 0, 0, &[self.contestant], self.workload)?;
        let timeout_ns = self.timeout_ns;
        let loaded = crew.ask(&Request::Load(load), &[&self.input.file], timeout_ns);
        let asked =
            loaded.and_then(|()| crew.ask(&Request::Together, &[&dump, &other], timeout_ns));
        let Together { checksum, other: differing, is_torn } = asked.map_err(without_suspect)?;
        self.compare(&dump, [checksum; 2])?;
        let workload = format!("{} on {threads} threads", self.workload);
        if let Some(differing) = differing {
            // The first thread is right, so this one is wrong. Without an oracle's answer it is
            // unknown which of the two is.
            let expected = self.answer.map_or(&dump, |answer| &answer.text);
            return self.fault(match difference(expected, &other)? {
                Some(difference) => difference.fault(&workload),
                None => wrong_checksum(&workload, checksum, differing),
            });
        }
        if is_torn {
            return self.fault(wrong_checksum(&workload, checksum, TORN));
        }
        Ok(())
    }
}

/// What a contestant gave instead of one checksum.
pub(super) const TORN: &str = "another number in some of its calls";

/// Returns the first line in which two files differ.
///
/// # Errors
/// Fails if a file cannot be read.
pub(super) fn difference(expected: &File, got: &File) -> Result<Option<Difference>, UnitFailure> {
    let found = answers::from_start(expected).and_then(|expected| {
        answers::first_difference(expected, answers::from_start(got)?, answers::escaped)
    });
    found.map_err(no_worker)
}

/// Describes a touch, as a sentence without its subject.
fn sentence(touch: &Touch) -> String {
    let verb = match touch.access {
        Touch::READ => "read",
        Touch::WROTE => "wrote",
        _ => "touched",
    };
    let place = if touch.place == Touch::INPUT { "input" } else { "output" };
    let bytes = touch.bytes;
    let count = format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
    match touch.side {
        Touch::PAST_END => format!("{verb} {count} past the end of its {place}"),
        Touch::BEFORE_START => format!("{verb} {count} before the start of its {place}"),
        _ => format!("{verb} to its {place}, which it may only read, at byte {bytes}"),
    }
}

/// Returns the CPUs of the helper threads: as many as the largest team of the plan needs, none if
/// nothing is pinned.
///
/// # Errors
/// Fails if there are fewer CPUs than threads; the text gives both numbers.
pub(super) fn helper_cpus(
    functions: &FunctionPlan,
    allowed: &[usize],
) -> Result<Vec<usize>, String> {
    let most = functions.built.iter().map(Built::threads).max().unwrap_or(1).max(1) as usize;
    if most > allowed.len().max(1) {
        let many = allowed.len();
        return Err(format!("a contestant runs on {most} threads, and there are {many} CPUs"));
    }
    let Some(cpu) = functions.cpu else { return Ok(Vec::new()) };
    Ok(cpus::apart(cpu, allowed).into_iter().take(most - 1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touches_are_told_in_words() {
        let check = |place, side, access, bytes, expected: &str| {
            assert_eq!(sentence(&Touch { place, side, access, bytes }), expected);
        };
        let (input, output) = (Touch::INPUT, Touch::OUTPUT);
        let (past, before) = (Touch::PAST_END, Touch::BEFORE_START);
        check(output, past, Touch::WROTE, 1, "wrote 1 byte past the end of its output");
        check(input, past, Touch::READ, 64, "read 64 bytes past the end of its input");
        check(input, before, 0, 2, "touched 2 bytes before the start of its input");
        let inside = "wrote to its input, which it may only read, at byte 7";
        check(input, Touch::INSIDE, Touch::WROTE, 7, inside);
    }
}
