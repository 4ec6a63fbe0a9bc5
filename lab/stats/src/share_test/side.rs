//! One side of a share test: the bets that hits are more frequent than a bar says.
//!
//! For `holds`, a hit is a trial that surely succeeded; for `refuted`, one that surely failed.

use crate::mean_test::bets::MeanBets;
use crate::share_test::chain::ChainBets;
use crate::share_test::grid::{BETTORS, Bettor, Odds, grid, log_mixture};
use tiebreak_core::transitions::Transitions;

/// The number of halvings of the interval in which a limit is looked for.
const HALVINGS: u32 = 64;

/// The bets of one side, on single trials or on the shares of hits in blocks.
#[derive(Clone, Debug)]
pub enum Side {
    /// Each trial is an observation.
    Trials(TrialBets),
    /// Each block is an observation.
    Blocks(BlockBets),
    /// The trials are a chain.
    Chain(ChainBets),
}

/// Bets on single trials: a function of the numbers of hits and misses, in any order.
#[derive(Clone, Debug)]
pub struct TrialBets {
    odds: Odds,
    grid: [Bettor; BETTORS],
    knowing: Option<Bettor>,
    hits: u64,
    misses: u64,
    /// The number of hits below which the bets cannot have won enough.
    next_look: u64,
}

/// Bets on the share of hits in each block.
#[derive(Clone, Debug)]
pub struct BlockBets {
    block: u64,
    /// The number of trials in the unfinished block.
    trials: u64,
    hits: u64,
    bets: MeanBets,
}

impl Side {
    /// Returns the bets against "hits have at most the probability `odds.hit`". If there is an
    /// `alternative` and the bets are trial by trial, half of the stake is with a bettor on it.
    pub fn new(odds: Odds, alternative: Option<Odds>, block: u64) -> Side {
        if block > 1 {
            let bets = MeanBets::new(odds.hit);
            return Side::Blocks(BlockBets { block, trials: 0, hits: 0, bets });
        }
        Side::Trials(TrialBets {
            odds,
            grid: grid(odds),
            knowing: alternative.map(|alternative| Bettor::knowing(alternative, odds)),
            hits: 0,
            misses: 0,
            next_look: 0,
        })
    }

    /// Returns the bets against "the long-run share of hits is at most `odds.hit`" for trials that
    /// are a chain.
    pub fn chain(odds: Odds) -> Side {
        Side::Chain(ChainBets::new(odds))
    }

    /// Takes transitions, if the bets are on them.
    pub fn follow(&mut self, hits_and_misses: &Transitions) {
        if let Side::Chain(bets) = self {
            bets.follow(hits_and_misses);
        }
    }

    /// Takes `trials` trials with `hits` hits. They join the unfinished block, which ends as soon
    /// as it is long enough.
    #[inline]
    pub fn observe(&mut self, trials: u64, hits: u64) {
        match self {
            Side::Trials(bets) => {
                bets.hits += hits;
                bets.misses += trials - hits;
            }
            Side::Blocks(blocks) => blocks.observe(trials, hits),
            Side::Chain(_) => {}
        }
    }

    /// Returns whether the wealth has reached `exp(log_needed)`, which must be the same at every
    /// call.
    #[inline]
    pub fn reaches(&mut self, log_needed: f64) -> bool {
        match self {
            Side::Trials(bets) => bets.reaches(log_needed),
            // Only the end of a block changes the wealth.
            Side::Blocks(blocks) => blocks.trials == 0 && blocks.bets.log_evidence() >= log_needed,
            Side::Chain(bets) => bets.log_evidence() >= log_needed,
        }
    }

    /// Returns the logarithm of the wealth of the bets at the bar.
    pub fn log_evidence(&self) -> f64 {
        match self {
            Side::Trials(bets) => bets.log_evidence(),
            Side::Blocks(blocks) => blocks.bets.log_evidence(),
            Side::Chain(bets) => bets.log_evidence(),
        }
    }

