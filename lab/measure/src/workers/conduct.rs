//! Judges side effects of contestants, and whether their times are possible.

use super::Workers;
use super::blame::Frame;
use crate::honesty::hidden_in_reset;
use crate::worker::area::Record;
use crate::worker::conduct::SENTENCES;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;

/// How much the memory of an honest process may grow in the later half of a unit's batches: an
/// allocator asks the system for some 128 KiB at a time, whichever contestant needs it.
pub(super) const GROWN_BYTES: u64 = 512 << 10;
/// The cost of an empty reset: two readings of the clock, and a system call or two.
const RESET_NS: u64 = 5000;

impl Workers {
    /// Checks what the contestants of a unit did to their process, and their resets.
    pub(super) fn judge_conduct(
        &mut self,
        order: &[usize],
        batches: &[Vec<Record>],
        input_bytes: u64,
        frame: &Frame<'_>,
    ) -> Result<(), UnitFailure> {
        let fault = |contestant: usize, what: String| {
            let workload = frame.workload.to_owned();
            Err(UnitFailure::Fault(contestant, Fault::Conduct { workload, what }))
        };
        let calls_a_batch = self.functions.calls_a_batch.clone();
        // In nanoseconds a call.
        let a_call = |contestant: &usize, records: &[Record], of: fn(&Record) -> u64| {
            let calls = calls_a_batch.of(*contestant).max(1);
            records.iter().map(of).sum::<u64>() / calls / records.len().max(1) as u64
        };
        batches.iter().flatten().for_each(|record| self.pace.take(record));
        let bytes = if self.functions.reads_whole { input_bytes } else { 0 };
        let reset_ns = |(contestant, records): (&usize, &Vec<Record>)| {
            a_call(contestant, records, |record| record.reset_ns)
        };
        let least_ns = order.iter().zip(batches).map(reset_ns).min().unwrap_or(0);
        for (contestant, records) in order.iter().zip(batches) {
            let conduct = records.iter().fold(0, |found, record| found | record.conduct);
            if let Some((_, what)) = SENTENCES.iter().find(|(bit, _)| conduct & bit != 0) {
                return fault(*contestant, (*what).to_owned());
            }
            let grown_bytes = leaked_bytes(records);
            let allocates = records.iter().any(|record| record.allocates != 0);
            if grown_bytes > 0 && !allocates {
                return fault(
                    *contestant,
                    format!(
                        "took {} KiB of memory in timed batches and kept it, although its table \
                         has no flag TIEBREAK_ALLOCATES",
                        grown_bytes >> 10
                    ),
                );
            }
            let steady = records.iter().filter(|record| record.is_backwards == 0);
            let fastest_ns = steady.map(|record| record.wall_ns).min().unwrap_or(0);
            let calls = calls_a_batch.of(*contestant);
            if let Some(what) = self.pace.refuses(fastest_ns, calls, bytes) {
                return fault(*contestant, what);
            }
            let reset_ns = reset_ns((contestant, records));
            let seen = self.untimed.entry(*contestant).or_default();
            seen.take(records.iter().map(|record| (record.prepare_ns, record.dump_ns)), reset_ns);
            let run_ns = a_call(contestant, records, |record| record.run_ns);
            if let Some(what) = hidden_in_reset([reset_ns, run_ns, least_ns], RESET_NS) {
                return fault(*contestant, what);
            }
        }
        Ok(())
    }
}

/// Returns how much memory grew in the later half of a contestant's batches, if it is more than
/// chance explains; 0 for a single batch, before which nothing may have been allocated yet.
pub(super) fn leaked_bytes(records: &[Record]) -> u64 {
    let later = if records.len() > 1 { &records[records.len() / 2..] } else { &[] };
    let grown_bytes = later.iter().map(|record| record.grown_bytes).sum();
    if grown_bytes > GROWN_BYTES { grown_bytes } else { 0 }
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
}
