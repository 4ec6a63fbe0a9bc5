//! Noise: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Noise, Probed};
use tiebreak_machine::probes::{Budget, noise};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Noise> {
    match noise::Noise::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Noise::default()),
    }
}
