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

/// Probes the machine.
pub(super) fn probe(wish: &Wish, budget: &mut Budget<'_>) -> Probed<Noise> {
    let probe = match noise::Noise::new(&wish.cpus, SHARE) {
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
        let (floor, reason) = floor::of_programs(budget);
        found.floors.extend(floor);
        reasons.extend(reason);
        reasons.extend(busy(&found));
        found
    })
}

/// What speaks against floors, however low, of a time in which much was lost.
fn busy(found: &Noise) -> Option<String> {
    let percent = found.busy_share()? * 100.0;
    let what = match found.floors.is_empty() {
        true => "this is",
        false => "the smallest slowdowns are those of",
    };
    Some(format!("{percent:.0}% of CPU time was lost meanwhile: {what} a machine at other work"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::machine::Floor;

    #[test]
    fn a_low_floor_beside_a_high_loss_is_in_doubt() {
        let check = |watched: f64, against_itself: Option<f64>, expected: Option<&str>| {
            let floor = Floor { lost_share: against_itself, ..Floor::default() };
            let found = Noise { lost_share: watched, floors: vec![floor], ..Noise::default() };
            let reason = busy(&found);
            assert_eq!(reason.as_deref().and_then(|why| why.split(' ').next()), expected);
        };
        check(0.0, None, None);
        check(0.1, Some(0.09), None);
        check(0.68, Some(0.0), Some("68%"));
        check(0.02, Some(0.41), Some("41%"));
    }
}
