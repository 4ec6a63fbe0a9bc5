//! What is read around a timed span, outside its clock: times, faults, switches, counters.

use crate::resources::Waits;
use crate::system::{Usage, rusage};
use crate::wire::area::{Record, UNKNOWN};
use tiebreak_core::counts::Counts;
use tiebreak_machine::clock;
use tiebreak_machine::meters::{Energy, EnergyReading, ThreadCounters};

/// The number of empty spans that determine what the readings themselves count, after a first one
/// that is discarded: the first span of a group that was just opened counts less than all others.
const EMPTY_SPANS: usize = 2;

/// The meters of the thread that runs contestants. Their use allocates nothing, unless energy is
/// metered.
pub(super) struct Meters {
    waits: Waits,
    counters: Option<ThreadCounters>,
    /// The counts of an empty span: reading the times.
    own_counts: Counts<u64>,
    energy: Option<Energy>,
    before: Reading,
}

#[derive(Default)]
struct Reading {
    usage: Usage,
    delay_ns: Option<u64>,
    energy: Option<EnergyReading>,
    cpu: i32,
    run_ns: u64,
}

impl Meters {
    /// Opens the meters that the machine has, except the hardware counters.
    pub(super) fn open(meters_energy: bool) -> Meters {
        Meters {
            waits: Waits::open("thread-self"),
            counters: None,
            own_counts: Counts::default(),
            energy: meters_energy.then(Energy::open).and_then(Result::ok),
            before: Reading::default(),
        }
    }

    /// Starts the hardware counters too, if the machine has them.
    pub(super) fn count(&mut self) {
        if self.counters.is_some() {
            return;
        }
        self.counters = ThreadCounters::open().ok();
        if self.counters.is_some() {
            self.empty_span();
            let spans = [(); EMPTY_SPANS].map(|()| self.empty_span());
            let least = spans.into_iter().reduce(|a, b| a.zip(b).map(|(a, b)| a.min(b)));
            self.own_counts = least.unwrap_or_default();
        }
    }

    /// Returns the counts of an empty span; 0 if nothing is counted.
    fn empty_span(&mut self) -> Counts<u64> {
        let mut record = self.record();
        self.begin();
        self.end(&mut record);
        record.counts.map(|count| if count == UNKNOWN { 0 } else { count })
    }

    /// Returns an empty record, in which missing meters are unknown.
    pub(super) fn record(&self) -> Record {
        Record {
            delay_ns: zero_if(self.waits.counted_wait_ns().is_some()),
            counts: Counts::all(zero_if(self.counters.is_some())),
            energy_nj: zero_if(self.energy.is_some()),
            ..Record::default()
        }
    }

    /// Reads the meters; call it just before a span.
    pub(super) fn begin(&mut self) {
        // Slow readings come first, so that times contain little of the reading.
        let energy = self.energy.as_ref().and_then(Energy::read);
        let delay_ns = self.waits.counted_wait_ns();
        let cpu = cpu();
        if let Some(counters) = &self.counters {
            counters.start();
        }
        // The kernel updates a thread's times when its clock is read, not when its usage is: what
        // ran before the span would count as part of it.
        clock::thread_cpu_ns();
        let usage = usage();
        self.before = Reading { usage, delay_ns, energy, cpu, run_ns: clock::thread_cpu_ns() };
    }

    /// Adds what the span took to the record; call it just after the span.
    pub(super) fn end(&mut self, record: &mut Record) {
        let run_ns = clock::thread_cpu_ns();
        let usage = usage();
        if let Some(counters) = &mut self.counters {
            let counted = counters.stop();
            record.is_multiplexed |= u64::from(counted.multiplexed);
            add_counts(record, counted.meters.counts(), self.own_counts);
        }
        let cpu = cpu();
        let delay_ns = self.waits.counted_wait_ns();
        let energy = self.energy.as_ref().and_then(Energy::read);
        let before = &self.before;
        record.run_ns += run_ns.saturating_sub(before.run_ns);
        record.moves += u64::from(cpu != before.cpu);
        if let Some(meter) = &self.energy {
            let readings = energy.zip(before.energy.as_ref());
            let used_nj = readings.and_then(|(now, then)| meter.since_nj(&now, then));
            record.energy_nj = plus(record.energy_nj, used_nj);
        }
        if let Some((now, then)) = delay_ns.zip(before.delay_ns) {
            record.delay_ns += now.saturating_sub(then);
        }
        record.usage.add(&usage.since(&before.usage));
    }
}

fn zero_if(is_known: bool) -> u64 {
    if is_known { 0 } else { UNKNOWN }
}

fn add_counts(record: &mut Record, counts: Counts<Option<u64>>, own: Counts<u64>) {
    record.counts = record
        .counts
        .zip(counts)
        .zip(own)
        .map(|((sum, count), own)| plus(sum, count.map(|count| count.saturating_sub(own))));
}

/// Adds a count to a sum. If one count is missing the sum is missing, because the rest would be
/// that of fewer calls.
fn plus(sum: u64, count: Option<u64>) -> u64 {
    match count {
        Some(count) if sum != UNKNOWN => sum.saturating_add(count),
        _ => UNKNOWN,
    }
}

fn usage() -> Usage {
    rusage(libc::RUSAGE_THREAD).into()
}

fn cpu() -> i32 {
    // SAFETY: the call only reads a number.
    unsafe { libc::sched_getcpu() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_add_up_and_what_lies_between_them_does_not_count() {
        let mut meters = Meters::open(false);
        assert_eq!(meters.record().counts, Counts::all(UNKNOWN));
        meters.count();
        let mut record = meters.record();
        let spin = |rounds: u64| (0..rounds).fold(1, |x, i| std::hint::black_box(x ^ i));
        let mut span = |rounds: u64| {
            let before = record;
            meters.begin();
            assert_ne!(spin(rounds), u64::MAX);
            meters.end(&mut record);
            assert_ne!(spin(1_000_000), u64::MAX);
            record.run_ns - before.run_ns
        };
        let (short, long) = (span(1000), span(300_000));
        assert!(long > 10 * short, "{short} {long}");
        let cpu_ns = record.usage.cpu_ns();
        assert!(cpu_ns < 2 * record.run_ns, "{cpu_ns} {}", record.run_ns);
        assert_eq!(record.energy_nj, UNKNOWN);
        let is_counted = ThreadCounters::open().is_ok();
        assert_eq!(record.counts.instructions != UNKNOWN, is_counted);
    }

    #[test]
    fn a_count_that_is_missing_once_is_missing() {
        let mut record = Record::default();
        let counts = Counts { cycles: Some(5), instructions: Some(7), ..Counts::default() };
        let own = Counts { cycles: 1, instructions: 0, branch_misses: 9, cache_misses: 9 };
        add_counts(&mut record, counts, own);
        assert_eq!(record.counts.to_vec(), [4, 7, UNKNOWN, UNKNOWN]);
        add_counts(&mut record, Counts { cycles: Some(1), ..Counts::default() }, own);
        add_counts(&mut record, counts, own);
        assert_eq!(record.counts.to_vec(), [8, UNKNOWN, UNKNOWN, UNKNOWN]);
    }
}
