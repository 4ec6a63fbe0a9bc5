//! Bettors on single trials: a grid of stakes, and one that knows the alternative.
//!
//! Written for hits and misses, so that bets on successes and bets on failures are one engine and
//! mirror each other. The hypothesis is always "a trial is a hit with probability at most `p`,
//! whatever happened before", and a bettor multiplies its wealth by `1 + gain` on a hit and by
//! `1 - loss` on a miss with `gain p = loss (1 - p)`: it can expect to gain nothing, and to lose if
//! the probability is smaller.

/// Bettors of the grid.
pub const BETTORS: usize = 12;
/// The smallest and the largest share of its wealth that a bettor of the grid may lose on a miss.
const LOSS_LEAST: f64 = 0.1;
const LOSS_MOST: f64 = 0.9;
/// The smallest relative gain on a hit where hits are rare.
const GAIN_LEAST: f64 = 0.1;
/// Units in the last place by which a logarithm is rounded down: `libm` is right to one, and the
/// three operations that made its argument to one more each.
const LOG_ULPS: u32 = 8;
/// What is taken off for the exponentials and the sum of a mixture, beside [`RELATIVE_SLACK`].
const SLACK: f64 = 1e-12;
/// The same for each unit of the logarithm.
const RELATIVE_SLACK: f64 = 1.0 / (1u64 << 50) as f64;

/// The probabilities of a hit and of a miss at a bar; they are kept apart because one of them may
/// be too small to be told from the other one's distance to 1.
#[derive(Clone, Copy, Debug)]
pub struct Odds {
    /// Of a hit.
    pub hit: f64,
    /// Of a miss.
    pub miss: f64,
}

impl Odds {
    /// A hit has this probability.
    pub fn of(hit: f64) -> Odds {
        Odds { hit, miss: 1.0 - hit }
    }

    /// The same of misses.
    pub fn swapped(self) -> Odds {
        Odds { hit: self.miss, miss: self.hit }
    }

    /// Misses over hits: the gain that makes up for losing everything.
    fn against(self) -> f64 {
        self.miss / self.hit
    }
}

/// The natural logarithms of a bettor's two factors, rounded down.
#[derive(Clone, Copy, Debug)]
pub struct Bettor {
    hit: f64,
    miss: f64,
}

impl Bettor {
    const IDLE: Bettor = Bettor { hit: 0.0, miss: 0.0 };

    fn new(gain: f64, loss: f64) -> Bettor {
        let down = |log: f64| (0..LOG_ULPS).fold(log, |log, _| log.next_down());
        Bettor { hit: down(libm::log1p(gain)), miss: down(libm::log1p(-loss)) }
    }

    /// The bettor of Wald's sequential test (1945): its wealth is the likelihood of the alternative
    /// that a hit has probability `alternative`, which is more than `odds.hit`, over that of
    /// `odds`.
    pub fn knowing(alternative: Odds, odds: Odds) -> Bettor {
        let more = (alternative.hit - odds.hit).min(odds.miss - alternative.miss);
        Bettor::new(more / odds.hit, more / odds.miss)
    }

    /// The logarithm of its wealth.
    fn log_wealth(self, hits: f64, misses: f64) -> f64 {
        ((hits * self.hit).next_down() + (misses * self.miss).next_down()).next_down()
    }

    /// By how much a hit adds to the logarithm of its wealth.
    pub fn log_gain(self) -> f64 {
        self.hit
    }
}

/// The twelve bettors of the grid against "a hit has at most this probability".
///
/// With `o = (1 - p) / p` they gain a geometric series from `0.9 o` down to `0.1 min(o, 1)` on a
/// hit and lose that over `o` on a miss. Where hits are the rule (`o <= 1`), stakes run from 0.9 to
/// 0.1 of the wealth; where they are rare, the alternatives run down to 1.1 times the probability.
///
/// Every factor falls with `p`, so the wealth of the grid does: for `o <= 1` losses are constant
/// and gains proportional to `o`; for `o > 1` with `0 <= t <= 1` a gain is `0.9^(1-t) 0.1^t
/// o^(1-t)`, which falls with `p`, and a loss is `0.9^(1-t) 0.1^t o^-t`, which rises. At `p = 1`
/// nobody bets.
pub fn grid(odds: Odds) -> [Bettor; BETTORS] {
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

/// The logarithm of the wealth of a grid, or of one half in the grid and one half with a bettor who
/// knows the alternative; rounded down.
pub fn log_mixture(
    grid: &[Bettor; BETTORS],
    knowing: Option<Bettor>,
    hits: u64,
    misses: u64,
) -> f64 {
    let (hits, misses) = (hits as f64, misses as f64);
    let share = if knowing.is_some() { 0.5 } else { 1.0 };
    let logs: [f64; BETTORS] = std::array::from_fn(|k| grid[k].log_wealth(hits, misses));
    let known = knowing.map_or(f64::NEG_INFINITY, |bettor| bettor.log_wealth(hits, misses));
    let top = logs.iter().copied().fold(known, f64::max);
    let sum: f64 = logs.iter().map(|log| libm::exp(log - top)).sum();
    let total = share / BETTORS as f64 * sum + 0.5 * libm::exp(known - top);
    let log = top + libm::log(total);
    log - SLACK - RELATIVE_SLACK * top.abs()
}
