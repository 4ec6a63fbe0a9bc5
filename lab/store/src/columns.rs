//! The conversion of the nouns to columns and back.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Error, Params, Result, Row, Transaction};
use serde::Serialize;
use tiebreak_core::journal::Wealth;
use tiebreak_core::sample::{Marks, Outcome, Sample};
use tiebreak_core::verdict::Verdict;

/// An unsigned number whose bits are stored as SQLite's signed number.
#[derive(Clone, Copy)]
pub(crate) struct Bits(pub(crate) u64);

impl ToSql for Bits {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(Value::Integer(self.0 as i64)))
    }
}

impl FromSql for Bits {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Bits(value.as_i64()? as u64))
    }
}

impl Bits {
    pub(crate) fn of(index: usize) -> Bits {
        Bits(index as u64)
    }
}

/// What the column of a round's primer has if there is none.
const NO_PRIMER: i64 = -1;

/// Returns what the column of a round's primer has.
pub(crate) fn primer(primer: Option<usize>) -> i64 {
    primer.map_or(NO_PRIMER, |contestant| contestant as i64)
}

/// Returns the primer of a round from its column.
pub(crate) fn primer_of(column: i64) -> Option<usize> {
    (column != NO_PRIMER).then_some(column as usize)
}

/// A float with all its bits. SQLite turns -0.0 into 0.0 and NaN into NULL, so these are stored as
/// blobs.
#[derive(Clone, Copy)]
pub(crate) struct Float(pub(crate) f64);

impl ToSql for Float {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let changed = self.0.is_nan() || self.0 == 0.0 && self.0.is_sign_negative();
        Ok(ToSqlOutput::Owned(if changed {
            Value::Blob(self.0.to_be_bytes().to_vec())
        } else {
            Value::Real(self.0)
        }))
    }
}

impl FromSql for Float {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Real(float) => Ok(Float(float)),
            ValueRef::Blob(bytes) => {
                let bytes = bytes.try_into().map_err(|_| FromSqlError::InvalidType)?;
                Ok(Float(f64::from_be_bytes(bytes)))
            }
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// The outcomes by their code in the table, which is also their place in the enumeration.
const OUTCOMES: [Outcome; 4] =
    [Outcome::Finished, Outcome::TimedOut, Outcome::Unusable, Outcome::Failed];

struct OutcomeCode(Outcome);

impl FromSql for OutcomeCode {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let code = value.as_i64()?;
        let found = usize::try_from(code).ok().and_then(|code| OUTCOMES.get(code));
        found.copied().map(OutcomeCode).ok_or(FromSqlError::OutOfRange(code))
    }
}

/// A verdict as its word.
pub(crate) struct VerdictWord(pub(crate) Verdict);

impl FromSql for VerdictWord {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        use Verdict::{Holds, Refuted, TooClose, Undecided, Void};
        let word = value.as_str()?;
        let all = [Holds, Refuted, TooClose, Undecided, Void];
        let found = all.into_iter().find(|verdict| verdict.name() == word);
        found.map(VerdictWord).ok_or(FromSqlError::InvalidType)
    }
}

/// The place of a sample: run, round, position in the order, contestant.
pub(crate) type Place = (i64, u64, usize, usize);

/// Reads the sample in a row of [`select_samples`].
pub(crate) fn sample_of(row: &Row<'_>) -> Result<Sample> {
    let outcome = row.get::<_, OutcomeCode>("outcome")?.0;
    Sample::from_numbers(outcome, Marks::from_bits(row.get("marks")?), |column| {
        Ok(row.get::<_, Option<Bits>>(column)?.map(|Bits(number)| number))
    })
}

pub(crate) fn number(row: &Row<'_>, column: &str) -> Result<u64> {
    row.get(column).map(|Bits(number)| number)
}

/// Runs a statement that adds rows.
pub(crate) fn insert(transaction: &Transaction<'_>, sql: &str, values: impl Params) -> Result<()> {
    transaction.prepare_cached(sql)?.execute(values).map(|_| ())
}

/// Returns a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))
}

/// Reads the columns `claim`, `evidence_for` and `evidence_against`.
pub(crate) fn wealth_of(row: &Row<'_>) -> Result<Wealth> {
    Ok(Wealth {
        claim: number(row, "claim")? as usize,
        evidence_for: row.get::<_, Float>("evidence_for")?.0,
        evidence_against: row.get::<_, Float>("evidence_against")?.0,
    })
}

/// Returns the statement that [`insert_sample`] binds and runs.
pub(crate) fn insert_samples() -> String {
    let values = vec!["?"; 6 + Sample::NUMBERS.len()].join(", ");
    format!(
        "INSERT INTO samples (run, round, position, contestant, outcome, marks, {}) VALUES \
         ({values})",
        Sample::NUMBERS.join(", ")
    )
}

pub(crate) fn select_samples() -> String {
    format!(
        "SELECT round, outcome, marks, {} FROM samples WHERE run = ? ORDER BY round, position",
        Sample::NUMBERS.join(", ")
    )
}

pub(crate) fn insert_sample(
    statement: &mut rusqlite::Statement<'_>,
    (run, round, position, contestant): Place,
    sample: &Sample,
) -> Result<usize> {
    let place = [run as u64, round, position as u64, contestant as u64];
    let marks = u64::from(sample.marks.bits());
    let head = [sample.outcome as u64, marks];
    let values = place.into_iter().chain(head).map(Some).chain(sample.numbers());
    statement.execute(rusqlite::params_from_iter(values.map(|number| number.map(Bits))))
}
