//! Reading a whole journal back.

use crate::chain;
use crate::check;
use crate::columns::{
    self, Bits, Float, VerdictWord, number, sample_of, select_samples, wealth_of,
};
use crate::error::StoreError;
use crate::id::RunId;
use crate::store::Store;
use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use tiebreak_core::journal::{Event, Journal, Link, RecordedVerdict, Round, RunHeader};
use tiebreak_core::schedule::RoundCoins;

/// Returns the error about rows that are not a journal.
fn wrong(what: String) -> rusqlite::Error {
    FromSqlError::Other(what.into()).into()
}

impl Store {
    /// Reads the whole run as it stands. Everything comes from one moment, even while another
    /// process writes. Attempts that began and never finished are in `lost`.
    ///
    /// Cost: a few microseconds per round; about 200 bytes of memory per sample.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if the rows of the run are not a journal.
    pub fn journal(&self, run: &RunId) -> Result<Journal, StoreError> {
        self.explained(run, self.read_journal(run))
    }

    /// Returns the head of a run's chain, which stands for all its records. Returns `None` if the
    /// run began before chains existed.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn chain_head(&self, run: &RunId) -> Result<Option<String>, StoreError> {
        self.asked(|| chain::head(&self.connection, run))
    }

    /// Reads only a run's header. The cost does not depend on the length of the run.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if the header is invalid.
    pub fn header(&self, run: &RunId) -> Result<RunHeader, StoreError> {
        let header = Rows { connection: &self.connection, run }.header().and_then(|header| {
            check::plan(&header.plan).map_err(wrong)?;
            Ok(header)
        });
        self.explained(run, header)
    }

    /// Names the run in an error that is not SQLite's: its rows are not a journal.
    fn explained<T>(&self, run: &RunId, read: rusqlite::Result<T>) -> Result<T, StoreError> {
        read.map_err(|error| match error.sqlite_error_code() {
            Some(_) => StoreError::from_sqlite(&self.path, error),
            None => self.unreadable(run, error.to_string()),
        })
    }

    fn read_journal(&self, run: &RunId) -> rusqlite::Result<Journal> {
        // Dropping the transaction ends it; nothing was written.
        let moment = self.connection.unchecked_transaction()?;
        let rows = Rows { connection: &moment, run };
        let mut coins = rows.attempts()?;
        let journal = Journal {
            id: run.name.clone(),
            header: rows.header()?,
            rounds: rows.rounds(&mut coins)?,
            lost: coins.into_values().collect(),
            events: rows.events()?,
            verdicts: rows.verdicts()?,
            chain: rows.chain()?,
        };
        check::journal(&journal).map_err(wrong)?;
        Ok(journal)
    }
}

/// Reads a column of JSON text, whose errors call it `name`.
fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str, name: &str) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| wrong(format!("its {name}: {error}")))
}

/// Reads a column of JSON text or `NULL`.
fn json_if_any<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    let is_there = row.get_ref(column)? != ValueRef::Null;
    is_there.then(|| json(row, column, column)).transpose()
}

/// The rows of a run, at one moment.
struct Rows<'a> {
    connection: &'a Connection,
    run: &'a RunId,
}