    /// Returns the largest share of hits that is rejected together with all smaller ones. It is at
    /// least the bar if and only if the wealth at the bar has reached `exp(log_needed)`.
    pub fn lower_limit(&self, log_needed: f64) -> Option<f64> {
        match self {
            Side::Trials(bets) => bets.lower_limit(log_needed),
            Side::Blocks(blocks) => blocks.bets.lower_limit(log_needed),
            Side::Chain(bets) => bets.lower_limit(log_needed),
        }
    }

    /// Returns the number of trials in the unfinished block.
    pub fn left_over(&self) -> u64 {
        match self {
            Side::Trials(_) | Side::Chain(_) => 0,
            Side::Blocks(blocks) => blocks.trials,
        }
    }

    /// Returns the share of hits in each whole block, in the order of their arrival; empty if there
    /// are no blocks.
    pub fn block_shares(&self) -> &[f64] {
        match self {
            Side::Trials(_) | Side::Chain(_) => &[],
            Side::Blocks(blocks) => blocks.bets.values(),
        }
    }

    /// Returns the least number of trials that reach `exp(log_needed)`: all of them hits, for a
    /// chain nearly all.
    pub fn least_trials(&self, log_needed: f64) -> u64 {
        match self {
            Side::Trials(bets) => least(|hits| bets.log_evidence_after(hits, 0) >= log_needed),
            Side::Blocks(blocks) => {
                let reaches = |n| blocks.bets.log_evidence_after(n, 1.0) >= log_needed;
                least(reaches).saturating_mul(blocks.block)
            }
            Side::Chain(bets) => bets.least_trials(log_needed),
        }
    }
}

/// Returns the least number for which a condition is true that stays true from there on.
pub(super) fn least(is_enough: impl Fn(u64) -> bool) -> u64 {
    let mut most = 1;
    while !is_enough(most) {
        if most >= 1 << 62 {
            return u64::MAX;
        }
        most *= 2;
    }
    let mut too_few = most / 2;
    while most - too_few > 1 {
        let middle = too_few + (most - too_few) / 2;
        *(if is_enough(middle) { &mut most } else { &mut too_few }) = middle;
    }
    most
}

impl TrialBets {
    fn log_evidence(&self) -> f64 {
        self.log_evidence_after(self.hits, self.misses)
    }

    fn log_evidence_after(&self, hits: u64, misses: u64) -> f64 {
        log_mixture(&self.grid, self.knowing, hits, misses)
    }

    fn reaches(&mut self, log_needed: f64) -> bool {
        if self.hits < self.next_look {
            return false;
        }
        let log_evidence = self.log_evidence();
        if log_evidence >= log_needed {
            return true;
        }
        // Misses only lose, and no hit wins more than the boldest bettor does.
        let boldest = self.knowing.map_or(0.0, Bettor::log_gain).max(self.grid[0].log_gain());
        let hits = ((log_needed - log_evidence) / boldest) as u64;
        self.next_look = self.hits.saturating_add(hits.max(1));
        false
    }

    /// Returns the limit for single trials. The bettor who knows the alternative bets against every
    /// bar up to its own with the same factors, so the mixture falls with the bar like the grid
    /// does. Beyond its own bar it may not bet, and the grid is alone. The two do not meet at the
    /// bar, so limits beyond it count only once the bar itself is rejected: the rejected bars are
    /// then an interval from 0.
    fn lower_limit(&self, log_needed: f64) -> Option<f64> {
        let (mut rejected, mut open, knowing) = if self.log_evidence() >= log_needed {
            (self.odds.hit, 1.0, None)
        } else {
            (0.0, self.odds.hit, self.knowing)
        };
        for _ in 0..HALVINGS {
            let middle = rejected + (open - rejected) / 2.0;
            if middle <= rejected || middle >= open {
                break;
            }
            let grid = grid(Odds::of(middle));
            let is_rejected = log_mixture(&grid, knowing, self.hits, self.misses) >= log_needed;
            *(if is_rejected { &mut rejected } else { &mut open }) = middle;
        }
        (rejected > 0.0).then_some(rejected)
    }
}

impl BlockBets {
    fn observe(&mut self, trials: u64, hits: u64) {
        self.trials += trials;
        self.hits += hits;
        if self.trials >= self.block {
            self.bets.observe(self.hits as f64 / self.trials as f64);
            (self.trials, self.hits) = (0, 0);
        }
    }
}
