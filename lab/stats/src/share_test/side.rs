//! One side of a share test: the bets that hits are more frequent than a bar says.
//!
//! For `holds`, a hit is a trial that surely succeeded; for `refuted`, one that surely failed.
//!
//! The code is for hits and misses, so that bets on successes and bets on failures share one engine
//! and mirror each other. The hypothesis is always "a trial is a hit with probability at most `p`,
//! whatever happened before". A bettor multiplies its wealth by `1 + gain` on a hit and by
//! `1 - loss` on a miss with `gain p = loss (1 - p)`: its expected gain is zero, and negative if
//! the probability is smaller.

use crate::bisection::last_rejected_share;
use crate::mean_test::MeanBets;
use crate::rate::times;
use crate::share_test::chain::ChainBets;
use tiebreak_core::transitions::Transitions;

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
    bettors: Bettors,
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
    /// Part of the stake is on "hits never miss" if `may_be_certain` and misses are the exception:
    /// where hits are, it would win hardly more than the boldest of the others.
    pub fn new(odds: Odds, alternative: Option<Odds>, block: u64, may_be_certain: bool) -> Side {
        let is_certain = may_be_certain && odds.hit >= odds.miss;
        if block > 1 {
            let bets = MeanBets::new(odds.hit, is_certain);
            return Side::Blocks(BlockBets { block, trials: 0, hits: 0, bets });
        }
        let knowing = alternative.map(|alternative| Bettor::knowing(alternative, odds));
        let bettors = Bettors::new(odds, knowing, is_certain);
        Side::Trials(TrialBets { odds, bettors, hits: 0, misses: 0, next_look: 0 })
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
        if let Side::Blocks(blocks) = self { blocks.trials } else { 0 }
    }

    /// Returns the share of hits in each whole block, in the order of their arrival; empty if there
    /// are no blocks.
    pub fn block_shares(&self) -> &[f64] {
        if let Side::Blocks(blocks) = self { blocks.bets.values() } else { &[] }
    }

    /// Returns the least number of trials that reach `exp(log_needed)`: all of them hits, for a
    /// chain nearly all.
    pub fn least_trials(&self, log_needed: f64) -> u64 {
        match self {
            Side::Trials(bets) => least(|hits| bets.bettors.log_wealth(hits, 0) >= log_needed),
            Side::Blocks(blocks) => least(|n| blocks.bets.log_evidence_after(n, 1.0) >= log_needed)
                .saturating_mul(blocks.block),
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
        self.bettors.log_wealth(self.hits, self.misses)
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
        let hits = ((log_needed - log_evidence) / self.bettors.boldest()) as u64;
        self.next_look = self.hits.saturating_add(hits.max(1));
        false
    }

    /// Returns the limit for single trials. The bettor who knows the alternative bets against every
    /// bar up to its own with the same factors, so the mixture falls with the bar like that of the
    /// others does. Beyond its own bar it may not bet, and the others are alone. The two do not
    /// meet at the bar, so limits beyond it count only once the bar itself is rejected: the
    /// rejected bars are then an interval from 0.
    fn lower_limit(&self, log_needed: f64) -> Option<f64> {
        let is_bar_rejected = self.log_evidence() >= log_needed;
        let knowing = self.bettors.knowing.filter(|_| !is_bar_rejected);
        let is_certain = self.bettors.certain.is_some();
        last_rejected_share(self.odds.hit, is_bar_rejected, |bar| {
            let bettors = Bettors::new(Odds::of(bar), knowing, is_certain);
            bettors.log_wealth(self.hits, self.misses) >= log_needed
        })
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

/// The number of bettors of the grid.
const BETTORS: usize = 12;
/// The smallest and the largest share of its wealth that a bettor of the grid may lose on a miss.
const LOSS_LEAST: f64 = 0.1;
const LOSS_MOST: f64 = 0.9;
/// The smallest relative gain on a hit if hits are rare.
const GAIN_LEAST: f64 = 0.1;
/// The units in the last place by which a logarithm is rounded down: `libm` is right to one, and
/// the three operations that made its argument to one more each.
const LOG_ULPS: u32 = 8;
/// The slack for the exponentials and the sum of a mixture, in addition to [`RELATIVE_SLACK`].
const SLACK: f64 = 1e-12;
/// The slack for each unit of the logarithm.
const RELATIVE_SLACK: f64 = 1.0 / (1u64 << 50) as f64;

/// The probabilities of a hit and of a miss at a bar. Both are kept, because one of them may be too
/// small to be recovered from the other's distance to 1.
#[derive(Clone, Copy, Debug)]
pub struct Odds {
    /// The probability of a hit.
    pub hit: f64,
    /// The probability of a miss.
    pub miss: f64,
}

impl Odds {
    /// Returns the odds at which a hit has this probability.
    pub fn of(hit: f64) -> Odds {
        Odds { hit, miss: 1.0 - hit }
    }

    /// Returns the odds with hits and misses swapped.
    pub fn swapped(self) -> Odds {
        Odds { hit: self.miss, miss: self.hit }
    }

    /// Returns misses over hits: the gain that balances losing everything.
    fn against(self) -> f64 {
        self.miss / self.hit
    }
}

/// The natural logarithms of a bettor's two factors, rounded down.
#[derive(Clone, Copy, Debug)]
struct Bettor {
    hit: f64,
    miss: f64,
}

impl Bettor {
    const IDLE: Bettor = Bettor { hit: 0.0, miss: 0.0 };

    fn new(gain: f64, loss: f64) -> Bettor {
        let [hit, miss] = [gain, -loss]
            .map(|change| (0..LOG_ULPS).fold(libm::log1p(change), |log, _| log.next_down()));
        Bettor { hit, miss }
    }

    /// Returns the bettor of Wald's sequential test (1945). Its wealth is the likelihood of the
    /// alternative that a hit has probability `alternative`, which is more than `odds.hit`, over
    /// that of `odds`.
    fn knowing(alternative: Odds, odds: Odds) -> Bettor {
        let more = (alternative.hit - odds.hit).min(odds.miss - alternative.miss);
        Bettor::new(more / odds.hit, more / odds.miss)
    }

    /// Returns the bettor on the alternative that a hit has the probability 1. A miss ruins it.
    fn certain(odds: Odds) -> Bettor {
        Bettor::new(odds.against(), 1.0)
    }

    /// Returns the logarithm of its wealth.
    fn log_wealth(self, hits: f64, misses: f64) -> f64 {
        let (won, lost) = (times(hits, self.hit), times(misses, self.miss));
        (won.next_down() + lost.next_down()).next_down()
    }
}

/// Returns the twelve bettors of the grid against "a hit has at most this probability".
///
/// With `o = (1 - p) / p`, they gain a geometric series from `0.9 o` down to `0.1 min(o, 1)` on a
/// hit, and lose that over `o` on a miss. If hits are frequent (`o <= 1`), stakes run from 0.9 to
/// 0.1 of the wealth; if they are rare, the alternatives run down to 1.1 times the probability.
///
/// Every factor falls with `p`, so the wealth of the grid does too. For `o <= 1`, losses are
/// constant and gains proportional to `o`. For `o > 1` with `0 <= t <= 1`, a gain is
/// `0.9^(1-t) 0.1^t o^(1-t)`, which falls with `p`, and a loss is `0.9^(1-t) 0.1^t o^-t`, which
/// rises. At `p = 1` there are no bets.
fn grid(odds: Odds) -> [Bettor; BETTORS] {
    let o = odds.against();
    if !(o > 0.0 && o.is_finite()) {
        return [Bettor::IDLE; BETTORS];
    }
    let most = LOSS_MOST * o;
    let least = if o <= 1.0 { LOSS_LEAST * o } else { GAIN_LEAST };
    let step = libm::log(least / most) / (BETTORS - 1) as f64;
    std::array::from_fn(|k| {
        let gain = most * libm::exp(step * k as f64);
        Bettor::new(gain, gain / o)
    })
}

/// The share of the stake that is on "hits never miss". At 99% and an error of 1%, with 0, a
/// quarter and half it takes 737, 573 and 518 trials if nothing fails. Where half as many fail as
/// may, the mean is 4% more with a quarter and 10% more with half; where 85% as many do, 6% and 13%
/// (3000 streams each).
const CERTAIN: f64 = 0.25;

/// Bettors who share one unit of money against one bar.
#[derive(Clone, Copy, Debug)]
struct Bettors {
    grid: [Bettor; BETTORS],
    /// Who knows the alternative has half of what the grid would have.
    knowing: Option<Bettor>,
    /// Who is certain that hits never miss has [`CERTAIN`] of all.
    certain: Option<Bettor>,
}

impl Bettors {
    fn new(odds: Odds, knowing: Option<Bettor>, is_certain: bool) -> Bettors {
        let certain = is_certain.then(|| Bettor::certain(odds));
        Bettors { grid: grid(odds), knowing, certain }
    }

    /// Returns what the logarithm of the wealth gains at most on a hit.
    fn boldest(&self) -> f64 {
        let others = [self.knowing, self.certain].into_iter().flatten();
        others.map(|bettor| bettor.hit).fold(self.grid[0].hit, f64::max)
    }

    /// Returns the logarithm of the wealth of all, rounded down.
    fn log_wealth(&self, hits: u64, misses: u64) -> f64 {
        let (hits, misses) = (hits as f64, misses as f64);
        let share = if self.knowing.is_some() { 0.5 } else { 1.0 };
        let logs: [f64; BETTORS] = std::array::from_fn(|k| self.grid[k].log_wealth(hits, misses));
        let [known, certain] = [self.knowing, self.certain].map(|bettor| {
            bettor.map_or(f64::NEG_INFINITY, |bettor| bettor.log_wealth(hits, misses))
        });
        let top = logs.iter().copied().fold(known.max(certain), f64::max);
        let sum: f64 = logs.iter().map(|log| libm::exp(log - top)).sum();
        let mut total = share / BETTORS as f64 * sum + 0.5 * libm::exp(known - top);
        if self.certain.is_some() {
            total = (1.0 - CERTAIN) * total + CERTAIN * libm::exp(certain - top);
        }
        let log = top + libm::log(total);
        log - SLACK - RELATIVE_SLACK * top.abs()
    }
}
