//! One bet against one bar: the wealth is evidence that the log ratio is above the bar.

use crate::bettor::Table;
use crate::noise::Bet;
use crate::wealth::{Scaled, Wealth};

/// The bettors' wealth against "the log ratio is at most `bar`".
///
/// Under that hypothesis, the expectation of the total never exceeds 1, so the probability that it
/// ever reaches `1/e` is at most `e`. The bet that the log ratio lies *below* a bar is the same on
/// mirrored rounds: observe `-d` against `-bar`.
#[derive(Clone, Debug)]
pub struct EProcess {
    table: &'static Table,
    bar: f64,
    wealth: Wealth,
}

impl EProcess {
    /// Starts with a wealth of 1.
    pub fn new(table: &'static Table, bar: f64) -> EProcess {
        EProcess { table, bar, wealth: Wealth::default() }
    }

    /// Returns the bar.
    pub fn bar(&self) -> f64 {
        self.bar
    }

    /// Bets on a round of log ratio `d`, with the scale of the rounds before it.
    #[inline]
    pub fn observe(&mut self, d: f64, scale: Option<f64>) {
        let scores = self.table.scores(d - self.bar, scale);
        self.wealth.bet(self.table, &scores);
    }

    /// Bets on a round, where `side` is the side of its log ratio that this bet is about.
    #[inline]
    pub fn observe_bet(&mut self, side: f64, bet: &Bet) {
        if bet.weight == 1.0 {
            return self.observe(side, bet.scale);
        }
        let scores = self.table.scores(side - self.bar, bet.scale).map(|score| score * bet.weight);
        self.wealth.bet(self.table, &scores);
    }

    /// Returns the wealth, as if `charges` further rounds had the worst loss.
    pub fn total(&self, charges: u64) -> Scaled {
        self.wealth.total(self.table, charges)
    }

    /// Returns [`EProcess::total`] as a number.
    pub fn value(&self, charges: u64) -> f64 {
        self.total(charges).to_f64()
    }
}
