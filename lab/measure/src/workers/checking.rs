//! The checking pass: runs a contestant between guard pages and compares its whole answer with the
//! oracle's.

use super::Workers;
use super::blame::{Frame, Suspect, no_worker, unexpected};
use super::difference;
use super::process::Process;
use crate::oracle::{Answer, Input};
use crate::output::memory_file;
use crate::worker::area::{Area, Touch};
use crate::worker::memory::Side;
use crate::worker::message::{Check, ONES, Reply, Request, Sizes, ZEROS};
use crate::worker::starved::REASONS;
use crate::worker::trap::TOLD;
use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use tiebreak_abi::Random;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::Verification;
use tiebreak_core::verdict::Fault;

/// How long a contestant may take in a checking pass, if the plan does not say.
const TIMEOUT_NS: u64 = 60_000_000_000;
/// How long it may take with noise in its output, after which nothing that it does is its fault.
const NOISE_TIMEOUT_NS: u64 = 5_000_000_000;
/// A shorter answer may be right by chance, or consist only of a count.
const LEAST_ANSWER_BYTES: u64 = 64;

/// The input of a checking pass, and the expected answer.
pub(super) struct Case<'a> {
    pub(super) input: &'a Input,
    pub(super) answer: Option<&'a Answer>,
    pub(super) frame: Frame<'a>,
}

/// The result of one pass.
enum Pass {
    /// It was completed: what it dumped, the checksums of its two runs, and why it was not called
    /// without memory, as in the reply.
    Whole(File, [u64; 2], u64),
    /// It would have been the same as another one.
    Skipped,
    /// It touched foreign memory.
    Touched(Touch),
    /// It failed without memory of the allocator; how it ended.
    Starved(String),
}

impl Workers {
    /// Makes the checking pass of a contestant on the input of this seed, in new processes. The
    /// contestant is as it was built, with its input and its output between inaccessible pages:
    /// first with both ends at the guards behind them, then with both starts at the guards before
    /// them. Compares its whole answer with the oracle's under its contract.
    ///
    /// # Errors
    /// Returns the contestant's fault, an interruption, or an error that no contestant caused.
    pub fn check(&mut self, contestant: usize, input_seed: u64) -> Result<(), UnitFailure> {
        let contract = self.contract(contestant)?.to_owned();
        let library = self.as_built(contestant)?;
        let workload = self.functions.workload.name.clone();
        let suspect = Cell::new(None);
        let (program, frame) = (self.program.clone(), self.check_frame(&workload, &suspect));
        let (input, answer) = self.inputs.answered(input_seed, &contract)?;
        let case = Case { input, answer: answer.as_ref(), frame };
        let pass = |side| pass(&program, contestant, &library, (side, 0), &case);
        // Buffers are aligned, so their ends are usually not at a guard. Without the alignment they
        // are. A contestant need not work then, but if it touches the guard it would have gone too
        // far in any case.
        if let Ok(Pass::Touched(touch)) = pass(Side::Flush)
            && touch.side == Touch::PAST_END
        {
            return Err(out_of_bounds(contestant, &workload, &touch));
        }
        for side in [Side::End, Side::Front] {
            let passed = pass(side)?;
            if let Pass::Whole(.., unstarved) = passed {
                self.unstarved.insert(contestant, unstarved);
            }
            case.judge(contestant, passed)?;
        }
        case.judge_dump(&program, contestant, &library, input_seed)?;
        let Some(pass) = self.together(contestant, &library)? else { return Ok(()) };
        let (input, answer) = self.inputs.answered(input_seed, &contract)?;
        let case = Case { input, answer: answer.as_ref(), frame };
        pass.judge(&program, contestant, &case)
    }

