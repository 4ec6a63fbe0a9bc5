//! Trials: the answer that a drawn timed batch has left, judged whole.
//!
//! Checksums are compared with the oracle's in every call; a trial checks the answer itself. In a
//! unit one contestant is on trial, in a batch that is drawn. Its output is overwritten after the
//! untimed call before the batch, either whole or only a few bytes of it. What it dumps after the
//! clock has stopped must be the oracle's answer. A contestant that writes its output only when it
//! expects a check does not know when that is.
//!
//! If the study says that contestants read their input only in `run`, another input then replaces
//! theirs, at the same addresses, and theirs is restored: each answer must be that of the current
//! input, and the work must be done again. The times are those of the thread on a CPU, and the
//! shortest counts, so that other load makes no contestant void.

use super::Workers;
use super::blame::{Frame, no_worker};
use super::difference;
use crate::honesty::Turn;
use crate::output::memory_file;
use crate::worker::area::Record;
use std::fs::File;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;

/// The first call on an input may take this many times as long as the next ones on the same, plus a
/// constant, before it shows that these do not do the work. Branches that a processor has learned
/// make it up to ten times as long.
const KEPT_TIMES: u64 = 20;
const KEPT_NS: u64 = 1000;

/// A batch on trial, and the file for its answer.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) turn: Turn,
    pub(super) dump: File,
}

impl Trial {
    /// Opens a file for the answer of a drawn turn.
    pub(super) fn of(turn: Turn) -> Result<Trial, UnitFailure> {
        let dump = memory_file().map_err(|error| no_worker(&error))?;
        Ok(Trial { turn, dump })
    }
}

impl Workers {
    /// Compares what a contestant on trial has dumped with the oracle's answer.
    pub(super) fn verdict_of(
        &mut self,
        trial: &Trial,
        record: &Record,
        input_seed: u64,
        frame: &Frame<'_>,
    ) -> Result<(), UnitFailure> {
        let contract = self.contract(trial.turn.contestant)?.to_owned();
        let workload = frame.workload.to_owned();
        let fault = |what| {
            Err(UnitFailure::Fault(trial.turn.contestant, Fault::Conduct { workload, what }))
        };
        let other = self.inputs.other_checksum(&contract)?;
        let calls = self.functions.calls_a_batch.of(trial.turn.contestant);
        if let Some(what) = exchanged(record, other, calls) {
            return fault(what);
        }
        let (_, answer) = self.inputs.answered(input_seed, &contract)?;
        let Some(answer) = answer else { return Ok(()) };
        let compared = difference::first(&answer.text, &trial.dump);
        let Some(found) = compared.map_err(|error| no_worker(&error))? else { return Ok(()) };
        let what = format!(
            "left another answer after a timed batch than its checksum says: item {} should be \
             '{}' and was '{}' (some of its output was overwritten before the batch)",
            found.item, found.expected, found.got
        );
        fault(what)
    }
}

/// Returns what is wrong with the answers of a contestant whose input was exchanged, or with the
/// time that they took; `None` if the input stayed.
fn exchanged(record: &Record, other: Option<u64>, calls: u64) -> Option<String> {
    let expected = other.filter(|_| record.exchanges > 0)?;
    let got = record.other_checksum;
    if got != expected {
        let what = if got == record.checksum {
            "answered for an input that was no longer there".to_owned()
        } else {
            format!("gave the checksum {got} instead of {expected}")
        };
        return Some(format!(
            "{what} when another input was put in the place of its own between two calls (where \
             'prepare' may read the input, study.toml says reads_input = \"prepare\")"
        ));
    }
    let a_call_ns = record.run_ns / calls.max(1);
    let (took_ns, most_ns) = (record.exchanged_ns, KEPT_TIMES * a_call_ns + KEPT_NS);
    (got != record.checksum && took_ns > most_ns).then(|| {
        let times = took_ns / a_call_ns.max(1);
        format!(
            "did its work once for all calls on one input: a call on an input that had just been \
             exchanged took {times} times as long as those of a timed batch"
        )
    })
}
