//! How the nouns become columns and are read back.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Result, Row};
use tiebreak_core::sample::{Beside, Marks, Meters, Outcome, Sample};
use tiebreak_core::verdict::Verdict;

/// An unsigned number with its bits as SQLite's signed one.
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

/// A float with every bit of it: SQLite makes 0.0 of -0.0 and NULL of NaN, so that those become
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

/// Outcomes as the table keeps them; [`OutcomeCode`] reads them back.
fn outcome_code(outcome: Outcome) -> i64 {
    match outcome {
        Outcome::Finished => 0,
        Outcome::TimedOut => 1,
        Outcome::Unusable => 2,
        Outcome::Failed => 3,
    }
}

struct OutcomeCode(Outcome);

impl FromSql for OutcomeCode {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let code = value.as_i64()?;
        let all = [Outcome::Finished, Outcome::TimedOut, Outcome::Unusable, Outcome::Failed];
        let found = all.into_iter().find(|outcome| outcome_code(*outcome) == code);
        found.map(OutcomeCode).ok_or(FromSqlError::OutOfRange(code))
    }
}

/// A verdict by its word.
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

pub(crate) const INSERT_SAMPLE: &str = "INSERT INTO samples (run, round, position, contestant, \
     outcome, wall_ns, user_ns, system_ns, peak_memory_bytes, minor_faults, major_faults, \
     voluntary_switches, involuntary_switches, cycles, instructions, branch_misses, cache_misses, \
     energy_nj, foreign_cpu_ns, steal_ns, migrations, throttled_ns, marks, run_ns, run_delay_ns) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

pub(crate) const SELECT_SAMPLES: &str = "SELECT round, outcome, wall_ns, user_ns, system_ns, \
     peak_memory_bytes, minor_faults, major_faults, voluntary_switches, involuntary_switches, \
     cycles, instructions, branch_misses, cache_misses, energy_nj, foreign_cpu_ns, steal_ns, \
     migrations, throttled_ns, marks, run_ns, run_delay_ns \
     FROM samples WHERE run = ? ORDER BY round, position";

/// Where a sample stands: run, round, position in the order, contestant.
pub(crate) type Place = (i64, u64, usize, usize);

/// Binds [`INSERT_SAMPLE`] and runs it. Without `..`: a new field of a sample must be kept too.
pub(crate) fn insert_sample(
    statement: &mut rusqlite::Statement<'_>,
    (run, round, position, contestant): Place,
    sample: &Sample,
) -> Result<usize> {
    let Sample {
        outcome,
        wall_ns,
        user_ns,
        system_ns,
        peak_memory_bytes,
        minor_faults,
        major_faults,
        voluntary_switches,
        involuntary_switches,
        meters,
        beside,
        marks,
    } = *sample;
    let Meters { cycles, instructions, branch_misses, cache_misses, energy_nj, run_ns } = meters;
    let Beside { foreign_cpu_ns, steal_ns, migrations, throttled_ns, run_delay_ns } = beside;
    statement.execute(rusqlite::params![
        run,
        Bits(round),
        Bits::of(position),
        Bits::of(contestant),
        outcome_code(outcome),
        Bits(wall_ns),
        Bits(user_ns),
        Bits(system_ns),
        Bits(peak_memory_bytes),
        Bits(minor_faults),
        Bits(major_faults),
        Bits(voluntary_switches),
        Bits(involuntary_switches),
        cycles.map(Bits),
        instructions.map(Bits),
        branch_misses.map(Bits),
        cache_misses.map(Bits),
        energy_nj.map(Bits),
        foreign_cpu_ns.map(Bits),
        steal_ns.map(Bits),
        migrations.map(Bits),
        throttled_ns.map(Bits),
        Bits(u64::from(marks.bits())),
        run_ns.map(Bits),
        run_delay_ns.map(Bits),
    ])
}

/// The sample in a row of [`SELECT_SAMPLES`].
pub(crate) fn sample_of(row: &Row<'_>) -> Result<Sample> {
    let number = |column| row.get(column).map(|Bits(number)| number);
    let maybe = |column| -> Result<Option<u64>> {
        Ok(row.get::<_, Option<Bits>>(column)?.map(|Bits(number)| number))
    };
    Ok(Sample {
        outcome: row.get::<_, OutcomeCode>(1)?.0,
        wall_ns: number(2)?,
        user_ns: number(3)?,
        system_ns: number(4)?,
        peak_memory_bytes: number(5)?,
        minor_faults: number(6)?,
        major_faults: number(7)?,
        voluntary_switches: number(8)?,
        involuntary_switches: number(9)?,
        meters: Meters {
            cycles: maybe(10)?,
            instructions: maybe(11)?,
            branch_misses: maybe(12)?,
            cache_misses: maybe(13)?,
            energy_nj: maybe(14)?,
            run_ns: maybe(20)?,
        },
        beside: Beside {
            foreign_cpu_ns: maybe(15)?,
            steal_ns: maybe(16)?,
            migrations: maybe(17)?,
            throttled_ns: maybe(18)?,
            run_delay_ns: maybe(21)?,
        },
        marks: Marks::from_bits(row.get(19)?),
    })
}
