//! The two limits of a log ratio, by inverting the bets over all bars.

use crate::bettor::{Bet, Table, Wealth};
use crate::bisection::last_rejected;
use crate::observation::LogRatio;

/// The width at which bisection for a limit ends; a bar is nudged by twice as much.
pub const LIMIT_WIDTH: f64 = 1.0 / (1u64 << 41) as f64;

/// The part of a round that is kept: its log ratio and the scale of the rounds before it.
#[derive(Clone, Copy, Debug)]
struct Kept {
    d: LogRatio,
    /// The scale, or `NAN` while there is none; this takes half the size of an option.
    scale: f64,
}

/// All rounds of a comparison, so that bets against any bar can be replayed.
#[derive(Clone, Debug)]
pub struct History {
    table: &'static Table,
    bets: Vec<Kept>,
    /// The weight of each bet; empty as long as each is 1.
    weights: Vec<f64>,
}

/// The limits of a log ratio, of which `E_up` and `E_dn` are the wealths that bet on each side
/// (rule A2): every value below `low`, and every value above `high`, is rejected at
/// the error of one side. `None` while nothing is rejected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The lower limit: `sup { theta : E_up(theta) >= 1/e }`.
    pub low: Option<f64>,
    /// The upper limit: `inf { theta : E_dn(theta) >= 1/e }`.
    pub high: Option<f64>,
}

/// Returns a lower limit that is above the bar if and only if that is proven, whatever was rounded.
/// For an upper limit, negate the limit, the bar and the result.
pub(crate) fn beyond(bar: f64, is_proven: bool, limit: f64) -> f64 {
    if is_proven { limit.max(bar.next_up()) } else { limit.min(bar) }
}

impl Limits {
    /// Returns their distance, if both exist and are in order.
    pub fn width(&self) -> Option<f64> {
        let width = self.high? - self.low?;
        (width >= 0.0).then_some(width)
    }
}

impl History {
    /// Starts without rounds.
    pub fn new(table: &'static Table) -> History {
        History { table, bets: Vec::new(), weights: Vec::new() }
    }

    /// Adds a round.
    pub fn push(&mut self, bet: &Bet) {
        if bet.weight != 1.0 || !self.weights.is_empty() {
            self.weights.resize(self.bets.len(), 1.0);
            reserve_one(&mut self.weights);
            self.weights.push(bet.weight);
        }
        reserve_one(&mut self.bets);
        self.bets.push(Kept { d: bet.d, scale: bet.scale.unwrap_or(f64::NAN) });
    }

    /// Returns the log ratios of all rounds, as they were bet on.
    pub fn ratios(&self) -> Vec<LogRatio> {
        self.bets.iter().map(|bet| bet.d).collect()
    }

    /// Returns the log ratios that were bet on, each with the scale of the rounds before it: the
    /// latest available scale, `NAN` while there was none.
    pub(crate) fn scaled(&self) -> impl Iterator<Item = (LogRatio, f64)> + '_ {
        let bets = self.bets.iter().enumerate();
        let bets = bets.filter(|(round, _)| self.weights.get(*round) != Some(&0.0));
        bets.scan(f64::NAN, |latest, (_, bet)| {
            *latest = if bet.scale.is_nan() { *latest } else { bet.scale };
            Some((bet.d, *latest))
        })
    }

    /// Returns the wealth against "the log ratio is at most `theta`" after all rounds.
    #[doc(hidden)]
    pub fn evidence_above(&self, theta: f64, charges: u64) -> f64 {
        self.evidence(|bet| bet.d.low, theta, charges)
    }

    /// Returns the wealth against "the log ratio is at least `theta`": that of the mirrored rounds.
    #[doc(hidden)]
    pub fn evidence_below(&self, theta: f64, charges: u64) -> f64 {
        self.evidence(|bet| -bet.d.high, -theta, charges)
    }

    #[inline]
    fn evidence(&self, side: impl Fn(&Kept) -> f64, theta: f64, charges: u64) -> f64 {
        let mut wealth = Wealth::default();
        let mut weights = self.weights.iter();
        for bet in &self.bets {
            let scale = (!bet.scale.is_nan()).then_some(bet.scale);
            let scores = self.table.scores(side(bet) - theta, scale);
            match weights.next() {
                None => wealth.bet(self.table, &scores),
                Some(weight) => wealth.bet(self.table, &scores.map(|score| score * weight)),
            }
        }
        wealth.total(self.table, charges)
    }

    /// Computes both limits at error `error` per side. Costs about fifty passes over the rounds for
    /// each.
    pub fn limits(&self, error: f64, charges: u64) -> Limits {
        Limits {
            low: self.lower_limit(|bet| bet.d.low, error, charges),
            high: self.lower_limit(|bet| -bet.d.high, error, charges).map(|limit| -limit),
        }
    }

    /// Returns the largest `theta`, to within [`LIMIT_WIDTH`] below, whose evidence still reaches
    /// `1/error`.
    ///
    /// The evidence falls with `theta`. Above every round it is below 1, and far below every round
    /// it is at its maximum, so the limit lies between.
    fn lower_limit(&self, side: impl Fn(&Kept) -> f64, error: f64, charges: u64) -> Option<f64> {
        let finite = || self.bets.iter().map(&side).filter(|d| d.is_finite());
        let above = finite().fold(f64::NEG_INFINITY, f64::max);
        let least = finite().fold(f64::INFINITY, f64::min);
        let reaches = |theta: &f64| self.evidence(&side, *theta, charges) >= 1.0 / error;
        let below = [0.125, 1.0, 8.0, 64.0, 512.0].map(|step| least - step);
        let below = below.into_iter().find(reaches)?;
        Some(last_rejected((below, above), u32::MAX, |_| LIMIT_WIDTH, |theta| reaches(&theta)))
    }
}

/// Makes room for one more in a list that grows by an eighth: a run may continue for millions of
/// rounds.
pub(crate) fn reserve_one<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}
