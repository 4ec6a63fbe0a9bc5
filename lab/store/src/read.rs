//! Reading a whole journal back.

use crate::chain;
use crate::check;
use crate::columns::{Float, VerdictWord, number, sample_of, select_samples, wealth_of};
use crate::error::StoreError;
use crate::id::RunId;
use crate::store::Store;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use tiebreak_core::journal::{Event, Journal, Link, RecordedVerdict, Round, RunHeader};

use tiebreak_core::schedule::RoundCoins;

/// The reason why a run cannot be read: an error of SQLite, or rows that are not a journal.
enum Unreadable {
    Sqlite(rusqlite::Error),
    Wrong(String),
}

impl From<rusqlite::Error> for Unreadable {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(_) => Unreadable::Sqlite(error),
            None => Unreadable::Wrong(error.to_string()),
        }
    }
}

impl From<String> for Unreadable {
    fn from(what: String) -> Self {
        Unreadable::Wrong(what)
    }
}

type Read<T> = Result<T, Unreadable>;

impl Store {
    /// Reads the whole run as it stands. Everything comes from one moment, even while another
    /// process writes. Attempts that began and never finished are in `lost`.
    ///
    /// Cost: a few microseconds per round; about 200 bytes of memory per sample.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if the rows of the run are not a journal.
    pub fn journal(&self, run: &RunId) -> Result<Journal, StoreError> {
        self.read_journal(run).map_err(|unreadable| self.explain(run, unreadable))
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
        let read = header(&self.connection, run);
        let read = read.and_then(|header| Ok(check::plan(&header.plan).map(|()| header)?));
        read.map_err(|unreadable| self.explain(run, unreadable))
    }

    fn explain(&self, run: &RunId, unreadable: Unreadable) -> StoreError {
        match unreadable {
            Unreadable::Sqlite(error) => StoreError::from_sqlite(&self.path, error),
            Unreadable::Wrong(what) => {
                StoreError::BadRun { path: self.path.clone(), run: run.name.clone(), what }
            }
        }
    }

    fn read_journal(&self, run: &RunId) -> Read<Journal> {
        // Dropping the transaction ends it; nothing was written.
        let moment = self.connection.unchecked_transaction()?;
        let header: RunHeader = header(&moment, run)?;
        let mut coins = attempts(&moment, run)?;
        let rounds = rounds(&moment, run, &mut coins)?;
        let lost: Vec<RoundCoins> = coins.into_values().collect();
        let (events, verdicts) = (events(&moment, run)?, verdicts(&moment, run)?);
        let plan = &header.plan;
        check::plan(plan)?;
        lost.iter().try_for_each(|coins| check::coins(plan, coins))?;
        let mut numbered = rounds.iter().enumerate();
        numbered.try_for_each(|(number, round)| check::round(plan, number, round))?;
        events.iter().try_for_each(|event| check::event(plan, event))?;
        verdicts.iter().try_for_each(|verdict| check::verdict(plan, verdict))?;
        let chain = chain(&moment, run)?;
        Ok(Journal { id: run.name.clone(), header, rounds, lost, events, verdicts, chain })
    }
}

fn header(connection: &Connection, run: &RunId) -> Read<RunHeader> {
    let sql = "SELECT header FROM runs WHERE run = ?";
    let text: String = connection.query_row(sql, [run.row], |row| row.get("header"))?;
    parse("header", &text)
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Read<T> {
    serde_json::from_str(text).map_err(|error| Unreadable::Wrong(format!("its {name}: {error}")))
}

/// Reads a column of JSON text, whose errors call it `name`.
fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str, name: &str) -> Read<T> {
    parse(name, &row.get::<_, String>(column)?)
}

/// Reads a column of JSON text or `NULL`.
fn json_if_any<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Read<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| parse(column, &text)).transpose()
}

/// Returns all rows of the run, each converted to a value.
fn all<T>(
    connection: &Connection,
    run: &RunId,
    sql: &str,
    mut value: impl FnMut(&Row<'_>) -> Read<T>,
) -> Read<Vec<T>> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([run.row])?;
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        values.push(value(row)?);
    }
    Ok(values)
}

