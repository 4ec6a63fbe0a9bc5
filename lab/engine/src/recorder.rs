//! What the engine writes, as a trait, so that a test can stop it between any two writes.

use crate::error::LabError;
use tiebreak_core::journal::{Event, RecordedVerdict, Round};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_store::{RunId, Store};

/// Appends to one run's journal; each call is one commit.
pub trait Recorder {
    /// Writes the coins of an attempt, before it starts.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    fn begin_attempt(&mut self, coins: &RoundCoins) -> Result<(), LabError>;

    /// Writes a finished round with its consequences, in one commit.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    fn finish_round(
        &mut self,
        round: &Round,
        events: &[Event],
        verdicts: &[RecordedVerdict],
    ) -> Result<(), LabError>;

    /// Writes an event outside of a round.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    fn event(&mut self, event: &Event) -> Result<(), LabError>;

    /// Writes a verdict that no round settled.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    fn verdict(&mut self, verdict: &RecordedVerdict) -> Result<(), LabError>;

    /// Flushes what was written to the disk, if the last time is long ago.
    ///
    /// # Errors
    /// Fails if the disk refuses.
    fn sync_if_due(&mut self, now_ns: u64) -> Result<(), LabError>;

    /// Flushes what was written to the disk.
    ///
    /// # Errors
    /// Fails if the disk refuses.
    fn sync(&mut self) -> Result<(), LabError>;
}

/// A run in a store.
pub struct StoredRun<'a> {
    /// The store.
    pub store: &'a mut Store,
    /// The run.
    pub run: RunId,
}

impl Recorder for StoredRun<'_> {
    fn begin_attempt(&mut self, coins: &RoundCoins) -> Result<(), LabError> {
        Ok(self.store.begin_attempt(&self.run, coins)?)
    }

    fn finish_round(
        &mut self,
        round: &Round,
        events: &[Event],
        verdicts: &[RecordedVerdict],
    ) -> Result<(), LabError> {
        Ok(self.store.finish_round(&self.run, round, events, verdicts)?)
    }

    fn event(&mut self, event: &Event) -> Result<(), LabError> {
        Ok(self.store.event(&self.run, event)?)
    }

    fn verdict(&mut self, verdict: &RecordedVerdict) -> Result<(), LabError> {
        Ok(self.store.verdict(&self.run, verdict)?)
    }

    fn sync_if_due(&mut self, now_ns: u64) -> Result<(), LabError> {
        self.store.sync_if_due(now_ns)?;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), LabError> {
        Ok(self.store.sync()?)
    }
}
