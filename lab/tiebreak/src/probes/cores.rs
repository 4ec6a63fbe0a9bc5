//! Cores: from what the probe saw to what is said of it.

use super::{Wish, unavailable};
use tiebreak_core::machine::{Cores, Probed};
use tiebreak_machine::probes::{Budget, cores};

/// Probes the machine.
pub(super) fn probe(_wish: &Wish, budget: &mut Budget<'_>) -> Probed<Cores> {
    match cores::Cores::new() {
        Err(reason) => unavailable(reason),
        Ok(probe) => probe.measure(budget).map(|_reading, _reasons| Cores::default()),
    }
}
