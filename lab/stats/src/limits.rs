//! The two limits of a log ratio, by inverting the bets over all bars.

use crate::bettor::{Bet, EProcess, Table};
use crate::bisection::last_rejected;
use crate::learned::{Cell, Shape, Shapes};
use crate::observation::LogRatio;
use crate::past::Past;
use crate::sorted::reserve_one;

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
    /// The shapes of the noise, if the table has learners.
    shapes: Shapes,
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
        History { table, bets: Vec::new(), weights: Vec::new(), shapes: Shapes::default() }
    }

    /// Makes the next shape of the noise if it is due. Call it where bets may change their minds:
    /// at the end of a block.
    pub fn learn(&mut self, past: &Past) -> Option<&Shape> {
        let rounds = self.bets.iter().map(|bet| bet.d);
        if self.table.learns { self.shapes.learn(rounds, past) } else { None }
    }

    /// Returns the latest shape.
    pub fn shape(&self) -> Option<&Shape> {
        self.shapes.all.last()
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
        self.evidence(Side::Above, theta, charges)
    }

    /// Returns the wealth against "the log ratio is at least `theta`": that of the mirrored rounds.
    #[doc(hidden)]
    pub fn evidence_below(&self, theta: f64, charges: u64) -> f64 {
        self.evidence(Side::Below, -theta, charges)
    }

    fn evidence(&self, side: Side, theta: f64, charges: u64) -> f64 {
        self.against(side, Cell::at(theta)).value(charges)
    }

    /// Returns the bets against a cell after all rounds.
    fn against(&self, side: Side, cell: Cell) -> EProcess {
        self.replayed(side, cell, &self.shapes.all)
    }

    /// Returns the evidence that there is whatever the learners have lost.
    fn least_evidence(&self, side: Side, theta: f64, charges: u64) -> f64 {
        let table = self.replayed(side, Cell::at(theta), &[]).table_value(charges);
        if !self.table.learns {
            return table;
        }
        self.shapes.least(table, self.bets.len() as u64, charges)
    }

    /// Bets against a cell on all rounds again, with learners that know these shapes.
    fn replayed(&self, side: Side, cell: Cell, shapes: &[Shape]) -> EProcess {
        let mut process = EProcess::against(self.table, cell);
        let (mut weights, mut shapes) = (self.weights.iter(), shapes.iter().peekable());
        let mut shape = None;
        for (round, kept) in self.bets.iter().enumerate() {
            if let Some(next) = shapes.next_if(|next| next.from == round) {
                process.learn(next);
                shape = Some(next);
            }
            let scale = (!kept.scale.is_nan()).then_some(kept.scale);
            let bet = Bet { d: kept.d, scale, weight: weights.next().copied().unwrap_or(1.0) };
            process.observe(side.of(kept.d), &bet, shape);
        }
        shapes.for_each(|next| process.learn(next));
        process
    }

    /// Computes both limits at error `error` per side. Costs about fifty passes over the rounds for
    /// each, and some hundreds where there are learners. A limit that passes one of these bars lies
    /// beyond it.
    pub fn limits(&self, error: f64, charges: u64, bars: &[f64]) -> Limits {
        let mirrored: Vec<f64> = bars.iter().map(|bar| 0.0 - bar).collect();
        Limits {
            low: self.lower_limit(Side::Above, error, charges, bars),
            high: self.lower_limit(Side::Below, error, charges, &mirrored).map(|limit| -limit),
        }
    }

    /// Returns the largest `theta` up to which the evidence reaches `1/error`, to within
    /// [`LIMIT_WIDTH`] below for the table's part of it.
    ///
    /// The table's evidence falls with `theta`. Above every round it is below 1, and far below
    /// every round it is at its maximum, so its limit lies between.
    fn lower_limit(&self, side: Side, error: f64, charges: u64, bars: &[f64]) -> Option<f64> {
        let finite = || self.bets.iter().map(|bet| side.of(bet.d).low).filter(|d| d.is_finite());
        let above = finite().fold(f64::NEG_INFINITY, f64::max);
        let least = finite().fold(f64::INFINITY, f64::min);
        let reaches = |theta: &f64| self.least_evidence(side, *theta, charges) >= 1.0 / error;
        let below = [0.125, 1.0, 8.0, 64.0, 512.0].map(|step| least - step);
        let below = below.into_iter().find(reaches)?;
        let limit =
            last_rejected((below, above), u32::MAX, |_| LIMIT_WIDTH, |theta| reaches(&theta));
        Some(self.further(side, limit, bars, |process| process.value(charges) >= 1.0 / error))
    }

    /// Returns those of the limits before which a narrow cell is rejected. Where there are no
    /// learners, these are all; where there are, one pass over the rounds tells whether it may be
    /// worth some hundreds.
    pub(crate) fn confirmed(&self, limits: Limits, error: f64, charges: u64) -> Limits {
        let Some(width) = self.cell_width_max() else { return limits };
        let is_rejected = |side, limit: f64| {
            let cell = Cell { low: limit - width / WIDTHS, high: limit };
            self.against(side, cell).value(charges) >= 1.0 / error
        };
        Limits {
            low: limits.low.filter(|low| is_rejected(Side::Above, *low)),
            high: limits.high.filter(|high| is_rejected(Side::Below, -high)),
        }
    }

    /// Returns the widest cell that is tried for a limit, in natural logarithms; `None` if there
    /// are no learners.
    fn cell_width_max(&self) -> Option<f64> {
        Some(self.shapes.scale()? / libm::sqrt(self.bets.len() as f64) / 2.0)
    }

    /// Goes on from a limit, cell by cell, while the bets against the next cell have won. Cells
    /// shrink where that fails and end at the bars.
    fn further(
        &self,
        side: Side,
        mut limit: f64,
        bars: &[f64],
        is_rejected: impl Fn(&EProcess) -> bool,
    ) -> f64 {
        let Some(width_max) = self.cell_width_max() else { return limit };
        let (mut width, mut gained) = (width_max, 0);
        let cells = CELL_ROUNDS_MAX / self.bets.len();
        for _ in 0..cells.clamp(CELLS_MIN, CELLS_MAX) {
            let bar = bars.iter().copied().filter(|bar| *bar > limit).fold(f64::INFINITY, f64::min);
            let end = (limit + width).min(bar);
            if end > limit && is_rejected(&self.against(side, Cell { low: limit, high: end })) {
                (limit, gained) = (end, gained + 1);
                if gained == CELLS_BEFORE_WIDER {
                    (width, gained) = ((2.0 * width).min(width_max), 0);
                }
            } else if width > width_max / WIDTHS {
                (width, gained) = (width / 2.0, 0);
            } else {
                break;
            }
        }
        limit
    }
}

/// The widest cell over the narrowest one that is tried.
const WIDTHS: f64 = 64.0;
/// The cells that must be rejected one after the other before a wider one is tried.
const CELLS_BEFORE_WIDER: u32 = 4;
/// The most cells that are tried for a limit; fewer where that would be more rounds than these.
const CELLS_MAX: usize = 120;
const CELLS_MIN: usize = 12;
const CELL_ROUNDS_MAX: usize = 1 << 20;

/// The direction of a bet: that a log ratio is above a bar, or below it.
#[derive(Clone, Copy, Debug)]
enum Side {
    Above,
    Below,
}

impl Side {
    /// Returns a log ratio as this bet sees it.
    fn of(self, d: LogRatio) -> LogRatio {
        match self {
            Side::Above => d,
            Side::Below => LogRatio { low: -d.high, high: -d.low },
        }
    }
}
