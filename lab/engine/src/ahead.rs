//! Announces the placements of coming units, so that they are linked while nothing is timed.

use crate::referee::Referee;
use std::collections::VecDeque;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::FunctionSampler;
use tiebreak_stats::coins::{self, Seed};

/// The most units that are announced at once.
const UNITS_MAX: usize = 8;

/// The coming units that the sampler knows.
///
/// Coins are a function of seed, round and attempt. Those of coming rounds are therefore known as
/// long as turns come as expected: no claim is settled and no attempt is lost. The number of units
/// doubles each time, up to what keeps every CPU busy with a link. A run that ends early has then
/// linked few placements in vain, and a pair on two CPUs none.
#[derive(Debug)]
pub struct Ahead {
    /// The contestants of the announced units that have not begun.
    announced: VecDeque<Vec<usize>>,
    units: usize,
    cpus: usize,
}

impl Default for Ahead {
    fn default() -> Ahead {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Ahead { announced: VecDeque::new(), units: 0, cpus }
    }
}

impl Ahead {
    /// Announces the next units to the sampler if it does not know this one yet.
    pub fn announce(&mut self, referee: &Referee, attempt: u32, sampler: &mut dyn FunctionSampler) {
        let plan = &referee.plan;
        if plan.scope != Scope::Code {
            return;
        }
        let is_foreseen = self.announced.pop_front() == Some(referee.company());
        if attempt == 0 && is_foreseen {
            return;
        }
        let most = referee.budget.rounds.unwrap_or(u64::MAX);
        let turns = referee.turns().take_while(|(_, had)| *had < most);
        let seed = Seed::from_text(&plan.seed);
        let mut placements = Vec::new();
        self.announced.clear();
        self.units = (2 * self.units).clamp(1, UNITS_MAX);
        for (coming, (company, _)) in (referee.rounds..).zip(turns.take(self.units)) {
            if !self.announced.is_empty() && placements.len() + company.len() > self.cpus {
                break;
            }
            let attempt = if self.announced.is_empty() { attempt } else { 0 };
            let coins = coins::draw(seed, coming, attempt, &company);
            let unit = coins::draw_unit(seed, &coins, plan.scope);
            placements.extend(coins.order.iter().copied().zip(unit.placements));
            self.announced.push_back(company);
        }
        // This unit is about to begin.
        self.announced.pop_front();
        sampler.expect(&placements);
    }
}
