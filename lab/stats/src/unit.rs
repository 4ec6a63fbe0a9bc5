//! Units of several rounds: one log ratio for each, and the number of rounds that a unit should
//! have.

use crate::observation::LogRatio;
use tiebreak_core::study::Pilot;

/// The least number of rounds of a unit: both sides of a median then come from different rounds.
pub const ROUNDS_MIN: u32 = 2;
/// The maximum number of rounds of a unit, whatever the pilot finds: it is a noisy judge.
pub const ROUNDS_MAX: u32 = 64;

/// Returns the one log ratio that summarises a unit's rounds: their median, the mean of the two
/// middle ones for an even number, separately for lower and upper bounds.
///
/// Swapping the contestants mirrors it to the last bit (rule A4). The result of 0 rounds is
/// unknown.
pub fn summarise(rounds: &[LogRatio]) -> LogRatio {
    LogRatio {
        low: median(rounds.iter().map(|d| d.low)).unwrap_or(f64::NEG_INFINITY),
        high: median(rounds.iter().map(|d| d.high)).unwrap_or(f64::INFINITY),
    }
}

/// Returns the median. Adding 0 makes a negative zero positive, as its mirror is.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 || sorted[half - 1] == upper {
        return Some(upper + 0.0);
    }
    Some((sorted[half - 1] + upper) / 2.0 + 0.0)
}

/// The least assumed spread between units, as a natural logarithm: a pilot of a few units cannot
/// prove that placement does not matter.
const SPREAD_BETWEEN_MIN: f64 = 0.005;
/// The standard deviation of a normal distribution over the median distance from its median.
const DEVIATION_OF_MAD: f64 = 1.482602218505602;
/// The variance of a median of many normal values over that of their mean.
const MEDIAN_COST: f64 = std::f64::consts::FRAC_PI_2;

/// The variances of log ratios, by what they are taken over. Each is at least 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Rounds within a unit.
    pub within: f64,
    /// Means of two successive rounds within a unit: `within / 2` for normal values, and more where
    /// every tenth batch, say, is interrupted.
    pub of_two: f64,
    /// Units.
    pub between: f64,
}

/// Returns the variances of log ratios: the means over pairs, each given as its units of rounds, as
/// the units that all pairs need together are in proportion to the sum. The largest eighth of the
/// pairs' values do not count, for those that something disturbed.
///
/// Units are summarised by medians, for which the distance of an outlier does not matter. So the
/// variance within is the one that corresponds to the median distance from the median (the median
/// over units). The variance between is that of the units' medians, minus the part that the rounds
/// explain: their variance times pi/2 over the number of rounds per unit.
///
/// Pairs count whose units have equally many rounds, at least 2, and that have at least 2 units;
/// without any, the result is `None`.
pub fn noise(pairs: &[Vec<Vec<f64>>]) -> Option<Noise> {
    let of: Vec<Noise> = pairs.iter().filter_map(|units| pair_noise(units)).collect();
    let over_pairs = |which: fn(&Noise) -> f64| {
        let mut values: Vec<f64> = of.iter().map(which).collect();
        values.sort_by(f64::total_cmp);
        values.truncate(values.len() - values.len() / 8);
        values.iter().sum::<f64>() / values.len() as f64
    };
    (!of.is_empty()).then(|| Noise {
        within: over_pairs(|noise| noise.within),
        of_two: over_pairs(|noise| noise.of_two),
        between: over_pairs(|noise| noise.between).max(0.0),
    })
}

/// Returns the variances of a pair; that between its units may come out below 0.
fn pair_noise(units: &[Vec<f64>]) -> Option<Noise> {
    let rounds = units.first().map(Vec::len)?;
    if rounds < 2 || units.len() < 2 || units.iter().any(|unit| unit.len() != rounds) {
        return None;
    }
    let medians: Vec<f64> = units.iter().filter_map(|unit| median(unit.iter().copied())).collect();
    let each = || units.iter().zip(&medians);
    let squared = |distance: f64| (DEVIATION_OF_MAD * distance) * (DEVIATION_OF_MAD * distance);
    let distances =
        each().filter_map(|(unit, centre)| median(unit.iter().map(|value| (value - centre).abs())));
    let within = squared(median(distances)?);
    let of_two = each().flat_map(|(unit, centre)| {
        unit.chunks_exact(2).map(move |two| ((two[0] + two[1]) / 2.0 - centre).abs())
    });
    // The only two rounds of a unit are their own centre.
    let of_two = if rounds > 2 { squared(median(of_two)?) } else { within / 2.0 };
    let mean = medians.iter().sum::<f64>() / medians.len() as f64;
    let squares = medians.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let freedom = (medians.len() - 1) as f64;
    let between = squares / freedom - MEDIAN_COST * within / rounds as f64;
    Some(Noise { within, of_two, between })
}