    /// Returns why the latest check did not call a contestant without memory, so that it is unknown
    /// whether it allocates; `None` if it did, or if the contestant says that it allocates.
    pub fn unstarved(&self, contestant: usize) -> Option<&'static str> {
        let reason = self.unstarved.get(&contestant)?.checked_sub(1)?;
        REASONS.get(usize::try_from(reason).ok()?).copied()
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
        let contract = self.contract(contestant)?.to_owned();
        let library = self.as_built(contestant)?;
        let suspect = Cell::new(None);
        let name = &verification.name;
        let (program, frame) = (self.program.clone(), self.check_frame(name, &suspect));
        let (input, answer) = self.inputs.verified(verification, part, &contract)?;
        let case = Case { input, answer: Some(&answer), frame };
        let passed = pass(&program, contestant, &library, (Side::End, 0), &case)?;
        case.judge(contestant, passed)?;
        Ok(input.items)
    }

    fn check_frame<'a>(&self, workload: &'a str, suspect: &'a Cell<Option<Suspect>>) -> Frame<'a> {
        let timeout_ns = self.timeout_ns.unwrap_or(TIMEOUT_NS);
        Frame { workload, interrupted: self.interrupted, timeout_ns, suspect }
    }
}

impl Case<'_> {
    fn judge(&self, contestant: usize, pass: Pass) -> Result<(), UnitFailure> {
        match pass {
            Pass::Whole(dump, checksums, _) => self.compare(contestant, &dump, checksums),
            Pass::Skipped => Ok(()),
            Pass::Touched(touch) => Err(out_of_bounds(contestant, self.frame.workload, &touch)),
            Pass::Starved(how) => self.conduct(
                contestant,
                format!(
                    "asks for memory in 'run', although its table has no flag TIEBREAK_ALLOCATES: \
                     where there was none it {how}"
                ),
            ),
        }
    }

    /// Lets a contestant dump an output that was overwritten after its runs. If the dump is right
    /// whatever the output contained, the contestant did not read the output, and its work may be
    /// done in `dump`. A crash or a hang proves nothing, because the output contained noise. Nor
    /// does a short answer: it may depend on one byte that is not 0, or on a count in the state.
    fn judge_dump(
        &self,
        program: &super::WorkerProgram,
        contestant: usize,
        library: &Path,
        seed: u64,
    ) -> Result<(), UnitFailure> {
        let Some(answer) = self.answer.filter(|_| self.input.output_bytes > 0) else {
            return Ok(());
        };
        let answer_bytes = answer.text.metadata().map_err(|error| no_worker(&error))?.len();
        if answer_bytes < LEAST_ANSWER_BYTES {
            return Ok(());
        }
        let timeout_ns = self.frame.timeout_ns.min(NOISE_TIMEOUT_NS);
        let case = Case { frame: Frame { timeout_ns, ..self.frame }, ..*self };
        let drawn = Random::new(seed).next_u64();
        for noise in [drawn.clamp(1, ZEROS - 1), ZEROS, ONES] {
            let mut said = String::new();
            match single_pass(program, contestant, library, (Side::End, noise), &case, &mut said) {
                Err(UnitFailure::Interrupted) => return Err(UnitFailure::Interrupted),
                Ok(Pass::Whole(dump, ..)) => {
                    let compared = difference::first(&answer.text, &dump);
                    if compared.map_err(|error| no_worker(&error))?.is_some() {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
        self.conduct(
            contestant,
            "dumped the right answer although its output had been overwritten after the run: its \
             'dump' does not read what 'run' left there"
                .to_owned(),
        )
    }

    fn conduct(&self, contestant: usize, what: String) -> Result<(), UnitFailure> {
        let workload = self.frame.workload.to_owned();
        Err(UnitFailure::Fault(contestant, Fault::Conduct { workload, what }))
    }

    /// Compares an answer and two checksums with the oracle's.
    pub(super) fn compare(
        &self,
        contestant: usize,
        dump: &File,
        checksums: [u64; 2],
    ) -> Result<(), UnitFailure> {
        let workload = || self.frame.workload.to_owned();
        let fault = |fault| Err(UnitFailure::Fault(contestant, fault));
        if let Some(answer) = self.answer {
            let compared = difference::first(&answer.text, dump);
            if let Some(difference) = compared.map_err(|error| no_worker(&error))? {
                return fault(Fault::WrongAnswer {
                    workload: workload(),
                    item: Some(difference.item),
                    expected: difference.expected,
                    got: difference.got,
                });
            }
        }
        let expected = self.answer.map_or(checksums[0], |answer| answer.checksum);
        match checksums.into_iter().find(|checksum| *checksum != expected) {
            Some(got) => fault(wrong_checksum(self.frame.workload, expected, &got.to_string())),
            None => Ok(()),
        }
    }
}

/// Makes one pass in a new process. A contestant that is killed while it is alone there, and again
/// in a second attempt, causes it itself: no other process is so exact, and one that needs more
/// memory than there is would be killed each time.
fn pass(
    program: &super::WorkerProgram,
    contestant: usize,
    library: &Path,
    how: (Side, u64),
    case: &Case<'_>,
) -> Result<Pass, UnitFailure> {
    let mut said = String::new();
    for _ in 0..2 {
        case.frame.suspect.set(None);
        let passed = single_pass(program, contestant, library, how, case, &mut said);
        if case.frame.suspect.get().is_none() {
            return passed;
        }
    }
    let signal = case.frame.suspect.get().map_or(0, |suspect| suspect.signal);
    Err(UnitFailure::Fault(contestant, Fault::Signal { signal, stderr: said }))
}

fn single_pass(
    program: &super::WorkerProgram,
    contestant: usize,
    library: &Path,
    (side, noise): (Side, u64),
    case: &Case<'_>,
    said: &mut String,
) -> Result<Pass, UnitFailure> {
    let failed = |error: std::io::Error| no_worker(&error);
    let Input { file, bytes, items, output_bytes } = case.input;
    let input = Sizes { bytes: *bytes, items: *items, output_bytes: *output_bytes };
    let request = Request::Check(Check { object: library.to_owned(), input, side, noise });
    let (area, shared) = Area::create(0).map_err(failed)?;
    let dump = memory_file().map_err(failed)?;
    let mut process = Process::start(program, 0).map_err(failed)?;
    let descriptors = [shared.as_fd(), file.as_fd(), dump.as_fd()];
    let reply = process.ask(&request, &descriptors, &case.frame.patience(&area));
    let is_told = process.ended().is_some_and(|status| status.code() == Some(TOLD));
    let touch = area.header().touch();
    let is_starved = touch.is_some_and(|touch| touch.place == Touch::HEAP);
    if let Some(touch) = touch.filter(|_| !is_starved && (is_told || reply.is_ok())) {
        return Ok(Pass::Touched(touch));
    }
    let settled = case.frame.settle(reply, &mut process, &area, &[contestant]);
    *said = process.said();
    match settled {
        Ok(_) if is_starved => return Ok(Pass::Starved("gave another checksum".to_owned())),
        Err(UnitFailure::Fault(_, fault)) if is_starved => {
            return Ok(Pass::Starved(fault.to_string()));
        }
        _ => {}
    }
    match settled? {
        Reply::Checked { checksums, unstarved } => Ok(Pass::Whole(dump, checksums, unstarved)),
        Reply::Skipped => Ok(Pass::Skipped),
        other => Err(unexpected(&other)),
    }
}

/// Returns the fault of a contestant whose checksum is wrong although its answer shows no error.
pub(super) fn wrong_checksum(workload: &str, expected: u64, got: &str) -> Fault {
    Fault::WrongAnswer {
        workload: workload.to_owned(),
        item: None,
        expected: expected.to_string(),
        got: got.to_owned(),
    }
}

fn out_of_bounds(contestant: usize, workload: &str, touch: &Touch) -> UnitFailure {
    let fault = Fault::OutOfBounds { workload: workload.to_owned(), what: sentence(touch) };
    UnitFailure::Fault(contestant, fault)
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
