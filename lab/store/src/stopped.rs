//! What the bets of a run had won when it stopped: what a series of runs is watched by.

use crate::columns::{Bits, Float};
use crate::error::StoreError;
use crate::id::RunId;
use crate::store::Store;
use tiebreak_core::journal::{RunHeader, Wealth};

/// A run of a series, as it stopped.
#[derive(Clone, Debug)]
pub struct StoppedRun {
    /// Its name.
    pub id: RunId,
    /// What was written before its first round.
    pub header: RunHeader,
    /// One entry a claim that any round was evidence of, as it was after the last of them.
    pub wealth: Vec<Wealth>,
}

impl Store {
    /// All runs that can be read, the earliest first, with what their bets had won at last.
    ///
    /// Cost: a fraction of a millisecond a run.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn stopped_runs(&self) -> Result<Vec<StoppedRun>, StoreError> {
        let ids = self.ids()?;
        let mut runs = Vec::with_capacity(ids.len());
        for id in ids {
            // A header that another version wrote is no reason to watch nothing.
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
