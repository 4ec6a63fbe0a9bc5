//! Judges side effects of contestants, and whether their times are possible.
//!
//! Detects times that no core can reach.
//!
//! The bounds are measured where the contestants run (`worker/batch.rs`): a call of an empty
//! function, in the same loop, and a load from each cache line of an input that every run has to
//! read, from the nearest cache. No call is shorter than the first. No core loads more bytes at
//! once than a cache line has, nor more lines in a cycle than the loop of independent loads. The
//! fastest measurement of the run counts, and a fourth of it is the bound: another thread on the
//! same core halves the measured speed, and the clock of the core may change.
//!
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

use super::{Workers, checking, contract};
use crate::honesty::{Turn, misconduct};
use crate::wire::area::Record;
use crate::wire::area::conduct::SENTENCES;
use std::fs::File;
use tiebreak_core::sampler::UnitFailure;

/// How much the memory of an honest process may grow in the later half of a unit's batches: an
/// allocator asks the system for some 128 KiB at a time, whichever contestant needs it.
const GROWN_BYTES: u64 = 512 << 10;
/// The cost of an empty reset: two readings of the clock, and a system call or two.
const RESET_NS: u64 = 5000;

impl Workers {
    /// Checks what the contestants of a unit did to their process, and their resets.
    pub(super) fn judge_conduct(
        &mut self,
        order: &[usize],
        batches: &[Vec<Record>],
        input_bytes: u64,
    ) -> Result<(), UnitFailure> {
        let calls_a_batch = &self.functions.calls_a_batch;
        batches.iter().flatten().for_each(|record| self.pace.take(record));
        let bytes = if self.functions.reads_whole { input_bytes } else { 0 };
        let resets_ns = order.iter().zip(batches).map(|(contestant, records)| {
            a_call(records, calls_a_batch.of(*contestant, order), |record| record.reset_ns)
        });
        let least_ns = resets_ns.min().unwrap_or(u64::MAX);
        for (contestant, records) in order.iter().zip(batches) {
            let calls = calls_a_batch.of(*contestant, order);
            let reset_ns = a_call(records, calls, |record| record.reset_ns);
            let run_ns = a_call(records, calls, |record| record.run_ns);
            let seen = self.untimed.entry(*contestant).or_default();
            seen.take(records.iter().map(|record| (record.prepare_ns, record.dump_ns)), reset_ns);
            let conduct = records.iter().fold(0, |found, record| found | record.conduct);
            let did = SENTENCES.iter().find(|(bit, _)| conduct & bit != 0);
            let resets = self.resets.entry(*contestant).or_default();
            let hidden = resets.of_resets([reset_ns, run_ns, least_ns], RESET_NS);
            let sum = |of: fn(&Record) -> u64| records.iter().map(of).sum::<u64>();
            let burnt_ns = sum(|record| record.burnt_ns);
            let others_ns = sum(|record| record.others_ns);
            let threads = self.threads.entry(*contestant).or_default();
            let burning = threads.of_threads(burnt_ns, others_ns);
            let what = did
                .map(|(_, what)| (*what).to_owned())
                .or_else(|| kept_memory(records))
                .or_else(|| self.pace.refuses(fastest_ns(records), calls, bytes))
                .or(hidden)
                .or(burning);
            if let Some(what) = what {
                return Err(misconduct(*contestant, &self.functions.workload.name, what));
            }
        }
        Ok(())
    }