impl Rows<'_> {
    fn header(&self) -> rusqlite::Result<RunHeader> {
        let sql = "SELECT header FROM runs WHERE run = ?";
        self.connection.query_row(sql, [self.run.row], |row| json(row, "header", "header"))
    }

    /// Returns all rows of the run, each converted to a value.
    fn all<T>(
        &self,
        sql: &str,
        value: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare(sql)?.query_map([self.run.row], value)?.collect()
    }

    fn attempts(&self) -> rusqlite::Result<BTreeMap<(u64, u32), RoundCoins>> {
        let sql = "SELECT round, attempt, primer, contestants, padding_bytes, unit, load_seed \
                   FROM attempts WHERE run = ?";
        let coins = self.all(sql, |row| {
            let coins = RoundCoins {
                round: number(row, "round")?,
                attempt: row.get("attempt")?,
                primer: columns::primer_of(row.get("primer")?),
                order: json(row, "contestants", "order")?,
                padding_bytes: json(row, "padding_bytes", "padding")?,
                unit: json_if_any(row, "unit")?,
                load_seed: row.get::<_, Option<Bits>>("load_seed")?.map(|Bits(seed)| seed),
            };
            Ok(((coins.round, coins.attempt), coins))
        })?;
        Ok(coins.into_iter().collect())
    }

    fn rounds(&self, coins: &mut BTreeMap<(u64, u32), RoundCoins>) -> rusqlite::Result<Vec<Round>> {
        let mut samples = self.by_round(&select_samples(), sample_of)?;
        let sql = "SELECT round, claim, evidence_for, evidence_against FROM wealth \
                   WHERE run = ? ORDER BY round, claim";
        let mut wealth = self.by_round(sql, wealth_of)?;
        let sql = "SELECT round, position, served, histogram FROM loads \
                   WHERE run = ? ORDER BY round, position";
        let mut loads = self.by_round(sql, |row| {
            let position = number(row, "position")? as usize;
            let histogram = row.get_ref("histogram")?.as_blob()?.to_vec();
            Ok((position, json(row, "served", "load")?, histogram))
        })?;
        let sql = "SELECT round, attempt, waited_ns, elapsed_ns, batches FROM rounds \
                   WHERE run = ? ORDER BY round";
        self.all(sql, |row| {
            let (round, attempt) = (number(row, "round")?, row.get("attempt")?);
            let coins = coins.remove(&(round, attempt));
            let mut samples = samples.remove(&round).unwrap_or_default();
            let mut histograms = Vec::new();
            for (position, served, histogram) in loads.remove(&round).unwrap_or_default() {
                let sample = samples.get_mut(position);
                let sample =
                    sample.ok_or_else(|| wrong(format!("a load of no sample: {round}")))?;
                sample.served = Some(served);
                histograms.resize(samples.len(), Vec::new());
                histograms[position] = histogram;
            }
            if histograms.iter().all(Vec::is_empty) {
                histograms.clear();
            }
            Ok(Round {
                coins: coins.ok_or_else(|| wrong(format!("round {round} has no coins")))?,
                waited_ns: number(row, "waited_ns")?,
                elapsed_ns: number(row, "elapsed_ns")?,
                samples,
                batches: json_if_any(row, "batches")?.unwrap_or_default(),
                histograms,
                wealth: wealth.remove(&round).unwrap_or_default(),
            })
        })
    }

    /// Returns the rows of the run in groups, by the column `round`.
    fn by_round<T>(
        &self,
        sql: &str,
        value: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<BTreeMap<u64, Vec<T>>> {
        let mut groups: BTreeMap<u64, Vec<T>> = BTreeMap::new();
        self.all(sql, |row| {
            groups.entry(number(row, "round")?).or_default().push(value(row)?);
            Ok(())
        })?;
        Ok(groups)
    }

    fn events(&self) -> rusqlite::Result<Vec<Event>> {
        let sql = "SELECT body FROM events WHERE run = ? ORDER BY sequence";
        self.all(sql, |row| json(row, "body", "event"))
    }

    fn chain(&self) -> rusqlite::Result<Vec<Link>> {
        let sql = "SELECT kind, hash FROM chain WHERE run = ? ORDER BY link";
        self.all(sql, |row| {
            let kind: i64 = row.get("kind")?;
            let of = chain::kind_of(kind);
            let of = of.ok_or_else(|| wrong(format!("its chain has a link of kind {kind}")))?;
            Ok(Link { of, hash: chain::hexadecimal(row.get_ref("hash")?.as_blob()?) })
        })
    }

    fn verdicts(&self) -> rusqlite::Result<Vec<RecordedVerdict>> {
        let sql = "SELECT claim, verdict, rounds, low, high FROM verdicts \
                   WHERE run = ? ORDER BY sequence";
        self.all(sql, |row| {
            Ok(RecordedVerdict {
                claim: number(row, "claim")? as usize,
                verdict: row.get::<_, VerdictWord>("verdict")?.0,
                rounds: number(row, "rounds")?,
                low: row.get::<_, Option<Float>>("low")?.map(|Float(low)| low),
                high: row.get::<_, Option<Float>>("high")?.map(|Float(high)| high),
            })
        })
    }
}
