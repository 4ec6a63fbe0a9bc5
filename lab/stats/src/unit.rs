//! Units of several rounds: one log ratio for each, and how many rounds a unit should have.

use crate::observation::LogRatio;
use tiebreak_core::study::Pilot;

/// The fewest rounds of a unit: both sides of a median then come from different rounds.
pub const ROUNDS_MIN: u32 = 2;
/// The most rounds of a unit, whatever the pilot says: it is a noisy judge.
pub const ROUNDS_MAX: u32 = 64;

/// The one log ratio that a unit's rounds are summarised to: their median, of an even number the
/// mean of the two middle ones, lower bounds and upper bounds apart.
///
/// Swapping the contestants mirrors it to the last bit (rule A4). 0 rounds tell nothing.
pub fn summarise(rounds: &[LogRatio]) -> LogRatio {
    let bound = |of: fn(&LogRatio) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(of).collect();
        values.sort_unstable_by(f64::total_cmp);
        middle(&values)
    };
    match (bound(|d| d.low), bound(|d| d.high)) {
        (Some(low), Some(high)) => LogRatio { low, high },
        _ => LogRatio { low: f64::NEG_INFINITY, high: f64::INFINITY },
    }
}

/// The median of sorted values; adding 0 makes a negative zero positive, as its mirror is.
fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 || sorted[half - 1] == upper {
        return Some(upper + 0.0);
    }
    Some((sorted[half - 1] + upper) / 2.0 + 0.0)
}

/// Variances of log ratios within units and between them, by the analysis of variance of one random
/// factor (Searle, Casella and McCulloch 1992, chapter 3): the mean square within, and what the
/// mean square between exceeds it by, over the rounds a unit; at least 0 both.
///
/// Each unit has equally many rounds, at least 2 of at least 2 units; `None` otherwise.
pub fn variances(units: &[Vec<f64>]) -> Option<(f64, f64)> {
    let rounds = units.first().map(Vec::len)?;
    if rounds < 2 || units.len() < 2 || units.iter().any(|unit| unit.len() != rounds) {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &[f64]| {
        let middle = mean(values);
        values.iter().map(|value| (value - middle) * (value - middle)).sum::<f64>()
    };
    let means: Vec<f64> = units.iter().map(|unit| mean(unit)).collect();
    let freedom = (units.len() * (rounds - 1)) as f64;
    let within = units.iter().map(|unit| squares(unit)).sum::<f64>() / freedom;
    let between = squares(&means) / (units.len() - 1) as f64 - within / rounds as f64;
    Some((within, between.max(0.0)))
}

/// How many rounds a unit should have so that a given time says most:
/// `sqrt(c_unit within / (c_round between))` (rule A4; Cochran 1977, section 10.6), an even number
/// from [`ROUNDS_MIN`] to [`ROUNDS_MAX`].
pub fn best_rounds(pilot: &Pilot) -> u32 {
    let cost = pilot.unit_cost_ns / pilot.round_cost_ns.max(1.0);
    let best = libm::sqrt(cost * pilot.variance_within / pilot.variance_between);
    if best.is_nan() {
        return ROUNDS_MIN;
    }
    let bounded = best.clamp(f64::from(ROUNDS_MIN), f64::from(ROUNDS_MAX));
    2 * libm::round(bounded / 2.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_mirrors_the_summary_to_the_last_bit() {
        let check = |values: &[f64], expected: f64| {
            let rounds: Vec<LogRatio> = values.iter().map(|d| LogRatio::exact(*d)).collect();
            let mirrored: Vec<LogRatio> = rounds.iter().map(|d| d.mirrored()).collect();
            let summary = summarise(&rounds);
            assert_eq!(summary, LogRatio::exact(expected), "{values:?}");
            let (mirror, back) = (summarise(&mirrored), summary.mirrored());
            assert_eq!(mirror.low.to_bits(), back.low.to_bits(), "{values:?}");
            assert_eq!(mirror.high.to_bits(), back.high.to_bits(), "{values:?}");
        };
        check(&[0.3], 0.3);
        check(&[0.1, 0.3], 0.2);
        check(&[0.1, -0.1], 0.0);
        check(&[0.0, 0.0, -0.5, 0.7], 0.0);
        check(&[0.1, 0.7, 0.3], 0.3);
        check(&[1e-17, 0.1, f64::INFINITY, 0.2, 0.3, f64::NEG_INFINITY], 0.15000000000000002);
        let nothing = summarise(&[]);
        assert_eq!((nothing.low, nothing.high), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn the_variances_are_those_of_a_worked_example() {
        // Means 1.5, 3.5 and 5.5: within 0.5, between 4 - 0.5 / 2.
        let units = vec![vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]];
        assert_eq!(variances(&units), Some((0.5, 3.75)));
        assert_eq!(variances(&[vec![1.0, 3.0], vec![1.0, 3.0]]), Some((2.0, 0.0)));
        assert_eq!(variances(&units[..1]), None);
        assert_eq!(variances(&[vec![1.0], vec![2.0]]), None);
    }

    #[test]
    fn the_rounds_of_a_unit_balance_its_costs_against_its_noise() {
        let check = |within: f64, between: f64, cost: f64, expected: u32| {
            let pilot = Pilot {
                units: 4,
                variance_within: within,
                variance_between: between,
                unit_cost_ns: cost,
                round_cost_ns: 1.0,
            };
            assert_eq!(best_rounds(&pilot), expected, "{within} {between} {cost}");
        };
        check(1.0, 1.0, 100.0, 10);
        check(4.0, 1.0, 100.0, 20);
        check(1.0, 4.0, 100.0, 6);
        check(1.0, 0.0, 100.0, ROUNDS_MAX);
        check(0.0, 0.0, 100.0, ROUNDS_MIN);
        check(1.0, 1e9, 1.0, ROUNDS_MIN);
    }
}
