//! Energy: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Energy, Probed};
use tiebreak_machine::probes::{Budget, energy};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Energy> {
    match energy::Energy::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Energy::default()),
    }
}
