//! Hardware counters of the calling thread, switched on for a span that it chooses.

use super::Unavailable;
use super::counters::{Counted, EVENTS, Reading};
use super::perf::{self, Counter, Event, Value};
use tiebreak_core::counts::Counts;
use tiebreak_core::metric::Metric;

/// Open counters of the calling thread, off until [`ThreadCounters::start`].
///
/// All of them are in one group, so that they count the same moments and one system call reads
/// them. An event that does not fit into the group is not counted.
#[derive(Debug)]
pub struct ThreadCounters {
    leader: Counter,
    /// The members; they count as long as they are open. The leader counts cycles, and its place
    /// here is empty.
    members: Counts<Option<Counter>>,
    last: Reading,
}

impl ThreadCounters {
    /// Opens the counters of the calling thread: in user mode and kernel, or in user mode where
    /// only that is permitted. Allocates nothing unless it fails.
    ///
    /// # Errors
    /// Fails if neither is possible here; the error gives the reason for each.
    pub fn open() -> Result<ThreadCounters, Unavailable> {
        perf::open_permitted(|exclude| {
            ThreadCounters::open_events(perf::TYPE_HARDWARE, EVENTS, exclude)
        })
    }

    /// Returns the events that did not fit into the group or that this machine does not count.
    pub fn uncounted(&self) -> Vec<Metric> {
        let members = self.members.as_ref().zip(Counts::METRICS).to_vec();
        let missing = members
            .into_iter()
            .filter(|(member, metric)| member.is_none() && *metric != Metric::Cycles);
        missing.map(|(_, metric)| metric).collect()
    }

    fn open_events(
        kind: u32,
        events: Counts<u64>,
        exclude: u64,
    ) -> std::io::Result<ThreadCounters> {
        let own = |config, flags: u64, leader| {
            let flags = flags | exclude | perf::EXCLUDE_HYPERVISOR;
            let event = Event { kind, config, flags, read_format: perf::READ_GROUP };
            Counter::open(event, 0, -1, leader)
        };
        let leader = own(events.cycles, perf::DISABLED, None)?;
        // A member follows its leader.
        let members = events.map(|config| {
            let is_member = config != events.cycles;
            is_member.then(|| own(config, 0, Some(&leader)).ok()).flatten()
        });
        let hardware = Counts::all(Some(Value::default()));
        Ok(ThreadCounters { leader, members, last: Reading { hardware, migrations: None } })
    }

    /// Starts a span. One system call; nothing is allocated.
    pub fn start(&self) {
        self.leader.switch_group(true);
    }

    /// Ends the span and returns its counts. Makes two system calls, of which the second is not
    /// counted; nothing is allocated. The calls' own work in the kernel while the counters are on
    /// is a few hundred instructions.
    pub fn stop(&mut self) -> Counted {
        self.leader.switch_group(false);
        let Some(now) = self.read() else { return Counted::default() };
        let then = std::mem::replace(&mut self.last, now);
        now.since(&then)
    }

    fn read(&self) -> Option<Reading> {
        let [_, enabled_ns, running_ns, cycles, rest @ ..] = self.leader.words::<7>().ok()?;
        let value = |count| Value { count, enabled_ns, running_ns };
        // The leader's count comes first, then those of the members in the order in which they were
        // opened.
        let mut rest = rest.into_iter();
        let members = self.members.as_ref();
        let counts = members.map(|member| member.as_ref().and_then(|_| rest.next()).map(value));
        let hardware = Counts { cycles: Some(value(cycles)), ..counts };
        Some(Reading { hardware, migrations: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_hardware_counters_or_says_what_was_tried() {
        match ThreadCounters::open() {
            Err(reason) => assert_eq!(reason.tried.len(), 2),
            Ok(mut counters) => {
                counters.start();
                let spun = (0..1_000_000_u64).fold(1, |x, i| std::hint::black_box(x ^ i));
                let meters = counters.stop().meters;
                assert_ne!(spun, 0);
                assert!(meters.instructions.unwrap_or(u64::MAX) > 1_000_000, "{meters:?}");
                let uncounted = counters.uncounted();
                let is_missing = |metric| uncounted.contains(&metric);
                assert_eq!(is_missing(Metric::Instructions), meters.instructions.is_none());
                assert_eq!(is_missing(Metric::CacheMisses), meters.cache_misses.is_none());
            }
        }
    }

    #[test]
    fn a_group_counts_between_start_and_stop_only() {
        // The kernel's own events, which every machine has: faults, context switches, migrations
        // and minor faults (`PERF_COUNT_SW_*`).
        let events = Counts { cycles: 2, instructions: 3, branch_misses: 4, cache_misses: 5 };
        let opened = ThreadCounters::open_events(perf::TYPE_SOFTWARE, events, 0);
        let Ok(mut counters) = opened else {
            assert!(opened.is_err_and(|error| error.raw_os_error().is_some()));
            return;
        };
        fn touch(pages: usize) {
            let bytes = pages * 4096;
            let fresh = vec![0_u8; bytes];
            for page in (0..bytes).step_by(4096) {
                // SAFETY: the byte lies in the vector, and any value may be written there.
                unsafe { fresh.as_ptr().cast_mut().add(page).write_volatile(0) };
            }
        }
        let mut span = |pages| {
            counters.start();
            touch(pages);
            let faults = counters.stop().meters.cycles.unwrap();
            touch(3000);
            faults
        };
        let (few, many) = (span(1), span(1000));
        assert!(few < 500 && (900..1500).contains(&many), "{few} {many}");
    }
}