    /// Compares what a contestant on trial, in a batch of this many calls, has dumped with the
    /// oracle's answer.
    pub(super) fn judge_trial(
        &mut self,
        turn: &Turn,
        calls: u64,
        dump: &File,
        record: &Record,
        input_seed: u64,
    ) -> Result<(), UnitFailure> {
        let contract = contract(&self.functions, turn.contestant)?;
        let other = self.inputs.other_checksum(contract)?;
        let bytes = self.inputs.of_unit(input_seed)?.0.bytes;
        let mut what = exchanged(record, other, calls, bytes);
        if what.is_none()
            && let (_, Some(answer)) = self.inputs.answered(input_seed, contract)?
        {
            what = checking::difference(&answer.text, dump)?.map(|found| {
                format!(
                    "left another answer after a timed batch than its checksum says: item {} \
                     should be '{}' and was '{}' (some of its output was overwritten before the \
                     batch)",
                    found.item, found.expected, found.got
                )
            });
        }
        let workload = &self.functions.workload.name;
        what.map_or(Ok(()), |what| Err(misconduct(turn.contestant, workload, what)))
    }
}

/// Returns what is wrong with a contestant that kept memory without saying that it allocates.
fn kept_memory(records: &[Record]) -> Option<String> {
    let grown_bytes = leaked_bytes(records);
    let allocates = records.iter().any(|record| record.allocates != 0);
    (grown_bytes > 0 && !allocates).then(|| {
        format!(
            "took {} KiB of memory in timed batches and kept it, although its table has no flag \
             TIEBREAK_ALLOCATES",
            grown_bytes >> 10
        )
    })
}

/// Returns the time of the fastest batch, of those in which the clock did not go backwards.
fn fastest_ns(records: &[Record]) -> u64 {
    let steady = records.iter().filter(|record| record.is_backwards == 0);
    steady.map(|record| record.wall_ns).min().unwrap_or(0)
}

/// Returns the nanoseconds a call in batches of this many calls.
fn a_call(records: &[Record], calls: u64, of: fn(&Record) -> u64) -> u64 {
    records.iter().map(of).sum::<u64>() / calls.max(1) / records.len().max(1) as u64
}

/// Returns how much memory grew in the later half of a contestant's batches, if it is more than
/// chance explains; 0 for a single batch, before which nothing may have been allocated yet.
pub(super) fn leaked_bytes(records: &[Record]) -> u64 {
    let later = if records.len() > 1 { &records[records.len() / 2..] } else { &[] };
    let grown_bytes = later.iter().map(|record| record.grown_bytes).sum();
    if grown_bytes > GROWN_BYTES { grown_bytes } else { 0 }
}

/// How many times as fast as the measurement a contestant may be.
const TIMES: u64 = 4;
const LINE_BYTES: u64 = 64;

/// The fastest measurements of a run so far, in picoseconds; `None` before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    empty_call_ps: Option<u64>,
    line_ps: Option<u64>,
}

impl Pace {
    /// Takes the measurement after a batch, if there is one.
    pub(super) fn take(&mut self, record: &Record) {
        for (fastest, ps) in
            [(&mut self.empty_call_ps, record.empty_call_ps), (&mut self.line_ps, record.line_ps)]
        {
            if ps != 0 {
                *fastest = Some(fastest.map_or(ps, |so_far| so_far.min(ps)));
            }
        }
    }

    /// Returns what is wrong with a batch of this many calls with this duration, each of which has
    /// to read this many bytes; `None` if a core can do that.
    pub(super) fn refuses(&self, wall_ns: u64, calls: u64, bytes: u64) -> Option<String> {
        let call_ps = wall_ns.saturating_mul(1000) / calls.max(1);
        // A clock that did not move says nothing.
        let is_below = |least_ps: &u64| wall_ns > 0 && call_ps < least_ps / TIMES;
        if let Some(empty_ps) = self.empty_call_ps.filter(is_below) {
            return Some(format!(
                "took {:.2} ns for a call, and a call of a function that does nothing takes this \
                 CPU {:.2} ns: its calls were not made, or not timed",
                call_ps as f64 / 1000.0,
                empty_ps as f64 / 1000.0
            ));
        }
        let whole_ps = self.line_ps.map(|line_ps| line_ps * (bytes / LINE_BYTES));
        whole_ps.filter(is_below).map(|whole_ps| {
            format!(
                "took {:.1} ns for a call that has to read {bytes} bytes, and one load from each \
                 of their cache lines alone takes this CPU {:.1} ns, from its nearest cache: it \
                 did not read them",
                call_ps as f64 / 1000.0,
                whole_ps as f64 / 1000.0
            )
        })
    }
}

