//! Draws the next contestants and their order.

use super::Referee;
use tiebreak_core::schedule::RoundCoins;
use tiebreak_stats::coins;

impl Referee {
    /// Returns the contestants of a complete block: those that an open claim still needs, and
    /// within a block of primers all that began it and are not void.
    pub(super) fn in_block(&self) -> Vec<usize> {
        let needed = self.needed();
        match self.block.rest() {
            Some(rest) if !needed.is_empty() => rest.to_vec(),
            _ => needed,
        }
    }

    /// Draws an attempt at the next round, without the unit of a round of functions.
    pub fn draw(&self, attempt: u32) -> RoundCoins {
        let company = self.company();
        if self.plan.engine_version == 1 {
            let coins = coins::draw(self.seed, self.rounds, attempt, &company);
            let primer = coins::lone_primer(self.seed, self.rounds, attempt, &company);
            return RoundCoins { primer, ..coins };
        }
        self.block.draw(self.seed, self.rounds, attempt, &company)
    }
}