fn attempts(connection: &Connection, run: &RunId) -> Read<BTreeMap<(u64, u32), RoundCoins>> {
    let sql = "SELECT round, attempt, primer, contestants, padding_bytes, unit FROM attempts \
               WHERE run = ?";
    let coins = all(connection, run, sql, |row| {
        let coins = RoundCoins {
            round: number(row, "round")?,
            attempt: row.get("attempt")?,
            primer: number(row, "primer")? as usize,
            order: json(row, "contestants", "order")?,
            padding_bytes: json(row, "padding_bytes", "padding")?,
            unit: json_if_any(row, "unit")?,
        };
        Ok(((coins.round, coins.attempt), coins))
    })?;
    Ok(coins.into_iter().collect())
}

fn rounds(
    connection: &Connection,
    run: &RunId,
    coins: &mut BTreeMap<(u64, u32), RoundCoins>,
) -> Read<Vec<Round>> {
    let mut samples = by_round(connection, run, &select_samples(), sample_of)?;
    let sql = "SELECT round, claim, evidence_for, evidence_against FROM wealth \
               WHERE run = ? ORDER BY round, claim";
    let mut wealth = by_round(connection, run, sql, wealth_of)?;
    let sql = "SELECT round, attempt, waited_ns, elapsed_ns, batches FROM rounds \
               WHERE run = ? ORDER BY round";
    all(connection, run, sql, |row| {
        let (round, attempt) = (number(row, "round")?, row.get("attempt")?);
        let coins = coins.remove(&(round, attempt));
        Ok(Round {
            coins: coins.ok_or_else(|| format!("round {round} has no coins"))?,
            waited_ns: number(row, "waited_ns")?,
            elapsed_ns: number(row, "elapsed_ns")?,
            samples: samples.remove(&round).unwrap_or_default(),
            batches: json_if_any(row, "batches")?.unwrap_or_default(),
            wealth: wealth.remove(&round).unwrap_or_default(),
        })
    })
}

/// Returns the rows of the run in groups, by the column `round`.
fn by_round<T>(
    connection: &Connection,
    run: &RunId,
    sql: &str,
    value: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Read<BTreeMap<u64, Vec<T>>> {
    let mut groups: BTreeMap<u64, Vec<T>> = BTreeMap::new();
    all(connection, run, sql, |row| {
        groups.entry(number(row, "round")?).or_default().push(value(row)?);
        Ok(())
    })?;
    Ok(groups)
}

fn events(connection: &Connection, run: &RunId) -> Read<Vec<Event>> {
    let sql = "SELECT body FROM events WHERE run = ? ORDER BY sequence";
    all(connection, run, sql, |row| json(row, "body", "event"))
}

fn chain(connection: &Connection, run: &RunId) -> Read<Vec<Link>> {
    let sql = "SELECT kind, hash FROM chain WHERE run = ? ORDER BY link";
    all(connection, run, sql, |row| {
        let kind: i64 = row.get("kind")?;
        let of = chain::kind_of(kind).ok_or_else(|| format!("its chain has a link of kind {kind}"));
        Ok(Link { of: of?, hash: chain::hexadecimal(&row.get::<_, Vec<u8>>("hash")?) })
    })
}

fn verdicts(connection: &Connection, run: &RunId) -> Read<Vec<RecordedVerdict>> {
    let sql = "SELECT claim, verdict, rounds, low, high FROM verdicts \
               WHERE run = ? ORDER BY sequence";
    all(connection, run, sql, |row| {
        Ok(RecordedVerdict {
            claim: number(row, "claim")? as usize,
            verdict: row.get::<_, VerdictWord>("verdict")?.0,
            rounds: number(row, "rounds")?,
            low: row.get::<_, Option<Float>>("low")?.map(|Float(low)| low),
            high: row.get::<_, Option<Float>>("high")?.map(|Float(high)| high),
        })
    })
}
