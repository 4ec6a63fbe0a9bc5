//! The tables, and the conversion of an older file to a newer one.
//!
//! | table | a row is |
//! |---|---|
//! | `runs` | a run: its header as JSON, as in the first line of an export |
//! | `attempts` | the coins of an attempt at a round, written before it starts |
//! | `rounds` | the attempt that was finished, and the run's own time at its end |
//! | `samples` | the sample of the contestant at this position of the order; `NULL`: no meter |
//! | `loads` | of a server, what became of the messages of a sample's load |
//! | `wealth` | the wealth of the bets about a claim after the round |
//! | `events` | an event as JSON |
//! | `verdicts` | a verdict as it was reached |
//! | `prints` | a machine as it was measured, as JSON; headers of runs name theirs |
//! | `chain` | the kind of the next record of a run, and the hash of it and all before it |
//!
//! For a unit of functions, `unit` holds its other coins and `batches` the wall time of each timed
//! batch in nanoseconds, both as JSON. Otherwise, they are `NULL`.
//!
//! `outcome` is 0 for finished, 1 for timed out, 2 for unusable, 3 for failed. Integers above
//! `2^63 - 1` are stored as the negative number with the same bits. Floats are `REAL`, including
//! infinities. Only -0.0 and NaN, which SQLite would change, are blobs of their eight bytes, the
//! highest first.

use crate::error::{At, StoreError, shown};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// The mark of an SQLite file that is a store of tiebreak: `tieb`.
pub(crate) const APPLICATION_ID: i64 = 0x7469_6562;

/// The steps between versions. Step n makes a file of version n from one of version n - 1; version
/// 0 is an empty file. Released steps never change: a new version is a new step.
pub(crate) const STEPS: &[&str] =
    &[VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6];

