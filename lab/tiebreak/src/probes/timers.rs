//! Timers: what the probe tells are medians of its own batches, so nothing is added to it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Probed, Timers};
use tiebreak_machine::probes::{Budget, timers};

/// Probes the machine.
pub(super) fn probe(wish: &Wish, budget: &mut Budget<'_>) -> Probed<Timers> {
    match timers::Timers::new(&wish.cpus) {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget),
    }
}
