//! A test of whether lines that are taken for a chain remember more than the line before.
//!
//! In a chain, the length of a run of successes, or of failures, does not matter: the next line
//! ends it with the same probability. The test splits runs at each age. The numerator is the
//! likelihood of how the runs of one kind continued, with one rate of ending for the young and
//! another for the old (each mixed by Jeffreys' prior, as in `chain.rs`). The denominator is the
//! largest likelihood with one rate for both. If the lines are a chain, this ratio is at most a
//! martingale that begins with 1, and so is its mean over ages and kinds. By Ville's inequality,
//! the probability that it ever reaches `1/e` for a chain is at most `e` (universal inference;
//! Wasserman, Ramdas and Balakrishnan 2020).

use super::chain::{Sum, log_mixture};
use tiebreak_core::transitions::{ByAge, Transitions};

/// The probability that lines that are a chain are ever reported not to be one.
pub const ERROR: f64 = 0.01;

/// The numbers of times that something ended, and continued.
type Ends = [f64; 2];

/// Returns the logarithm of the evidence that the lines are not a chain.
pub fn log_evidence(by_age: &ByAge) -> f64 {
    let of_good = |class: &Transitions| [class.broke, class.stayed_good].map(|n| n as f64);
    let of_bad = |class: &Transitions| [class.recovered, class.stayed_bad].map(|n| n as f64);
    let ends = [by_age.0.map(|class| of_good(&class)), by_age.0.map(|class| of_bad(&class))];
    let logs: Vec<f64> = ends
        .iter()
        .flat_map(|ends| (1..ends.len()).map(|old| of_split(&ends[..old], &ends[old..])))
        .collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| libm::exp(log - top)).sum();
    top + libm::log(sum / logs.len() as f64)
}

fn of_split(young: &[Ends], old: &[Ends]) -> f64 {
    let sum = |ends: &[Ends]| ends.iter().fold([0.0; 2], |[x, y], one| [x + one[0], y + one[1]]);
    let ([young_ends, young_stay], [old_ends, old_stay]) = (sum(young), sum(old));
    let mut log = Sum::default();
    log_mixture(&mut log, young_ends, young_stay);
    log_mixture(&mut log, old_ends, old_stay);
    log.take_off_best(young_ends + old_ends, young_stay + old_stay);
    log.rounded_down()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::transitions::Walk;

    /// Over all streams of a length, the evidence has a mean of at most 1 at every chain.
    #[test]
    fn the_mean_of_the_evidence_is_at_most_one() {
        let length = 14;
        for (recover, fail) in [(0.3, 0.3), (0.9, 0.1), (0.1, 0.05), (0.5, 0.02)] {
            let mut mean = 0.0;
            for stream in 0u32..1 << length {
                let (mut probability, mut before) = (0.5, None);
                let (mut walk, mut counts) = (Walk::default(), ByAge::default());
                for has_failed in (0..length).map(|at| stream >> at & 1 == 1) {
                    let fails = match before.replace(has_failed) {
                        None => 0.5,
                        Some(false) => fail,
                        Some(true) => 1.0 - recover,
                    };
                    let is_first = counts.is_none() && walk.last_failed().is_none();
                    if !is_first {
                        probability *= if has_failed { fails } else { 1.0 - fails };
                    }
                    walk.step(has_failed, &mut counts);
                }
                mean += probability * libm::exp(log_evidence(&counts));
            }
            assert!(mean <= 1.0 && mean > 0.1, "{recover} {fail}: {mean}");
        }
    }
}
