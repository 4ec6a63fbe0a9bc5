//! Worlds of noise in which the truth is known, and the counting of wrong verdicts in them.

#![allow(dead_code, reason = "an example uses a part")]

pub mod neighbour;
pub mod noise;
pub mod own_state;
pub mod race;
pub mod rates;
pub mod settings;
pub mod skew;
pub mod trials;
pub mod worlds;

use tiebreak_core::plan::Centre;
use tiebreak_core::plan::ENGINE_VERSION;
use tiebreak_stats::bettor::{EProcess, Table};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::{SequentialTest, Settled};
use tiebreak_stats::limits::History;
use tiebreak_stats::noise::Noise;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

/// What is known about a round of which nothing is.
pub const UNKNOWN: Conditions = Conditions::UNKNOWN;

/// The two engines.
pub const CENTRES: [Centre; 2] = [Centre::Factor, Centre::Median];

/// The table of bettors of an engine.
pub fn table(centre: Centre) -> &'static Table {
    Table::of(centre, ENGINE_VERSION)
}

/// Feeds rounds until the claim is settled, and gives the verdict and the rounds that it took.
pub fn settle(test: RatioTest, rounds: impl Iterator<Item = LogRatio>) -> Option<(Settled, u64)> {
    settle_adjusted(test, rounds.map(|d| (d, Conditions::UNKNOWN)))
}

/// The same of rounds whose conditions are known.
pub fn settle_adjusted(
    mut test: RatioTest,
    rounds: impl Iterator<Item = (LogRatio, Conditions)>,
) -> Option<(Settled, u64)> {
    for (d, conditions) in rounds {
        if let Some(settled) = test.observe(d, &conditions) {
            return Some((settled, test.rounds()));
        }
    }
    None
}

/// Whether limits at `error` a side ever exclude the true log ratio: they do if and only if the
/// bets at the truth itself reach `1/error`.
pub fn ever_misses(
    table: &'static Table,
    truth: f64,
    error: f64,
    rounds: impl Iterator<Item = LogRatio>,
) -> bool {
    let (mut noise, mut history) = (Noise::default(), History::new(table));
    let (mut above, mut below) = (EProcess::new(table, truth), EProcess::new(table, -truth));
    for d in rounds {
        let bet = noise.bet(d, &Conditions::UNKNOWN);
        above.observe(d, &bet, history.shape());
        below.observe(d.mirrored(), &bet, history.shape());
        noise.learn(d, &Conditions::UNKNOWN, &bet);
        history.push(&bet);
        if let Some(shape) = history.learn(&noise.past) {
            above.learn(shape);
            below.learn(shape);
        }
        if above.value(0).max(below.value(0)) >= 1.0 / error {
            return true;
        }
    }
    false
}

/// The history of these rounds, each with the scale of those before it.
pub fn history(table: &'static Table, rounds: &[LogRatio]) -> History {
    let (mut noise, mut history) = (Noise::default(), History::new(table));
    for d in rounds {
        let bet = noise.bet(*d, &Conditions::UNKNOWN);
        noise.learn(*d, &Conditions::UNKNOWN, &bet);
        history.push(&bet);
        history.learn(&noise.past);
    }
    history
}
