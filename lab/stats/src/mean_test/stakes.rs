//! The wealth of ten bettors with fixed stakes on values in units of the bar.

/// The number of bettors; each starts with a tenth.
const BETTORS: usize = 10;
/// The stakes: 0.9, halved from one to the next.
const STAKE: [f64; BETTORS] =
    [0.9, 0.45, 0.225, 0.1125, 0.05625, 0.028125, 0.0140625, 0.00703125, 0.003515625, 0.0017578125];
/// The maximum of a value, in bars; larger values count as this. A bet on less than the value is
/// valid, and no product of [`BETS_BETWEEN_LOOKS`] factors leaves the range of an `f64`.
const VALUE_MOST: f64 = (1u64 << 30) as f64;
/// The number of bets between two checks of the exponents: factors lie between 0.1 and 2^30.
const BETS_BETWEEN_LOOKS: u64 = 32;
/// The relative error of a bet: three operations on positive numbers make the factor, and one its
/// product.
const SLACK_A_BET: f64 = 1.0 / (1u64 << 50) as f64;

/// The wealth of each bettor as `mantissa * 2^exponent`, starting from 1.
#[derive(Clone, Debug)]
pub struct Stakes {
    mantissa: [f64; BETTORS],
    exponent: [i64; BETTORS],
    bets: u64,
}

impl Default for Stakes {
    fn default() -> Self {
        Stakes { mantissa: [1.0; BETTORS], exponent: [0; BETTORS], bets: 0 }
    }
}

impl Stakes {
    /// Multiplies every wealth by `(1 - stake) + stake * value`, with `value` in units of the bar.
    #[inline]
    pub fn bet(&mut self, value: f64) {
        let value = value.min(VALUE_MOST);
        for (mantissa, stake) in self.mantissa.iter_mut().zip(STAKE) {
            *mantissa *= (1.0 - stake) + stake * value;
        }
        self.bets += 1;
        if self.bets.is_multiple_of(BETS_BETWEEN_LOOKS) {
            self.rescale();
        }
    }

    /// Moves the exponents out of the mantissas, exactly.
    fn rescale(&mut self) {
        for (mantissa, exponent) in self.mantissa.iter_mut().zip(&mut self.exponent) {
            let own = exponent_of(*mantissa);
            *mantissa *= pow2(-own);
            *exponent += own;
        }
    }

    /// Returns the logarithm of the mean wealth, rounded down.
    pub fn log_total(&self) -> f64 {
        let top = (0..BETTORS).map(|k| self.exponent[k] + exponent_of(self.mantissa[k]));
        let top = top.max().unwrap_or(0);
        let part = |k: usize| self.mantissa[k] * pow2(self.exponent[k] - top);
        let sum: f64 = (0..BETTORS).map(part).sum();
        let log = libm::log(sum / BETTORS as f64) + top as f64 * std::f64::consts::LN_2;
        log - SLACK_A_BET * (log.abs() + (self.bets + 2 * BETTORS as u64) as f64)
    }

    /// Returns [`Stakes::log_total`] as it would be after `bets` bets on the same value.
    pub fn log_total_after(bets: u64, value: f64) -> f64 {
        let bets = bets as f64;
        let logs = STAKE.map(|stake| bets * libm::log((1.0 - stake) + stake * value));
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| libm::exp(log - top)).sum();
        let log = top + libm::log(sum / BETTORS as f64);
        log - SLACK_A_BET * (log.abs() + bets + (2 * BETTORS) as f64)
    }
}

/// Returns the binary exponent of a normal number above 0.
fn exponent_of(value: f64) -> i64 {
    ((value.to_bits() >> 52) & 0x7ff) as i64 - 1023
}

/// Returns `2^exponent`, made from its bits; 0 below the normal numbers.
fn pow2(exponent: i64) -> f64 {
    if exponent < -1022 { 0.0 } else { f64::from_bits(((exponent.min(1023) + 1023) as u64) << 52) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stakes_halve_and_long_luck_is_survived() {
        for (k, stake) in STAKE.iter().enumerate() {
            assert_eq!(*stake, 0.9 * pow2(-(k as i64)));
        }
        let mut lucky = Stakes::default();
        let mut unlucky = Stakes::default();
        for _ in 0..100_000 {
            lucky.bet(f64::MAX);
            unlucky.bet(0.0);
        }
        let expected = 100_000.0 * libm::log(0.1 + 0.9 * VALUE_MOST) - libm::log(10.0);
        assert!((lucky.log_total() / expected - 1.0).abs() < 1e-9, "{}", lucky.log_total());
        let least = 100_000.0 * libm::log1p(-STAKE[BETTORS - 1]) - libm::log(10.0);
        assert!((unlucky.log_total() / least - 1.0).abs() < 1e-9, "{}", unlucky.log_total());
    }

    #[test]
    fn many_bets_at_once_are_many_bets() {
        for (bets, value) in [(1, 1.5), (7, 0.0), (100, 1.01), (5000, 1.0 / 0.99)] {
            let mut stakes = Stakes::default();
            (0..bets).for_each(|_| stakes.bet(value));
            let at_once = Stakes::log_total_after(bets, value);
            assert!((stakes.log_total() - at_once).abs() < 1e-10, "{bets} bets on {value}");
        }
    }
}
