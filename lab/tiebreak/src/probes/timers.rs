//! Timers: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Probed, Timers};
use tiebreak_machine::probes::{Budget, timers};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Timers> {
    match timers::Timers::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Timers::default()),
    }
}