/// The first call on an input may take this many times as long as the next ones on the same, plus a
/// constant, before it shows that these do not do the work. Branches that a processor has learned
/// make it up to ten times as long. It also has to fetch an input that no cache has: a busy machine
/// was seen to take 0.3 ns for a byte.
const KEPT_TIMES: u64 = 20;
const KEPT_NS: u64 = 1000;
const FETCHED_BYTES_PER_NS: u64 = 1;

/// Returns what is wrong with the answers of a contestant whose input was exchanged, or with the
/// time that they took; `None` if the input stayed.
fn exchanged(record: &Record, other: Option<u64>, calls: u64, bytes: u64) -> Option<String> {
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
    let fetch_ns = bytes / FETCHED_BYTES_PER_NS;
    let (took_ns, most_ns) = (record.exchanged_ns, KEPT_TIMES * a_call_ns + KEPT_NS + fetch_ns);
    (got != record.checksum && took_ns > most_ns).then(|| {
        let times = took_ns / a_call_ns.max(1);
        format!(
            "did its work once for all calls on one input: a call on an input that had just been \
             exchanged took {times} times as long as those of a timed batch"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_still_taken_late_is_a_leak() {
        let check = |grown: &[u64], expected: u64| {
            let record =
                |grown_bytes: &u64| Record { grown_bytes: *grown_bytes, ..Record::default() };
            let records: Vec<Record> = grown.iter().map(record).collect();
            assert_eq!(leaked_bytes(&records), expected, "{grown:?}");
        };
        check(&[], 0);
        check(&[1 << 30], 0);
        check(&[1 << 30, 0], 0);
        check(&[0, GROWN_BYTES], 0);
        check(&[0, 0, GROWN_BYTES, 1], GROWN_BYTES + 1);
        check(&[1 << 30, 1 << 30], 1 << 30);
    }

    #[test]
    fn a_first_call_may_fetch_its_input_but_not_do_the_work_of_all() {
        let check = |exchanged_ns: u64, bytes: u64, is_fault: bool| {
            let of_other = Record { exchanges: 3, other_checksum: 7, ..Record::default() };
            let record = Record { exchanged_ns, run_ns: 140 * 100, ..of_other };
            assert_eq!(exchanged(&record, Some(7), 100, bytes).is_some(), is_fault);
        };
        // 20 times 140 ns, and 1000.
        check(3800, 0, false);
        check(3801, 0, true);
        check(5500, 16384, false);
        check(20_185, 16384, true);
    }

    #[test]
    fn what_no_core_can_do_is_refused() {
        let mut pace = Pace::default();
        assert_eq!(pace.refuses(1, 1000, 1 << 20), None, "nothing was measured");
        for (empty_call_ps, line_ps) in [(0, 0), (1600, 0), (1200, 400), (3000, 200)] {
            pace.take(&Record { empty_call_ps, line_ps, ..Record::default() });
        }
        assert_eq!(pace, Pace { empty_call_ps: Some(1200), line_ps: Some(200) });
        let check = |wall_ns, calls, bytes, contains: Option<&str>| {
            let said = pace.refuses(wall_ns, calls, bytes);
            assert_eq!(said.is_some(), contains.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().contains(contains.unwrap_or_default()));
        };
        check(300, 1000, 0, None);
        check(299, 1000, 0, Some("0.30 ns for a call, and a call of a function"));
        check(0, 1000, 1 << 20, None);
        // 100 lines of 0.2 ns.
        check(5000, 1000, 6400, None);
        check(4999, 1000, 6400, Some("has to read 6400 bytes"));
        check(4999, 1000, 63, None);
    }
}