/// The share of a unit's own cost that its rounds may cost in any case: they make few units fewer.
const CHEAP: f64 = 0.2;

/// What the units of a pair are to find out, and how much time there is for it. A run takes the
/// pair next that ends soonest, so it is the time of all pairs together.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The spread of units, as a natural logarithm, with which limits that are near enough take
    /// twice the fewest units: see [`spread_of_twice_the_fewest`]. Less spread gains little, so
    /// there is no need for rounds that reduce it further.
    ///
    /// [`spread_of_twice_the_fewest`]: crate::ratio_test::spread_of_twice_the_fewest
    pub spread: f64,
    /// The number of units that should fit into `seconds`.
    pub units: u64,
    /// The time for these units.
    pub seconds: f64,
}

/// Returns the number of rounds of a unit with which a pair reaches its goal soonest, about:
/// `sqrt(c_unit w / (c_round (between + spread^2)))` with `w = pi/2 within`, as an even number from
/// [`ROUNDS_MIN`] to [`ROUNDS_MAX`], and small enough that the goal's units fit into its seconds,
/// or that the rounds cost a fifth of what the unit costs without them.
///
/// It minimises `(c_unit + n c_round) fewest (1 + (between + w / n) / spread^2)`, the time to the
/// end (rule A4; Cochran 1977, section 10.6, has the same without a fewest number of units).
///
/// The median of two rounds is their mean, so an interruption of one counts. Where that costs more
/// than two further rounds, there are four: `of_two` is the variance of such means.
pub fn best_rounds(pilot: &Pilot, of_two: f64, goal: &Goal) -> u32 {
    let between = pilot.variance_between.max(SPREAD_BETWEEN_MIN * SPREAD_BETWEEN_MIN);
    let others = between + goal.spread * goal.spread;
    let round_cost_ns = pilot.round_cost_ns.max(1.0);
    let within = MEDIAN_COST * pilot.variance_within;
    let best = libm::sqrt(pilot.unit_cost_ns / round_cost_ns * within / others);
    let each_ns = goal.seconds * 1e9 / goal.units.max(1) as f64;
    let cheap_ns = CHEAP * pilot.unit_cost_ns;
    let affordable = (each_ns - pilot.unit_cost_ns).max(cheap_ns) / round_cost_ns;
    let rounds = best.min(affordable);
    if rounds.is_nan() {
        return ROUNDS_MIN;
    }
    let bounded = rounds.clamp(f64::from(ROUNDS_MIN), f64::from(ROUNDS_MAX));
    let even = 2 * (bounded / 2.0) as u32;
    // What a unit costs, times the units that are needed.
    let price = |rounds: u32, within: f64| pilot.cost_ns(rounds) * (others + within);
    let is_four = even == 2 && affordable >= 4.0 && price(4, within / 4.0) < price(2, of_two);
    if is_four { 4 } else { even }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins::{Purpose, Seed, Stream};

    #[test]
    fn a_swap_mirrors_the_summary_to_the_last_bit() {
        fn check(values: &[f64], expected: f64) {
            let rounds: Vec<LogRatio> = values.iter().map(|d| LogRatio::exact(*d)).collect();
            let mirrored: Vec<LogRatio> = rounds.iter().map(|d| d.mirrored()).collect();
            let summary = summarise(&rounds);
            assert_eq!(summary, LogRatio::exact(expected), "{values:?}");
            let (mirror, back) = (summarise(&mirrored), summary.mirrored());
            assert_eq!(mirror.low.to_bits(), back.low.to_bits(), "{values:?}");
            assert_eq!(mirror.high.to_bits(), back.high.to_bits(), "{values:?}");
        }
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
    fn the_variances_are_those_of_a_worked_example_and_outliers_do_not_matter() {
        // Medians 2, 5 and 8, each with a median distance of 1: within 1.4826^2 = 2.1981, between
        // 9 - pi / 2 * 2.1981 / 3.
        let units = vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]];
        let of = |units: &[Vec<f64>]| noise(&[units.to_vec()]);
        let found = of(&units).unwrap();
        let Noise { within, of_two, between } = found;
        assert!((within - 2.198109).abs() < 1e-6, "{within}");
        assert!((between - 7.849073).abs() < 1e-6, "{between}");
        // The first two rounds of each unit are 0.5 below its median.
        assert!((of_two - within / 4.0).abs() < 1e-9, "{of_two}");
        let mut wild = units.clone();
        wild[1][2] = 1e9;
        assert_eq!(of(&wild), Some(found));
        let alike = vec![vec![1.0, 2.0, 3.0], vec![3.0, 2.0, 1.0]];
        assert_eq!(of(&alike), Some(Noise { between: 0.0, ..found }));
        assert_eq!(of(&units[..1]), None);
        assert_eq!(of(&[vec![1.0], vec![2.0]]), None);
        let of_two = of(&[vec![1.0, 3.0], vec![2.0, 4.0]]).unwrap();
        assert_eq!(of_two.of_two, of_two.within / 2.0);
        // A pair of one unit counts for nothing. Of eight the one with most noise does not.
        let far = vec![vec![0.0, 1.0, 2.0], vec![1e6, 1e6 + 1.0, 1e6 + 2.0]];
        let mut pairs = vec![units.clone(), alike, units[..1].to_vec()];
        let half = Noise { between: (between - MEDIAN_COST * within / 3.0) / 2.0, ..found };
        assert_eq!(noise(&pairs), Some(half));
        pairs.splice(1.., [vec![units.clone(); 6], vec![far]].concat());
        assert!((noise(&pairs).unwrap().between / between - 1.0).abs() < 1e-9);
        assert_eq!(noise(&[]), None);
    }

    #[test]
    fn interruptions_show_in_means_of_two_rounds_and_ask_for_four() {
        let mut stream = Stream::new(Seed::from_text("spikes"), Purpose::Simulation, 0, 0);
        let mut rounds_of = |share: f64| {
            let mut round = || {
                let spike = if stream.unit() < share { 0.3 } else { 0.0 };
                0.01 * stream.normal() + spike
            };
            let mut unit = || std::iter::repeat_with(&mut round).take(8).collect::<Vec<_>>();
            let pairs: Vec<_> = (0..20).map(|_| vec![unit(), unit()]).collect();
            let noise = noise(&pairs).unwrap();
            let pilot = Pilot {
                variance_within: noise.within,
                variance_between: 0.02 * 0.02,
                unit_cost_ns: 10.0,
                round_cost_ns: 1.0,
                ..Pilot::default()
            };
            best_rounds(&pilot, noise.of_two, &Goal { spread: 0.0, units: 20, seconds: 1.0 })
        };
        assert_eq!(rounds_of(0.0), 2);
        assert_eq!(rounds_of(0.2), 4);
    }

    #[test]
    fn the_rounds_of_a_unit_balance_its_costs_against_its_noise_and_the_budget() {
        fn check_goal(within: f64, between: f64, unit_cost_ns: f64, goal: &Goal, expected: u32) {
            let pilot = Pilot {
                units: 4,
                variance_within: within,
                variance_between: between,
                unit_cost_ns,
                round_cost_ns: 1.0,
                ..Pilot::default()
            };
            let rounds = best_rounds(&pilot, within / 2.0, goal);
            assert_eq!(rounds, expected, "{within} {between} {unit_cost_ns} {goal:?}");
        }
        let goal = |spread: f64, seconds: f64| Goal { spread, units: 20, seconds };
        let check = |within, between, unit_cost_ns, seconds, expected| {
            check_goal(within, between, unit_cost_ns, &goal(0.0, seconds), expected);
        };
        // sqrt(157)
        check(1.0, 1.0, 100.0, 1.0, 12);
        check(4.0, 1.0, 100.0, 1.0, 24);
        check(1.0, 4.0, 100.0, 1.0, 6);
        check(1.0, 0.0, 100.0, 1.0, ROUNDS_MAX);
        check(0.0, 0.0, 100.0, 1.0, ROUNDS_MIN);
        check(1e-6, 0.0, 100.0, 1.0, 2);
        check(1.0, 1e9, 1.0, 1.0, ROUNDS_MIN);
        // 20 units of 10 ns and 12 rounds of 1 ns fit into 440 ns.
        check(100.0, 1.0, 10.0, 4.4e-7, 12);
        check(100.0, 1.0, 10.0, 1e-7, ROUNDS_MIN);
        // 20 rounds cost a fifth of what a unit costs.
        check(4.0, 1.0, 100.0, 1e-6, 20);
        check(9.0, 1.0, 100.0, 1e-6, 20);
        // Less noise than the goal's spread needs no more rounds: sqrt(157), sqrt(157 / 4).
        check_goal(1.0, 0.0, 100.0, &goal(1.0, 1.0), 12);
        check_goal(1.0, 1.0, 100.0, &goal(3.0_f64.sqrt(), 1.0), 6);
    }
}
