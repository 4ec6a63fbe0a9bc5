//! Noise: from what the probe saw to what is said of it.

mod floor;
mod gaps;
mod live;
mod summary;

use super::measure::{self as noise, *};
use crate::finding::empty;
use crate::tools::*;
use crate::{Cause, Floor, MachinePrint, Noise, SmallestSlowdown, Throttled};
use gaps::Watched;
pub use live::watch_noise;

/// Of the budget, the share of watching and of functions; the rest is for programs and simulation.
const SHARE: f64 = 0.55;

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Noise> {
    probed(noise::Noise::new(&options.cpus, SHARE), |probe| {
        let (seen, at_once, chain) = (probe.measure(budget), probe.cpus_at_once(), probe.chain());
        seen.map(|reading, reasons| {
            let mut found = summary::summarise(&reading.watches, at_once, chain, None);
            found.floors.extend(floor::of_functions(&reading.pairs));
            if found.floors.is_empty() && !budget.is_interrupted() {
                reasons.push("there was no time to run the same work against itself".to_owned());
            }
            let (floor, reason) = floor::of_programs(options.lab, budget);
            found.floors.extend(floor);
            reasons.extend(reason.into_iter().chain(busy(&found)).chain(uneven(&found)));
            found
        })
    })
}

/// What speaks against floors, however low, of a time in which much was lost.
fn busy(found: &Noise) -> Option<String> {
    let percent = found.busy_share()? * 100.0;
    let what =
        if found.floors.is_empty() { "this is" } else { "the smallest slowdowns are those of" };
    Some(format!("{percent:.0}% of CPU time was lost meanwhile: {what} a machine at other work"))
}

/// Of parts of one look, how many times the floor of the calmest that of the noisiest may be: both
/// are then within 10% of what is said.
const EVEN: f64 = 1.1 / 0.9;

/// What speaks against floors whose own parts differ: the next look may say another.
fn uneven(found: &Noise) -> Option<String> {
    let differ = |floor: &Floor| {
        let [low, high] = floor.smallest.iter().find_map(|one| one.among_parts)?;
        (high > EVEN * low).then(|| format!("{} {:.1} times", floor.of, high / low))
    };
    let differ: Vec<String> = found.floors.iter().filter_map(differ).collect();
    (!differ.is_empty()).then(|| {
        format!(
            "noise differed between parts of the look (of {}): a floor moves as much from look to \
             look",
            differ.join(", of ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn floors_that_differ_among_parts_are_in_doubt() {
        let check = |parts: [Option<[f64; 2]>; 2], expected: Option<&str>| {
            let floor = |(of, among_parts): (&str, Option<[f64; 2]>)| {
                let one = SmallestSlowdown { among_parts, ..SmallestSlowdown::default() };
                Floor { of: of.to_owned(), smallest: vec![one], ..Floor::default() }
            };
            let floors = ["functions", "programs"].into_iter().zip(parts).map(floor).collect();
            let reason = uneven(&Noise { floors, ..Noise::default() });
            let said = reason.as_deref().and_then(|why| why.split(['(', ')']).nth(1));
            assert_eq!(said, expected);
        };
        check([None, None], None);
        check([Some([0.0095, 0.011]), None], None);
        check([Some([0.01, 0.0106]), Some([0.02, 0.05])], Some("of programs 2.5 times"));
        let both = [Some([0.01, 0.013]), Some([0.02, 0.05])];
        check(both, Some("of functions 1.3 times, of programs 2.5 times"));
    }
}
