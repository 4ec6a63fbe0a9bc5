//! What goes on beside a unit that its own process cannot see: stolen time, throttling.

use super::sample::Around;
use tiebreak_machine::busy::Busy;
use tiebreak_machine::clock;

/// Looks at the CPUs before and after units.
#[derive(Debug)]
pub(super) struct Lookout {
    busy: Busy,
    start_ns: u64,
    throttled_ns: Option<u64>,
}

impl Lookout {
    /// Of these CPUs.
    pub(super) fn new(cpus: &[usize]) -> Lookout {
        Lookout { busy: Busy::open(cpus), start_ns: 0, throttled_ns: None }
    }

    /// To be called just before the rounds of a unit.
    pub(super) fn before(&mut self) {
        self.start_ns = clock::monotonic_ns();
        // Only stolen time is asked for, so nobody's own time matters.
        self.busy.look(self.start_ns, 0);
        self.throttled_ns = self.busy.throttled_ns();
    }

    /// To be called just after them.
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
