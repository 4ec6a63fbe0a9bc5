//! Topology: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Probed, Topology};
use tiebreak_machine::probes::{Budget, topology};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Topology> {
    match topology::Topology::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Topology::default()),
    }
}
