//! Converts records of batches to samples of contestants.

use super::conduct::leaked_bytes;
use crate::resources::{Around, FOREIGN_SHARE, STEAL_SHARE, marked};
use crate::system::Usage;
use crate::wire::area::{Record, UNKNOWN};
use tiebreak_core::counts::Counts;
use tiebreak_core::sample::{Beside, Mark, Marks, Meters, Outcome, Sample};

/// Returns the sums over a contestant's batches as one sample. Without batches the sample is empty.
pub(super) fn sum(records: &[Record], around: &Around) -> Sample {
    let mut usage = Usage::default();
    records.iter().for_each(|record| usage.add(&record.usage));
    let wall_ns = total(records, |record| record.wall_ns);
    let delay_ns = known(records, |record| record.delay_ns);
    let mut sample = Sample {
        meters: Meters {
            energy_nj: known(records, |record| record.energy_nj),
            run_ns: Some(total(records, |record| record.run_ns)),
            ..Meters::default()
        }
        .with_counts(records.iter().fold(Counts::all(Some(0)), plus_counts)),
        beside: Beside {
            foreign_cpu_ns: delay_ns,
            steal_ns: around.steal_share().map(|share| (share * wall_ns as f64) as u64),
            migrations: Some(total(records, |record| record.moves)),
            throttled_ns: around.beside.throttled_ns,
            run_delay_ns: delay_ns,
        },
        ..usage.sample(wall_ns)
    };
    let is_backwards = records.iter().any(|record| record.is_backwards != 0);
    if is_backwards {
        sample.outcome = Outcome::Unusable;
    }
    let is_multiplexed = records.iter().any(|record| record.is_multiplexed != 0);
    let delay_share = delay_ns.unwrap_or(0) as f64 / wall_ns.max(1) as f64;
    // The value of a unit is the median of its rounds.
    let alone = records.iter().filter(|record| record.is_alone != 0).count();
    sample.marks = marked(
        Marks::NONE,
        [
            (usage.involuntary_switches > 1, Mark::Preempted),
            (delay_share > FOREIGN_SHARE, Mark::ForeignLoad),
            (around.steal_share().unwrap_or(0.0) > STEAL_SHARE, Mark::Steal),
            (sample.beside.migrations > Some(0), Mark::Migrated),
            (around.beside.throttled_ns > Some(0), Mark::Throttled),
            (is_backwards, Mark::ClockBackwards),
            (is_multiplexed, Mark::Multiplexed),
            (alone > 0 && 2 * alone >= records.len(), Mark::NotTogether),
            (leaked_bytes(records) > 0, Mark::MemoryGrew),
        ],
    );
    sample
}

fn total(records: &[Record], of: fn(&Record) -> u64) -> u64 {
    records.iter().map(of).sum()
}

/// Returns a sum; `None` if the value is unknown for one batch.
fn known(records: &[Record], of: fn(&Record) -> u64) -> Option<u64> {
    records.iter().map(of).map(|value| (value != UNKNOWN).then_some(value)).sum()
}

/// Adds counts. A count that is missing for one batch is missing for the sum.
fn plus_counts(sum: Counts<Option<u64>>, record: &Record) -> Counts<Option<u64>> {
    sum.zip(record.counts).map(|(sum, count)| Some(sum? + Some(count).filter(|c| *c != UNKNOWN)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::busy::Difference;

    fn stolen(steal_share: f64) -> Around {
        let window = Some(Difference { foreign_share: 0.0, steal_share });
        Around { window, ..Around::default() }
    }

    fn record() -> Record {
        Record {
            wall_ns: 100,
            run_ns: 90,
            usage: Usage { minor_faults: 2, ..Usage::default() },
            energy_nj: UNKNOWN,
            ..Record::default()
        }
    }

    #[test]
    fn a_sample_is_the_sum_of_its_batches() {
        let counts = |cycles| {
            let counts =
                Counts { cycles, instructions: 1, branch_misses: UNKNOWN, cache_misses: 0 };
            Record { counts, ..record() }
        };
        let sample = sum(&[counts(5), counts(7)], &Around::default());
        assert_eq!((sample.wall_ns, sample.minor_faults), (200, 4));
        assert_eq!(sample.meters.cycles, Some(12));
        assert_eq!(sample.meters.instructions, Some(2));
        assert_eq!(sample.meters.branch_misses, None);
        assert_eq!(sample.meters.cache_misses, Some(0));
        assert_eq!(sample.meters.energy_nj, None);
        assert_eq!(sample.meters.run_ns, Some(180));
        assert_eq!(sample.outcome, Outcome::Finished);
        assert_eq!(sample.marks, Marks::NONE);
    }

    #[test]
    fn marks_are_earned() {
        let check = |record: Record, around: Around, expected: &[Mark]| {
            let sample = sum(&[record, self::record()], &around);
            assert_eq!(sample.marks.iter().collect::<Vec<_>>(), expected);
        };
        let quiet = Around::default();
        check(record(), quiet, &[]);
        let switched = |involuntary_switches| Record {
            usage: Usage { involuntary_switches, ..Usage::default() },
            ..record()
        };
        check(switched(1), quiet, &[]);
        check(switched(2), quiet, &[Mark::Preempted]);
        check(Record { delay_ns: 20, ..record() }, quiet, &[]);
        check(Record { delay_ns: 21, ..record() }, quiet, &[Mark::ForeignLoad]);
        check(Record { moves: 1, ..record() }, quiet, &[Mark::Migrated]);
        check(Record { is_multiplexed: 1, ..record() }, quiet, &[Mark::Multiplexed]);
        check(Record { is_alone: 1, ..record() }, quiet, &[Mark::NotTogether]);
        let grown = sum(&[record(), Record { grown_bytes: 1 << 30, ..record() }], &quiet);
        assert!(grown.marks.has(Mark::MemoryGrew));
        let alone = Record { is_alone: 1, ..record() };
        let most = sum(&[alone, record(), record()], &quiet);
        assert!(!most.marks.has(Mark::NotTogether), "most batches were not alone");
        check(Record { is_backwards: 1, ..record() }, quiet, &[Mark::ClockBackwards]);
        let stolen = stolen(0.02);
        check(record(), stolen, &[Mark::Steal]);
        let beside = Beside { throttled_ns: Some(1), ..Beside::default() };
        let throttled = Around { beside, ..quiet };
        check(record(), throttled, &[Mark::Throttled]);
    }

    #[test]
    fn what_is_not_known_of_one_batch_is_not_known() {
        let unknown = Record { delay_ns: UNKNOWN, ..record() };
        let sample = sum(&[record(), unknown], &Around::default());
        assert_eq!(sample.beside.run_delay_ns, None);
        let stolen = stolen(0.5);
        assert_eq!(sum(&[record()], &stolen).beside.steal_ns, Some(50));
    }
}
