//! When hardware counters count: over every timed batch if a claim is about one, over one more
//! batch of each contestant if they only fill a table. And how long a batch must be at least for
//! its clock, and for an energy meter.
//!
//! Switching a group on and off and reading it takes some 0.1 ms in a virtual machine, where each
//! access to a counter leaves the guest. So counts without a claim are taken outside the evidence.

use crate::resources::{MissingMeter, asks, counted};
use crate::wire::area::{Record, UNKNOWN};
use std::time::Duration;
use tiebreak_core::plan::{Plan, Scope};
use tiebreak_core::sample::{Mark, Sample};
use tiebreak_core::study::FunctionPlan;
use tiebreak_machine::clock;
use tiebreak_machine::meters::{Energy, ThreadCounters};

/// The most calls that are counted where each call is timed separately: each is switched
/// separately.
const COUNTED_CALLS_MAX: u64 = 8;

/// Which batches of a unit hardware counters count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// None.
    Never,
    /// One of each contestant after the unit's timed rounds.
    Once,
    /// All that are timed.
    Always,
}

impl Counting {
    /// Returns what a plan asks for, if this machine has it, and what is not counted.
    pub(super) fn of(plan: &Plan) -> (Counting, Option<MissingMeter>) {
        let counters = match ThreadCounters::open() {
            Ok(counters) => counters,
            Err(reason) => return (Counting::Never, Some(MissingMeter::counters(reason))),
        };
        let counting = match (asks(plan, &counted()), plan.scope) {
            (true, _) => Counting::Always,
            (false, Scope::Layout) => {
                let why = "no hardware counters: at scope layout they count only if a claim is \
                           about one";
                return (Counting::Never, Some(MissingMeter::counters(why)));
            }
            (false, _) => Counting::Once,
        };
        let metrics = counters.uncounted();
        if metrics.is_empty() {
            return (counting, None);
        }
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name()).collect();
        let why = format!("no {}: this machine's counters lack them", names.join(", "));
        (counting, Some(MissingMeter { metrics, why }))
    }
}

/// Returns why energy is not metered, if it is not.
pub(super) fn missing_energy(is_asked: bool) -> Option<MissingMeter> {
    let opened = if is_asked { Energy::open() } else { Energy::open_unproven() };
    let why = match (opened, is_asked) {
        (Err(reason), _) => reason.to_string(),
        (Ok(_), false) => "no energy: it is metered only if a claim is about it".to_owned(),
        (Ok(_), true) => return None,
    };
    Some(MissingMeter::energy(why))
}

/// Returns the calls of a contestant's batch that is counted in addition to the timed ones.
pub(super) fn calls(functions: &FunctionPlan, contestant: usize, company: &[usize]) -> u64 {
    let most = if functions.times_each_call { COUNTED_CALLS_MAX } else { u64::MAX };
    functions.calls_a_batch.of(contestant, company).min(most)
}

/// Writes the counts of `calls` calls to the sample of a contestant with `timed` calls, scaled as
/// if all of these had been counted.
pub(super) fn scale(sample: &mut Sample, counted: &Record, calls: u64, timed: u64) {
    let of_timed = |count: u64| {
        let scaled = u128::from(count) * u128::from(timed) / u128::from(calls.max(1));
        (count != UNKNOWN).then_some(u64::try_from(scaled).unwrap_or(u64::MAX))
    };
    sample.meters = sample.meters.with_counts(counted.counts.map(of_timed));
    if counted.is_multiplexed != 0 {
        sample.marks = sample.marks.with(Mark::Multiplexed);
    }
}

/// The largest share of a batch for step and cost of the clock.
const SHARE: f64 = 0.001;
/// The number of reads of the clock that determine its cost.
const READS: u32 = 1000;

/// The clock that times batches, as it is on this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The step in which it moves, in nanoseconds.
    pub step_ns: f64,
    /// The cost of reading it twice, in nanoseconds: that much of a batch may be the clock's own.
    pub cost_ns: f64,
}

impl Clock {
    /// Measures the clock. Takes less than a millisecond if a read takes less than 100 ns.
    pub fn measure() -> Clock {
        let step_ns = clock::step_ns() as f64;
        let start_ns = clock::monotonic_ns();
        for _ in 0..READS {
            std::hint::black_box(clock::monotonic_ns());
        }
        let read_ns = (clock::monotonic_ns() - start_ns) as f64 / f64::from(READS);
        Clock { step_ns, cost_ns: 2.0 * read_ns }
    }

    /// Returns the shortest batch for which step and cost together are at most 0.1%, in
    /// nanoseconds.
    pub fn shortest_batch_ns(&self) -> f64 {
        (self.step_ns + self.cost_ns) / SHARE
    }
}

/// The number of moves of an energy meter that a batch must last: one may be missed at either end.
const MOVES: u64 = 100;
/// The longest observation of an energy meter to determine how often it moves.
const LOOK: Duration = Duration::from_millis(50);

/// Returns the shortest batch that the energy meter resolves to a hundredth, in nanoseconds; `None`
/// without a meter that moves. Takes some 30 ms.
pub fn shortest_energy_batch_ns() -> Option<f64> {
    let period_ns = Energy::open().ok()?.period_ns(LOOK, &|| false)?;
    Some(period_ns.saturating_mul(MOVES) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Around;
    use crate::system::Usage;
    use crate::workers::sample;
    use tiebreak_core::counts::Counts;

    #[test]
    fn counts_are_scaled_to_the_unit_and_nothing_else_changes() {
        let timed = Record { wall_ns: 100, counts: Counts::all(UNKNOWN), ..Record::default() };
        let plain = sample::sum(&[timed, timed], &Around::default());
        let check = |counted: Record, calls, expected: [Option<u64>; 4]| {
            let mut sample = plain;
            scale(&mut sample, &counted, calls, 60);
            assert_eq!(sample.meters.counts().to_vec(), expected);
            assert_eq!(sample.marks.has(Mark::Multiplexed), counted.is_multiplexed != 0);
            (sample.meters, sample.marks) = (plain.meters, plain.marks);
            assert_eq!(sample, plain);
        };
        let counts =
            Counts { cycles: 10, instructions: 7, branch_misses: UNKNOWN, cache_misses: 0 };
        let usage = Usage { minor_faults: 5, ..Usage::default() };
        let record = Record { wall_ns: 900, usage, counts, ..Record::default() };
        check(record, 30, [Some(20), Some(14), None, Some(0)]);
        check(record, 8, [Some(75), Some(52), None, Some(0)]);
        let shared = Record { is_multiplexed: 1, ..record };
        check(shared, 60, [Some(10), Some(7), None, Some(0)]);
        check(Record { counts: Counts::all(u64::MAX - 1), ..record }, 1, [Some(u64::MAX); 4]);
    }

    #[test]
    fn batches_are_long_enough_for_the_clock() {
        let clock = Clock { step_ns: 10.0, cost_ns: 40.0 };
        assert_eq!(clock.shortest_batch_ns(), 50_000.0);
        let measured = Clock::measure();
        assert!(measured.step_ns >= 1.0 && measured.cost_ns > 0.0, "{measured:?}");
        // Without a meter, energy requires nothing; with one, more than the clock does.
        let energy_ns = shortest_energy_batch_ns();
        assert!(Energy::open().is_ok() || energy_ns.is_none());
        assert!(energy_ns.is_none_or(|ns| ns > 0.0));
    }
}
