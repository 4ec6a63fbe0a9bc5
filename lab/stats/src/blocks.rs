//! Blocks of rounds in which each contestant is primed once, so that all run equally often.
//!
//! What a contestant keeps from run to run (a cache, a log, a database) makes its time a function
//! of how often it ran. A primer that is drawn afresh each round lets these numbers walk apart, and
//! the coins of the past then tell who is faster now. In a block of as many rounds as there are
//! contestants each is the primer once, in an order drawn at its start. What that proves, and of
//! what, is rule A3 (`docs/manual/evidence.md`).

use crate::coins::{self, Seed};
use tiebreak_core::schedule::RoundCoins;

/// The block of primers that a run stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Those who take part, in order of their numbers, and the latest primer.
    contestants: Vec<usize>,
    primer: usize,
    /// Those who are yet to be primed, in the order drawn.
    to_prime: Vec<usize>,
}

impl Block {
    /// Takes a finished round: the first of a new block if there is nobody left to be primed.
    pub fn take(&mut self, seed: Seed, coins: &RoundCoins) {
        if self.to_prime.is_empty() {
            self.contestants.clone_from(&coins.order);
            self.contestants.sort_unstable();
            let (round, attempt) = (coins.round, coins.attempt);
            self.to_prime = coins::primers(seed, round, attempt, &self.contestants);
        }
        self.primer = self.to_prime.remove(0);
    }

    /// A contestant takes part no more: the block goes on without it.
    pub fn leave(&mut self, contestant: usize) {
        self.contestants.retain(|other| *other != contestant);
        self.to_prime.retain(|other| *other != contestant);
    }

    /// Who takes part in the next round, if it belongs to this block.
    pub fn rest(&self) -> Option<&[usize]> {
        self.goes_on().then_some(&self.contestants)
    }

    /// Whether a further round belongs to the block of the latest one.
    pub fn goes_on(&self) -> bool {
        !self.to_prime.is_empty()
    }

    /// Draws an attempt at the next round: of this block with its own contestants, else the first
    /// of a block of these.
    pub fn draw(&self, seed: Seed, round: u64, attempt: u32, contestants: &[usize]) -> RoundCoins {
        let coins = coins::draw(seed, round, attempt, self.rest().unwrap_or(contestants));
        RoundCoins { primer: self.to_prime.first().copied().unwrap_or(coins.primer), ..coins }
    }

    /// Whether earlier rounds of the block tell which of two ran once more than the other when the
    /// latest one was timed: one was primed before it, and the other comes after it. Among two
    /// contestants that is never so.
    pub fn tells_apart(&self, left: usize, right: usize) -> bool {
        let comes = |contestant: usize| self.to_prime.contains(&contestant);
        let was_before = |contestant: usize| contestant != self.primer && !comes(contestant);
        (was_before(left) && comes(right)) || (was_before(right) && comes(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever takes part runs equally often at the ends of blocks, and never differs by more than
    /// one run at the moment at which it is timed.
    #[test]
    fn everybody_runs_equally_often() {
        let seed = Seed::from_text("blocks");
        for count in 1..=5 {
            let contestants: Vec<usize> = (0..count).collect();
            let (mut block, mut runs) = (Block::default(), vec![0u64; count]);
            for round in 0..60 * count as u64 {
                let coins = block.draw(seed, round, 0, &contestants);
                block.take(seed, &coins);
                runs[coins.primer] += 1;
                let apart = runs.iter().max().unwrap() - runs.iter().min().unwrap();
                assert!(apart <= 1, "{count} contestants, round {round}: {runs:?}");
                coins.order.iter().for_each(|contestant| runs[*contestant] += 1);
                assert_eq!(block.goes_on(), (round + 1) % count as u64 != 0);
            }
            assert!(runs.iter().all(|one| *one == runs[0]), "{runs:?}");
        }
    }

    #[test]
    fn pairs_that_stand_apart_are_known() {
        let block = Block { contestants: vec![0, 1, 2, 3], primer: 1, to_prime: vec![3, 2] };
        assert!(block.tells_apart(0, 2) && block.tells_apart(3, 0));
        assert!(!block.tells_apart(0, 1), "the one was primed before, the other now");
        assert!(!block.tells_apart(1, 2) && !block.tells_apart(2, 3));
    }

    #[test]
    fn who_leaves_is_neither_primed_nor_run() {
        let seed = Seed::from_text("leaves");
        let mut block = Block::default();
        block.take(seed, &block.draw(seed, 0, 0, &[0, 1, 2]));
        let gone = block.to_prime[0];
        block.leave(gone);
        let coins = block.draw(seed, 1, 3, &[0, 1, 2]);
        assert!(coins.primer != gone && !coins.order.contains(&gone));
        block.take(seed, &coins);
        assert_eq!(block.rest(), None);
    }
}
