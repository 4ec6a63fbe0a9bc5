//! Blocks of rounds in which each contestant is the primer once, so that all run equally often.
//!
//! If a contestant keeps something from run to run (a cache, a log, a database), its time depends
//! on how often it ran. If the primer is drawn afresh each round, these numbers drift apart, and
//! past coins then show which contestant is faster now. A block has as many rounds as there are
//! contestants. Each contestant is the primer once, in an order drawn at the start of the block.
//! Without primers, all run equally often after each round, and each round is a block.
//! Rule A3 (`docs/manual/evidence.md`) says what that proves, and about what.

use crate::coins::{self, Seed};
use tiebreak_core::schedule::RoundCoins;

/// The block of primers that contains the latest round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The contestants, in order of their numbers, and the latest primer.
    contestants: Vec<usize>,
    primer: usize,
    /// The contestants that have yet to be primers, in the order drawn.
    to_prime: Vec<usize>,
}

impl Block {
    /// Takes a finished round. It is the first of a new block if every contestant has been the
    /// primer, and a whole block if it had no primer.
    pub fn take(&mut self, seed: Seed, coins: &RoundCoins) {
        if coins.primer.is_none() {
            *self = Block::default();
            return;
        }
        if self.to_prime.is_empty() {
            self.contestants.clone_from(&coins.order);
            self.contestants.sort_unstable();
            let (round, attempt) = (coins.round, coins.attempt);
            self.to_prime = coins::primers(seed, round, attempt, &self.contestants);
        }
        self.primer = self.to_prime.remove(0);
    }

    /// Removes a contestant: the block continues without it.
    pub fn leave(&mut self, contestant: usize) {
        self.contestants.retain(|other| *other != contestant);
        self.to_prime.retain(|other| *other != contestant);
    }

    /// Returns the contestants of the next round, if it belongs to this block.
    pub fn rest(&self) -> Option<&[usize]> {
        self.goes_on().then_some(&self.contestants)
    }

    /// Returns whether a further round belongs to the block of the latest one.
    pub fn goes_on(&self) -> bool {
        !self.to_prime.is_empty()
    }

    /// Draws an attempt at the next round. If it belongs to this block, it has the block's
    /// contestants; otherwise, it is the first round of a block of `contestants`, or a round
    /// without a primer unless `primes`.
    pub fn draw(
        &self,
        seed: Seed,
        (round, attempt): (u64, u32),
        contestants: &[usize],
        primes: bool,
    ) -> RoundCoins {
        let mut coins = coins::draw(seed, round, attempt, self.rest().unwrap_or(contestants));
        if self.goes_on() {
            coins.primer = self.to_prime.first().copied();
        } else if !primes {
            coins.primer = None;
            coins.padding_bytes.remove(0);
        }
        coins
    }

    /// Returns whether earlier rounds of the block show which of two contestants had run once more
    /// than the other when the latest round was timed: one was the primer before it, and the other
    /// will be after it. With only two contestants, this never happens.
    pub fn tells_apart(&self, left: usize, right: usize) -> bool {
        let [comes_left, comes_right] = [left, right].map(|one| self.to_prime.contains(&one));
        let was_left = left != self.primer && !comes_left;
        let was_right = right != self.primer && !comes_right;
        (was_left && comes_right) || (was_right && comes_left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every contestant runs equally often at the ends of blocks, and its count never differs by
    /// more than one run at the moment at which it is timed.
    #[test]
    fn everybody_runs_equally_often() {
        let seed = Seed::from_text("blocks");
        for count in 1..=5 {
            let contestants: Vec<usize> = (0..count).collect();
            let (mut block, mut runs) = (Block::default(), vec![0u64; count]);
            for round in 0..60 * count as u64 {
                let coins = block.draw(seed, (round, 0), &contestants, true);
                block.take(seed, &coins);
                runs[coins.primer.unwrap()] += 1;
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
        block.take(seed, &block.draw(seed, (0, 0), &[0, 1, 2], true));
        let gone = block.to_prime[0];
        block.leave(gone);
        let coins = block.draw(seed, (1, 3), &[0, 1, 2], true);
        assert!(coins.primer != Some(gone) && !coins.order.contains(&gone));
        block.take(seed, &coins);
        assert_eq!(block.rest(), None);
    }

    /// A block that has begun primes the rest of its contestants before rounds have no primer.
    #[test]
    fn a_round_without_a_primer_is_a_block_and_draws_nothing_else() {
        let seed = Seed::from_text("none");
        let mut block = Block::default();
        for (round, primes) in [(0, true), (1, false), (2, false), (3, false), (4, true)] {
            let (coins, all) = (block.draw(seed, (round, 0), &[0, 1], primes), [0, 1]);
            let drawn = coins::draw(seed, round, 0, &all);
            assert_eq!(coins.primer.is_some(), matches!(round, 0 | 1 | 4), "{round}");
            assert_eq!(coins.order, drawn.order);
            let runs = coins.order.len() + usize::from(coins.primer.is_some());
            assert_eq!(coins.padding_bytes, drawn.padding_bytes[3 - runs..]);
            block.take(seed, &coins);
            assert_eq!(block.goes_on(), matches!(round, 0 | 4), "{round}");
            assert!(!block.tells_apart(0, 1));
        }
    }
}