const VERSION_1: &str = "
CREATE TABLE runs (
  run INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created_unix_ms INTEGER NOT NULL,
  claim_key TEXT NOT NULL, header TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_claim_key ON runs (claim_key);
CREATE TABLE attempts (
  run INTEGER NOT NULL REFERENCES runs, round INTEGER NOT NULL, attempt INTEGER NOT NULL,
  primer INTEGER NOT NULL, contestants TEXT NOT NULL, padding_bytes TEXT NOT NULL,
  PRIMARY KEY (run, round, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE rounds (
  run INTEGER NOT NULL, round INTEGER NOT NULL, attempt INTEGER NOT NULL,
  waited_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,
  PRIMARY KEY (run, round), FOREIGN KEY (run, round, attempt) REFERENCES attempts
) STRICT, WITHOUT ROWID;
CREATE TABLE samples (
  run INTEGER NOT NULL, round INTEGER NOT NULL, position INTEGER NOT NULL,
  contestant INTEGER NOT NULL, outcome INTEGER NOT NULL,
  wall_ns INTEGER NOT NULL, user_ns INTEGER NOT NULL, system_ns INTEGER NOT NULL,
  peak_memory_bytes INTEGER NOT NULL, minor_faults INTEGER NOT NULL,
  major_faults INTEGER NOT NULL, voluntary_switches INTEGER NOT NULL,
  involuntary_switches INTEGER NOT NULL, cycles INTEGER, instructions INTEGER,
  branch_misses INTEGER, cache_misses INTEGER, energy_nj INTEGER, foreign_cpu_ns INTEGER,
  steal_ns INTEGER, migrations INTEGER, throttled_ns INTEGER, marks INTEGER NOT NULL,
  PRIMARY KEY (run, round, position), FOREIGN KEY (run, round) REFERENCES rounds
) STRICT, WITHOUT ROWID;
CREATE TABLE wealth (
  run INTEGER NOT NULL, round INTEGER NOT NULL, claim INTEGER NOT NULL,
  evidence_for ANY NOT NULL, evidence_against ANY NOT NULL,
  PRIMARY KEY (run, round, claim), FOREIGN KEY (run, round) REFERENCES rounds
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  run INTEGER NOT NULL REFERENCES runs, sequence INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (run, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE verdicts (
  run INTEGER NOT NULL REFERENCES runs, sequence INTEGER NOT NULL, claim INTEGER NOT NULL,
  verdict TEXT NOT NULL, rounds INTEGER NOT NULL, low ANY, high ANY,
  PRIMARY KEY (run, sequence)
) STRICT, WITHOUT ROWID;
";

/// The scheduler's times of a run, and runs that failed where a claim counts them (outcome 3).
const VERSION_2: &str = "
ALTER TABLE samples ADD COLUMN run_ns INTEGER;
ALTER TABLE samples ADD COLUMN run_delay_ns INTEGER;
";

/// Units of functions: their other coins, and the wall times of their batches, as JSON.
const VERSION_3: &str = "
ALTER TABLE attempts ADD COLUMN unit TEXT;
ALTER TABLE rounds ADD COLUMN batches TEXT;
";

/// Prints of machines.
const VERSION_4: &str = "
CREATE TABLE prints (
  print INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, taken_unix_ms INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
";

/// The chain over each run that begins from here on. `kind` is 0 for the header, 1 for coins, 2 for
/// a round, 3 for an event, 4 for a verdict; `hash` has 32 bytes.
const VERSION_5: &str = "
CREATE TABLE chain (
  run INTEGER NOT NULL REFERENCES runs, link INTEGER NOT NULL,
  kind INTEGER NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (run, link)
) STRICT, WITHOUT ROWID;
";

/// Loads on servers: the seed of those of an attempt, and what became of the messages of each
/// sample as JSON, with the histograms of the latencies in the byte form of `tiebreak-load`.
const VERSION_6: &str = "
ALTER TABLE attempts ADD COLUMN load_seed INTEGER;
CREATE TABLE loads (
  run INTEGER NOT NULL, round INTEGER NOT NULL, position INTEGER NOT NULL,
  served TEXT NOT NULL, histogram BLOB NOT NULL,
  PRIMARY KEY (run, round, position), FOREIGN KEY (run, round, position) REFERENCES samples
) STRICT, WITHOUT ROWID;
";

/// Checks that the file is ours and not newer, and upgrades an older or empty one.
///
/// # Errors
/// Fails if the file belongs to another program, is newer, or cannot be read or written.
pub(crate) fn prepare(
    connection: &mut Connection,
    path: &Path,
    steps: &[&str],
) -> Result<(), StoreError> {
    let known = steps.len() as i64;

    // All reads are at one moment: another process may be creating the file right now.
    let moment = connection.unchecked_transaction().at(path)?;
    let found = version(&moment, path, known)?;
    drop(moment);
    if found == Some(known) {
        return Ok(());
    }
    if found.is_none() {
        // This is not possible inside a transaction.
        let wal = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        let _mode: String = wal.at(path)?;
    }
    let immediate = TransactionBehavior::Immediate;
    let transaction = connection.transaction_with_behavior(immediate).at(path)?;
    // Another process may have upgraded it meanwhile; under the write lock it no longer can.
    let version = version(&transaction, path, known)?.unwrap_or(0);
    for step in &steps[version as usize..] {
        transaction.execute_batch(step).at(path)?;
    }
    let sql = guards(&transaction).at(path)?
        + &format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {known};");
    transaction.execute_batch(&sql).at(path)?;
    transaction.commit().at(path)
}

/// Returns the version of the file, of which `known` is the newest; `None` if it is empty.
fn version(connection: &Connection, path: &Path, known: i64) -> Result<Option<i64>, StoreError> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).at(path);
    let found = number("PRAGMA user_version")?;
    match number("PRAGMA application_id")? {
        APPLICATION_ID if found > known => Err(StoreError::Newer(shown(path), found, known)),
        APPLICATION_ID if found > 0 => Ok(Some(found)),
        0 if found == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(None),
        _ => Err(StoreError::NotOurs(shown(path))),
    }
}

/// Returns triggers that refuse every change of a row, for every table that has none yet.
fn guards(connection: &Connection) -> rusqlite::Result<String> {
    let guards = "
        SELECT coalesce(group_concat(
            'CREATE TRIGGER IF NOT EXISTS ' || name || '_refuse_' || change || ' BEFORE '
            || change || ' ON ' || name
            || ' BEGIN SELECT RAISE(ABORT, ''the journal is append-only''); END;', ''), '')
        FROM sqlite_schema, (SELECT 'update' AS change UNION ALL SELECT 'delete')
        WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    connection.query_row(guards, [], |row| row.get(0))
}
