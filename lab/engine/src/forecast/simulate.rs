//! Simulates runs until the forecast is complete.

use super::{Model, Question};
use crate::error::LabError;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::forecast::{BudgetForecast, Chance, ForecastRow};
use tiebreak_stats::classic::{Conclusion, Driver, OUTER_EPS, Power, PowerOptions};
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::observation::{factor, log};
use tiebreak_stats::power::Tally;

/// The number of runs of each truth: enough for its quantiles.
const RUNS_MIN: u64 = 400;
/// The most runs that a decision about a probability may take.
const RUNS_MAX: u64 = 4000;
/// If runs are long, this many suffice for the quantiles once `ROUNDS_ALL` rounds were simulated.
const RUNS_FEW: u64 = 100;
const ROUNDS_ALL: u64 = 1_000_000;
/// Points of the curves.
const POINTS: usize = 40;
/// The most attempts, and the most trials in total, of the published recursion.
const ATTEMPTS_MAX: u64 = 20_000;
const TRIALS_ALL: u64 = 100_000_000;

/// The simulation of every truth of a model.
pub(super) struct Simulation<'a> {
    pub(super) question: &'a Question,
    pub(super) model: &'a Model,
    pub(super) budget: Option<BudgetForecast>,
    /// The longest simulated run.
    pub(super) rounds_max: u64,
    pub(super) stop: &'a AtomicBool,
}

impl Simulation<'_> {
    /// Simulates each truth, and returns a row for each and the rounds at which their curves are
    /// read; those after an interruption are missing.
    pub(super) fn rows(&self, watch: &mut dyn FnMut(u64, u64)) -> (Vec<ForecastRow>, Vec<u64>) {
        let truths = &self.model.truths;
        let all = RUNS_MIN * truths.len() as u64;
        let mut made = 0;
        let mut tallies = Vec::new();
        for (row, truth) in truths.iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let one_more = &mut || {
                made += 1;
                watch(made, all.max(made));
            };
            tallies.push(self.row(row as u32, *truth, one_more));
        }
        let curve_rounds = points(&tallies, self.rounds_max);
        let rows = truths.iter().zip(&tallies).map(|(truth, tally)| ForecastRow {
            truth: *truth,
            runs: tally.runs,
            rounds_q10: tally.quantile(0.1),
            rounds_median: tally.quantile(0.5),
            rounds_q90: tally.quantile(0.9),
            chance: tally.chance(),
            says: tally.says(),
            curve: curve_rounds.iter().map(|rounds| tally.ended_by(*rounds)).collect(),
        });
        (rows.collect(), curve_rounds)
    }

    fn row(&self, row: u32, truth: f64, one_more: &mut dyn FnMut()) -> Tally {
        let seed = Seed::from_text(&self.question.seed);
        let mut tally = Tally::new(self.budget.map(|budget| (budget.rounds, self.question.chance)));
        let mut rounds = 0;
        while !self.stop.load(Ordering::Relaxed) {
            let coins = Stream::new(seed, Purpose::Simulation, tally.runs, row);
            let end = self.model.scenario.run(truth, self.rounds_max, coins);
            rounds += end.map_or(self.rounds_max, |(rounds, _)| rounds);
            tally.add(end);
            one_more();
            let runs = tally.runs;
            let is_enough = runs >= RUNS_MIN || runs >= RUNS_FEW && rounds >= ROUNDS_ALL;
            let is_too_much = runs >= RUNS_MAX || rounds >= 4 * ROUNDS_ALL;
            if is_enough && (!tally.is_open() || is_too_much) {
                break;
            }
        }
        tally
    }
}

/// Returns the rounds at which the curves are read: evenly spaced in their logarithm, up to where
/// nine tenths of the runs of most truths have ended; the same on every machine.
fn points(tallies: &[Tally], rounds_max: u64) -> Vec<u64> {
    let last = tallies.iter().map(|tally| tally.quantile(0.9).unwrap_or(rounds_max)).max();
    let last = last.unwrap_or(rounds_max).max(20) as f64;
    let (first, last) = (log(5.0), log(last));
    let shares = (0..POINTS).map(|point| point as f64 / (POINTS - 1) as f64);
    shares.map(|share| factor(first + share * (last - first)).round() as u64).collect()
}

/// Computes the probabilities by the published recursion instead of our own test, each with all its
/// attempts repeated: the driver within the driver.
pub(super) fn by_recursion(
    question: &Question,
    driver: &Driver,
    trials: u64,
    rows: &mut [ForecastRow],
) -> Result<(), LabError> {
    let attempts = (TRIALS_ALL / trials).clamp(100, ATTEMPTS_MAX);
    for (index, row) in rows.iter_mut().enumerate() {
        let power = Power::new(&PowerOptions {
            p: row.truth,
            alpha: driver.low,
            alpha_hi: Some(driver.high),
            max_count: trials,
            eps: question.error,
            success_rate: question.chance,
            max_attempts: Some(attempts),
        });
        let power = power.map_err(|error| LabError::Usage(error.to_string()))?;
        let seed = Seed::from_text(&question.seed);
        let mut coins = Stream::new(seed, Purpose::Simulation, index as u64, u32::from(u16::MAX));
        let found = power.run(|| coins.unit(), |_| {}).progress;
        let (low, high) = power.outer.interval(&found);
        row.chance = Some(Chance {
            runs: found.n,
            ended: found.s,
            estimate: found.estimate().unwrap_or(0.0),
            low,
            high,
            confidence: 1.0 - OUTER_EPS,
            is_enough: match power.outer.conclude(&found) {
                _ if !found.is_decided() => None,
                Conclusion::Above(_) => Some(true),
                Conclusion::Below(_) => Some(false),
                Conclusion::Between | Conclusion::Open => None,
            },
            proven_after: found.is_decided().then_some(found.n),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first, the eleventh, the 31st and the last point, known to 40 digits.
    fn check(rounds_max: u64, expected: [u64; 4]) {
        let points = points(&[], rounds_max);
        assert!(points.len() == POINTS && points.is_sorted(), "{points:?}");
        assert_eq!([0, 10, 30, 39].map(|at| points[at]), expected, "{rounds_max}");
    }

    #[test]
    fn points_reach_from_five_rounds_to_the_last() {
        check(0, [5, 7, 15, 20]);
        check(20, [5, 7, 15, 20]);
        check(1000, [5, 19, 294, 1000]);
        check(1_000_000_000, [5, 672, 12_144_446, 1_000_000_000]);
    }
}
