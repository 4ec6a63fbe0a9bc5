//! The wealth of a table of bettors over any number of rounds.

use crate::bettor::{BETTORS, Table};

/// The exponent at which wealth is brought back towards 1 by a power of two, when it leaves
/// `2^-500 ..= 2^500`.
const RESCALE_EXPONENT: i32 = 500;
/// The number of updates between two checks of the exponent: the smallest factor, 0.05, leaves
/// `2^-139` of a wealth.
const UPDATES_BETWEEN_LOOKS: u64 = 32;

/// The wealth of each bettor as `mantissa * 2^exponent`, starting from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Wealth {
    mantissa: [f64; BETTORS],
    exponent: [i32; BETTORS],
    updates: u64,
}

/// A positive number `mantissa * 2^exponent` beyond the range of an `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    mantissa: f64,
    exponent: i32,
}

impl Default for Wealth {
    fn default() -> Self {
        Wealth { mantissa: [1.0; BETTORS], exponent: [0; BETTORS], updates: 0 }
    }
}

impl Wealth {
    /// Multiplies every wealth by `1 + stake * score`.
    #[inline]
    pub fn bet(&mut self, table: &Table, scores: &[f64; BETTORS]) {
        let bets = table.stake.iter().zip(scores);
        for (mantissa, (stake, score)) in self.mantissa.iter_mut().zip(bets) {
            *mantissa *= 1.0 + stake * score;
        }
        self.updates += 1;
        if self.updates.is_multiple_of(UPDATES_BETWEEN_LOOKS) {
            self.rescale();
        }
    }

    #[cold]
    fn rescale(&mut self) {
        let (up, down) = (pow2(RESCALE_EXPONENT), pow2(-RESCALE_EXPONENT));
        for (mantissa, exponent) in self.mantissa.iter_mut().zip(&mut self.exponent) {
            if *mantissa > up {
                *mantissa *= down;
                *exponent += RESCALE_EXPONENT;
            } else if *mantissa < down {
                *mantissa *= up;
                *exponent -= RESCALE_EXPONENT;
            }
        }
    }

    /// Returns the weighted sum of the wealth, each bettor charged as if it had lost `charges`
    /// further rounds. It is rounded down by more than all rounding errors so far can have added.
    ///
    /// A factor is off by at most `2^-53` and its product by a relative `2^-53`, so `n` rounds and
    /// the sum are off by at most `(n + 9) 2^-52`; the function subtracts twice that.
    pub fn total(&self, table: &Table, charges: u64) -> Scaled {
        let top = self.exponent.iter().copied().max().unwrap_or(0);
        let mut sum = 0.0;
        for k in 0..BETTORS {
            let loss = power(1.0 - table.stake[k], charges);
            let part = table.weight[k] * loss * self.mantissa[k];
            sum += part * pow2(self.exponent[k] - top);
        }
        let operations = (self.updates + charges + BETTORS as u64 + 4) as f64;
        let slack = (1.0 - operations * pow2(-51)).max(0.0);
        Scaled { mantissa: sum * slack, exponent: top }
    }
}

impl Scaled {
    /// Returns the nearest `f64`; the largest finite one for larger numbers.
    pub fn to_f64(self) -> f64 {
        if self.exponent > 1500 {
            return f64::MAX;
        }
        let half = self.exponent / 2;
        (self.mantissa * pow2(half) * pow2(self.exponent - half)).min(f64::MAX)
    }
}

/// Returns `2^exponent` for normal numbers, made from its bits; 0 below them.
fn pow2(exponent: i32) -> f64 {
    match exponent {
        ..-1022 => 0.0,
        _ => f64::from_bits(((exponent.min(1023) + 1023) as u64) << 52),
    }
}

/// Computes `base^times` by squaring: the platform's `powi` may round differently.
fn power(base: f64, times: u64) -> f64 {
    let (mut product, mut square, mut left) = (1.0, base, times);
    while left > 0 {
        if left & 1 == 1 {
            product *= square;
        }
        square *= square;
        left >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bettor::{M3R, S};

    #[test]
    fn wealth_starts_at_one_and_survives_long_luck() {
        let mut wealth = Wealth::default();
        assert!((wealth.total(&M3R, 0).to_f64() - 1.0).abs() < 1e-14);
        let mut loser = Wealth::default();
        for _ in 0..100_000 {
            wealth.bet(&S, &[1.0; BETTORS]);
            loser.bet(&S, &[-1.0; BETTORS]);
        }
        assert_eq!(wealth.total(&S, 0).to_f64(), f64::MAX);
        assert_eq!(loser.total(&S, 0).to_f64(), 0.0);
        for _ in 0..300_000 {
            wealth.bet(&S, &[-1.0; BETTORS]);
        }
        assert!(wealth.total(&S, 0).to_f64() < 1.0);
    }

    #[test]
    fn scaling_is_exact() {
        // Up and down again across the threshold: powers of two leave no trace in the mantissa.
        let mut plain = 1.0f64;
        let mut wealth = Wealth::default();
        for i in 0..2000 {
            let score = if i % 2 == 0 { 1.0 } else { -0.25 };
            wealth.bet(&S, &[score; BETTORS]);
            plain *= 1.0 + S.stake[6] * score;
        }
        let scaled = wealth.mantissa[6] * pow2(wealth.exponent[6]);
        assert_eq!(scaled, plain);
    }

    #[test]
    fn each_charge_costs_every_bettor_its_stake() {
        let wealth = Wealth::default();
        let charged = wealth.total(&S, 1).to_f64();
        let expected: f64 = (0..BETTORS).map(|k| S.weight[k] * (1.0 - S.stake[k])).sum();
        assert!((charged - expected).abs() < 1e-14);
    }
}
