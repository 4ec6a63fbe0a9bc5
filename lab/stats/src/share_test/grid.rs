//! Bettors on single trials: a grid of stakes, and one that knows the alternative.
//!
//! The code is for hits and misses, so that bets on successes and bets on failures share one engine
//! and mirror each other. The hypothesis is always "a trial is a hit with probability at most `p`,
//! whatever happened before". A bettor multiplies its wealth by `1 + gain` on a hit and by
//! `1 - loss` on a miss with `gain p = loss (1 - p)`: its expected gain is zero, and negative if
//! the probability is smaller.

/// The number of bettors of the grid.
pub const BETTORS: usize = 12;
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

    /// Returns the bettor of Wald's sequential test (1945). Its wealth is the likelihood of the
    /// alternative that a hit has probability `alternative`, which is more than `odds.hit`, over
    /// that of `odds`.
    pub fn knowing(alternative: Odds, odds: Odds) -> Bettor {
        let more = (alternative.hit - odds.hit).min(odds.miss - alternative.miss);
        Bettor::new(more / odds.hit, more / odds.miss)
    }

    /// Returns the logarithm of its wealth.
    fn log_wealth(self, hits: f64, misses: f64) -> f64 {
        ((hits * self.hit).next_down() + (misses * self.miss).next_down()).next_down()
    }

    /// Returns the amount that a hit adds to the logarithm of its wealth.
    pub fn log_gain(self) -> f64 {
        self.hit
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

/// Returns the logarithm of the wealth of a grid, or of one half in the grid and one half with a
/// bettor who knows the alternative; rounded down.
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
