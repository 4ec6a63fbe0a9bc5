//! The wealth of a run's bets when it stopped, by which a series of runs is watched.

use crate::columns::{Bits, Float};
use crate::error::StoreError;
use crate::id::RunId;
use crate::store::Store;
use tiebreak_core::journal::{RunHeader, Wealth};

/// A run of a series, as it stopped.
#[derive(Clone, Debug)]
pub struct StoppedRun {
    /// The name of the run.
    pub id: RunId,
    /// The part that was written before its first round.
    pub header: RunHeader,
    /// The wealth after the last round that was evidence of each claim, one entry per claim.
    pub wealth: Vec<Wealth>,
}

impl Store {
    /// Returns all runs that can be read, the earliest first, with the final wealth of their bets.
    ///
    /// Cost: a fraction of a millisecond per run.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn stopped_runs(&self) -> Result<Vec<StoppedRun>, StoreError> {
        let ids = self.ids()?;
        let mut runs = Vec::with_capacity(ids.len());
        for id in ids {
            // An invalid header, from another version, must not end the watch.
            let Ok(header) = self.header(&id) else { continue };
            let wealth = self.asked(|| self.last_wealth(&id))?;
            runs.push(StoppedRun { id, header, wealth });
        }
        Ok(runs)
    }

    fn last_wealth(&self, run: &RunId) -> rusqlite::Result<Vec<Wealth>> {
        let sql = "SELECT claim, evidence_for, evidence_against FROM wealth AS w WHERE run = ?1 \
                   AND round = (SELECT max(round) FROM wealth WHERE run = ?1 AND claim = w.claim) \
                   ORDER BY claim";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([run.row], |row| {
            let Bits(claim) = row.get(0)?;
            let (Float(evidence_for), Float(evidence_against)) = (row.get(1)?, row.get(2)?);
            Ok(Wealth { claim: claim as usize, evidence_for, evidence_against })
        })?;
        rows.collect()
    }
}
