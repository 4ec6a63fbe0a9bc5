//! Converts records of batches to samples of contestants.
//!
//! What happens during a unit that its own process cannot see: stolen time, throttling.

use super::conduct::leaked_bytes;
use crate::worker::area::{Record, UNKNOWN};
use tiebreak_core::counts::Counts;
use tiebreak_core::sample::{Beside, Mark, Marks, Meters, Outcome, Sample};
use tiebreak_machine::busy::Busy;
use tiebreak_machine::clock;

/// A sample is marked if it waited for a CPU for more than this share of its time.
const FOREIGN_SHARE: f64 = 0.1;
/// A sample is marked if the hypervisor took more than this share of the CPUs' time.
const STEAL_SHARE: f64 = 0.01;

/// The state of the machine around a whole unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Around {
    /// The share of the CPUs' time that the hypervisor took; `None` if it is unknown.
    pub(super) steal_share: Option<f64>,
    /// How long the control group throttled this process in the unit.
    pub(super) throttled_ns: Option<u64>,
    /// The peak memory of a process with one contestant.
    pub(super) peak_memory_bytes: u64,
}

/// Returns the sums over a contestant's batches as one sample. Without batches the sample is empty.
pub(super) fn sum(records: &[Record], around: &Around) -> Sample {
    let total = |of: fn(&Record) -> u64| records.iter().map(of).sum::<u64>();
    // A value that is unknown for one batch is unknown for the sum.
    let known = |of: fn(&Record) -> u64| {
        let each = records.iter().map(of);
        each.map(|value| (value != UNKNOWN).then_some(value)).sum::<Option<u64>>()
    };
    let is_backwards = records.iter().any(|record| record.is_backwards != 0);
    let wall_ns = total(|record| record.wall_ns);
    let delay_ns = known(|record| record.delay_ns);
    let steal_ns = around.steal_share.map(|share| (share * wall_ns as f64) as u64);
    let mut sample = Sample {
        outcome: if is_backwards { Outcome::Unusable } else { Outcome::Finished },
        wall_ns,
        user_ns: total(|record| record.user_ns),
        system_ns: total(|record| record.system_ns),
        peak_memory_bytes: around.peak_memory_bytes,
        minor_faults: total(|record| record.minor_faults),
        major_faults: total(|record| record.major_faults),
        voluntary_switches: total(|record| record.voluntary_switches),
        involuntary_switches: total(|record| record.involuntary_switches),
        meters: Meters {
            energy_nj: known(|record| record.energy_nj),
            run_ns: Some(total(|record| record.run_ns)),
            ..Meters::default()
        }
        .with_counts(records.iter().fold(Counts::all(Some(0)), plus_counts)),
        beside: Beside {
            foreign_cpu_ns: delay_ns,
            steal_ns,
            migrations: Some(total(|record| record.moves)),
            throttled_ns: around.throttled_ns,
            run_delay_ns: delay_ns,
        },
        marks: Marks::NONE,
    };
    let is_multiplexed = records.iter().any(|record| record.is_multiplexed != 0);
    sample.marks = marks(&sample, around, is_multiplexed);
    // The value of a unit is the median of its rounds.
    let alone = records.iter().filter(|record| record.is_alone != 0).count();
    if alone > 0 && 2 * alone >= records.len() {
        sample.marks = sample.marks.with(Mark::NotTogether);
    }
    if leaked_bytes(records) > 0 {
        sample.marks = sample.marks.with(Mark::MemoryGrew);
    }
    sample
}

/// Adds counts. A count that is missing for one batch is missing for the sum.
fn plus_counts(sum: Counts<Option<u64>>, record: &Record) -> Counts<Option<u64>> {
    let plus =
        |(sum, count): (Option<u64>, u64)| Some(sum? + Some(count).filter(|c| *c != UNKNOWN)?);
    sum.zip(record.counts).map(plus)
}

fn marks(sample: &Sample, around: &Around, is_multiplexed: bool) -> Marks {
    let share = |part: Option<u64>| part.unwrap_or(0) as f64 / sample.wall_ns.max(1) as f64;
    let earned = [
        (sample.involuntary_switches > 1, Mark::Preempted),
        (share(sample.beside.foreign_cpu_ns) > FOREIGN_SHARE, Mark::ForeignLoad),
        (around.steal_share.unwrap_or(0.0) > STEAL_SHARE, Mark::Steal),
        (sample.beside.migrations.unwrap_or(0) > 0, Mark::Migrated),
        (around.throttled_ns.unwrap_or(0) > 0, Mark::Throttled),
        (sample.outcome == Outcome::Unusable, Mark::ClockBackwards),
        (is_multiplexed, Mark::Multiplexed),
    ];
    let marks = earned.into_iter().filter(|(is_earned, _)| *is_earned).map(|(_, mark)| mark);
    marks.fold(Marks::NONE, Marks::with)
}

/// Reads the state of the CPUs before and after units.
#[derive(Debug)]
pub(super) struct Lookout {
    busy: Busy,
    start_ns: u64,
    throttled_ns: Option<u64>,
}

impl Lookout {
    /// Opens the meters of these CPUs.
    pub(super) fn new(cpus: &[usize]) -> Lookout {
        Lookout { busy: Busy::open(cpus), start_ns: 0, throttled_ns: None }
    }

    /// Reads the state; call it just before the rounds of a unit.
    pub(super) fn before(&mut self) {
        self.start_ns = clock::monotonic_ns();
        // Only stolen time is used, so this process' own time does not matter.
        self.busy.look(self.start_ns, 0);
        self.throttled_ns = self.busy.throttled_ns();
    }

    /// Reads the state again; call it just after the rounds.
    pub(super) fn after(&mut self) -> Around {
        let now = self.busy.throttled_ns();
        self.busy.look(clock::monotonic_ns(), 0);
        let throttled_ns = now.zip(self.throttled_ns);
        Around {
            steal_share: self.busy.window(self.start_ns).map(|window| window.steal_share),
            throttled_ns: throttled_ns.map(|(now, then)| now.saturating_sub(then)),
            peak_memory_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            wall_ns: 100,
            run_ns: 90,
            minor_faults: 2,
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
        check(Record { involuntary_switches: 1, ..record() }, quiet, &[]);
        check(Record { involuntary_switches: 2, ..record() }, quiet, &[Mark::Preempted]);
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
        let stolen = Around { steal_share: Some(0.02), ..quiet };
        check(record(), stolen, &[Mark::Steal]);
        check(record(), Around { throttled_ns: Some(1), ..quiet }, &[Mark::Throttled]);
    }

    #[test]
    fn what_is_not_known_of_one_batch_is_not_known() {
        let unknown = Record { delay_ns: UNKNOWN, ..record() };
        let sample = sum(&[record(), unknown], &Around::default());
        assert_eq!(sample.beside.run_delay_ns, None);
        let stolen = Around { steal_share: Some(0.5), ..Around::default() };
        assert_eq!(sum(&[record()], &stolen).beside.steal_ns, Some(50));
    }
}
