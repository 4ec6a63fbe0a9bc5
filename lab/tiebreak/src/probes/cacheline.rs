//! Cacheline: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Cacheline, Probed};
use tiebreak_machine::probes::{Budget, cacheline};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Cacheline> {
    match cacheline::Cacheline::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Cacheline::default()),
    }
}
