//! Prints of machines: the state of a machine when it was measured.

use crate::columns::Bits;
use crate::error::StoreError;
use crate::find::{Choice, choose};
use crate::id;
use crate::store::Store;
use rusqlite::{Row, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use tiebreak_core::fingerprint::Fingerprint;

/// The word for the latest print.
const LATEST: &str = "latest";

/// The name of a print of a store: `m`, digits, and a check digit, made as the names of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintId {
    name: String,
    row: i64,
}

impl PrintId {
    /// Returns the name, for `tiebreak machine show NAME`.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for PrintId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// A print in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintSummary {
    /// The name of the print.
    pub id: PrintId,
    /// The time at which it was taken, in milliseconds since 1970-01-01 UTC.
    pub taken_unix_ms: u64,
    /// The duration of all probes in nanoseconds.
    pub took_ns: u64,
    /// Whether each probe was short.
    pub is_quick: bool,
    /// The facts that the machine reported.
    pub machine: Fingerprint,
}

/// The parts of a print that a list shows: they can be read even where the rest cannot, since the
/// form of the results may change.
#[derive(Deserialize)]
struct PrintPart {
    #[serde(default)]
    taken_unix_ms: u64,
    took_ns: u64,
    is_quick: bool,
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
    /// Writes a print and gives it its name. The store does not interpret its contents, but a list
    /// shows its `taken_unix_ms`, `took_ns`, `is_quick` and `machine`.
    ///
    /// # Errors
    /// Fails if the file cannot be written, or if the print could not be read back: it lacks one of
    /// these fields, or holds a number that is not finite, which JSON does not have.
    pub fn keep_print<P: Serialize + DeserializeOwned>(
        &mut self,
        print: &P,
    ) -> Result<PrintId, StoreError> {
        let json = self.json(print)?;
        let part = serde_json::from_str::<P>(&json).and_then(|_| serde_json::from_str(&json));
        let part: PrintPart = part.map_err(|error| {
            let what = format!("a print that JSON cannot hold ({error})");
            StoreError::Refused { path: self.path.clone(), what }
        })?;
        self.write(|transaction| {
            let last = "SELECT coalesce(max(print), 0) FROM prints";
            let row = 1 + transaction.query_row(last, [], |row| row.get::<_, i64>(0))?;
            let mut salts = id::salt(&json)..;
            let name = loop {
                let name = id::name_of('m', row, salts.next().unwrap_or_default());
                let taken = "SELECT EXISTS (SELECT 1 FROM prints WHERE id = ?)";
                if !transaction.query_row(taken, [&name], |row| row.get(0))? {
                    break name;
                }
            };
            transaction.execute(
                "INSERT INTO prints (print, id, taken_unix_ms, body) VALUES (?, ?, ?, ?)",
                params![row, name, Bits(part.taken_unix_ms), json],
            )?;
            Ok(PrintId { name, row })
        })
    }

    /// Finds the print that a name means: `latest`, a name, or a unique prefix of one.
    ///
    /// # Errors
    /// Fails if no print or several prints have such a name, or if the file cannot be read.
    pub fn find_print(&self, asked: &str) -> Result<PrintId, StoreError> {
        let mut ids = self.rows("SELECT print, id FROM prints ORDER BY print DESC", id_of)?;
        let path = || self.path.clone();
        if ids.is_empty() {
            return Err(StoreError::NoPrints { path: path() });
        }
        if asked == LATEST {
            return Ok(ids.swap_remove(0));
        }
        let names: Vec<&str> = ids.iter().map(PrintId::as_str).collect();
        let asked = asked.to_owned();
        match choose(&asked, &names) {
            Choice::One(index) => Ok(ids.swap_remove(index)),
            Choice::Several(matches) => Err(StoreError::AmbiguousPrint { asked, matches }),
            Choice::None { near } => Err(StoreError::UnknownPrint { path: path(), asked, near }),
        }
    }

    /// Reads a whole print.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if this version does not know the print's form.
    pub fn print<P: DeserializeOwned>(&self, id: &PrintId) -> Result<P, StoreError> {
        let sql = "SELECT body FROM prints WHERE print = ?";
        let body: String =
            self.asked(|| self.connection.query_row(sql, [id.row], |row| row.get(0)))?;
        serde_json::from_str(&body).map_err(|error| StoreError::BadPrint {
            path: self.path.clone(),
            print: id.name.clone(),
            what: error.to_string(),
        })
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
        let measured = |row: &Row<'_>| -> rusqlite::Result<Option<usize>> {
            let body = row.get_ref(2)?.as_str()?;
            let part = serde_json::from_str::<PrintPart>(body).ok();
            let fitting = part.filter(|part| part.machine.differences(machine).is_empty());
            Ok(fitting.map(|part| part.measured()))
        };
        self.asked(|| {
            let sql = "SELECT print, id, body FROM prints ORDER BY print DESC";
            let mut statement = self.connection.prepare(sql)?;
            let mut latest_first = statement.query([])?;
            let mut fitting: Vec<(usize, PrintId)> = Vec::new();
            while let Some(row) = latest_first.next()?.filter(|_| fitting.len() < LOOKED_AT) {
                if let Some(count) = measured(row)? {
                    fitting.push((count, id_of(row)?));
                }
            }
            // Among equals, `max_by_key` returns the last.
            Ok(fitting.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, id)| id))
        })
    }

    /// Returns all prints, the latest first, without those that cannot be read.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn prints(&self) -> Result<Vec<PrintSummary>, StoreError> {
        let sql = "SELECT print, id, taken_unix_ms, body FROM prints ORDER BY print DESC";
        let rows = self.rows(sql, |row| {
            let Bits(taken_unix_ms) = row.get(2)?;
            Ok((id_of(row)?, taken_unix_ms, row.get::<_, String>(3)?))
        })?;
        let summary = |(id, taken_unix_ms, body): (PrintId, u64, String)| {
            let PrintPart { took_ns, is_quick, machine, .. } = serde_json::from_str(&body).ok()?;
            Some(PrintSummary { id, taken_unix_ms, took_ns, is_quick, machine })
        };
        Ok(rows.into_iter().filter_map(summary).collect())
    }

    fn rows<T>(
        &self,
        sql: &str,
        value: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.asked(|| self.connection.prepare(sql)?.query_map([], value)?.collect())
    }
}

/// Reads the name of the print in a row that begins with its number and its name.
fn id_of(row: &Row<'_>) -> rusqlite::Result<PrintId> {
    Ok(PrintId { row: row.get(0)?, name: row.get(1)? })
}

#[cfg(test)]
mod tests;
