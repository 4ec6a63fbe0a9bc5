//! Prints of machines: the state of a machine when it was measured.

use crate::columns::{Bits, insert, json};
use crate::error::{StoreError, shown};
use crate::id::PrintId;
use crate::store::Store;
use rusqlite::params;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use tiebreak_core::fingerprint::Fingerprint;

/// The parts of a print by which it is found: they can be read even where the rest cannot, since
/// the form of the results may change.
#[derive(Deserialize)]
struct PrintPart {
    #[serde(default)]
    taken_unix_ms: u64,
    machine: Fingerprint,
    /// The result of each probe, with its state.
    #[serde(flatten)]
    found: BTreeMap<String, Value>,
}

impl PrintPart {
    /// Counts the probes that measured what they should.
    fn measured(&self) -> usize {
        self.found.values().filter(|found| found["state"] == "measured").count()
    }
}

/// The number of prints of a machine that are searched for the most complete one.
const LOOKED_AT: usize = 8;

impl Store {
    /// Writes a print and gives it its name. Of its contents, the store knows `taken_unix_ms` and
    /// `machine`, and the `state` of each probe.
    ///
    /// # Errors
    /// Fails if the file cannot be written, or if the print could not be read back: it has no
    /// machine, or holds a number that is not finite, which JSON does not have.
    pub fn keep_print<P: Serialize + DeserializeOwned>(
        &mut self,
        print: &P,
    ) -> Result<PrintId, StoreError> {
        let json = self.asked(|| json(print))?;
        let part = serde_json::from_str::<P>(&json).and_then(|_| serde_json::from_str(&json));
        let part: PrintPart = part.map_err(|error| {
            let what = format!("a print that JSON cannot hold ({error})");
            StoreError::Refused(shown(&self.path), what)
        })?;
        self.write(|transaction| {
            let id = PrintId::next(transaction, &json)?;
            let sql = "INSERT INTO prints (print, id, taken_unix_ms, body) VALUES (?, ?, ?, ?)";
            insert(transaction, sql, params![id.row, id.name, Bits(part.taken_unix_ms), json])?;
            Ok(id)
        })
    }

    /// Reads a whole print.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if this version does not know the print's form.
    pub fn print<P: DeserializeOwned>(&self, id: &PrintId) -> Result<P, StoreError> {
        let sql = "SELECT body FROM prints WHERE print = ?";
        let body: String =
            self.asked(|| self.connection.query_row(sql, [id.row], |row| row.get("body")))?;
        serde_json::from_str(&body).map_err(|error| self.unreadable(id, error.to_string()))
    }

    /// Returns the most complete print of a machine. Among the latest eight whose facts equal
    /// these, without state (`now_`), it is the print in which most probes were measured, and of
    /// equals the latest. Returns `None` if this machine, as it is, has not been measured.
    ///
    /// Cost: tens of microseconds per print, until eight fit.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn latest_print(&self, machine: &Fingerprint) -> Result<Option<PrintId>, StoreError> {
        let sql = "SELECT print AS row, id, body FROM prints ORDER BY print DESC";
        self.asked(|| {
            let mut statement = self.connection.prepare(sql)?;
            let mut latest_first = statement.query([])?;
            let mut fitting: Vec<(usize, PrintId)> = Vec::new();
            while let Some(row) = latest_first.next()?.filter(|_| fitting.len() < LOOKED_AT) {
                let part = serde_json::from_str::<PrintPart>(row.get_ref("body")?.as_str()?);
                if let Ok(part) = part
                    && part.machine.differences(machine).is_empty()
                {
                    fitting.push((part.measured(), PrintId::read(row)?));
                }
            }
            // Among equals, `max_by_key` returns the last.
            Ok(fitting.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, id)| id))
        })
    }

    /// Returns all prints, the latest first, without those that cannot be read as this type, which
    /// may have a part of the fields of a print.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn prints<P: DeserializeOwned>(&self) -> Result<Vec<(PrintId, P)>, StoreError> {
        let sql = "SELECT print AS row, id, body FROM prints ORDER BY print DESC";
        let prints = self.rows(sql, [], |row| {
            let part = serde_json::from_str(row.get_ref("body")?.as_str()?);
            Ok(part.ok().zip(Some(PrintId::read(row)?)))
        })?;
        Ok(prints.into_iter().flatten().map(|(part, id)| (id, part)).collect())
    }
}

#[cfg(test)]
mod tests;
