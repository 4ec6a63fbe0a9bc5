//! Announces coming units, so that what they need is made while nothing is timed.

use crate::referee::Referee;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::FunctionSampler;
use tiebreak_core::schedule::RoundCoins;
use tiebreak_stats::coins::{self, Seed};

/// The most units that are announced at once.
const UNITS_MAX: usize = 8;

/// Announces the next units to the sampler.
///
/// Coins are a function of seed, round and attempt. Those of coming rounds are therefore known as
/// long as turns come as expected: no claim is settled and no attempt is lost. They are announced
/// before each unit; what was made for others is not used. At scope `layout` later rounds continue
/// in a process, so there is nothing to announce.
pub fn announce(referee: &Referee, attempt: u32, sampler: &mut dyn FunctionSampler) {
    let plan = &referee.plan;
    if !matches!(plan.scope, Scope::Code | Scope::Binary) {
        return;
    }
    let most = referee.budget.rounds.unwrap_or(u64::MAX);
    let turns = referee.turns().take_while(|(_, had)| *had < most).take(UNITS_MAX);
    let attempts = std::iter::once(attempt).chain(std::iter::repeat(0));
    let coming = (referee.rounds..).zip(attempts).zip(turns);
    let units = coming.map(|((round, attempt), (company, _))| {
        unit(Seed::from_text(&plan.seed), round, attempt, &company, plan.scope)
    });
    sampler.expect(&units.collect::<Vec<_>>());
}

/// Draws a unit of its own process, with this company.
pub fn unit(seed: Seed, round: u64, attempt: u32, company: &[usize], scope: Scope) -> RoundCoins {
    let coins = coins::draw(seed, round, attempt, company);
    let unit = Some(coins::draw_unit(seed, &coins, scope));
    RoundCoins { unit, ..coins }
}
