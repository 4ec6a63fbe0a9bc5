//! Bandwidth: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Bandwidth, Probed};
use tiebreak_machine::probes::{Budget, bandwidth};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Bandwidth> {
    match bandwidth::Bandwidth::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Bandwidth::default()),
    }
}
