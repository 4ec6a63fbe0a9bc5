//! The placements of coming units, told ahead so that they are linked while nothing is timed.

use tiebreak_core::plan::{Budget, Plan, Scope};
use tiebreak_core::sampler::Sampler;
use tiebreak_stats::coins::{self, Seed};

/// The most units that are told at once.
const UNITS_MAX: u64 = 8;

/// What a sampler was told of the units to come.
///
/// Coins are a function of seed, round and attempt, so those of coming rounds are known as long as
/// the same contestants take part and no attempt is lost. The number of units doubles each time: a
/// run that ends early has then linked little in vain.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// The first round that was not told.
    until: u64,
    units: u64,
    contestants: Vec<usize>,
}

impl Ahead {
    /// Tells the sampler of the next units if it does not know of this one yet.
    pub(crate) fn tell(
        &mut self,
        plan: &Plan,
        budget: Budget,
        round: u64,
        attempt: u32,
        contestants: &[usize],
        sampler: &mut impl Sampler,
    ) {
        if plan.functions.is_none() || plan.scope != Scope::Code {
            return;
        }
        if attempt == 0 && round < self.until && self.contestants == contestants {
            return;
        }
        self.units = (2 * self.units).clamp(1, UNITS_MAX);
        let left = budget.rounds.map_or(u64::MAX, |most| most.saturating_sub(round).max(1));
        self.until = round + self.units.min(left);
        self.contestants = contestants.to_vec();
        let seed = Seed::from_text(&plan.seed);
        let mut placements = Vec::new();
        for coming in round..self.until {
            let attempt = if coming == round { attempt } else { 0 };
            let coins = coins::draw(seed, coming, attempt, contestants);
            let unit = coins::draw_unit(seed, &coins, plan.scope);
            placements.extend(coins.order.iter().copied().zip(unit.placements));
        }
        sampler.expect(&placements);
    }
}
