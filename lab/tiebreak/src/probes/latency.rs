//! Latency: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Latency, Probed};
use tiebreak_machine::probes::{Budget, latency};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Latency> {
    match latency::Latency::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Latency::default()),
    }
}
