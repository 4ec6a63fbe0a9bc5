//! What happens during a unit that its own process cannot see: stolen time, throttling.

use super::sample::Around;
use tiebreak_machine::busy::Busy;
use tiebreak_machine::clock;

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
