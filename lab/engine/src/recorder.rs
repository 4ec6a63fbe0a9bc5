//! What the engine writes, so that a test can be killed between any two writes.

use crate::error::LabError;
use tiebreak_core::journal::{Event, RecordedVerdict, Round};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_store::{RunId, Store};

/// Appends to one run's journal; each call is one commit.
pub trait Recorder {
    /// The coins of an attempt, before it starts.
    ///
    /// # Errors
    /// The journal cannot be written.
    fn begin_attempt(&mut self, coins: &RoundCoins) -> Result<(), LabError>;

    /// A finished round with what it led to, whole or not at all.
    ///
    /// # Errors
    /// The journal cannot be written.
    fn finish_round(
        &mut self,
        round: &Round,
        events: &[Event],
        verdicts: &[RecordedVerdict],
    ) -> Result<(), LabError>;

    /// Something that happened beside a round.
    ///
    /// # Errors
    /// The journal cannot be written.
    fn event(&mut self, event: &Event) -> Result<(), LabError>;

    /// A verdict that no round settled.
    ///
    /// # Errors
    /// The journal cannot be written.
    fn verdict(&mut self, verdict: &RecordedVerdict) -> Result<(), LabError>;

    /// Has the disk take what was written, if the last time is long ago.
    ///
    /// # Errors
    /// The disk refuses.
    fn sync_if_due(&mut self, now_ns: u64) -> Result<(), LabError>;

    /// Has the disk take what was written.
    ///
    /// # Errors
    /// The disk refuses.
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
