//! What the engine writes into the journal of a run.

use crate::error::Result;
use tiebreak_core::journal::{Event, RecordedVerdict, Round};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_store::{RunId, Store};

/// Appends to the journal of one run; each call is one commit.
pub struct Recorder<'a> {
    /// The store.
    pub store: &'a mut Store,
    /// The run.
    pub run: RunId,
    /// Is called before each commit, so that a test can end the process between any two.
    pub before_commit: &'a dyn Fn(),
}

/// The value of [`Recorder::before_commit`] outside of tests: does nothing.
pub const NOTHING: &dyn Fn() = &|| {};

impl Recorder<'_> {
    /// Writes the coins of an attempt, before it starts.
    pub(crate) fn begin_attempt(&mut self, coins: &RoundCoins) -> Result<()> {
        (self.before_commit)();
        Ok(self.store.begin_attempt(&self.run, coins)?)
    }

    /// Writes a finished round with its consequences.
    pub(crate) fn finish_round(
        &mut self,
        round: &Round,
        events: &[Event],
        verdicts: &[RecordedVerdict],
    ) -> Result<()> {
        (self.before_commit)();
        Ok(self.store.finish_round(&self.run, round, events, verdicts)?)
    }

    /// Writes an event outside of a round.
    pub(crate) fn event(&mut self, event: &Event) -> Result<()> {
        (self.before_commit)();
        Ok(self.store.event(&self.run, event)?)
    }

    /// Writes a verdict that no round settled.
    pub(crate) fn verdict(&mut self, verdict: &RecordedVerdict) -> Result<()> {
        (self.before_commit)();
        Ok(self.store.verdict(&self.run, verdict)?)
    }
}
