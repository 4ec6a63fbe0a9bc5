//! Replaces the input of a contestant by another one, between two calls.

use super::area::Record;
use super::memory::Mapping;
use super::state::Prepared;
use std::io;
use std::os::fd::OwnedFd;
use tiebreak_machine::clock;

/// How often the other input is used, unless calls take longer than `LONG_NS`: the shortest of this
/// many calls was not interrupted.
const EXCHANGES: u64 = 3;
const LONG_NS: u64 = 1_000_000;

/// The two inputs.
pub(super) struct Exchange {
    own: OwnedFd,
    other: OwnedFd,
    bytes: usize,
}

impl Exchange {
    /// Creates the exchange for two files of this many bytes.
    ///
    /// # Errors
    /// Fails if there are no further descriptors.
    pub(super) fn new(own: &OwnedFd, other: &OwnedFd, bytes: usize) -> io::Result<Exchange> {
        Ok(Exchange { own: own.try_clone()?, other: other.try_clone()?, bytes })
    }

    /// Calls a contestant once after each change of its input: to the other one, then back to its
    /// own. Writes the results to the record, which is torn if the answer for its own input differs
    /// from the earlier one.
    ///
    /// # Errors
    /// Fails if an input cannot be mapped.
    pub(super) fn run(
        &self,
        prepared: &Prepared,
        input: &Mapping,
        record: &mut Record,
    ) -> io::Result<()> {
        record.exchanged_ns = u64::MAX;
        while record.exchanges < EXCHANGES {
            input.exchange(&self.other, self.bytes)?;
            let checksum = self.timed(prepared, record);
            input.exchange(&self.own, self.bytes)?;
            let again = self.timed(prepared, record);
            if record.exchanges == 0 {
                record.other_checksum = checksum;
            }
            let differs = again != record.checksum || checksum != record.other_checksum;
            record.is_torn |= u64::from(differs);
            record.exchanges += 1;
            if record.exchanged_ns > LONG_NS {
                break;
            }
        }
        Ok(())
    }

    fn timed(&self, prepared: &Prepared, record: &mut Record) -> u64 {
        prepared.reset();
        let begun_ns = clock::thread_cpu_ns();
        let checksum = prepared.run();
        let took_ns = clock::thread_cpu_ns().saturating_sub(begun_ns);
        record.exchanged_ns = record.exchanged_ns.min(took_ns);
        checksum
    }
}
