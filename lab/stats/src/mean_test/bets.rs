//! Bets that the mean of values of at least 0 is above a bar.
//!
//! Waudby-Smith and Ramdas (2024), with stakes fixed beforehand: a bettor puts the share `phi` of
//! its wealth on each value `v` and keeps the rest, so it multiplies its wealth by
//! `(1 - phi) + phi v / m`. If the conditional mean of `v` is at most `m`, whatever happened
//! before, no bettor has an expected gain. Bets that a mean is *below* a bar are the same bets on
//! the distance to a cap: `cap - v` against `cap - m`.

use crate::mean_test::stakes::Stakes;

/// The width, as a share of the limit, at which bisection ends.
const LIMIT_WIDTH: f64 = 1.0 / (1u64 << 44) as f64;
/// The first places where a rejected mean is looked for, as shares of the observed mean.
const STARTS: [f64; 8] = [0.875, 0.75, 0.5, 0.25, 0.0625, 0.00390625, 1.52587890625e-5, 1e-9];

/// The wealth against "the mean is at most `bar`", and the values so far, so that the bets can be
/// replayed against any other bar.
#[derive(Clone, Debug)]
pub struct MeanBets {
    bar: f64,
    wealth: Stakes,
    values: Vec<f64>,
    sum: f64,
}

impl MeanBets {
    /// Starts against this bar, which is above 0.
    pub fn new(bar: f64) -> MeanBets {
        MeanBets { bar, wealth: Stakes::default(), values: Vec::new(), sum: 0.0 }
    }

    /// Bets on a value of at least 0.
    #[inline]
    pub fn observe(&mut self, value: f64) {
        self.wealth.bet(value / self.bar);
        if self.values.len() == self.values.capacity() {
            self.values.reserve_exact(self.values.len() / 8 + 16);
        }
        self.values.push(value);
        self.sum += value;
    }

    /// Returns the values that were bet on, in the order of their arrival.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the logarithm of the wealth, rounded down.
    #[inline]
    pub fn log_evidence(&self) -> f64 {
        self.wealth.log_total()
    }

    /// Returns [`MeanBets::log_evidence`] as it would be after `values` values that are all equal.
    pub fn log_evidence_after(&self, values: u64, value: f64) -> f64 {
        Stakes::log_total_after(values, value / self.bar)
    }

    /// Returns the largest mean that is rejected together with all smaller ones; `None` if none is.
    /// It is at least the bar if and only if the wealth has reached `exp(log_needed)`.
    ///
    /// Every factor falls with the mean that is bet against. At the mean of the values, the wealth
    /// is at most 1 (the geometric mean of the factors is at most their arithmetic mean), so the
    /// limit is below it. Costs about fifty passes over the values.
    pub fn lower_limit(&self, log_needed: f64) -> Option<f64> {
        let mean = self.sum / self.values.len() as f64;
        if mean.is_nan() || mean <= 0.0 {
            return None;
        }
        let is_rejected = |bar: f64| self.log_evidence_at(bar) >= log_needed;
        let (mut rejected, mut open) = if self.log_evidence() >= log_needed {
            (self.bar, mean.max(self.bar))
        } else {
            let open = mean.min(self.bar);
            let starts = STARTS.iter().map(|share| share * open);
            (starts.into_iter().find(|bar| is_rejected(*bar))?, open)
        };
        while open - rejected > LIMIT_WIDTH * open {
            let middle = rejected + (open - rejected) / 2.0;
            if middle <= rejected || middle >= open {
                break;
            }
            *(if is_rejected(middle) { &mut rejected } else { &mut open }) = middle;
        }
        Some(rejected)
    }

    fn log_evidence_at(&self, bar: f64) -> f64 {
        let mut wealth = Stakes::default();
        for value in &self.values {
            wealth.bet(value / bar);
        }
        wealth.log_total()
    }
}
