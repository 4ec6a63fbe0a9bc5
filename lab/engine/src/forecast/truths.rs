//! The truths that are simulated by default.

use tiebreak_core::claim::Relation;
use tiebreak_core::forecast::NoiseSource;

/// The distances from the bar of a claim of the truths that are simulated by default.
const STEPS: [f64; 7] = [-0.02, -0.01, 0.005, 0.01, 0.02, 0.05, 0.1];
/// With more noise than this, the distances are ten times as large.
const MUCH_NOISE: f64 = 0.15;
/// From this factor on, differences are shares of it, not of the right contestant.
const FACTOR_FROM: f64 = 1.2;
/// Returns ratios around the bar of a claim, with the bar.
pub(super) fn around(relation: Relation, noise: &NoiseSource) -> Vec<f64> {
    let deviation = match noise {
        NoiseSource::Stated { deviation, .. } => Some(*deviation),
        NoiseSource::Pilot { deviation, .. } => *deviation,
        NoiseSource::Trials => None,
    };
    let scale = if deviation.is_some_and(|sd| sd > MUCH_NOISE) { 10.0 } else { 1.0 };
    let steps = || std::iter::once(0.0).chain(STEPS).map(|step| step * scale);
    let mut truths: Vec<f64> = match relation {
        Relation::Order | Relation::Measure { .. } => {
            steps().filter(|step| *step >= 0.0).map(ratio).collect()
        }
        Relation::AtLeast { factor } if factor >= FACTOR_FROM => {
            steps().map(|step| factor * ratio(step)).collect()
        }
        Relation::AtLeast { factor } => {
            let ahead = if factor < 1.0 { 1.0 - 1.0 / factor } else { factor - 1.0 };
            steps().map(|step| ratio(ahead + step)).collect()
        }
        Relation::NoMoreThan { fraction } => steps().map(|step| ratio(step - fraction)).collect(),
        Relation::Within { fraction } => {
            [0.0, 0.5, 1.0, 1.5, 2.0, 4.0].iter().map(|times| 1.0 + times * fraction).collect()
        }
    };
    truths.sort_by(f64::total_cmp);
    truths
}

/// Returns the ratio at which the left contestant is ahead by a fraction, or the right one by as
/// much if it is below 0.
fn ratio(ahead: f64) -> f64 {
    if ahead < 0.0 { 1.0 / (1.0 - ahead) } else { 1.0 + ahead }
}

/// Returns rates from well below the bad one to well above the good one.
pub(super) fn rates_around(good: f64, bad: f64) -> Vec<f64> {
    let step = if good > bad { good - bad } else { ((1.0 - good) / 2.0).min(good / 2.0) };
    let middle = (good + bad) / 2.0;
    let mut rates = vec![bad - 2.0 * step, bad - step, bad, middle, good, good + step / 2.0, 1.0];
    rates.iter_mut().for_each(|rate| *rate = rate.clamp(0.0, 1.0));
    rates.dedup();
    rates
}
