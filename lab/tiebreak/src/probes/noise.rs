//! Noise: from what the probe saw to what is said of it.

mod floor;
mod live;
mod summary;

use super::{Wish, unavailable};
pub use live::watch_noise;
use tiebreak_core::machine::{Noise, Probed};
use tiebreak_machine::probes::{Budget, noise};

/// Of the budget, the share of watching and of functions; the rest is for programs and simulation.
const SHARE: f64 = 0.55;
/// The same of a short look, which leaves programs out.
const SHARE_QUICK: f64 = 0.85;

/// Probes the machine. Programs are run against themselves only if there is time.
pub(super) fn probe(wish: &Wish, budget: &mut Budget<'_>) -> Probed<Noise> {
    let share = if wish.is_quick { SHARE_QUICK } else { SHARE };
    let probe = match noise::Noise::new(&wish.cpus, share) {
        Err(reason) => return unavailable(reason),
        Ok(probe) => probe,
    };
    let probed = probe.measure(budget);
    probed.map(|reading, reasons| {
        let mut found = summary::of(&reading.watches, &probe, None);
        found.floors.extend(floor::of_functions(&reading.pairs));
        if found.floors.is_empty() && !budget.is_interrupted() {
            reasons.push("there was no time to run the same work against itself".to_owned());
        }
        if !wish.is_quick {
            let (floor, reason) = floor::of_programs(budget);
            found.floors.extend(floor);
            reasons.extend(reason);
        }
        found
    })
}
